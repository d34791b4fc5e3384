// Operations on a pixel and those around it.
#include <string.h>

#include "colour.h"

#pragma GCC optimize("O3", "no-trapping-math") // as in colour.c

#define INLINE static inline __attribute__((always_inline))
#define TARGET(features) __attribute__((target(features)))

// The sums of three rows between two pixels of 0, and the rows as they were.
size_t pixel_sharpen_buffer(size_t width, int channels) { return (5 * width + 4) * channels; }

INLINE void sharpen(float weight, uint8_t *buffer, uint8_t *picture, size_t stride, size_t width, size_t height,
                    int channels)
{
	size_t samples = width * channels;
	memset(buffer, 0, pixel_sharpen_buffer(width, channels));
	uint16_t *sums = (uint16_t *)buffer;
	uint8_t *rows = (uint8_t *)(sums + samples + 2 * channels);
	uint8_t *above = rows, *here = rows + samples, *below = rows + 2 * samples;
	memcpy(below, picture, samples);
	for (size_t y = 0; y < height; y++, picture += stride) {
		uint8_t *freed = above;
		above = here, here = below, below = freed;
		if (y + 1 < height)
			memcpy(below, picture + stride, samples);
		else
			memset(below, 0, samples);
		for (size_t i = 0; i < samples; i++)
			sums[channels + i] = above[i] + here[i] + below[i];
		for (size_t i = 0; i < samples; i++) {
			float x = here[i];
			float around = sums[i] + sums[i + channels] + sums[i + 2 * channels] + 4 * here[i];
			picture[i] = pixel_level(x + weight * (around * (1.0f / 13) - x));
		}
		if (channels == 4) // alpha
			for (size_t x = 0; x < width; x++)
				picture[4 * x + 3] = here[4 * x + 3];
	}
}

TARGET("avx2")
static void sharpen_avx2(float weight, uint8_t *buffer, uint8_t *picture, size_t stride, size_t width, size_t height,
                         int channels)
{
	sharpen(weight, buffer, picture, stride, width, height, channels);
}

void pixel_sharpen(enum pixel_instructions instructions, float weight, uint8_t *buffer, uint8_t *picture, size_t stride,
                   size_t width, size_t height, int channels)
{
	if (instructions >= PIXEL_AVX2)
		sharpen_avx2(weight, buffer, picture, stride, width, height, channels);
	else
		sharpen(weight, buffer, picture, stride, width, height, channels);
}

// A row of samples between two stretches of 0, a row of 0, and a ring of rows that are summed along.
static size_t ring_rows(size_t radius) { return 2 * radius + 1; }

size_t pixel_blur_buffer(size_t width, int channels, size_t radius)
{
	size_t samples = width * channels;
	return samples + 2 * radius * channels + samples + ring_rows(radius) * samples;
}

// Neighbours at the same distance are added first, so that a mirrored picture gives the mirrored result exactly.
INLINE void blur_along(const float *weights, size_t radius, const float *in, float *out, size_t samples, int channels)
{
	for (size_t i = 0; i < samples; i++)
		out[i] = weights[0] * in[i];
	for (size_t t = 1; t <= radius; t++) {
		const float *before = in - t * channels, *after = in + t * channels;
		for (size_t i = 0; i < samples; i++)
			out[i] += weights[t] * (before[i] + after[i]);
	}
}

INLINE void blur(const float *along, const float *across, size_t radius, float *buffer, uint8_t *picture, size_t stride,
                 size_t width, size_t height, int channels)
{
	size_t samples = width * channels, pad = radius * channels;
	memset(buffer, 0, pixel_blur_buffer(width, channels, radius) * sizeof *buffer);
	float *line = buffer + pad, *zero = line + samples + pad, *ring = zero + samples;
	for (size_t ahead = 0; ahead < height + radius; ahead++) {
		if (ahead < height) {
			const uint8_t *row = picture + ahead * stride;
			for (size_t i = 0; i < samples; i++)
				line[i] = row[i];
			blur_along(along, radius, line, ring + ahead % ring_rows(radius) * samples, samples, channels);
		}
		if (ahead < radius)
			continue;
		// Rows up to this one are in the ring, so this one may be overwritten.
		size_t y = ahead - radius;
		const float *middle = ring + y % ring_rows(radius) * samples;
		for (size_t i = 0; i < samples; i++)
			line[i] = across[0] * middle[i];
		for (size_t t = 1; t <= radius; t++) {
			const float *above = y >= t ? ring + (y - t) % ring_rows(radius) * samples : zero;
			const float *below = y + t < height ? ring + (y + t) % ring_rows(radius) * samples : zero;
			for (size_t i = 0; i < samples; i++)
				line[i] += across[t] * (above[i] + below[i]);
		}
		uint8_t *out = picture + y * stride;
		if (channels == 4) // alpha
			for (size_t x = 0; x < width; x++)
				line[4 * x + 3] = out[4 * x + 3];
		for (size_t i = 0; i < samples; i++)
			out[i] = pixel_level(line[i]);
	}
}

TARGET("avx2")
static void blur_avx2(const float *along, const float *across, size_t radius, float *buffer, uint8_t *picture,
                      size_t stride, size_t width, size_t height, int channels)
{
	blur(along, across, radius, buffer, picture, stride, width, height, channels);
}

void pixel_blur(enum pixel_instructions instructions, const float *along, const float *across, size_t radius,
                float *buffer, uint8_t *picture, size_t stride, size_t width, size_t height, int channels)
{
	if (instructions >= PIXEL_AVX2)
		blur_avx2(along, across, radius, buffer, picture, stride, width, height, channels);
	else
		blur(along, across, radius, buffer, picture, stride, width, height, channels);
}
