/* The one C shim over libjpeg-turbo. A decoder belongs to one thread at a time and holds no global state.
 *
 * Ownership: the caller owns the compressed bytes and keeps them valid from tgl_jpeg_open until the next
 * tgl_jpeg_open or tgl_jpeg_free; the decoder owns the pixels, valid until its next call.
 * Errors: a function that fails returns a status other than TGL_JPEG_OK and leaves the reason in
 * tgl_jpeg_message; the decoder can be used again at once. */
#ifndef TGL_JPEG_SHIM_H
#define TGL_JPEG_SHIM_H

#include <stddef.h>
#include <stdint.h>

enum { TGL_JPEG_OK = 0, TGL_JPEG_CORRUPT = 1, TGL_JPEG_TRUNCATED = 2, TGL_JPEG_NO_MEMORY = 3, TGL_JPEG_MISUSE = 4 };

typedef struct tgl_jpeg tgl_jpeg;

typedef struct {
    uint32_t width, height;  /* pixels */
    uint32_t components;     /* 1 gray, 3 colour, 4 CMYK or YCCK */
} tgl_jpeg_size;

/* A window of the picture, in pixels of the stored frame. */
typedef struct {
    uint32_t x, y, width, height;
} tgl_jpeg_window;

/* Interleaved RGB, or gray: the window's first pixel and the distance between its rows in bytes. */
typedef struct {
    const uint8_t *pixels;
    size_t stride;
} tgl_jpeg_rows;

tgl_jpeg *tgl_jpeg_new(void);
void tgl_jpeg_free(tgl_jpeg *decoder);

/* Reads the header up to the first scan. Where truncated files are accepted, what is missing of the scans of a file is
 * filled as libjpeg does after a premature end. */
int tgl_jpeg_open(tgl_jpeg *decoder, const uint8_t *data, size_t size, int accept_truncated, tgl_jpeg_size *out);

/* Decodes the window of the picture opened last, once, to RGB or, with 1 channel, to gray. */
int tgl_jpeg_read(tgl_jpeg *decoder, const tgl_jpeg_window *window, int fast_dct, int channels, tgl_jpeg_rows *out);

/* The reason of the last failure, and how many warnings libjpeg gave since the last open. */
const char *tgl_jpeg_message(const tgl_jpeg *decoder);
long tgl_jpeg_warnings(const tgl_jpeg *decoder);

#endif
