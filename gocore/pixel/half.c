// Bytes to halves, by way of floats that never leave the nearest cache.
#include "line.h"

enum { PIXELS = 512 };

#define SET_FILE "half_write_set.h"
#include "sets.h"

void pixel_write_half(const struct pixel_float32 *form, enum pixel_sample sample, bool planar, uint8_t *batch,
                      const uint8_t *picture, size_t stride, size_t width, size_t height, bool flip_x, bool flip_y)
{
	struct place place = {batch, width, height, form->channels, sample, planar && form->channels > 1, flip_y, NULL};
	switch (form->instructions) {
	case PIXEL_SSE2:
		write_sse2(form, &place, picture, stride, flip_x);
		break;
	case PIXEL_AVX2:
		write_avx2(form, &place, picture, stride, flip_x);
		break;
	case PIXEL_AVX512:
		write_avx512(form, &place, picture, stride, flip_x);
		break;
	}
	_mm_sfence(); // the streamed lines must be visible before the batch is handed over
}

bool pixel_has_f16c(void)
{
	return __builtin_cpu_supports("f16c");
}
