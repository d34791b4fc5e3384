// The kernels for each instruction set are in resample_set.h. All sum in the same order, and none fuses product and sum,
// so that the samples are the same with each.
#include <immintrin.h>
#include <string.h>

#include "line.h"
#include "resample.h"

enum { CHUNK = 8 }; // rows summed at a time

// A call's arguments, and what is made of them once.
struct resample {
	struct pixel_resample form;
	struct pixel_taps x, y;
	const uint8_t *picture, *end;
	size_t stride;
	struct place place;
	int32_t *row;  // of the picture
	int32_t *line; // of the output
	int32_t *ring; // as many lines as an output row is made of, unless y is first
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
	enum finish finish = form->fixed ? SHIFT : form->sample != PIXEL_UINT8 ? SCALE : form->half_up ? HALF_UP : TO_EVEN;
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

#define SET_FILE "resample_set.h"
#include "sets.h"

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
	r.place = (struct place){out, x.outputs, y.outputs, form->channels, form->sample, form->planar, form->flip_y,
	                         r.line + parts.line};
	r.ring = r.place.plane + parts.line;
	r.ring_stride = parts.line;
	r.begin = r.ring + parts.ring;
	r.weights = r.begin + parts.begin;
	// What lies beyond the ends of rows is loaded too, and zero is a number of either kind.
	memset(r.row, 0, parts.row * sizeof *r.row);
	memset(r.ring, 0, parts.ring * sizeof *r.ring);
	spread_affine(&r.lanes, &r.pixels, values, form->channels);
	OF_SET(form->instructions, run)(&r);
	_mm_sfence(); // the streamed lines must be visible before the batch is handed over
}
