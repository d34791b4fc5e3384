/* The one C shim over libwebp. It holds no state; the caller owns every byte. */
#ifndef TGL_WEBP_SHIM_H
#define TGL_WEBP_SHIM_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t width, height; /* pixels */
    int alpha, animated;
} tgl_webp_size;

/* Reads the header of a file, or of a frame of an animation. Returns libwebp's status, 0 for success. */
int tgl_webp_open(const uint8_t *data, size_t size, tgl_webp_size *out);

/* Decodes a still picture or a frame to RGB, or to RGBA, rows `stride` bytes apart in `capacity` bytes.
 * Returns libwebp's status, 0 for success. */
int tgl_webp_read(const uint8_t *data, size_t size, int alpha, uint8_t *pixels, size_t stride, size_t capacity);

#endif
