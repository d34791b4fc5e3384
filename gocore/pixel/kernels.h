// Kernels that write 8-bit pictures into batches. None keeps state: the instruction set to use is an argument, and so
// is everything else. None reads or writes a byte outside the pixels it is given.
#ifndef TFGOLOADER_PIXEL_KERNELS_H
#define TFGOLOADER_PIXEL_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pixel_instructions { PIXEL_SSE2, PIXEL_AVX2, PIXEL_AVX512 }; // the second has F16C too

enum pixel_sample { PIXEL_UINT8, PIXEL_FLOAT32, PIXEL_FLOAT16, PIXEL_BFLOAT16 };

enum { PIXEL_MAX_CHANNELS = 4, PIXEL_MAX_LANES = 16 };

// One vector of float32 samples: lane i is byte source[i] of a block of pixels, times scale[i], plus offset[i]. Both are
// in two parts: a byte times a scale's high part is exact, and what is added to that is rounded last.
struct pixel_vector {
	float scale[PIXEL_MAX_LANES], scale_rest[PIXEL_MAX_LANES];
	float offset[PIXEL_MAX_LANES], offset_rest[PIXEL_MAX_LANES];
	uint8_t source[PIXEL_MAX_LANES];
	// The same choice in two steps: 32-bit words of the block, then bytes of each 128 bits, widened to 32 bits.
	int32_t words[PIXEL_MAX_LANES];
	uint8_t bytes[4 * PIXEL_MAX_LANES];
};

// How pictures become float32 samples.
struct pixel_float32 {
	enum pixel_instructions instructions;
	int channels;
	bool planar; // channels first
	struct pixel_vector vectors[2][PIXEL_MAX_CHANNELS]; // by flip_x; by channel if planar, else in the order of output
};

// Sets all of form; scale and offset are by channel.
void pixel_prepare_float32(struct pixel_float32 *form, enum pixel_instructions instructions, int channels, bool planar,
                           const double *scale, const double *offset);

// Writes one row of pixels to where it soon is read again. The form is not planar.
void pixel_row_float32(const struct pixel_float32 *form, uint8_t *out, const uint8_t *picture, size_t width, bool flip_x);

// All write height rows of width interleaved pixels, stride bytes apart at picture, to batch, mirrored left to right
// if flip_x and top to bottom if flip_y. For halves the form is not planar: they are separated afterwards.
void pixel_write_float32(const struct pixel_float32 *form, uint8_t *batch, const uint8_t *picture, size_t stride,
                         size_t width, size_t height, bool flip_x, bool flip_y);
void pixel_write_half(const struct pixel_float32 *form, enum pixel_sample sample, bool planar, uint8_t *batch,
                      const uint8_t *picture, size_t stride, size_t width, size_t height, bool flip_x, bool flip_y);
void pixel_write_uint8(enum pixel_instructions instructions, int channels, bool planar, uint8_t *batch,
                       const uint8_t *picture, size_t stride, size_t width, size_t height, bool flip_x, bool flip_y);

// Whether the processor has F16C.
bool pixel_has_f16c(void);

#endif
