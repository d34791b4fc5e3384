// Kernels that change the values of 8-bit pictures in place. None keeps state, and each gives the same result with every
// instruction set: arithmetic is on integers, or on floats in one fixed order. Pictures are height rows of width
// interleaved pixels, stride bytes apart; of 4 channels the last is alpha, which stays as it is.
#ifndef TFGOLOADER_PIXEL_COLOUR_H
#define TFGOLOADER_PIXEL_COLOUR_H

#include "kernels.h"

enum { PIXEL_LEVELS = 256 };

// Counts how often each level occurs, by channel.
void pixel_count(uint32_t *counts, const uint8_t *picture, size_t stride, size_t width, size_t height, int channels);

// Looks every sample up in its channel's table.
void pixel_look_up(const uint8_t *tables, uint8_t *picture, size_t stride, size_t width, size_t height, int channels);

// Operations on pixels of 3 or 4 channels: blend with gray, stretch the distance to the largest channel, turn the hue.
enum pixel_change { PIXEL_FADE, PIXEL_SATURATE, PIXEL_TURN };
void pixel_change(enum pixel_instructions instructions, enum pixel_change change, float amount, uint8_t *picture,
                  size_t stride, size_t width, size_t height, int channels);

// Makes of every sample own times itself plus, in their order, the weights times the samples in its place in so many
// others, which are pictures of the same size without gaps, one after another.
void pixel_weighted_sum(enum pixel_instructions instructions, float own, const float *weights, size_t others,
                        const uint8_t *made, uint8_t *picture, size_t stride, size_t width, size_t height,
                        int channels);

// Blends with the mean of the 3 by 3 pixels around, the middle one five times: x + weight * (mean - x). What lies
// outside counts as 0. The buffer, aligned to 2 bytes, holds pixel_sharpen_buffer of them.
size_t pixel_sharpen_buffer(size_t width, int channels);
void pixel_sharpen(enum pixel_instructions instructions, float weight, uint8_t *buffer, uint8_t *picture, size_t stride,
                   size_t width, size_t height, int channels);

// Sums the pixels around by weights that are given from the middle, radius + 1 of them along rows and as many along
// columns. What lies outside counts as 0. The buffer holds pixel_blur_buffer floats.
size_t pixel_blur_buffer(size_t width, int channels, size_t radius);
void pixel_blur(enum pixel_instructions instructions, const float *along, const float *across, size_t radius,
                float *buffer, uint8_t *picture, size_t stride, size_t width, size_t height, int channels);

// Rounds to the nearest level; of two, to the upper one.
static inline __attribute__((always_inline)) int32_t pixel_level(float value)
{
	int32_t level = (int32_t)(value + 0.5f); // what lies below -0.5 is clipped, though it is rounded towards 0
	level = level < 0 ? 0 : level;
	return level > 255 ? 255 : level;
}

#endif
