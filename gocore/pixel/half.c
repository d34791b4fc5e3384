// Bytes to halves, by way of floats that never leave the nearest cache.
#include "line.h"

enum { PIXELS = 512 };

#define SET_FILE "half_write_set.h"
#include "sets.h"

void pixel_write_half(const struct pixel_float32 *form, enum pixel_sample sample, bool planar, uint8_t *batch,
                      const uint8_t *picture, size_t stride, size_t width, size_t height, bool flip_x, bool flip_y)
{
	struct place place = {batch, width, height, form->channels, sample, planar && form->channels > 1, flip_y, NULL};
	OF_SET(form->instructions, write)(form, &place, picture, stride, flip_x);
	_mm_sfence(); // the streamed lines must be visible before the batch is handed over
}

bool pixel_has_f16c(void)
{
	return __builtin_cpu_supports("f16c");
}
