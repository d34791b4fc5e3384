// Operations on single values and single pixels.
#include "colour.h"

// Plain loops, for GCC to vectorise; that no float operation traps lets it compute both sides of a choice.
#pragma GCC optimize("O3", "no-trapping-math")

#define INLINE static inline __attribute__((always_inline))
#define TARGET(features) __attribute__((target(features)))

INLINE void count(uint32_t *counts, const uint8_t *row, size_t width, int channels)
{
	for (size_t x = 0; x < width; x++, row += channels)
		for (int c = 0; c < channels; c++)
			counts[c * PIXEL_LEVELS + row[c]]++;
}

void pixel_count(uint32_t *counts, const uint8_t *picture, size_t stride, size_t width, size_t height, int channels)
{
	for (size_t y = 0; y < height; y++, picture += stride)
		switch (channels) {
		case 1: count(counts, picture, width, 1); break;
		case 3: count(counts, picture, width, 3); break;
		default: count(counts, picture, width, 4); break;
		}
}

INLINE void look_up(const uint8_t *tables, uint8_t *row, size_t width, int channels)
{
	for (size_t x = 0; x < width; x++, row += channels)
		for (int c = 0; c < channels; c++)
			row[c] = tables[c * PIXEL_LEVELS + row[c]];
}

void pixel_look_up(const uint8_t *tables, uint8_t *picture, size_t stride, size_t width, size_t height, int channels)
{
	for (size_t y = 0; y < height; y++, picture += stride)
		switch (channels) {
		case 1: look_up(tables, picture, width, 1); break;
		case 3: look_up(tables, picture, width, 3); break;
		default: look_up(tables, picture, width, 4); break;
		}
}

INLINE float least(float a, float b) { return a < b ? a : b; }
INLINE float most(float a, float b) { return a > b ? a : b; }
INLINE float magnitude(float a) { return most(a, -a); }

// Pixels that are changed together, channel by channel, so that vectors hold neighbours.
enum { BLOCK = 64 };
struct block {
	float r[BLOCK], g[BLOCK], b[BLOCK];
};

INLINE void load(struct block *block, const uint8_t *pixels, size_t count, int channels)
{
	for (size_t i = 0; i < count; i++) {
		block->r[i] = pixels[i * channels];
		block->g[i] = pixels[i * channels + 1];
		block->b[i] = pixels[i * channels + 2];
	}
}

INLINE void store(const struct block *block, uint8_t *pixels, size_t count, int channels)
{
	for (size_t i = 0; i < count; i++) {
		pixels[i * channels] = pixel_level(block->r[i]);
		pixels[i * channels + 1] = pixel_level(block->g[i]);
		pixels[i * channels + 2] = pixel_level(block->b[i]);
	}
}

// As tf.image.rgb_to_grayscale weighs them.
INLINE void fade(struct block *block, float amount)
{
	for (int i = 0; i < BLOCK; i++) {
		float r = block->r[i], g = block->g[i], b = block->b[i];
		float gray = 0.2989f * r + 0.5870f * g + 0.1140f * b;
		block->r[i] = r + amount * (gray - r);
		block->g[i] = g + amount * (gray - g);
		block->b[i] = b + amount * (gray - b);
	}
}

// The saturation in HSV is (value - least) / value, so its product with the amount stretches every channel's distance to
// the value.
INLINE void saturate(struct block *block, float amount)
{
	for (int i = 0; i < BLOCK; i++) {
		float r = block->r[i], g = block->g[i], b = block->b[i];
		float value = most(most(r, g), b);
		block->r[i] = value - amount * (value - r);
		block->g[i] = value - amount * (value - g);
		block->b[i] = value - amount * (value - b);
	}
}

// The hue in HSV, here from 0 to 6, says how far each channel is from the least to the largest one.
INLINE void turn(struct block *block, float amount)
{
	for (int i = 0; i < BLOCK; i++) {
		float r = block->r[i], g = block->g[i], b = block->b[i];
		float value = most(most(r, g), b), low = least(least(r, g), b);
		float range = value - low;
		float scale = 1.0f / most(range, 1);
		float of_r = (g - b) * scale, of_g = (b - r) * scale + 2, of_b = (r - g) * scale + 4;
		float hue = g == value ? of_g : of_b;
		hue = amount + (r == value ? of_r : hue);
		hue = hue < 0 ? hue + 6 : hue;
		hue = hue >= 6 ? hue - 6 : hue;
		block->r[i] = low + range * most(least(magnitude(hue - 3) - 1, 1), 0);
		block->g[i] = low + range * most(least(2 - magnitude(hue - 2), 1), 0);
		block->b[i] = low + range * most(least(2 - magnitude(hue - 4), 1), 0);
	}
}

INLINE void change_row(enum pixel_change change, float amount, uint8_t *row, size_t width, int channels)
{
	struct block block = {0};
	for (size_t x = 0; x < width; x += BLOCK, row += BLOCK * channels) {
		size_t count = width - x < BLOCK ? width - x : BLOCK;
		load(&block, row, count, channels);
		switch (change) {
		case PIXEL_FADE: fade(&block, amount); break;
		case PIXEL_SATURATE: saturate(&block, amount); break;
		case PIXEL_TURN: turn(&block, amount); break;
		}
		store(&block, row, count, channels);
	}
}

INLINE void change_rows(enum pixel_change change, float amount, uint8_t *picture, size_t stride, size_t width,
                        size_t height, int channels)
{
	for (size_t y = 0; y < height; y++, picture += stride)
		if (channels == 3)
			change_row(change, amount, picture, width, 3);
		else
			change_row(change, amount, picture, width, 4);
}

TARGET("avx2")
static void change_avx2(enum pixel_change change, float amount, uint8_t *picture, size_t stride, size_t width,
                        size_t height, int channels)
{
	change_rows(change, amount, picture, stride, width, height, channels);
}

void pixel_change(enum pixel_instructions instructions, enum pixel_change change, float amount, uint8_t *picture,
                  size_t stride, size_t width, size_t height, int channels)
{
	if (instructions >= PIXEL_AVX2)
		change_avx2(change, amount, picture, stride, width, height, channels);
	else
		change_rows(change, amount, picture, stride, width, height, channels);
}

// Samples that are summed together, so that their sums stay in the nearest cache.
enum { SUMS = 1024 };

INLINE void sum_row(float own, const float *weights, size_t others, const uint8_t *made, size_t distance, uint8_t *row,
                    size_t samples, bool alpha)
{
	float sums[SUMS];
	for (size_t first = 0; first < samples; first += SUMS, made += SUMS, row += SUMS) {
		size_t count = samples - first < SUMS ? samples - first : SUMS;
		for (size_t i = 0; i < count; i++)
			sums[i] = own * row[i];
		for (size_t k = 0; k < others; k++)
			for (size_t i = 0; i < count; i++)
				sums[i] += weights[k] * made[k * distance + i];
		for (size_t i = 0; i < count; i++)
			row[i] = alpha && i % 4 == 3 ? row[i] : pixel_level(sums[i]);
	}
}

INLINE void sum_rows(float own, const float *weights, size_t others, const uint8_t *made, uint8_t *picture,
                     size_t stride, size_t width, size_t height, int channels)
{
	size_t samples = width * channels, distance = samples * height;
	for (size_t y = 0; y < height; y++, picture += stride, made += samples)
		if (channels == 4)
			sum_row(own, weights, others, made, distance, picture, samples, true);
		else
			sum_row(own, weights, others, made, distance, picture, samples, false);
}

TARGET("avx2")
static void sum_avx2(float own, const float *weights, size_t others, const uint8_t *made, uint8_t *picture,
                     size_t stride, size_t width, size_t height, int channels)
{
	sum_rows(own, weights, others, made, picture, stride, width, height, channels);
}

void pixel_weighted_sum(enum pixel_instructions instructions, float own, const float *weights, size_t others,
                        const uint8_t *made, uint8_t *picture, size_t stride, size_t width, size_t height,
                        int channels)
{
	if (instructions >= PIXEL_AVX2)
		sum_avx2(own, weights, others, made, picture, stride, width, height, channels);
	else
		sum_rows(own, weights, others, made, picture, stride, width, height, channels);
}
