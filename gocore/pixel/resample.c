// The kernels for each instruction set are in resample_set.h. All sum in the same order, and none fuses product and sum,
// so that the samples are the same with each.
#include <immintrin.h>
#include <string.h>

#include "resample.h"

#define INLINE static inline __attribute__((always_inline))

enum {
	LANES = PIXEL_MAX_LANES,
	PERIOD = 3 * LANES, // whole pixels of 1, 3 and 4 channels, whole vectors of each set
	PAD = 3 * LANES,    // what loads and stores may exceed a row by
	CHUNK = 8,          // rows summed at a time
};

// A call's arguments, and what is made of them once.
// The coefficients of struct pixel_vector, lane by lane.
struct affine {
	float scale[PERIOD], scale_rest[PERIOD], offset[PERIOD], offset_rest[PERIOD];
};

struct resample {
	struct pixel_resample form;
	struct pixel_taps x, y;
	const uint8_t *picture, *end;
	size_t stride;
	int32_t *row;           // of the picture
	int32_t *line, *planes; // of the output
	int32_t *ring;          // as many lines as an output row is made of, unless y is first
	size_t ring_stride;
	int32_t *begin, *weights; // of output pixels, as prepared for the set
	int32_t group;            // how many output pixels are summed together
	bool grouped;             // and prepared as groups
	struct affine lanes;      // of each lane of a line
	struct affine pixels;     // of four lanes for each pixel
};

// What becomes of an axis's sums: floats or integers for the other axis, or scaled floats or bytes in the end.
enum finish { KEEP, SCALE, TO_EVEN, HALF_UP, HOLD, SHIFT };

// An axis's arithmetic, where no store can alias it.
struct arithmetic {
	enum finish finish;
	float gain;
	struct pixel_shift shift;
	int32_t product_shift;
};

static struct arithmetic first_of(const struct pixel_resample *form)
{
	return (struct arithmetic){form->fixed ? HOLD : KEEP, 1, form->first, 0};
}

static struct arithmetic last_of(const struct pixel_resample *form)
{
	enum finish finish = form->fixed ? SHIFT : !form->bytes ? SCALE : form->half_up ? HALF_UP : TO_EVEN;
	return (struct arithmetic){finish, form->gain, form->last, form->product_shift};
}

// The output pixel that comes out at i; beyond the last, the last.
static int32_t output_at(const struct resample *r, int32_t i)
{
	int32_t last = r->x.outputs - 1;
	if (i > last)
		i = last;
	return r->form.flip_x ? last - i : i;
}

static int32_t weight_of(struct pixel_taps taps, int32_t output, int32_t tap)
{
	int32_t at = taps.at[output] + tap;
	return at < taps.at[output + 1] ? taps.weights[at] : 0;
}

static int32_t within(struct pixel_taps taps, int32_t i)
{
	return i < taps.from ? taps.from : i < taps.to ? i : taps.to - 1;
}

static const uint8_t *picture_row(const struct resample *r, int32_t y)
{
	return r->picture + (within(r->y, y) - r->y.from) * r->stride;
}

static int32_t *ring_row(const struct resample *r, int32_t y)
{
	return r->ring + within(r->y, y) % r->y.most * r->ring_stride;
}

// Writes words as bytes, those out of range as the nearest.
static void narrow(uint8_t *out, const int32_t *line, size_t count)
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

static inline __m128i widen_four(const uint8_t *bytes)
{
	int32_t word;
	memcpy(&word, bytes, sizeof word);
	__m128i zero = _mm_setzero_si128();
	return _mm_unpacklo_epi16(_mm_unpacklo_epi8(_mm_cvtsi32_si128(word), zero), zero);
}

#define FOUR(row, begin) (const __m128i *)((row) + *(begin))

// Calls for the usual counts, each a constant whose loop unrolls, or for any.
#define FOR_COUNT(call, count)                                                                                         \
	switch (count) {                                                                                                   \
	case 2:                                                                                                            \
		call(2);                                                                                                       \
		break;                                                                                                         \
	case 3:                                                                                                            \
		call(3);                                                                                                       \
		break;                                                                                                         \
	case 4:                                                                                                            \
		call(4);                                                                                                       \
		break;                                                                                                         \
	default:                                                                                                           \
		call(count);                                                                                                   \
	}

#define NAME3(name, set) name##_##set
#define NAME2(name, set) NAME3(name, set)
#define NAME(name) NAME2(name, SET)

#define SET sse2
#define WIDTH 4
#pragma GCC push_options
#pragma GCC target("sse2")
#include "resample_set.h"
#pragma GCC pop_options
#undef SET
#undef WIDTH

#define SET avx2
#define WIDTH 8
#pragma GCC push_options
#pragma GCC target("avx2")
#include "resample_set.h"
#pragma GCC pop_options
#undef SET
#undef WIDTH

#define SET avx512
#define WIDTH 16
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl")
#include "resample_set.h"
#pragma GCC pop_options

static size_t round_up(size_t a, size_t b)
{
	return (a + b - 1) / b * b;
}

// How the scratch is divided, in words.
struct parts {
	size_t row, line, ring, begin, weights;
};

static struct parts divide(const struct pixel_resample *form, struct pixel_taps x, struct pixel_taps y)
{
	size_t outputs = round_up(x.outputs, LANES), line = round_up((size_t)x.outputs * form->channels, PERIOD) + PAD;
	// Single pixels have four words for each tap, groups of two or more have a vector and one more.
	size_t taps = x.most, grouped = (taps + 1) * LANES / 2, single = 4 * taps;
	return (struct parts){
		.row = round_up((size_t)(x.to - x.from + x.most) * form->channels, LANES) + PAD,
		.line = line,
		.ring = form->y_first ? 0 : y.most * line,
		.begin = outputs,
		.weights = outputs * (taps * form->channels <= 2 * LANES ? grouped : single),
	};
}

size_t pixel_resample_scratch(const struct pixel_resample *form, struct pixel_taps x, struct pixel_taps y)
{
	struct parts parts = divide(form, x, y);
	return LANES + parts.row + 2 * parts.line + parts.ring + parts.begin + parts.weights;
}

void pixel_resample(const struct pixel_resample *form, const struct pixel_float32 *values, struct pixel_taps x,
                    struct pixel_taps y, int32_t *scratch, uint8_t *out, const uint8_t *picture, size_t stride)
{
	struct parts parts = divide(form, x, y);
	struct resample r = {.form = *form, .x = x, .y = y, .picture = picture, .stride = stride};
	r.end = picture + (size_t)(y.to - y.from - 1) * stride + (size_t)(x.to - x.from) * form->channels;
	r.row = scratch + (-(uintptr_t)scratch / sizeof *scratch) % LANES;
	r.line = r.row + parts.row;
	r.planes = r.line + parts.line;
	r.ring = r.planes + parts.line;
	r.ring_stride = parts.line;
	r.begin = r.ring + parts.ring;
	r.weights = r.begin + parts.begin;
	// What lies beyond the ends of rows is loaded too, and zero is a number of either kind.
	memset(r.row, 0, parts.row * sizeof *r.row);
	memset(r.ring, 0, parts.ring * sizeof *r.ring);
	for (int i = 0; i < PERIOD; i++) {
		int channel = i % form->channels;
		const struct pixel_vector *vector = &values->vectors[0][values->planar ? channel : 0];
		int lane = values->planar ? 0 : channel;
		r.lanes.scale[i] = vector->scale[lane];
		r.lanes.scale_rest[i] = vector->scale_rest[lane];
		r.lanes.offset[i] = vector->offset[lane];
		r.lanes.offset_rest[i] = vector->offset_rest[lane];
	}
	for (int i = 0; i < LANES; i++) {
		r.pixels.scale[i] = r.lanes.scale[i % 4];
		r.pixels.scale_rest[i] = r.lanes.scale_rest[i % 4];
		r.pixels.offset[i] = r.lanes.offset[i % 4];
		r.pixels.offset_rest[i] = r.lanes.offset_rest[i % 4];
	}
	switch (form->instructions) {
	case PIXEL_SSE2:
		run_sse2(&r, out);
		break;
	case PIXEL_AVX2:
		run_avx2(&r, out);
		break;
	case PIXEL_AVX512:
		run_avx512(&r, out);
		break;
	}
	_mm_sfence(); // the streamed lines must be visible before the batch is handed over
}
