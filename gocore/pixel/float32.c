// Bytes to float32: mirrored, separated into planes and scaled in one pass from the picture to the batch.
//
// A block is as many pixels as a vector has lanes, hence as many vectors of samples as there are channels. A table
// (struct pixel_vector) says which byte of the block each lane takes, so mirroring and planes cost nothing: only the
// tables differ, and the order in which blocks are read. Where a row ends within a block, the block is put together from
// two or more rows, so that a plane is written in whole vectors from its first cache line on.
#include <immintrin.h>
#include <math.h>
#include <string.h>

#include "kernels.h"

#define INLINE static inline __attribute__((always_inline))
#define TARGET(features) __attribute__((target(features)))

// For each set: a table in registers, the load of a block, and a table's samples of a block. GCC would fuse product
// and sum on some machines, did not the cgo flags ask for ISO mode.
struct table_sse2 {
	const uint8_t *source;
	__m128 scale, scale_rest, offset, offset_rest;
};

INLINE struct table_sse2 table_sse2(const struct pixel_vector *vector)
{
	return (struct table_sse2){vector->source, _mm_loadu_ps(vector->scale), _mm_loadu_ps(vector->scale_rest),
	                           _mm_loadu_ps(vector->offset), _mm_loadu_ps(vector->offset_rest)};
}

INLINE const uint8_t *load_sse2(const uint8_t *in, int channels)
{
	(void)channels;
	return in;
}

INLINE __m128 samples_sse2(const uint8_t *block, struct table_sse2 table)
{
	const uint8_t *source = table.source;
	__m128i bytes = _mm_setr_epi32(block[source[0]], block[source[1]], block[source[2]], block[source[3]]);
	__m128 x = _mm_cvtepi32_ps(bytes);
	return _mm_add_ps(_mm_add_ps(_mm_mul_ps(x, table.scale), table.offset),
	                  _mm_add_ps(_mm_mul_ps(x, table.scale_rest), table.offset_rest));
}

struct table_avx2 {
	__m256i words, bytes;
	__m256 scale, scale_rest, offset, offset_rest;
};

TARGET("avx2") INLINE struct table_avx2 table_avx2(const struct pixel_vector *vector)
{
	return (struct table_avx2){_mm256_loadu_si256((const __m256i *)vector->words),
	                           _mm256_loadu_si256((const __m256i *)vector->bytes), _mm256_loadu_ps(vector->scale),
	                           _mm256_loadu_ps(vector->scale_rest), _mm256_loadu_ps(vector->offset),
	                           _mm256_loadu_ps(vector->offset_rest)};
}

// The mask ends the load with the block.
TARGET("avx2") INLINE __m256i load_avx2(const uint8_t *in, int channels)
{
	__m256i words = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
	return _mm256_maskload_epi32((const int *)in, _mm256_cmpgt_epi32(_mm256_set1_epi32(2 * channels), words));
}

TARGET("avx2") INLINE __m256 samples_avx2(__m256i block, struct table_avx2 table)
{
	__m256i bytes = _mm256_shuffle_epi8(_mm256_permutevar8x32_epi32(block, table.words), table.bytes);
	__m256 x = _mm256_cvtepi32_ps(bytes);
	return _mm256_add_ps(_mm256_add_ps(_mm256_mul_ps(x, table.scale), table.offset),
	                     _mm256_add_ps(_mm256_mul_ps(x, table.scale_rest), table.offset_rest));
}

struct table_avx512 {
	__m512i words, bytes;
	__m512 scale, scale_rest, offset, offset_rest;
};

TARGET("avx512f,avx512bw") INLINE struct table_avx512 table_avx512(const struct pixel_vector *vector)
{
	return (struct table_avx512){_mm512_loadu_si512(vector->words), _mm512_loadu_si512(vector->bytes),
	                             _mm512_loadu_ps(vector->scale), _mm512_loadu_ps(vector->scale_rest),
	                             _mm512_loadu_ps(vector->offset), _mm512_loadu_ps(vector->offset_rest)};
}

TARGET("avx512f,avx512bw") INLINE __m512i load_avx512(const uint8_t *in, int channels)
{
	return _mm512_maskz_loadu_epi8(~0ull >> (64 - 16 * channels), in);
}

TARGET("avx512f,avx512bw") INLINE __m512 samples_avx512(__m512i block, struct table_avx512 table)
{
	__m512i bytes = _mm512_shuffle_epi8(_mm512_permutexvar_epi32(table.words, block), table.bytes);
	__m512 x = _mm512_cvtepi32_ps(bytes);
	return _mm512_add_ps(_mm512_add_ps(_mm512_mul_ps(x, table.scale), table.offset),
	                     _mm512_add_ps(_mm512_mul_ps(x, table.scale_rest), table.offset_rest));
}

// Defines convert_<set>, which writes `count` vectors of each of `blocks` blocks, `step` bytes apart, to successive
// places; streaming needs these aligned.
#define DEFINE_CONVERT(set, features, type, store, stream)                                                             \
	TARGET(features)                                                                                                   \
	INLINE void blocks_##set(const struct pixel_vector *vectors, int count, int channels, uint8_t *out,                \
	                         const uint8_t *in, ptrdiff_t step, size_t blocks, bool streaming)                         \
	{                                                                                                                  \
		struct table_##set tables[PIXEL_MAX_CHANNELS];                                                                 \
		_Pragma("GCC unroll 4") for (int i = 0; i < count; i++) tables[i] = table_##set(&vectors[i]);                  \
		for (; blocks > 0; blocks--, in += step) {                                                                     \
			__auto_type block = load_##set(in, channels);                                                              \
			_Pragma("GCC unroll 4") for (int i = 0; i < count; i++, out += sizeof(type))                               \
			{                                                                                                          \
				type samples = samples_##set(block, tables[i]);                                                        \
				if (streaming)                                                                                         \
					stream((float *)out, samples);                                                                     \
				else                                                                                                   \
					store((float *)out, samples);                                                                      \
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

DEFINE_CONVERT(sse2, "sse2", __m128, _mm_storeu_ps, _mm_stream_ps)
DEFINE_CONVERT(avx2, "avx2", __m256, _mm256_storeu_ps, _mm256_stream_ps)
DEFINE_CONVERT(avx512, "avx512f,avx512bw", __m512, _mm512_storeu_ps, _mm512_stream_ps)

typedef void convert_function(const struct pixel_vector *, int, int, uint8_t *, const uint8_t *, ptrdiff_t, size_t, bool);

static convert_function *const converters[] = {
	[PIXEL_SSE2] = convert_sse2,
	[PIXEL_AVX2] = convert_avx2,
	[PIXEL_AVX512] = convert_avx512,
};

static size_t lanes_of(enum pixel_instructions instructions)
{
	return (size_t)4 << instructions;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

// A picture's pixels, to be taken in the order in which they come out.
struct source {
	const uint8_t *picture;
	size_t stride, width, height, channels;
	bool flip_x, flip_y;
};

// Returns where the source has the `count` pixels of one row that come out from x, y on.
static const uint8_t *find(const struct source *source, size_t x, size_t y, size_t count)
{
	const uint8_t *row = source->picture + (source->flip_y ? source->height - 1 - y : y) * source->stride;
	return row + (source->flip_x ? source->width - x - count : x) * source->channels;
}

// Puts a block together from the `count` pixels, of any rows, that come out from x, y on.
static void collect(uint8_t *block, size_t lanes, const struct source *source, size_t x, size_t y, size_t count)
{
	for (size_t done = 0; done < count; x = 0, y++) {
		size_t part = least(count - done, source->width - x);
		size_t at = source->flip_x ? lanes - done - part : done;
		memcpy(block + at * source->channels, find(source, x, y, part), part * source->channels);
		done += part;
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

// Writes the pixels that come out at first to last: `count` channels, those of the vectors.
static void write_run(const struct pixel_float32 *form, const struct pixel_vector *vectors, int count, uint8_t *out,
                      const struct source *source, size_t first, size_t last, bool streaming)
{
	convert_function *convert = converters[form->instructions];
	size_t lanes = lanes_of(form->instructions);
	int channels = form->channels;
	ptrdiff_t step = (ptrdiff_t)lanes * channels * (source->flip_x ? -1 : 1);
	size_t size = count * sizeof(float);
	uint8_t block[PIXEL_MAX_LANES * PIXEL_MAX_CHANNELS] = {0};
	uint8_t samples[sizeof block * sizeof(float)];

	for (size_t done = first, written; done < last; done += written) {
		size_t x = done % source->width, y = done / source->width;
		size_t blocks = least(last - done, source->width - x) / lanes;
		uint8_t *to = out + done * size;
		if (blocks > 0) {
			written = blocks * lanes;
			convert(vectors, count, channels, to, find(source, x, y, lanes), step, blocks, streaming);
			continue;
		}
		written = least(last - done, lanes);
		collect(block, lanes, source, x, y, written);
		if (written == lanes) {
			convert(vectors, count, channels, to, block, step, 1, streaming);
		} else {
			convert(vectors, count, channels, samples, block, step, 1, false);
			memcpy(to, samples, written * size);
		}
	}
}

void pixel_row_float32(const struct pixel_float32 *form, uint8_t *out, const uint8_t *picture, size_t width, bool flip_x)
{
	const struct source source = {picture, 0, width, 1, form->channels, flip_x, false};
	write_run(form, form->vectors[flip_x], form->channels, out, &source, 0, width, false);
}

void pixel_write_float32(const struct pixel_float32 *form, uint8_t *batch, const uint8_t *picture, size_t stride,
                         size_t width, size_t height, bool flip_x, bool flip_y)
{
	const struct source source = {picture, stride, width, height, form->channels, flip_x, flip_y};
	int planes = form->planar ? form->channels : 1;
	int count = form->channels / planes;
	size_t pixels = width * height;
	size_t size = count * sizeof(float);
	for (int plane = 0; plane < planes; plane++, batch += pixels * size) {
		// Whole cache lines go past the caches: a batch has left them long before it is read, and a line that need not
		// be fetched first is written in half the time.
		size_t line = pixels_to_line(batch, size);
		bool streaming = line < pixels;
		size_t head = streaming ? line : 0;
		const struct pixel_vector *vectors = &form->vectors[flip_x][plane];
		write_run(form, vectors, count, batch, &source, 0, head, false);
		write_run(form, vectors, count, batch, &source, head, pixels, streaming);
	}
	_mm_sfence(); // the streamed lines must be visible before the batch is handed over
}

// Returns the value to 16 bits, whose product with a byte float32 holds.
static float high_part(double value)
{
	int exponent;
	double fraction = frexp(value, &exponent);
	return (float)ldexp(nearbyint(ldexp(fraction, 16)), exponent - 16);
}

static void prepare_vector(struct pixel_vector *vector, const struct pixel_float32 *form, const double *scale,
                           const double *offset, int index, bool flip)
{
	int lanes = lanes_of(form->instructions);
	for (int i = 0; i < lanes; i++) {
		int sample = index * lanes + i;
		int pixel = form->planar ? i : sample / form->channels;
		int channel = form->planar ? index : sample % form->channels;
		vector->source[i] = (flip ? lanes - 1 - pixel : pixel) * form->channels + channel;
		vector->scale[i] = high_part(scale[channel]);
		vector->scale_rest[i] = (float)(scale[channel] - vector->scale[i]);
		vector->offset[i] = (float)offset[channel];
		vector->offset_rest[i] = (float)(offset[channel] - vector->offset[i]);
	}
	for (int i = 0; i < lanes; i += 4) {
		// Four neighbouring lanes take their bytes from at most four neighbouring words.
		int first = vector->source[i];
		for (int j = i; j < i + 4; j++)
			first = least(first, vector->source[j]);
		first /= 4;
		for (int j = i; j < i + 4; j++) {
			uint8_t widened[4] = {vector->source[j] - 4 * first, 0x80, 0x80, 0x80};
			memcpy(vector->bytes + 4 * j, widened, sizeof widened);
			vector->words[j] = first + j - i;
		}
	}
}

void pixel_prepare_float32(struct pixel_float32 *form, enum pixel_instructions instructions, int channels, bool planar,
                           const double *scale, const double *offset)
{
	form->instructions = instructions;
	form->channels = channels;
	form->planar = planar;
	for (int flip = 0; flip < 2; flip++)
		for (int i = 0; i < channels; i++)
			prepare_vector(&form->vectors[flip][i], form, scale, offset, i, flip);
}
