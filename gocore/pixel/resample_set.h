// Included once for each instruction set, SET, whose vectors have WIDTH lanes of 32 bits.

#include "line_set.h"

// What C has no words for: sums of the products of halves, and vectors put together from four words for each pixel.
#if WIDTH == 4
#define PAIRS(a, b) (WORDS) _mm_madd_epi16((__m128i)(a), (__m128i)(b))
#define GATHER(row, begin) *(const WORDS *)((row) + (begin)[0])
#elif WIDTH == 8
#define PAIRS(a, b) (WORDS) _mm256_madd_epi16((__m256i)(a), (__m256i)(b))
#define GATHER(row, begin) (WORDS) _mm256_loadu2_m128i(FOUR(row, (begin) + 1), FOUR(row, begin))
#else
#define PAIRS(a, b) (WORDS) _mm512_madd_epi16((__m512i)(a), (__m512i)(b))
#define EIGHT(row, begin) _mm256_loadu2_m128i(FOUR(row, (begin) + 1), FOUR(row, begin))
#define GATHER(row, begin)                                                                                             \
	(WORDS) _mm512_inserti64x4(_mm512_castsi256_si512(EIGHT(row, begin)), EIGHT(row, (begin) + 2), 1)
#endif

INLINE WORDS NAME(product)(WORDS samples, WORDS weights, bool fixed)
{
	return fixed ? PAIRS(samples, weights) : (WORDS)((FLOATS)samples * (FLOATS)weights);
}

INLINE WORDS NAME(sum)(WORDS a, WORDS b, bool fixed)
{
	return fixed ? (WORDS)(a + b) : (WORDS)((FLOATS)a + (FLOATS)b);
}

// Returns samples as they are held.
INLINE WORDS NAME(sample)(WORDS byte, bool fixed)
{
	return fixed ? (WORDS)(byte | byte << 23) : (WORDS)__builtin_convertvector(byte, FLOATS);
}

// Returns what the first axis hands to the second, or what the second writes.
INLINE WORDS NAME(finish)(WORDS sums, struct arithmetic with, bool fixed, struct NAME(affine) affine)
{
	if (fixed) {
		sums = (sums + with.shift.bias) >> with.shift.bits;
		if (with.finish == SHIFT)
			return sums;
		sums = sums & (sums > 0);
		WORDS over = sums > with.shift.limit;
		return NAME(sample)((sums & ~over) | (with.shift.limit & over), true);
	}
	if (with.finish == KEEP)
		return sums;
	FLOATS samples = (FLOATS)sums * with.gain;
	if (with.finish == SCALE)
		return (WORDS)NAME(scale)(samples, affine);
	if (with.finish == TO_EVEN)
		return ROUND(samples);
	samples = (FLOATS)((WORDS)samples & (samples > 0));
	return __builtin_convertvector(samples + 0.5f, WORDS);
}

// Reads a row of the picture as samples.
INLINE void NAME(read_row)(const struct resample *r, const uint8_t *in, bool fixed)
{
	size_t count = (size_t)(r->x.to - r->x.from) * r->form.channels;
	uint8_t rest[WIDTH] = {0};
	for (size_t i = 0; i < count; i += WIDTH) {
		const uint8_t *from = count - i < WIDTH ? memcpy(rest, in + i, count - i) : in + i;
		NAME(store)(r->row + i, NAME(sample)(WIDEN(from), fixed));
	}
}

// Sets where each output pixel begins, and its weights, once for each of the four lanes that a pixel takes.
static void NAME(prepare_pixels)(struct resample *r)
{
	int32_t taps = r->x.most, *weights = r->weights;
	r->group = WIDTH / 4;
	for (int32_t i = 0; i < r->x.outputs; i += r->group, weights += taps * WIDTH)
		for (int32_t p = 0; p < r->group; p++) {
			int32_t output = output_at(r, i + p);
			r->begin[i + p] = (r->x.first[output] - r->x.from) * r->form.channels;
			for (int32_t t = 0; t < taps; t++)
				for (int lane = 0; lane < 4; lane++)
					weights[t * WIDTH + 4 * p + lane] = weight_of(r->x, output, t);
		}
}

INLINE void NAME(sum_pixels)(const struct resample *r, int32_t *out, int32_t taps, int channels, struct arithmetic with,
                             bool fixed)
{
	struct NAME(affine) affine = NAME(load_affine)(&r->pixels, 0);
	const int32_t *begin = r->begin, *weights = r->weights, *end = begin + r->x.outputs;
	for (; begin < end; begin += WIDTH / 4, weights += taps * WIDTH) {
		const int32_t *row = r->row;
		WORDS sums = NAME(product)(GATHER(row, begin), NAME(load)(weights), fixed);
#pragma GCC unroll 5
		for (int32_t t = 1; t < taps; t++) {
			row += channels;
			sums = NAME(sum)(sums, NAME(product)(GATHER(row, begin), NAME(load)(weights + t * WIDTH), fixed), fixed);
		}
		sums = NAME(finish)(sums, with, fixed, affine);
		for (int p = 0; p < WIDTH / 4; p++, out += channels)
			memcpy(out, (const int32_t *)&sums + 4 * p, 16);
	}
}

#if WIDTH == 16
// Prepares groups of neighbours: where all that they are made of begins, from which lanes the first tap is permuted, and
// the weights of each tap. Returns false where not all lies within two vectors.
static bool NAME(prepare_groups)(struct resample *r, int32_t group)
{
	int32_t taps = r->x.most, channels = r->form.channels, *begin = r->begin, *weights = r->weights;
	r->group = group;
	for (int32_t i = 0; i < r->x.outputs; i += group, weights += (1 + taps) * WIDTH) {
		int32_t one = r->x.first[output_at(r, i)], other = r->x.first[output_at(r, i + group - 1)];
		int32_t least = one < other ? one : other;
		if ((one + other - 2 * least + taps) * channels > 2 * WIDTH)
			return false;
		*begin++ = (least - r->x.from) * channels;
		memset(weights, 0, (1 + taps) * sizeof(WORDS));
		for (int32_t p = 0; p < group; p++) {
			int32_t output = output_at(r, i + p);
			for (int32_t c = 0; c < channels; c++) {
				int32_t lane = p * channels + c;
				weights[lane] = (r->x.first[output] - least) * channels + c;
				for (int32_t t = 0; t < taps; t++)
					weights[(1 + t) * WIDTH + lane] = weight_of(r->x, output, t);
			}
		}
	}
	return true;
}

INLINE void NAME(sum_groups)(const struct resample *r, int32_t *out, int32_t taps, struct arithmetic with, bool fixed)
{
	struct NAME(affine) affine = NAME(load_affine)(&r->lanes, 0);
	const int32_t *begin = r->begin, *weights = r->weights;
	int32_t outputs = r->x.outputs, group = r->group, channels = r->form.channels;
	for (int32_t i = 0; i < outputs; i += group, out += group * channels) {
		const int32_t *row = r->row + *begin++;
		__m512i low = (__m512i)NAME(load)(row), high = (__m512i)NAME(load)(row + WIDTH);
		WORDS lanes = NAME(load)(weights), sums = {0};
		weights += WIDTH;
#pragma GCC unroll 5
		for (int32_t t = 0; t < taps; t++, lanes += channels, weights += WIDTH) {
			WORDS samples = (WORDS)_mm512_permutex2var_epi32(low, (__m512i)lanes, high);
			WORDS product = NAME(product)(samples, NAME(load)(weights), fixed);
			sums = t == 0 ? product : NAME(sum)(sums, product, fixed);
		}
		NAME(store)(out, NAME(finish)(sums, with, fixed, affine));
	}
}
#endif

static void NAME(prepare)(struct resample *r)
{
#if WIDTH == 16
	for (int32_t group = WIDTH / r->form.channels; group > 1; group--)
		if (NAME(prepare_groups)(r, group)) {
			r->grouped = true;
			return;
		}
#endif
	NAME(prepare_pixels)(r);
}

// Resamples the row along x.
INLINE void NAME(along_x)(const struct resample *r, int32_t *out, struct arithmetic with, bool fixed)
{
	int32_t taps = r->x.most;
#if WIDTH == 16
	if (r->grouped) {
#define SUM(taps) NAME(sum_groups)(r, out, taps, with, fixed)
		FOR_COUNT(SUM, taps)
#undef SUM
		return;
	}
#else
	if (r->form.channels == 3) {
#define SUM(taps) NAME(sum_pixels)(r, out, taps, 3, with, fixed)
		FOR_COUNT(SUM, taps)
#undef SUM
		return;
	}
#endif
	NAME(sum_pixels)(r, out, taps, r->form.channels, with, fixed);
}

// Rows to be summed along y: bytes if y is first, else samples.
struct NAME(rows) {
	const void *at[CHUNK];
	const int32_t *weights;
	bool begin, end; // else sums are added to what out holds, and kept there
};

// Sums `vectors` vectors of each row.
INLINE void NAME(sum_vectors)(const struct resample *r, int32_t *out, const struct NAME(rows) *rows, size_t lane,
                              int vectors, int32_t count, struct arithmetic with, bool fixed, bool bytes)
{
	WORDS sums[3] = {0};
#pragma GCC unroll 4
	for (int32_t t = 0; t < count; t++) {
		WORDS weight = (WORDS){0} + rows->weights[t];
#pragma GCC unroll 3
		for (int v = 0; v < vectors; v++) {
			size_t at = lane + v * WIDTH;
			WORDS samples = bytes ? NAME(sample)(WIDEN((const uint8_t *)rows->at[t] + at), fixed)
			                      : NAME(load)((const int32_t *)rows->at[t] + at);
			WORDS product = NAME(product)(samples, weight, fixed);
			if (fixed && !bytes)
				product >>= with.product_shift;
			sums[v] = t == 0 ? product : NAME(sum)(sums[v], product, fixed);
		}
	}
#pragma GCC unroll 3
	for (int v = 0; v < vectors; v++) {
		if (!rows->begin)
			sums[v] = NAME(sum)(NAME(load)(out + v * WIDTH), sums[v], fixed);
		struct NAME(affine) affine = NAME(load_affine)(&r->lanes, v * WIDTH);
		NAME(store)(out + v * WIDTH, rows->end ? NAME(finish)(sums[v], with, fixed, affine) : sums[v]);
	}
}

// Sums whole threes of vectors; samples are padded to them. Returns how many lanes it has done.
INLINE size_t NAME(sum_rows)(const struct resample *r, int32_t *out, const struct NAME(rows) *rows, size_t lanes,
                             int32_t count, struct arithmetic with, bool fixed, bool bytes)
{
	size_t i = 0;
	for (; bytes ? i + 3 * WIDTH <= lanes : i < lanes; i += 3 * WIDTH)
		NAME(sum_vectors)(r, out + i, rows, i, 3, count, with, fixed, bytes);
	return i;
}

// Resamples rows along y, to output row y.
INLINE void NAME(along_y)(const struct resample *r, int32_t *out, int32_t y, struct arithmetic with, bool fixed,
                          bool bytes)
{
	size_t lanes = (size_t)(bytes ? r->x.to - r->x.from : r->x.outputs) * r->form.channels;
	int32_t count = r->y.at[y + 1] - r->y.at[y];
	for (int32_t done = 0; done < count; done += CHUNK) {
		int32_t part = count - done < CHUNK ? count - done : CHUNK;
		struct NAME(rows) rows = {{0}, r->y.weights + r->y.at[y] + done, done == 0, done + part == count};
		for (int32_t t = 0; t < part; t++) {
			int32_t row = r->y.first[y] + done + t;
			rows.at[t] = bytes ? (const void *)picture_row(r, row) : ring_row(r, row);
		}
		size_t i;
#define SUM(count) i = NAME(sum_rows)(r, out, &rows, lanes, count, with, fixed, bytes)
		FOR_COUNT(SUM, part)
#undef SUM
		for (; bytes && i < lanes; i += WIDTH) {
			// A load must not go beyond the picture.
			uint8_t ends[CHUNK][WIDTH];
			struct NAME(rows) rest = rows;
			for (int32_t t = 0; t < part; t++) {
				const uint8_t *from = (const uint8_t *)rows.at[t] + i;
				size_t left = r->end - from;
				rest.at[t] = left < WIDTH ? memcpy(ends[t], from, left) : from;
			}
			NAME(sum_vectors)(r, out + i, &rest, 0, 1, part, with, fixed, true);
		}
	}
}

INLINE void NAME(resample)(const struct resample *r, bool fixed)
{
	struct arithmetic first = first_of(&r->form), last = last_of(&r->form);
	int32_t next = r->y.from;
	for (int32_t y = 0; y < r->y.outputs; y++) {
		if (r->form.y_first) {
			NAME(along_y)(r, r->row, y, first, fixed, true);
			NAME(along_x)(r, r->line, last, fixed);
		} else {
			int32_t begin = r->y.first[y], end = begin + r->y.at[y + 1] - r->y.at[y];
			if (next < begin)
				next = begin; // no output has the rows between
			for (; next < end && next < r->y.to; next++) {
				NAME(read_row)(r, picture_row(r, next), fixed);
				NAME(along_x)(r, ring_row(r, next), first, fixed);
			}
			NAME(along_y)(r, r->line, y, last, fixed, false);
		}
		NAME(write_line)(&r->place, r->line, 0, r->x.outputs, y);
	}
}

static void NAME(run)(struct resample *r)
{
	NAME(prepare)(r);
	if (r->form.fixed)
		NAME(resample)(r, true);
	else
		NAME(resample)(r, false);
}

#undef PAIRS
#undef GATHER
