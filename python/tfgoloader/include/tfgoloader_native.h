/* Functions in C, or compiled to it, that change pictures: what tfgoloader.ops.Native takes the address of.
 *
 * They are called by the loader's worker threads, several at once, without Python and without the GIL, so they guard
 * what state they have. A picture's pixels lie row by row, `stride` bytes from one row to the next; its values are
 * interleaved channels, uint8_t from 0 to 255, or float where the operation comes after Rescaling or Normalization.
 *
 * seed      random bits, a function of the loader's seed, the epoch, the sample and the operation's place in the
 *           list; all randomness comes from it, so that any number of workers gives the same pixels
 * user_data what ops.Native was given as user_data, or NULL
 * returns   0, or a number of your own: the sample is bad then, and the error names it
 *
 * A library may say by which version of this header it was compiled; ops.Native then refuses one that does not fit:
 *
 *     TFGOLOADER_NATIVE_LIBRARY
 */
#ifndef TFGOLOADER_NATIVE_H
#define TFGOLOADER_NATIVE_H

#include <stdint.h>

#define TFGOLOADER_NATIVE_VERSION 1

/* Changes a picture in place: ops.Native(function). */
typedef int32_t (*tfgoloader_change)(
    void *pixels, int64_t height, int64_t width, int64_t channels, int64_t stride, uint64_t seed, void *user_data);

/* Makes a picture of another size, with as many channels: ops.Native(function, output_shape=(height, width)). */
typedef int32_t (*tfgoloader_make)(
    const void *pixels, int64_t height, int64_t width, int64_t channels, int64_t stride, void *output,
    int64_t output_height, int64_t output_width, int64_t output_stride, uint64_t seed, void *user_data);

#ifdef __cplusplus
#define TFGOLOADER_NATIVE_LIBRARY extern "C" const uint32_t tfgoloader_native_version = TFGOLOADER_NATIVE_VERSION;
#else
#define TFGOLOADER_NATIVE_LIBRARY const uint32_t tfgoloader_native_version = TFGOLOADER_NATIVE_VERSION;
#endif

#endif
