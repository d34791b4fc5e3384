#include "shim.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tiffio.h>

/* The file in memory, as libtiff reads it. */
typedef struct {
    const uint8_t *data;
    uint64_t size, at;
    char *message;
} file;

/* What the samples of a row mean. */
typedef struct {
    uint32_t width, height;
    int bits, samples, colors; /* of a sample; of a pixel; of those the ones that are colour */
    int alpha;                 /* as in tgl_tiff_header; it follows the colours */
    int planar;                /* each sample has rows of its own */
    int inverted;              /* 0 is white */
    const uint16_t *palette[3];
} layout;

static tmsize_t read_file(thandle_t handle, void *to, tmsize_t size)
{
    file *f = handle;
    uint64_t rest = f->at < f->size ? f->size - f->at : 0;
    if (size < 0) return -1;
    if ((uint64_t)size > rest) size = (tmsize_t)rest;
    memcpy(to, f->data + (size ? f->at : 0), (size_t)size);
    f->at += (uint64_t)size;
    return size;
}

static tmsize_t write_file(thandle_t handle, void *from, tmsize_t size)
{
    (void)handle, (void)from, (void)size;
    return -1;
}

static toff_t seek_file(thandle_t handle, toff_t offset, int whence)
{
    file *f = handle;
    f->at = whence == SEEK_SET ? offset : whence == SEEK_CUR ? f->at + offset : f->size + offset;
    return f->at;
}

static int close_file(thandle_t handle)
{
    (void)handle;
    return 0;
}

static toff_t size_of_file(thandle_t handle) { return ((file *)handle)->size; }

/* libtiff reads the compressed bytes where they are. */
static int map_file(thandle_t handle, void **base, toff_t *size)
{
    file *f = handle;
    *base = (void *)(uintptr_t)f->data;
    *size = f->size;
    return 1;
}

static void unmap_file(thandle_t handle, void *base, toff_t size) { (void)handle, (void)base, (void)size; }

/* The first error counts; those after it follow from it. */
static int keep_message(TIFF *tiff, void *data, const char *module, const char *format, va_list arguments)
{
    (void)tiff, (void)module;
    char *message = data;
    if (!message[0]) vsnprintf(message, TGL_TIFF_MESSAGE, format, arguments);
    return 1;
}

static int keep_quiet(TIFF *tiff, void *data, const char *module, const char *format, va_list arguments)
{
    (void)tiff, (void)data, (void)module, (void)format, (void)arguments;
    return 1;
}

static int refuse(char *message, int status, const char *why)
{
    if (!message[0]) snprintf(message, TGL_TIFF_MESSAGE, "%s", why);
    return status;
}

static TIFF *open_file(file *f, tmsize_t limit)
{
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options) return NULL;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, limit);
    TIFFOpenOptionsSetErrorHandlerExtR(options, keep_message, f->message);
    TIFFOpenOptionsSetWarningHandlerExtR(options, keep_quiet, NULL);
    TIFF *tiff = TIFFClientOpenExt("picture", "r", f, read_file, write_file, seek_file, close_file, size_of_file, map_file,
                                   unmap_file, options);
    TIFFOpenOptionsFree(options);
    return tiff;
}

/* What libtiff may allocate at once for a directory: its lists of offsets come from the file. */
static tmsize_t allowance(size_t size) { return (tmsize_t)(size < SIZE_MAX / 16 ? 4 * size : SIZE_MAX / 4) + (16 << 20); }

static int known_compression(uint16_t compression)
{
    switch (compression) {
    case COMPRESSION_NONE: case COMPRESSION_CCITTRLE: case COMPRESSION_CCITTFAX3: case COMPRESSION_CCITTFAX4:
    case COMPRESSION_LZW: case COMPRESSION_JPEG: case COMPRESSION_ADOBE_DEFLATE: case COMPRESSION_DEFLATE:
    case COMPRESSION_PACKBITS: case COMPRESSION_LZMA: case COMPRESSION_ZSTD:
        return TIFFIsCODECConfigured(compression);
    default:
        return 0;
    }
}

static int describe(TIFF *tiff, layout *l, char *message)
{
    uint16_t bits, samples, format, photometric, compression, planar, extras, *kinds;
    memset(l, 0, sizeof *l);
    if (!TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &l->width) || !TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &l->height) ||
        !l->width || !l->height || l->width > INT32_MAX || l->height > INT32_MAX)
        return refuse(message, TGL_TIFF_CORRUPT, "invalid dimensions");
    if (!TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric)) return refuse(message, TGL_TIFF_CORRUPT, "no photometric tag");
    TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &bits);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &samples);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &format);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &compression);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &planar);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &extras, &kinds);
    if (!known_compression(compression)) {
        snprintf(message, TGL_TIFF_MESSAGE, "unsupported compression %d", compression);
        return TGL_TIFF_CORRUPT;
    }
    if ((bits != 1 && bits != 2 && bits != 4 && bits != 8 && bits != 16) || samples < 1 || samples > 8 ||
        (format != SAMPLEFORMAT_UINT && format != SAMPLEFORMAT_VOID)) {
        snprintf(message, TGL_TIFF_MESSAGE, "unsupported samples: %d a pixel, %d bits, format %d", samples, bits, format);
        return TGL_TIFF_CORRUPT;
    }
    l->bits = bits, l->samples = samples, l->colors = 1;
    l->planar = planar == PLANARCONFIG_SEPARATE && samples > 1;
    switch (photometric) {
    case PHOTOMETRIC_MINISWHITE: l->inverted = 1; break;
    case PHOTOMETRIC_MINISBLACK: break;
    case PHOTOMETRIC_PALETTE:
        if (!TIFFGetField(tiff, TIFFTAG_COLORMAP, &l->palette[0], &l->palette[1], &l->palette[2]) || bits > 8)
            return refuse(message, TGL_TIFF_CORRUPT, "no usable colour map");
        break;
    case PHOTOMETRIC_YCBCR:
        if (compression != COMPRESSION_JPEG || l->planar) return refuse(message, TGL_TIFF_CORRUPT, "unsupported colour space YCbCr without JPEG");
        if (!TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB)) return refuse(message, TGL_TIFF_CORRUPT, "YCbCr cannot be read");
        l->colors = 3;
        break;
    case PHOTOMETRIC_RGB: l->colors = 3; break;
    default:
        snprintf(message, TGL_TIFF_MESSAGE, "unsupported colour space %d", photometric);
        return TGL_TIFF_CORRUPT;
    }
    if (samples < l->colors) return refuse(message, TGL_TIFF_CORRUPT, "too few samples a pixel");
    if (samples > l->colors && extras > 0 && kinds[0] != EXTRASAMPLE_UNSPECIFIED) l->alpha = kinds[0] == EXTRASAMPLE_ASSOCALPHA ? 2 : 1;
    return TGL_TIFF_OK;
}

int tgl_tiff_open(const uint8_t *data, size_t size, tgl_tiff_header *out, char message[TGL_TIFF_MESSAGE])
{
    file f = {data, size, 0, message};
    message[0] = 0;
    TIFF *tiff = open_file(&f, allowance(size));
    if (!tiff) return refuse(message, TGL_TIFF_CORRUPT, "no directory");
    layout l;
    int status = describe(tiff, &l, message);
    uint16_t orientation;
    TIFFGetFieldDefaulted(tiff, TIFFTAG_ORIENTATION, &orientation);
    *out = (tgl_tiff_header){l.width, l.height, l.alpha, orientation};
    TIFFClose(tiff);
    return status;
}

/* One sample in its own depth; 16 bits come in native order. */
static inline unsigned sample_at(const uint8_t *row, size_t i, int bits)
{
    if (bits == 8) return row[i];
    if (bits == 16) {
        uint16_t value;
        memcpy(&value, row + 2 * i, sizeof value);
        return value;
    }
    size_t bit = i * (size_t)bits;
    return row[bit / 8] >> (8 - bits - (int)(bit % 8)) & ((1U << bits) - 1);
}

static inline void put(uint8_t *out, size_t at, int wide, unsigned value)
{
    if (wide) {
        uint16_t sample = (uint16_t)value;
        memcpy(out + 2 * at, &sample, sizeof sample);
    } else {
        out[at] = (uint8_t)(value >> 8);
    }
}

/* Writes `count` pixels of a row, from its pixel `first` on. The row holds all samples of each pixel, or one of them, number
 * `plane`, where the file is planar. Values pass through 16 bits: 8 times 257 has 8 as its high byte. */
static void write_row(const layout *l, const tgl_tiff_request *r, const uint8_t *row, int plane, size_t first, size_t count, uint8_t *out)
{
    size_t channels = (size_t)r->channels;
    if (!l->planar && l->bits == 8 && !r->wide && l->colors == 3 && l->samples == r->channels && (channels == 3 || l->alpha)) {
        memcpy(out, row + first * channels, count * channels);
        return;
    }
    unsigned most = (1U << l->bits) - 1;
    size_t step = l->planar ? 1 : (size_t)l->samples;
    int used = l->colors + (l->alpha && r->channels == 4);
    for (int s = l->planar ? plane : 0; s < (l->planar ? plane + 1 : used) && s < used; s++) {
        int is_color = s < l->colors;
        for (size_t x = 0; x < count; x++) {
            unsigned v = sample_at(row, (first + x) * step + (l->planar ? 0 : (size_t)s), l->bits);
            if (is_color && l->inverted) v = most - v;
            if (l->palette[0] && is_color) {
                for (int c = 0; c < 3; c++) put(out, x * channels + (size_t)c, r->wide, l->palette[c][v]);
                continue;
            }
            v = l->bits == 16 ? v : l->bits == 8 ? v * 257 : v * (65535 / most);
            if (!is_color) put(out, x * channels + 3, r->wide, v);
            else if (l->colors == 3) put(out, x * channels + (size_t)s, r->wide, v);
            else for (int c = 0; c < 3; c++) put(out, x * channels + (size_t)c, r->wide, v);
        }
    }
    if (r->channels == 4 && !l->alpha)
        for (size_t x = 0; x < count; x++) put(out, x * channels + 3, r->wide, 65535);
}

/* Writes what the window shows of a row of the picture that begins at pixel x and is `count` pixels long. */
static void place_row(const layout *l, const tgl_tiff_request *r, const uint8_t *row, int plane, uint32_t x, uint32_t y, uint32_t count, uint8_t *pixels)
{
    if (y < r->y || y - r->y >= r->height || x >= r->x + r->width || x + count <= r->x) return;
    uint32_t left = x > r->x ? x : r->x, right = x + count < r->x + r->width ? x + count : r->x + r->width;
    size_t at = (size_t)(y - r->y) * r->width + (left - r->x);
    write_row(l, r, row, plane, left - x, right - left, pixels + at * (size_t)r->channels * (r->wide ? 2 : 1));
}

/* Far beyond any real file, and within what an allocator can be asked for. */
#define MAX_BLOCK ((uint64_t)1 << 36)

/* A strip or tile: what the file compresses as one. Strips are as wide as the picture. */
typedef struct {
    uint32_t width, height;
    size_t size, row; /* bytes */
} block;

static int block_of(TIFF *tiff, const layout *l, block *b)
{
    uint64_t size;
    if (TIFFIsTiled(tiff)) {
        if (!TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &b->width) || !TIFFGetField(tiff, TIFFTAG_TILELENGTH, &b->height)) return 0;
        size = TIFFTileSize64(tiff), b->row = (size_t)TIFFTileRowSize64(tiff);
    } else {
        TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &b->height);
        if (b->height > l->height) b->height = l->height;
        b->width = l->width;
        size = TIFFStripSize64(tiff), b->row = (size_t)TIFFScanlineSize64(tiff);
    }
    uint64_t picture = (uint64_t)l->width * l->height * (uint64_t)l->samples * 2;
    /* One may be larger than the picture needs, but not by much. */
    if (!b->width || !b->height || !b->row || size > picture + (16 << 20) || size > MAX_BLOCK || b->row > size / b->height) return 0;
    b->size = (size_t)size;
    return 1;
}

/* All blocks are decoded, those beyond the window too. */
static int read_blocks(TIFF *tiff, const layout *l, const tgl_tiff_request *r, const block *b, uint8_t *buffer, uint8_t *pixels)
{
    int tiled = TIFFIsTiled(tiff);
    for (int plane = 0; plane < (l->planar ? l->samples : 1); plane++)
        for (uint64_t y = 0; y < l->height; y += b->height)
            for (uint64_t x = 0; x < l->width; x += b->width) {
                uint32_t rows = (uint32_t)(l->height - y < b->height ? l->height - y : b->height);
                uint32_t columns = (uint32_t)(l->width - x < b->width ? l->width - x : b->width);
                tmsize_t want = (tmsize_t)(tiled ? b->size : b->row * rows);
                tmsize_t got = tiled ? TIFFReadTile(tiff, buffer, (uint32_t)x, (uint32_t)y, 0, (uint16_t)plane)
                                     : TIFFReadEncodedStrip(tiff, TIFFComputeStrip(tiff, (uint32_t)y, (uint16_t)plane), buffer, want);
                if (got != want) return 0;
                for (uint32_t i = 0; i < rows; i++)
                    place_row(l, r, buffer + i * b->row, plane, (uint32_t)x, (uint32_t)y + i, columns, pixels);
            }
    return 1;
}

static void divide_by_alpha(const tgl_tiff_request *r, uint8_t *pixels)
{
    size_t count = (size_t)r->width * r->height;
    for (size_t i = 0; i < count; i++) {
        uint8_t *p = pixels + i * (r->wide ? 8 : 4);
        for (int c = 0; c < 3; c++) {
            if (!r->wide) {
                unsigned value = p[3] ? p[c] * 255U / p[3] : 0;
                p[c] = (uint8_t)(value < 255 ? value : 255);
                continue;
            }
            uint16_t color, alpha;
            memcpy(&color, p + 2 * c, 2);
            memcpy(&alpha, p + 6, 2);
            uint32_t value = alpha ? color * 65535U / alpha : 0;
            color = (uint16_t)(value < 65535 ? value : 65535);
            memcpy(p + 2 * c, &color, 2);
        }
    }
}

int tgl_tiff_read(const uint8_t *data, size_t size, const tgl_tiff_request *request, uint8_t *pixels,
                  char message[TGL_TIFF_MESSAGE])
{
    const tgl_tiff_request r = *request;
    file f = {data, size, 0, message};
    message[0] = 0;
    TIFF *tiff = open_file(&f, allowance(size) + (tmsize_t)r.width * 64);
    if (!tiff) return refuse(message, TGL_TIFF_CORRUPT, "no directory");
    layout l;
    uint8_t *buffer = NULL;
    int status = describe(tiff, &l, message);
    if (!status && (r.x >= l.width || r.width > l.width - r.x || r.y >= l.height || r.height > l.height - r.y))
        status = refuse(message, TGL_TIFF_MISUSE, "the window reaches out of the picture");
    block b;
    if (!status && !block_of(tiff, &l, &b)) status = refuse(message, TGL_TIFF_CORRUPT, "a strip or tile is far larger than the picture");
    if (!status && !(buffer = calloc(1, b.size))) status = refuse(message, TGL_TIFF_NO_MEMORY, "out of memory");
    if (!status && !read_blocks(tiff, &l, &r, &b, buffer, pixels)) status = refuse(message, TGL_TIFF_CORRUPT, "invalid data");
    if (!status && l.alpha == 2 && r.channels == 4) divide_by_alpha(&r, pixels);
    free(buffer);
    TIFFClose(tiff);
    return status;
}
