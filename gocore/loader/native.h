/* Calls of the user's own functions, by address: Go cannot call one itself. */
#ifndef TGL_NATIVE_H
#define TGL_NATIVE_H

#include "../../python/tfgoloader/include/tfgoloader_native.h"

void tgl_host(uint64_t function, int64_t position, int64_t call, int64_t slot, int64_t area);
int32_t tgl_native_change(
    uint64_t function, void *pixels, int64_t height, int64_t width, int64_t channels, int64_t stride, uint64_t seed,
    uint64_t user_data);
int32_t tgl_native_make(
    uint64_t function, const void *pixels, int64_t height, int64_t width, int64_t channels, int64_t stride,
    void *output, int64_t output_height, int64_t output_width, int64_t output_stride, uint64_t seed,
    uint64_t user_data);

#endif
