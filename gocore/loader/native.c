#include "native.h"

void tgl_host(uint64_t function, int64_t position, int64_t call, int64_t slot, int64_t area) {
    ((void (*)(int64_t, int64_t, int64_t, int64_t))(uintptr_t)function)(position, call, slot, area);
}

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
