// Bytes to bytes: mirrored and separated into planes on the way.
#include <immintrin.h>
#include <string.h>

#include "kernels.h"

#define TARGET(features) __attribute__((target(features)))

// Mirrors whole groups of pixels, as many as 16 bytes hold, and returns how many pixels it has done, from the end of
// the run on. A load ends with its group, a store begins with it; what else the store covers is written next.
TARGET("avx2") static size_t mirror_avx2(uint8_t *out, const uint8_t *in, size_t pixels, int channels)
{
	int group = 16 / channels;
	uint8_t order[16] = {0};
	for (int i = 0; i < group * channels; i++)
		order[i] = 16 - channels * (i / channels + 1) + i % channels;
	__m128i shuffle = _mm_loadu_si128((const __m128i *)order);

	size_t done = 0;
	size_t bytes = pixels * channels;
	for (; done * channels + 16 <= bytes; done += group) {
		__m128i source = _mm_loadu_si128((const __m128i *)(in + bytes - done * channels - 16));
		_mm_storeu_si128((__m128i *)(out + done * channels), _mm_shuffle_epi8(source, shuffle));
	}
	return done;
}

// Separates whole blocks of 32 pixels of three or four channels, mirrored if flip, and returns how many pixels it has
// done. Each half of a vector holds 16 neighbouring pixels: groups of four, sorted by channel and then transposed.
TARGET("avx2")
static size_t planes_avx2(uint8_t *out, size_t plane, const uint8_t *in, size_t pixels, int channels, bool flip)
{
	enum { BLOCK = 32 };
	// The last group of three-channel pixels is loaded by its end, so that no load leaves the block.
	int surplus = 16 - 4 * channels;
	uint8_t order[16], order_last[16];
	for (int i = 0; i < 16; i++) {
		int channel = i / 4;
		int pixel = flip ? 3 - i % 4 : i % 4;
		order[i] = channel < channels ? pixel * channels + channel : 0x80;
		order_last[i] = order[i] + surplus;
	}
	__m256i shuffle = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)order));
	__m256i shuffle_last = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)order_last));

	size_t low = flip ? 16 * channels : 0, high = 16 * channels - low;
	size_t done = 0;
	for (; done + BLOCK <= pixels; done += BLOCK) {
		__m256i groups[4];
#pragma GCC unroll 4
		for (int i = 0; i < 4; i++) {
			const uint8_t *from = in + (done + 4 * i) * channels - (i < 3 ? 0 : surplus);
			__m256i source = _mm256_loadu2_m128i((const __m128i *)(from + high), (const __m128i *)(from + low));
			groups[flip ? 3 - i : i] = _mm256_shuffle_epi8(source, i < 3 ? shuffle : shuffle_last);
		}
		__m256i low01 = _mm256_unpacklo_epi32(groups[0], groups[1]), low23 = _mm256_unpacklo_epi32(groups[2], groups[3]);
		__m256i high01 = _mm256_unpackhi_epi32(groups[0], groups[1]), high23 = _mm256_unpackhi_epi32(groups[2], groups[3]);

		uint8_t *to = out + (flip ? pixels - done - BLOCK : done);
		_mm256_storeu_si256((__m256i *)to, _mm256_unpacklo_epi64(low01, low23));
		_mm256_storeu_si256((__m256i *)(to + plane), _mm256_unpackhi_epi64(low01, low23));
		_mm256_storeu_si256((__m256i *)(to + 2 * plane), _mm256_unpacklo_epi64(high01, high23));
		if (channels == 4)
			_mm256_storeu_si256((__m256i *)(to + 3 * plane), _mm256_unpackhi_epi64(high01, high23));
	}
	return done;
}

// Writes one row, its channels `plane` bytes apart if planar. Pixels that do not fill a vector go one by one.
static void write_row(enum pixel_instructions instructions, int channels, bool planar, uint8_t *out, size_t plane,
                      const uint8_t *in, size_t width, bool flip)
{
	if (!flip && !planar) {
		memcpy(out, in, width * channels);
		return;
	}
	size_t first = 0; // in the order of the source where planar, of the output where not
	if (instructions >= PIXEL_AVX2)
		first = planar ? planes_avx2(out, plane, in, width, channels, flip) : mirror_avx2(out, in, width, channels);
	for (size_t x = first; x < width; x++) {
		size_t opposite = width - 1 - x;
		if (planar)
			for (int c = 0; c < channels; c++)
				out[c * plane + (flip ? opposite : x)] = in[x * channels + c];
		else
			for (int c = 0; c < channels; c++)
				out[x * channels + c] = in[opposite * channels + c];
	}
}

void pixel_write_uint8(enum pixel_instructions instructions, int channels, bool planar, uint8_t *batch,
                       const uint8_t *picture, size_t stride, size_t width, size_t height, bool flip_x, bool flip_y)
{
	planar = planar && channels > 1;
	size_t row = planar ? width : width * channels;
	for (size_t y = 0; y < height; y++) {
		const uint8_t *in = picture + (flip_y ? height - 1 - y : y) * stride;
		write_row(instructions, channels, planar, batch + y * row, width * height, in, width, flip_x);
	}
}
