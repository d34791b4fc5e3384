/* The one C shim over libtiff. It keeps nothing between two calls; the caller owns every byte.
 *
 * A function that fails returns a status other than TGL_TIFF_OK and leaves the reason in `message`. */
#ifndef TGL_TIFF_SHIM_H
#define TGL_TIFF_SHIM_H

#include <stddef.h>
#include <stdint.h>

enum { TGL_TIFF_OK = 0, TGL_TIFF_CORRUPT = 1, TGL_TIFF_NO_MEMORY = 2, TGL_TIFF_MISUSE = 3 };
enum { TGL_TIFF_MESSAGE = 256 };

typedef struct {
    uint32_t width, height; /* pixels */
    int alpha;              /* 0: all pixels are opaque; 1: they may not be; 2: the colours are multiplied by alpha too */
    int orientation;        /* as the file has it */
} tgl_tiff_header;

typedef struct {
    uint32_t x, y, width, height; /* the window, in pixels of the stored frame */
    int channels;                 /* 3: RGB, 4: RGBA */
    int wide;                     /* 16 bits a channel in native order, not 8 */
} tgl_tiff_request;

/* Reads the first directory. */
int tgl_tiff_open(const uint8_t *data, size_t size, tgl_tiff_header *out, char message[TGL_TIFF_MESSAGE]);

/* Decodes the whole first picture and writes the window's pixels, rows without gaps. Where alpha is 2, colours are divided
 * by it if 4 channels are asked for. */
int tgl_tiff_read(const uint8_t *data, size_t size, const tgl_tiff_request *request, uint8_t *pixels,
                  char message[TGL_TIFF_MESSAGE]);

#endif
