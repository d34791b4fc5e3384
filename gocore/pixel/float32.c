// Bytes to float32: mirrored, separated into planes and scaled in one pass from the picture to the batch.
//
// A block is as many pixels as a vector has lanes, hence as many vectors of samples as there are channels. A table
// (struct pixel_vector) says which byte of the block each lane takes, so mirroring and planes cost nothing: only the
// tables differ, and the order in which blocks are read.
#include <immintrin.h>
#include <string.h>

#include "kernels.h"

#define INLINE static inline __attribute__((always_inline))
#define TARGET(features) __attribute__((target(features)))

// GCC rounds x * y + z once outside ISO mode, which the cgo flags ask for; Clang obeys the pragma.
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

INLINE const uint8_t *load_sse2(const uint8_t *in, int channels)
{
	(void)channels;
	return in;
}

INLINE __m128 gather_sse2(const uint8_t *block, const struct pixel_vector *vector)
{
	const uint8_t *source = vector->source;
	return _mm_cvtepi32_ps(_mm_setr_epi32(block[source[0]], block[source[1]], block[source[2]], block[source[3]]));
}

// Masked loads stop at the end of the block.
TARGET("avx2") INLINE __m256i load_avx2(const uint8_t *in, int channels)
{
	__m256i words = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
	return _mm256_maskload_epi32((const int *)in, _mm256_cmpgt_epi32(_mm256_set1_epi32(2 * channels), words));
}

TARGET("avx2") INLINE __m256 gather_avx2(__m256i block, const struct pixel_vector *vector)
{
	__m256i words = _mm256_permutevar8x32_epi32(block, _mm256_loadu_si256((const __m256i *)vector->words));
	return _mm256_cvtepi32_ps(_mm256_shuffle_epi8(words, _mm256_loadu_si256((const __m256i *)vector->bytes)));
}

TARGET("avx512f,avx512bw") INLINE __m512i load_avx512(const uint8_t *in, int channels)
{
	return _mm512_maskz_loadu_epi8(~0ull >> (64 - 16 * channels), in);
}

TARGET("avx512f,avx512bw") INLINE __m512 gather_avx512(__m512i block, const struct pixel_vector *vector)
{
	__m512i words = _mm512_permutexvar_epi32(_mm512_loadu_si512(vector->words), block);
	return _mm512_cvtepi32_ps(_mm512_shuffle_epi8(words, _mm512_loadu_si512(vector->bytes)));
}

// Defines convert_<set>, which writes `count` vectors of each of `blocks` blocks, `step` bytes apart, to successive
// places; streaming needs these aligned.
#define DEFINE_CONVERT(set, features, type, load, store, stream)                                                       \
	TARGET(features)                                                                                                   \
	INLINE void blocks_##set(const struct pixel_vector *vectors, int count, int channels, uint8_t *out,                \
	                         const uint8_t *in, ptrdiff_t step, size_t blocks, bool streaming)                         \
	{                                                                                                                  \
		for (; blocks > 0; blocks--, in += step) {                                                                     \
			__auto_type block = load_##set(in, channels);                                                              \
			_Pragma("GCC unroll 4") for (int i = 0; i < count; i++, out += sizeof(type))                               \
			{                                                                                                          \
				type product = gather_##set(block, &vectors[i]) * load(vectors[i].scale);                              \
				type sum = product + load(vectors[i].offset);                                                          \
				if (streaming)                                                                                         \
					stream((float *)out, sum);                                                                         \
				else                                                                                                   \
					store((float *)out, sum);                                                                          \
			}                                                                                                          \
		}                                                                                                              \
	}                                                                                                                  \
                                                                                                                       \
	/* A constant count keeps the tables in registers. */                                                              \
	TARGET(features)                                                                                                   \
	static void convert_##set(const struct pixel_vector *vectors, int count, int channels, uint8_t *out,               \
	                          const uint8_t *in, ptrdiff_t step, size_t blocks, bool streaming)                        \
	{                                                                                                                  \
		switch (count) {                                                                                               \
		case 1:                                                                                                        \
			blocks_##set(vectors, 1, channels, out, in, step, blocks, streaming);                                      \
			break;                                                                                                     \
		case 3:                                                                                                        \
			blocks_##set(vectors, 3, channels, out, in, step, blocks, streaming);                                      \
			break;                                                                                                     \
		case 4:                                                                                                        \
			blocks_##set(vectors, 4, channels, out, in, step, blocks, streaming);                                      \
			break;                                                                                                     \
		}                                                                                                              \
	}

DEFINE_CONVERT(sse2, "sse2", __m128, _mm_loadu_ps, _mm_storeu_ps, _mm_stream_ps)
DEFINE_CONVERT(avx2, "avx2", __m256, _mm256_loadu_ps, _mm256_storeu_ps, _mm256_stream_ps)
DEFINE_CONVERT(avx512, "avx512f,avx512bw", __m512, _mm512_loadu_ps, _mm512_storeu_ps, _mm512_stream_ps)

typedef void convert_function(const struct pixel_vector *, int, int, uint8_t *, const uint8_t *, ptrdiff_t, size_t, bool);

static convert_function *const convert[] = {
	[PIXEL_SSE2] = convert_sse2,
	[PIXEL_AVX2] = convert_avx2,
	[PIXEL_AVX512] = convert_avx512,
};

static int lanes(enum pixel_instructions instructions)
{
	return 4 << instructions;
}

// Writes the pixels that come out at first to last, one by one: `count` channels of each from `channel` on. Streaming
// needs out aligned to samples.
static void convert_scalar(const struct pixel_float32 *form, int channel, int count, uint8_t *out, const uint8_t *in,
                           size_t width, size_t first, size_t last, bool flip, bool streaming)
{
	for (size_t x = first; x < last; x++) {
		const uint8_t *pixel = in + (flip ? width - 1 - x : x) * form->channels + channel;
		uint8_t *to = out + x * count * sizeof(float);
		for (int i = 0; i < count; i++, to += sizeof(float)) {
			float sample = (float)pixel[i] * form->scale[channel + i] + form->offset[channel + i];
			int32_t bits;
			memcpy(&bits, &sample, sizeof bits);
			if (streaming)
				_mm_stream_si32((int *)to, bits);
			else
				memcpy(to, &bits, sizeof bits);
		}
	}
}

// Returns after how many pixels of `size` bytes a cache line begins, or SIZE_MAX if none does.
static size_t pixels_to_line(const uint8_t *out, size_t size)
{
	enum { LINE = 64 };
	for (size_t pixels = 0; pixels < LINE / sizeof(float); pixels++)
		if (((uintptr_t)out + pixels * size) % LINE == 0)
			return pixels;
	return SIZE_MAX;
}

// Writes one row of `count` channels from `channel` on. Whole cache lines go past the caches: a batch has left them
// long before it is read, and lines that need not be read first are written twice as fast.
static void write_row(const struct pixel_float32 *form, int channel, int count, uint8_t *out, const uint8_t *in,
                      size_t width, bool flip)
{
	size_t size = count * sizeof(float);
	size_t head = pixels_to_line(out, size);
	bool streaming = head != SIZE_MAX;
	if (!streaming)
		head = 0;
	if (head > width)
		head = width;
	ptrdiff_t block = lanes(form->instructions);
	size_t blocks = (width - head) / block;
	size_t tail = head + blocks * block;

	convert_scalar(form, channel, count, out, in, width, 0, head, flip, streaming);
	if (blocks > 0) {
		const uint8_t *first = in + (flip ? width - head - block : head) * form->channels;
		ptrdiff_t step = (flip ? -block : block) * form->channels;
		convert[form->instructions](&form->vectors[flip][channel], count, form->channels, out + head * size, first, step,
		                            blocks, streaming);
	}
	convert_scalar(form, channel, count, out, in, width, tail, width, flip, streaming);
}

void pixel_write_float32(const struct pixel_float32 *form, uint8_t *batch, const uint8_t *picture, size_t stride,
                         size_t width, size_t height, bool flip_x, bool flip_y)
{
	int planes = form->planar ? form->channels : 1;
	int count = form->channels / planes;
	for (int plane = 0; plane < planes; plane++)
		for (size_t y = 0; y < height; y++) {
			const uint8_t *in = picture + (flip_y ? height - 1 - y : y) * stride;
			uint8_t *out = batch + (plane * height + y) * width * count * sizeof(float);
			write_row(form, plane, count, out, in, width, flip_x);
		}
	_mm_sfence(); // the streamed lines must be visible before the batch is handed over
}

static void prepare_vector(struct pixel_vector *vector, const struct pixel_float32 *form, int index, bool flip)
{
	int block = lanes(form->instructions);
	for (int i = 0; i < block; i++) {
		int sample = index * block + i;
		int pixel = form->planar ? i : sample / form->channels;
		int channel = form->planar ? index : sample % form->channels;
		vector->source[i] = (flip ? block - 1 - pixel : pixel) * form->channels + channel;
		vector->scale[i] = form->scale[channel];
		vector->offset[i] = form->offset[channel];
	}
	for (int i = 0; i < block; i += 4) {
		// Four neighbouring lanes take their bytes from at most four neighbouring words.
		int first = vector->source[i];
		for (int j = i; j < i + 4; j++)
			first = vector->source[j] < first ? vector->source[j] : first;
		first /= 4;
		for (int j = i; j < i + 4; j++) {
			uint8_t widened[4] = {vector->source[j] - 4 * first, 0x80, 0x80, 0x80};
			memcpy(vector->bytes + 4 * j, widened, sizeof widened);
			vector->words[j] = first + j - i;
		}
	}
}

void pixel_prepare_float32(struct pixel_float32 *form)
{
	for (int flip = 0; flip < 2; flip++)
		for (int i = 0; i < form->channels; i++)
			prepare_vector(&form->vectors[flip][i], form, i, flip);
}
