// Kernels that mix the samples of a batch in place. None keeps state, and each gives the same result with every
// instruction set.
#ifndef TFGOLOADER_PIXEL_BLEND_H
#define TFGOLOADER_PIXEL_BLEND_H

#include "kernels.h"

// They make of `count` samples x the weighted mean weight * x + (1 - weight) * y, in float32; the arrays must not
// overlap. Integers are rounded to the nearest, of two to the upper one; halves to the nearest, of two to the even one.
void pixel_blend_uint8(enum pixel_instructions instructions, uint8_t *x, const uint8_t *y, size_t count, float weight);
void pixel_blend_uint16(enum pixel_instructions instructions, uint16_t *x, const uint16_t *y, size_t count, float weight);
void pixel_blend_float16(enum pixel_instructions instructions, uint16_t *x, const uint16_t *y, size_t count, float weight);
void pixel_blend_bfloat16(enum pixel_instructions instructions, uint16_t *x, const uint16_t *y, size_t count, float weight);
void pixel_blend_float32(enum pixel_instructions instructions, float *x, const float *y, size_t count, float weight);

#endif
