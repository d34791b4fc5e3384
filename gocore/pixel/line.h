// Lines of output: words that are floats or, where bytes are to be written, integers. What is the same for every set.
#ifndef TFGOLOADER_PIXEL_LINE_H
#define TFGOLOADER_PIXEL_LINE_H

#include <immintrin.h>
#include <string.h>

#include "kernels.h"

#define INLINE static inline __attribute__((always_inline))

enum {
	LANES = PIXEL_MAX_LANES,
	PERIOD = 3 * LANES, // whole pixels of 1, 3 and 4 channels, whole vectors of each set
	PAD = 3 * LANES,    // what loads and stores may exceed a row by
};

// The coefficients of struct pixel_vector, lane by lane.
struct affine {
	float scale[PERIOD], scale_rest[PERIOD], offset[PERIOD], offset_rest[PERIOD];
};

// Where lines go, and how.
struct place {
	uint8_t *out;
	size_t width, height;
	int channels;
	enum pixel_sample sample;
	bool planar; // unless bytes
	bool flip_y;
	int32_t *plane; // room for one channel of a line
};

// Sets the coefficients of a line's lanes, and of four lanes for each pixel.
static inline void spread_affine(struct affine *lanes, struct affine *pixels, const struct pixel_float32 *values,
                                 int channels)
{
	for (int i = 0; i < PERIOD; i++) {
		int channel = i % channels;
		const struct pixel_vector *vector = &values->vectors[0][values->planar ? channel : 0];
		int lane = values->planar ? 0 : channel;
		lanes->scale[i] = vector->scale[lane];
		lanes->scale_rest[i] = vector->scale_rest[lane];
		lanes->offset[i] = vector->offset[lane];
		lanes->offset_rest[i] = vector->offset_rest[lane];
	}
	for (int i = 0; i < PERIOD; i++) {
		pixels->scale[i] = lanes->scale[i % 4];
		pixels->scale_rest[i] = lanes->scale_rest[i % 4];
		pixels->offset[i] = lanes->offset[i % 4];
		pixels->offset_rest[i] = lanes->offset_rest[i % 4];
	}
}

static inline size_t sample_bytes(enum pixel_sample sample)
{
	return sample == PIXEL_UINT8 ? 1 : sample == PIXEL_FLOAT32 ? 4 : 2;
}

static inline size_t round_up(size_t a, size_t b)
{
	return (a + b - 1) / b * b;
}

// Writes words as bytes, those out of range as the nearest.
static inline void narrow(uint8_t *out, const int32_t *line, size_t count)
{
	for (; count >= 16; count -= 16, out += 16, line += 16) {
		const __m128i *in = (const __m128i *)line;
		__m128i low = _mm_packs_epi32(_mm_loadu_si128(in), _mm_loadu_si128(in + 1));
		__m128i high = _mm_packs_epi32(_mm_loadu_si128(in + 2), _mm_loadu_si128(in + 3));
		_mm_storeu_si128((__m128i *)out, _mm_packus_epi16(low, high));
	}
	for (; count > 0; count--, line++)
		*out++ = *line < 0 ? 0 : *line < UINT8_MAX ? *line : UINT8_MAX;
}

static inline __m128i widen_word(int32_t word)
{
	__m128i zero = _mm_setzero_si128();
	return _mm_unpacklo_epi16(_mm_unpacklo_epi8(_mm_cvtsi32_si128(word), zero), zero);
}

static inline __m128i widen_four(const uint8_t *bytes)
{
	int32_t word;
	memcpy(&word, bytes, sizeof word);
	return widen_word(word);
}

// Returns the lower halves of four words.
static inline __m128i pack_halves(__m128i words)
{
	words = _mm_srai_epi32(_mm_slli_epi32(words, 16), 16); // so that none is out of range
	return _mm_packs_epi32(words, words);
}

#endif
