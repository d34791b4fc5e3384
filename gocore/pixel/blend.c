// Weighted means of samples. The loops are plain, for the compiler to make vectors of, except for float16.
#pragma GCC optimize("O3")

#include <immintrin.h>
#include <string.h>

#include "blend.h"

#define INLINE static inline __attribute__((always_inline))
#define TARGET(features) __attribute__((target(features)))

// How a sample of each type becomes a float, and is made of one.
#define AS_IT_IS(value) (value)
#define NEAREST(value) ((int32_t)((value) + 0.5f))

INLINE float widen_bfloat16(uint16_t sample)
{
	uint32_t bits = (uint32_t)sample << 16;
	float value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

// Rounds half to even. What is not a number has no bits here that could overflow: no operation makes them.
INLINE uint16_t narrow_bfloat16(float value)
{
	uint32_t bits;
	memcpy(&bits, &value, sizeof bits);
	return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

INLINE float widen_float16(uint16_t sample)
{
	_Float16 value;
	memcpy(&value, &sample, sizeof value);
	return value;
}

INLINE uint16_t narrow_float16(float value)
{
	_Float16 sample = value;
	uint16_t bits;
	memcpy(&bits, &sample, sizeof bits);
	return bits;
}

#define LOOP(name, features, type, widen, narrow)                                                                      \
	features static void name(type *restrict x, const type *restrict y, size_t count, float weight)                \
	{                                                                                                              \
		float rest = 1 - weight;                                                                               \
		for (size_t i = 0; i < count; i++)                                                                     \
			x[i] = narrow(weight * widen(x[i]) + rest * widen(y[i]));                                      \
	}

#define CHOICE(name, type)                                                                                             \
	void name(enum pixel_instructions instructions, type *x, const type *y, size_t count, float weight)            \
	{                                                                                                              \
		(instructions >= PIXEL_AVX2 ? name##_avx2 : name##_sse2)(x, y, count, weight);                         \
	}

#define KERNEL(name, type, widen, narrow)                                                                              \
	LOOP(name##_sse2, , type, widen, narrow)                                                                       \
	LOOP(name##_avx2, TARGET("avx2"), type, widen, narrow)                                                         \
	CHOICE(name, type)

KERNEL(pixel_blend_uint8, uint8_t, AS_IT_IS, NEAREST)
KERNEL(pixel_blend_uint16, uint16_t, AS_IT_IS, NEAREST)
KERNEL(pixel_blend_float32, float, AS_IT_IS, AS_IT_IS)
KERNEL(pixel_blend_bfloat16, uint16_t, widen_bfloat16, narrow_bfloat16)

LOOP(pixel_blend_float16_sse2, , uint16_t, widen_float16, narrow_float16)

TARGET("avx2,f16c")
static void pixel_blend_float16_avx2(uint16_t *restrict x, const uint16_t *restrict y, size_t count, float weight)
{
	__m256 share = _mm256_set1_ps(weight), rest = _mm256_set1_ps(1 - weight);
	size_t i = 0;
	for (; i + 8 <= count; i += 8) {
		__m256 a = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(x + i)));
		__m256 b = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(y + i)));
		__m256 mean = _mm256_add_ps(_mm256_mul_ps(share, a), _mm256_mul_ps(rest, b));
		_mm_storeu_si128((__m128i *)(x + i), _mm256_cvtps_ph(mean, _MM_FROUND_TO_NEAREST_INT));
	}
	pixel_blend_float16_sse2(x + i, y + i, count - i, weight);
}

CHOICE(pixel_blend_float16, uint16_t)
