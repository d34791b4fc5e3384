/* Functions for ops.Native. */
#include <string.h>

#include <tfgoloader_native.h>

TFGOLOADER_NATIVE_LIBRARY

int32_t invert(
    void *pixels, int64_t height, int64_t width, int64_t channels, int64_t stride, uint64_t seed, void *user_data) {
    (void)seed, (void)user_data;
    for (int64_t y = 0; y < height; y++) {
        uint8_t *row = (uint8_t *)pixels + y * stride;
        for (int64_t x = 0; x < width * channels; x++) row[x] = 255 - row[x];
    }
    return 0;
}

int32_t square(
    void *pixels, int64_t height, int64_t width, int64_t channels, int64_t stride, uint64_t seed, void *user_data) {
    (void)seed, (void)user_data;
    for (int64_t y = 0; y < height; y++) {
        float *row = (float *)((char *)pixels + y * stride);
        for (int64_t x = 0; x < width * channels; x++) row[x] *= row[x];
    }
    return 0;
}

/* Every second pixel of every second row. */
int32_t halve(
    const void *pixels, int64_t height, int64_t width, int64_t channels, int64_t stride, void *output,
    int64_t output_height, int64_t output_width, int64_t output_stride, uint64_t seed, void *user_data) {
    (void)seed, (void)user_data;
    if (height != 2 * output_height || width != 2 * output_width) return 7;
    for (int64_t y = 0; y < output_height; y++)
        for (int64_t x = 0; x < output_width; x++)
            memcpy(
                (uint8_t *)output + y * output_stride + x * channels,
                (const uint8_t *)pixels + 2 * y * stride + 2 * x * channels, channels);
    return 0;
}

/* Writes the seed into the first pixels, and what the user gave behind it. */
int32_t tell(
    void *pixels, int64_t height, int64_t width, int64_t channels, int64_t stride, uint64_t seed, void *user_data) {
    if (height * width * channels < 16 || stride < 16) return 1;
    memcpy(pixels, &seed, 8);
    memset((uint8_t *)pixels + 8, 0, 8);
    if (user_data) memcpy((uint8_t *)pixels + 8, user_data, 8);
    return 0;
}

int32_t refuse(
    void *pixels, int64_t height, int64_t width, int64_t channels, int64_t stride, uint64_t seed, void *user_data) {
    (void)height, (void)width, (void)channels, (void)stride, (void)seed, (void)user_data;
    return *(uint8_t *)pixels == 5 ? -3 : 0;
}
