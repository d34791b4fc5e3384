// Vectors of the instruction set SET, and floats as halves; included by what is included for each set.

#undef WORDS
#undef FLOATS
#undef WIDEN
#undef ROUND
#undef STREAM
#undef HALVES
#undef STORE_HALVES
#undef PACK

#define WORDS NAME(words)
#define FLOATS NAME(floats)
typedef int32_t WORDS __attribute__((vector_size(4 * WIDTH), aligned(1), may_alias));
typedef float FLOATS __attribute__((vector_size(4 * WIDTH), aligned(1), may_alias));

// What C has no words for: bytes as words, rounding to even, stores past the caches, and of the lower halves of words.
#if WIDTH == 4
#define WIDEN(in) (WORDS) widen_four(in)
#define ROUND(a) (WORDS) _mm_cvtps_epi32((__m128)(a))
#define STREAM(to, a) _mm_stream_si128((__m128i *)(to), (__m128i)(a))
#define STORE_HALVES(to, a) _mm_storel_epi64((__m128i *)(to), pack_halves((__m128i)(a)))
#elif WIDTH == 8
#define WIDEN(in) (WORDS) _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(in)))
#define ROUND(a) (WORDS) _mm256_cvtps_epi32((__m256)(a))
#define STREAM(to, a) _mm256_stream_si256((__m256i *)(to), (__m256i)(a))
#define PACK(a) _mm256_permute4x64_epi64(_mm256_packus_epi32((__m256i)(a), (__m256i)(a)), 8)
#define STORE_HALVES(to, a) _mm_storeu_si128((__m128i *)(to), _mm256_castsi256_si128(PACK(a)))
#define HALVES(a) (WORDS) _mm256_cvtepu16_epi32(_mm256_cvtps_ph((__m256)(a), _MM_FROUND_TO_NEAREST_INT))
#else
#define WIDEN(in) (WORDS) _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(in)))
#define ROUND(a) (WORDS) _mm512_cvtps_epi32((__m512)(a))
#define STREAM(to, a) _mm512_stream_si512((__m512i *)(to), (__m512i)(a))
#define STORE_HALVES(to, a) _mm256_storeu_si256((__m256i *)(to), _mm512_cvtepi32_epi16((__m512i)(a)))
#define HALVES(a) (WORDS) _mm512_cvtepu16_epi32(_mm512_cvtps_ph((__m512)(a), _MM_FROUND_TO_NEAREST_INT))
#endif

INLINE WORDS NAME(load)(const void *from)
{
	return *(const WORDS *)from;
}

INLINE void NAME(store)(void *to, WORDS a)
{
	*(WORDS *)to = a;
}

INLINE WORDS NAME(choose)(WORDS which, WORDS yes, WORDS no)
{
	return (yes & which) | (no & ~which);
}

// Rounds to float16, half to even; what is too large becomes infinite.
INLINE WORDS NAME(to_float16)(FLOATS a)
{
#ifdef HALVES
	return HALVES(a);
#else
	enum { LEAST = 113 << 23, OVER = 143 << 23, INFINITE = 255 << 23 }; // 2^-14, 2^16
	WORDS sign = (WORDS)a & INT32_MIN, size = (WORDS)a ^ sign;
	// The last bit of 0.5 is worth as much as that of the least float16.
	WORDS small = (WORDS)((FLOATS)size + 0.5f) - (126 << 23);
	WORDS normal = (size - (112 << 23) + 0xfff + ((size >> 13) & 1)) >> 13;
	WORDS huge = 0x7c00 | ((0x200 | ((size >> 13) & 0x3ff)) & (size > INFINITE)); // what is no number stays none
	WORDS rounded = NAME(choose)(size >= OVER, huge, NAME(choose)(size < LEAST, small, normal));
	return rounded | ((sign >> 16) & 0x8000);
#endif
}

// Rounds to bfloat16, half to even.
INLINE WORDS NAME(to_bfloat16)(FLOATS a)
{
	WORDS bits = (WORDS)a, upper = (bits >> 16) & 0xffff;
	// The sum may pass from the largest positive number to the sign bit only where it is not a number.
	WORDS rounded = ((WORDS)(bits + 0x7fff + (upper & 1)) >> 16) & 0xffff;
	WORDS nan = (upper & 0x8000) | 0x7fc0;
	return NAME(choose)((WORDS)(a == a), rounded, nan);
}

// Makes halves of floats, in place. The memory is of whole vectors.
INLINE void NAME(halve)(int32_t *line, size_t count, enum pixel_sample sample)
{
	uint16_t *out = (uint16_t *)line;
	for (size_t i = 0; i < count; i += WIDTH) {
		FLOATS floats = (FLOATS)NAME(load)(line + i);
		STORE_HALVES(out + i, sample == PIXEL_FLOAT16 ? NAME(to_float16)(floats) : NAME(to_bfloat16)(floats));
	}
}
