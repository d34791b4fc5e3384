// Included once for each instruction set, SET, whose vectors have WIDTH lanes of 32 bits.

#include "line_set.h"

// Four words for each of WIDTH / 4 pixels: the bytes of their words, and a number for each.
#if WIDTH == 4
#define PIXELS(word) (WORDS) widen_word(word(0))
#define SPREAD(numbers) (FLOATS) _mm_set1_ps(*(numbers))
#elif WIDTH == 8
#define PIXELS(word) (WORDS) _mm256_cvtepu8_epi32(_mm_setr_epi32(word(0), word(1), 0, 0))
#define SPREAD(numbers) (FLOATS) _mm256_setr_m128(_mm_set1_ps((numbers)[0]), _mm_set1_ps((numbers)[1]))
#else
#define PIXELS(word) (WORDS) _mm512_cvtepu8_epi32(_mm_setr_epi32(word(0), word(1), word(2), word(3)))
#define SPREAD(numbers)                                                                                                \
	(FLOATS) _mm512_permutexvar_ps(_mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3),                   \
	                               _mm512_castps128_ps512(_mm_loadu_ps(numbers)))
#endif

INLINE FLOATS NAME(either)(WORDS which, FLOATS yes, FLOATS no)
{
	return (FLOATS)NAME(choose)(which, (WORDS)yes, (WORDS)no);
}

INLINE WORDS NAME(clamp)(WORDS a, int32_t least, int32_t most)
{
	WORDS below = a < least;
	a = (least & below) | (a & ~below);
	WORDS above = a > most;
	return (most & above) | (a & ~above);
}

INLINE FLOATS NAME(to_floats)(WORDS a)
{
	return __builtin_convertvector(a, FLOATS);
}

INLINE WORDS NAME(to_words)(FLOATS a)
{
	return __builtin_convertvector(a, WORDS);
}

// Of numbers that are not negative. From 2^23 on all floats are whole.
INLINE FLOATS NAME(floor)(FLOATS a)
{
	return NAME(either)((WORDS)(a < 0x1p23f), NAME(to_floats)(NAME(to_words)(a)), a);
}

// Moves places on an axis inside, as TensorFlow does: one between the last pixel and its mirror image or the first pixel is
// at the nearer end, and copies to be wrapped follow one another after a pixel less. Whatever it is given, it ends inside.
INLINE FLOATS NAME(move_inside)(FLOATS at, enum pixel_fill fill, int32_t pixels)
{
	float length = pixels, last = pixels - 1, period = 2 * length;
	FLOATS far = (FLOATS)((WORDS)at & INT32_MAX);
	if (fill == PIXEL_FILL_REFLECT) {
		far = far - period * NAME(floor)(far / period);
		FLOATS before = NAME(either)((WORDS)(far > length), period - far, far - 1);
		FLOATS after = NAME(either)((WORDS)(far >= length), period - far - 1, far);
		at = NAME(either)((WORDS)(at < 0), before, after);
	} else if (fill == PIXEL_FILL_WRAP) {
		FLOATS copies = NAME(floor)(far / last);
		FLOATS after = NAME(either)((WORDS)(at > last), at - length * copies, at);
		at = NAME(either)((WORDS)(at < 0), at + length * (copies + 1), after);
	}
	at = NAME(either)((WORDS)(at > 0), at, (FLOATS){0}); // not a number becomes 0
	return NAME(either)((WORDS)(at < last), at, (FLOATS){0} + last);
}

INLINE WORDS NAME(between)(FLOATS a, float least, float most)
{
	return (WORDS)(a > least) & (WORDS)(a < most);
}

// Halves away from zero, of places that are inside.
INLINE FLOATS NAME(nearest)(FLOATS at)
{
	FLOATS whole = NAME(to_floats)(NAME(to_words)(at));
	return whole - NAME(to_floats)((WORDS)(at - whole >= 0.5f)); // true is -1
}

// Finds where the pixels of output row y come from. Returns whether some are near the end of the picture.
INLINE bool NAME(find)(const struct warp *w, int32_t y, enum pixel_fill fill)
{
	const struct pixel_warp *form = &w->form;
	const float *m = form->matrix;
	WORDS lanes;
	for (int i = 0; i < WIDTH; i++)
		lanes[i] = i;
	int32_t first = form->first_x, step = 1;
	if (form->flip_x) {
		first += form->outputs_x - 1;
		step = -1;
	}
	float down = form->first_y + y, down_x = m[1] * down, down_y = m[4] * down, down_k = m[7] * down;
	float right = form->width - 1, bottom = form->height - 1, reach = form->nearest ? 0.5f : 1;
	// A word begins at most here to end within the picture.
	int32_t most = w->end - w->picture - w->right - w->below - sizeof(int32_t);
	WORDS near = {0};
	for (int32_t i = 0; i < form->outputs_x; i += WIDTH) {
		FLOATS x = NAME(to_floats)(first + step * (i + lanes));
		FLOATS at_x = m[0] * x + down_x + m[2], at_y = m[3] * x + down_y + m[5];
		WORDS how = lanes >= 0; // WHOLE
		if (m[6] != 0 || m[7] != 0) {
			FLOATS k = m[6] * x + down_k + 1;
			how = (WORDS)(k != 0);
			at_x /= k;
			at_y /= k;
		}
		FLOATS edge_x = at_x, edge_y = at_y;
		if (fill == PIXEL_FILL_CONSTANT) {
			WORDS touched = NAME(between)(at_x, -reach, right + reach) & NAME(between)(at_y, -reach, bottom + reach);
			if (!form->nearest)
				touched &= EDGE | (WORDS)((at_x >= 0) & (at_x <= right) & (at_y >= 0) & (at_y <= bottom));
			how &= touched;
		}
		at_x = NAME(move_inside)(at_x, fill, form->width);
		at_y = NAME(move_inside)(at_y, fill, form->height);
		if (form->nearest) {
			at_x = NAME(nearest)(at_x);
			at_y = NAME(nearest)(at_y);
		}
		// A place at the last pixel is a whole one beyond that before, so that four pixels lie within the picture.
		WORDS column = NAME(clamp)(NAME(to_words)(at_x), form->from_x, w->last_x);
		WORDS row = NAME(clamp)(NAME(to_words)(at_y), form->from_y, w->last_y);
		WORDS at = (row - form->from_y) * w->stride + (column - form->from_x) * form->channels;
		NAME(store)(w->at + i, at);
		NAME(store)(w->how + i, how);
		NAME(store)(w->x + i, (WORDS)NAME(either)(how == EDGE, edge_x, at_x - NAME(to_floats)(column)));
		NAME(store)(w->y + i, (WORDS)NAME(either)(how == EDGE, edge_y, at_y - NAME(to_floats)(row)));
		near |= at > most;
	}
	int32_t any = 0;
	for (int i = 0; i < WIDTH; i++)
		any |= near[i];
	return any;
}

INLINE WORDS NAME(finish)(FLOATS samples, bool bytes, struct NAME(affine) affine)
{
	return bytes ? ROUND(samples) : (WORDS)NAME(scale)(samples, affine);
}

INLINE FLOATS NAME(load_pixels)(const struct warp *w, const int32_t *at, size_t distance, bool near_end)
{
	const uint8_t *from = w->picture + distance;
#define WORD(i) pixel_at(from + at[i], w->end, near_end)
	return NAME(to_floats)(PIXELS(WORD));
#undef WORD
}

// Interpolates the pixels found.
INLINE void NAME(interpolate)(const struct warp *w, struct span span, int channels, bool near_end, bool bytes)
{
	struct NAME(affine) affine = NAME(load_affine)(&w->pixels, 0);
	int32_t first = span.begin / (WIDTH / 4) * (WIDTH / 4); // so that places have been found for the last ones, too
	int32_t *line = w->line + (size_t)first * channels;
	for (int32_t i = first; i < span.end; i += WIDTH / 4) {
		const int32_t *at = w->at + i;
		FLOATS x = SPREAD(w->x + i), y = SPREAD(w->y + i);
		FLOATS upper = (1 - x) * NAME(load_pixels)(w, at, 0, near_end) +
		               x * NAME(load_pixels)(w, at, w->right, near_end);
		FLOATS lower = (1 - x) * NAME(load_pixels)(w, at, w->below, near_end) +
		               x * NAME(load_pixels)(w, at, w->below + w->right, near_end);
		WORDS samples = NAME(finish)((1 - y) * upper + y * lower, bytes, affine);
		for (int p = 0; p < WIDTH / 4; p++, line += channels)
			memcpy(line, (const int32_t *)&samples + 4 * p, 16);
	}
}

static bool NAME(find_row)(const struct warp *w, int32_t y)
{
	switch (w->form.fill) {
	case PIXEL_FILL_NEAREST:
		return NAME(find)(w, y, PIXEL_FILL_NEAREST);
	case PIXEL_FILL_REFLECT:
		return NAME(find)(w, y, PIXEL_FILL_REFLECT);
	case PIXEL_FILL_WRAP:
		return NAME(find)(w, y, PIXEL_FILL_WRAP);
	default:
		return NAME(find)(w, y, PIXEL_FILL_CONSTANT);
	}
}

static void NAME(interpolate_row)(const struct warp *w, struct span span, bool near_end)
{
	if (near_end)
		NAME(interpolate)(w, span, w->form.channels, true, w->bytes);
	else if (w->form.channels == 3 && w->bytes)
		NAME(interpolate)(w, span, 3, false, true);
	else if (w->form.channels == 3)
		NAME(interpolate)(w, span, 3, false, false);
	else
		NAME(interpolate)(w, span, w->form.channels, false, w->bytes);
}

// Sets the pixels of the line that are not whole.
static void NAME(fill)(const struct warp *w, WORDS outside)
{
	struct NAME(affine) affine = NAME(load_affine)(&w->pixels, 0);
	int32_t *pixel = w->line;
	for (int32_t i = 0; i < w->form.outputs_x; i++, pixel += w->form.channels) {
		if (w->how[i] == WHOLE)
			continue;
		WORDS value = outside;
		if (w->how[i] == EDGE) {
			FLOATS samples = {0};
			for (int c = 0; c < w->form.channels; c++)
				samples[c] = edge_sample(w, w->x[i], w->y[i], c);
			value = NAME(finish)(samples, w->bytes, affine);
		}
		for (int c = 0; c < w->form.channels; c++)
			pixel[c] = value[c];
	}
}

static void NAME(warp)(const struct warp *w)
{
	FLOATS value = {0};
	for (int c = 0; c < w->form.channels; c++)
		value[c] = w->form.value[c];
	WORDS outside = NAME(finish)(value, w->bytes, NAME(load_affine)(&w->pixels, 0));
	for (int32_t y = 0; y < w->form.outputs_y; y++) {
		bool near_end = NAME(find_row)(w, y);
		NAME(interpolate_row)(w, span_whole(w), near_end);
		NAME(fill)(w, outside);
		NAME(write_line)(&w->place, w->line, 0, w->form.outputs_x, y);
	}
}

#undef PIXELS
#undef SPREAD
