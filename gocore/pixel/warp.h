// Projective resampling: each output pixel is interpolated between the input pixels around its place.
#ifndef TFGOLOADER_PIXEL_WARP_H
#define TFGOLOADER_PIXEL_WARP_H

#include "kernels.h"

enum pixel_fill { PIXEL_FILL_CONSTANT, PIXEL_FILL_NEAREST, PIXEL_FILL_REFLECT, PIXEL_FILL_WRAP };

struct pixel_warp {
	enum pixel_instructions instructions;
	int channels;
	bool nearest; // else bilinear
	enum pixel_sample sample; // bytes are interleaved, others have scale and offset
	bool planar;              // unless bytes
	bool flip_x, flip_y;
	enum pixel_fill fill;
	float matrix[8];
	float value[PIXEL_MAX_CHANNELS]; // of what lies outside
	int32_t width, height;           // of the whole input
	int32_t from_x, from_y, to_x, to_y; // the input pixels that the picture holds
	int32_t first_x, first_y;        // of the output
	int32_t outputs_x, outputs_y;
};

// Returns how many words of scratch pixel_warp_picture needs.
size_t pixel_warp_scratch(const struct pixel_warp *form);

// Writes the output pixels to out. Picture begins with input pixel from_x, from_y, its rows are stride bytes apart, and
// its size is less than 2 GiB. No matrix makes it read anything outside.
void pixel_warp_picture(const struct pixel_warp *form, const struct pixel_float32 *values, int32_t *scratch, uint8_t *out,
                        const uint8_t *picture, size_t stride);

#endif
