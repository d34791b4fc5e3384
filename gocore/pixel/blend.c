// Weighted means of samples. The loops are plain, for the compiler to make vectors of.
#pragma GCC optimize("O3")

#include "blend.h"

#define INLINE static inline __attribute__((always_inline))
#define TARGET(features) __attribute__((target(features)))

// One function for all instruction sets, of which the kernel with the given name chooses one.
#define KERNEL(name, type, rounding)                                                                                   \
	INLINE void name##_loop(type *restrict x, const type *restrict y, size_t count, float weight)                  \
	{                                                                                                              \
		float rest = 1 - weight;                                                                               \
		for (size_t i = 0; i < count; i++)                                                                     \
			x[i] = rounding(weight * x[i] + rest * y[i]);                                                  \
	}                                                                                                              \
	static void name##_sse2(type *x, const type *y, size_t count, float weight)                                    \
	{                                                                                                              \
		name##_loop(x, y, count, weight);                                                                      \
	}                                                                                                              \
	TARGET("avx2") static void name##_avx2(type *x, const type *y, size_t count, float weight)                     \
	{                                                                                                              \
		name##_loop(x, y, count, weight);                                                                      \
	}                                                                                                              \
	void name(enum pixel_instructions instructions, type *x, const type *y, size_t count, float weight)            \
	{                                                                                                              \
		(instructions >= PIXEL_AVX2 ? name##_avx2 : name##_sse2)(x, y, count, weight);                         \
	}

#define NEAREST(value) ((int32_t)((value) + 0.5f))
#define EXACT(value) (value)

KERNEL(pixel_blend_uint8, uint8_t, NEAREST)
KERNEL(pixel_blend_uint16, uint16_t, NEAREST)
KERNEL(pixel_blend_float32, float, EXACT)
