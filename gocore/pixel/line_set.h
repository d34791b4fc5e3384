// Vectors of the instruction set SET, and lines written with them; included by what is included for each set.

#undef WORDS
#undef FLOATS
#undef WIDEN
#undef ROUND
#undef STREAM

#define WORDS NAME(words)
#define FLOATS NAME(floats)
typedef int32_t WORDS __attribute__((vector_size(4 * WIDTH), aligned(4), may_alias));
typedef float FLOATS __attribute__((vector_size(4 * WIDTH), aligned(4), may_alias));

// What C has no words for: bytes as words, rounding to even, and stores past the caches.
#if WIDTH == 4
#define WIDEN(in) (WORDS) widen_four(in)
#define ROUND(a) (WORDS) _mm_cvtps_epi32((__m128)(a))
#define STREAM(to, a) _mm_stream_si128((__m128i *)(to), (__m128i)(a))
#elif WIDTH == 8
#define WIDEN(in) (WORDS) _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(in)))
#define ROUND(a) (WORDS) _mm256_cvtps_epi32((__m256)(a))
#define STREAM(to, a) _mm256_stream_si256((__m256i *)(to), (__m256i)(a))
#else
#define WIDEN(in) (WORDS) _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(in)))
#define ROUND(a) (WORDS) _mm512_cvtps_epi32((__m512)(a))
#define STREAM(to, a) _mm512_stream_si512((__m512i *)(to), (__m512i)(a))
#endif

INLINE WORDS NAME(load)(const void *from)
{
	return *(const WORDS *)from;
}

INLINE void NAME(store)(void *to, WORDS a)
{
	*(WORDS *)to = a;
}

struct NAME(affine) {
	FLOATS scale, scale_rest, offset, offset_rest;
};

INLINE struct NAME(affine) NAME(load_affine)(const struct affine *from, int lane)
{
	return (struct NAME(affine)){(FLOATS)NAME(load)(from->scale + lane), (FLOATS)NAME(load)(from->scale_rest + lane),
	                             (FLOATS)NAME(load)(from->offset + lane), (FLOATS)NAME(load)(from->offset_rest + lane)};
}

INLINE FLOATS NAME(scale)(FLOATS samples, struct NAME(affine) affine)
{
	return (samples * affine.scale + affine.offset) + (samples * affine.scale_rest + affine.offset_rest);
}

// Copies past the caches, which a batch leaves long before it is read, where lines are whole.
static void NAME(put)(uint8_t *out, const int32_t *line, size_t count)
{
	const uint8_t *from = (const uint8_t *)line;
	size_t bytes = count * sizeof *line;
	size_t head = -(uintptr_t)out % sizeof(WORDS);
	if (head > bytes)
		head = bytes;
	memcpy(out, from, head);
	size_t done = head;
	for (; done + sizeof(WORDS) <= bytes; done += sizeof(WORDS))
		STREAM(out + done, NAME(load)(from + done));
	memcpy(out + done, from + done, bytes - done);
}

// Copies one channel of the line.
static void NAME(separate)(int32_t *plane, const int32_t *line, size_t width, int channels, int channel)
{
	size_t x = 0;
#if WIDTH > 4
	if (channels == 3) {
		WORDS first, second; // of two vectors, and of these and the third
		for (int i = 0; i < WIDTH; i++) {
			int from = 3 * i + channel;
			first[i] = from < 2 * WIDTH ? from : 0;
			second[i] = from < 2 * WIDTH ? i : from - WIDTH;
		}
		for (; x + WIDTH <= width; x += WIDTH, line += 3 * WIDTH) {
			WORDS two = __builtin_shuffle(NAME(load)(line), NAME(load)(line + WIDTH), first);
			NAME(store)(plane + x, __builtin_shuffle(two, NAME(load)(line + 2 * WIDTH), second));
		}
	}
#endif
	for (; x < width; x++, line += channels)
		plane[x] = line[channel];
}

// Writes the line as output row y.
static void NAME(write_line)(const struct place *place, const int32_t *line, size_t y)
{
	size_t width = place->width, height = place->height, channels = place->channels;
	if (place->flip_y)
		y = height - 1 - y;
	if (place->bytes) {
		narrow(place->out + y * width * channels, line, width * channels);
	} else if (!place->planar) {
		NAME(put)(place->out + y * width * channels * sizeof(float), line, width * channels);
	} else {
		for (size_t c = 0; c < channels; c++) {
			NAME(separate)(place->plane, line, width, channels, c);
			NAME(put)(place->out + (c * height + y) * width * sizeof(float), place->plane, width);
		}
	}
}
