// Included once for each instruction set, SET, whose vectors have WIDTH lanes of 32 bits.

#include "line_set.h"

static void NAME(write)(const struct pixel_float32 *form, struct place *place, const uint8_t *picture, size_t stride,
                        bool flip_x)
{
	int32_t line[PIXELS * PIXEL_MAX_CHANNELS + PAD], plane[PIXELS + PAD];
	place->plane = plane;
	memset(line, 0, sizeof line); // what lies beyond the ends is converted too
	memset(plane, 0, sizeof plane);
	for (size_t y = 0; y < place->height; y++, picture += stride)
		for (size_t x = 0, count; x < place->width; x += count) {
			count = place->width - x < PIXELS ? place->width - x : PIXELS;
			size_t from = flip_x ? place->width - x - count : x;
			pixel_row_float32(form, (uint8_t *)line, picture + from * place->channels, count, flip_x);
			NAME(write_line)(place, line, x, count, y);
		}
}
