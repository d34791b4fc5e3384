#include "native.h"

int32_t tgl_native_change(
    uint64_t function, void *pixels, int64_t height, int64_t width, int64_t channels, int64_t stride, uint64_t seed,
    uint64_t user_data) {
    return ((tfgoloader_change)(uintptr_t)function)(
        pixels, height, width, channels, stride, seed, (void *)(uintptr_t)user_data);
}

int32_t tgl_native_make(
    uint64_t function, const void *pixels, int64_t height, int64_t width, int64_t channels, int64_t stride,
    void *output, int64_t output_height, int64_t output_width, int64_t output_stride, uint64_t seed,
    uint64_t user_data) {
    return ((tfgoloader_make)(uintptr_t)function)(
        pixels, height, width, channels, stride, output, output_height, output_width, output_stride, seed,
        (void *)(uintptr_t)user_data);
}
