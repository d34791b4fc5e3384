// Vectors of the instruction set SET, and lines written with them; included by what is included for each set.

#include "half_set.h"

struct NAME(affine) {
	FLOATS scale, scale_rest, offset, offset_rest;
};

INLINE struct NAME(affine) NAME(load_affine)(const struct affine *from, int lane)
{
	return (struct NAME(affine)){(FLOATS)NAME(load)(from->scale + lane), (FLOATS)NAME(load)(from->scale_rest + lane),
	                             (FLOATS)NAME(load)(from->offset + lane), (FLOATS)NAME(load)(from->offset_rest + lane)};
}

INLINE FLOATS NAME(scale)(FLOATS samples, struct NAME(affine) affine)
{
	return (samples * affine.scale + affine.offset) + (samples * affine.scale_rest + affine.offset_rest);
}

// Copies past the caches, which a batch leaves long before it is read, where lines are whole.
static void NAME(put)(uint8_t *out, const void *line, size_t bytes)
{
	const uint8_t *from = line;
	size_t head = -(uintptr_t)out % sizeof(WORDS);
	if (head > bytes)
		head = bytes;
	memcpy(out, from, head);
	size_t done = head;
	for (; done + sizeof(WORDS) <= bytes; done += sizeof(WORDS))
		STREAM(out + done, NAME(load)(from + done));
	memcpy(out + done, from + done, bytes - done);
}

// Puts words that are floats, as they are or as halves.
static void NAME(put_floats)(uint8_t *out, int32_t *line, size_t count, enum pixel_sample sample)
{
	if (sample != PIXEL_FLOAT32)
		NAME(halve)(line, count, sample);
	NAME(put)(out, line, count * sample_bytes(sample));
}

// Copies one channel of the line.
static void NAME(separate)(int32_t *plane, const int32_t *line, size_t width, int channels, int channel)
{
	size_t x = 0;
#if WIDTH > 4
	if (channels == 3) {
		WORDS first, second; // of two vectors, and of these and the third
		for (int i = 0; i < WIDTH; i++) {
			int from = 3 * i + channel;
			first[i] = from < 2 * WIDTH ? from : 0;
			second[i] = from < 2 * WIDTH ? i : from - WIDTH;
		}
		for (; x + WIDTH <= width; x += WIDTH, line += 3 * WIDTH) {
			WORDS two = __builtin_shuffle(NAME(load)(line), NAME(load)(line + WIDTH), first);
			NAME(store)(plane + x, __builtin_shuffle(two, NAME(load)(line + 2 * WIDTH), second));
		}
	}
#endif
	for (; x < width; x++, line += channels)
		plane[x] = line[channel];
}

// Writes `count` pixels to output row y from x on. Makes use of the line's memory.
static void NAME(write_line)(const struct place *place, int32_t *line, size_t x, size_t count, size_t y)
{
	size_t width = place->width, height = place->height, channels = place->channels, size = sample_bytes(place->sample);
	if (place->flip_y)
		y = height - 1 - y;
	if (place->sample == PIXEL_UINT8) {
		narrow(place->out + (y * width + x) * channels, line, count * channels);
	} else if (!place->planar) {
		NAME(put_floats)(place->out + (y * width + x) * channels * size, line, count * channels, place->sample);
	} else {
		for (size_t c = 0; c < channels; c++) {
			NAME(separate)(place->plane, line, count, channels, c);
			NAME(put_floats)(place->out + ((c * height + y) * width + x) * size, place->plane, count, place->sample);
		}
	}
}
