// The kernels for each instruction set are in warp_set.h. All compute in the same order, and none fuses product and sum,
// so that the samples are the same with each. The order is that of TensorFlow's ImageProjectiveTransformV3.
#include <math.h>

#include "line.h"
#include "warp.h"

// A call's arguments, and what is made of them once.
struct warp {
	struct pixel_warp form;
	const uint8_t *picture, *end;
	int32_t stride;
	struct place place;
	bool bytes;
	struct affine pixels; // of four lanes for each pixel
	size_t right, below;  // how far the next pixels are; 0 where there are none
	int32_t last_x, last_y; // the last pixels that may come first of two
	// Of each output pixel of a row: where the first of its four pixels begins, how it is made, and how far its place is
	// beyond the first pixel or, at an EDGE, the place.
	int32_t *at, *how;
	float *x, *y;
	int32_t *line; // of the output
};

// How pixels are made: filled, of four pixels some of which are filled, or of pixels alone.
enum { OUTSIDE = 0, EDGE = 1, WHOLE = -1 };

// The output pixels of a row that are whole lie between these.
struct span {
	int32_t begin, end;
};

static struct span span_whole(const struct warp *w)
{
	struct span span = {0, w->form.outputs_x};
	while (span.begin < span.end && w->how[span.begin] != WHOLE)
		span.begin++;
	while (span.begin < span.end && w->how[span.end - 1] != WHOLE)
		span.end--;
	return span;
}

// Returns a sample of a pixel, or of what lies around the picture.
static float sample(const struct warp *w, int32_t x, int32_t y, int channel)
{
	const struct pixel_warp *form = &w->form;
	if (x < form->from_x || x >= form->to_x || y < form->from_y || y >= form->to_y)
		return form->value[channel];
	return w->picture[(size_t)(y - form->from_y) * w->stride + (size_t)(x - form->from_x) * form->channels + channel];
}

// Interpolates at a place less than a pixel outside.
static float edge_sample(const struct warp *w, float x, float y, int channel)
{
	float left = floorf(x), right = left + 1, top = floorf(y), bottom = top + 1;
	float upper = (right - x) * sample(w, left, top, channel) + (x - left) * sample(w, right, top, channel);
	float lower = (right - x) * sample(w, left, bottom, channel) + (x - left) * sample(w, right, bottom, channel);
	return (bottom - y) * upper + (y - top) * lower;
}

// Returns the pixel at a place and what follows it, up to the end of the picture if that is near.
INLINE int32_t pixel_at(const uint8_t *from, const uint8_t *end, bool near_end)
{
	int32_t word = 0;
	if (near_end && end - from < (ptrdiff_t)sizeof word)
		for (int i = 0; i < end - from; i++)
			word |= (int32_t)from[i] << 8 * i;
	else
		memcpy(&word, from, sizeof word);
	return word;
}

#define SET_FILE "warp_set.h"
#include "sets.h"

static size_t row_words(const struct pixel_warp *form)
{
	return round_up(form->outputs_x, LANES);
}

static size_t line_words(const struct pixel_warp *form)
{
	return round_up((size_t)form->outputs_x * form->channels, PERIOD) + PAD;
}

size_t pixel_warp_scratch(const struct pixel_warp *form)
{
	return LANES + 4 * row_words(form) + 2 * line_words(form);
}

void pixel_warp_picture(const struct pixel_warp *form, const struct pixel_float32 *values, int32_t *scratch, uint8_t *out,
                        const uint8_t *picture, size_t stride)
{
	struct warp w = {.form = *form, .picture = picture, .stride = stride, .bytes = form->sample == PIXEL_UINT8};
	int32_t width = form->to_x - form->from_x, height = form->to_y - form->from_y;
	w.end = picture + (height - 1) * stride + (size_t)width * form->channels;
	w.right = width > 1 ? form->channels : 0;
	w.below = height > 1 ? stride : 0;
	w.last_x = width > 1 ? form->to_x - 2 : form->from_x;
	w.last_y = height > 1 ? form->to_y - 2 : form->from_y;
	size_t row = row_words(form);
	w.at = scratch + (-(uintptr_t)scratch / sizeof *scratch) % LANES;
	w.how = w.at + row;
	w.x = (float *)(w.how + row);
	w.y = w.x + row;
	w.line = w.how + 3 * row;
	w.place = (struct place){out, form->outputs_x, form->outputs_y, form->channels, form->sample, form->planar,
	                         form->flip_y, w.line + line_words(form)};
	struct affine lanes;
	spread_affine(&lanes, &w.pixels, values, form->channels);
	OF_SET(form->instructions, warp)(&w);
	_mm_sfence(); // the streamed lines must be visible before the batch is handed over
}
