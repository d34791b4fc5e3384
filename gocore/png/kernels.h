/* The kernels of the PNG decoder: undoing the filters, and turning samples of any kind into RGB or RGBA. They hold no
 * state and allocate nothing; the caller checks every size. */
#ifndef TGL_PNG_KERNELS_H
#define TGL_PNG_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that may be read, not written, past the end of the last row. */
enum { PNG_PADDING = 8 };

enum png_kind {
    PNG_INDEXED, /* gray or palette numbers of 1, 2, 4 or 8 bits, looked up in the table */
    PNG_GRAY16,
    PNG_RGB8,
    PNG_RGB16,
    PNG_GRAY_ALPHA8,
    PNG_GRAY_ALPHA16,
    PNG_RGBA8,
    PNG_RGBA16,
};

/* What the samples of a row mean. */
typedef struct {
    enum png_kind kind;
    int bits;                /* of a number, PNG_INDEXED only */
    uint8_t table[256][4];   /* RGBA, PNG_INDEXED only */
    bool keyed;              /* one colour is transparent: gray and RGB without alpha */
    uint16_t transparent[3]; /* that colour */
} tgl_png_samples;

/* Undoes the filters in place. A row is a byte that names its filter, then row_bytes bytes; rows follow each other without
 * a gap. Rows from `needed` on are only checked. `zeros` is row_bytes + PNG_PADDING bytes of 0, the row above the first.
 * Returns false where a filter is unknown. */
bool tgl_png_unfilter(uint8_t *rows, size_t row_bytes, size_t count, size_t needed, size_t pixel_bytes, const uint8_t *zeros);

/* Writes the pixels x to x + width - 1 of an unfiltered row as 3 or 4 channels of 8 bits (the high byte of 16), or of 16
 * bits in native order (8 bits times 257); or as 1 channel of 8 bits, the red one. */
void tgl_png_expand(const tgl_png_samples *samples, const uint8_t *row, size_t x, size_t width, uint8_t *out, int channels, bool wide);

#endif
