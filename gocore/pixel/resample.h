// Separable resampling, one row at a time: along x and then along y, through a ring of rows, or along y first.
#ifndef TFGOLOADER_PIXEL_RESAMPLE_H
#define TFGOLOADER_PIXEL_RESAMPLE_H

#include "kernels.h"

// Output pixel i of an axis is the sum of the source pixels from first[i] on, times the weights from at[i] on, up to
// at[i + 1]. Along y, source pixels outside from to `to` stand for the nearest within.
struct pixel_taps {
	const int32_t *first, *at, *weights;
	int32_t outputs, most, from, to; // most: the largest number of weights
};

// (sum + bias) >> bits; after the first axis, brought within 0 to limit.
struct pixel_shift {
	int32_t bias, bits, limit;
};

struct pixel_resample {
	enum pixel_instructions instructions;
	int channels;
	bool y_first;
	enum pixel_sample sample; // bytes are interleaved, others have scale and offset
	bool planar;              // unless bytes
	bool flip_x, flip_y;
	bool half_up; // how float32 becomes bytes, else to even
	float gain;
	// Samples and weights are integers instead of float32: a sample x is held as x | 128x << 16, so that the sum of the
	// products of its halves with those of a weight is a product of 22 bits.
	bool fixed;
	int32_t product_shift; // of a product along y, before it is added
	struct pixel_shift first, last;
};

// Returns how many words of scratch pixel_resample needs.
size_t pixel_resample_scratch(const struct pixel_resample *form, struct pixel_taps x, struct pixel_taps y);

// Writes x.outputs by y.outputs pixels to out. The picture begins with source pixel x.from, y.from and is read up to x.to,
// y.to; its rows are stride bytes apart.
void pixel_resample(const struct pixel_resample *form, const struct pixel_float32 *values, struct pixel_taps x,
                    struct pixel_taps y, int32_t *scratch, uint8_t *out, const uint8_t *picture, size_t stride);

#endif
