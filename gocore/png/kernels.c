#include "kernels.h"

#include <emmintrin.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

/* One pixel of 3, 4, 6 or 8 bytes in the low half of a vector; reads up to 8 bytes. */
INLINE __m128i load(const uint8_t *from, size_t size)
{
    if (size <= 4) {
        int32_t value;
        memcpy(&value, from, sizeof value);
        return _mm_cvtsi32_si128(value);
    }
    return _mm_loadl_epi64((const __m128i *)from);
}

INLINE void store(uint8_t *to, __m128i pixel, size_t size)
{
    int64_t value = _mm_cvtsi128_si64(pixel);
    memcpy(to, &value, size);
}

INLINE void undo_sub(uint8_t *row, size_t bytes, size_t size)
{
    __m128i left = _mm_setzero_si128();
    for (size_t i = 0; i < bytes; i += size) {
        left = _mm_add_epi8(left, load(row + i, size));
        store(row + i, left, size);
    }
}

INLINE void undo_average(uint8_t *row, const uint8_t *above, size_t bytes, size_t size)
{
    const __m128i one = _mm_set1_epi8(1);
    __m128i left = _mm_setzero_si128();
    for (size_t i = 0; i < bytes; i += size) {
        __m128i up = load(above + i, size);
        /* The instruction rounds up, the filter down. */
        __m128i mean = _mm_sub_epi8(_mm_avg_epu8(left, up), _mm_and_si128(_mm_xor_si128(left, up), one));
        left = _mm_add_epi8(mean, load(row + i, size));
        store(row + i, left, size);
    }
}

INLINE __m128i magnitude(__m128i x) { return _mm_max_epi16(x, _mm_sub_epi16(_mm_setzero_si128(), x)); }
INLINE __m128i choose(__m128i mask, __m128i yes, __m128i no)
{
    return _mm_or_si128(_mm_and_si128(mask, yes), _mm_andnot_si128(mask, no));
}

/* Of left, up and corner the one nearest to left + up - corner, in 16 bits a sample; ties in that order. */
INLINE void undo_paeth(uint8_t *row, const uint8_t *above, size_t bytes, size_t size)
{
    const __m128i zero = _mm_setzero_si128(), byte = _mm_set1_epi16(0xFF);
    __m128i left = zero, corner = zero;
    for (size_t i = 0; i < bytes; i += size) {
        __m128i up = _mm_unpacklo_epi8(load(above + i, size), zero);
        __m128i rise = _mm_sub_epi16(up, corner), run = _mm_sub_epi16(left, corner);
        __m128i far_left = magnitude(rise), far_up = magnitude(run), far_corner = magnitude(_mm_add_epi16(rise, run));
        __m128i least = _mm_min_epi16(far_corner, _mm_min_epi16(far_left, far_up));
        __m128i guess = choose(_mm_cmpeq_epi16(least, far_left), left, choose(_mm_cmpeq_epi16(least, far_up), up, corner));
        left = _mm_and_si128(_mm_add_epi16(guess, _mm_unpacklo_epi8(load(row + i, size), zero)), byte);
        store(row + i, _mm_packus_epi16(left, left), size);
        corner = up;
    }
}

static void undo_up(uint8_t *row, const uint8_t *above, size_t bytes)
{
    size_t i = 0;
    for (; i + 16 <= bytes; i += 16) {
        __m128i sum = _mm_add_epi8(_mm_loadu_si128((const __m128i *)(row + i)), _mm_loadu_si128((const __m128i *)(above + i)));
        _mm_storeu_si128((__m128i *)(row + i), sum);
    }
    for (; i < bytes; i++) row[i] = (uint8_t)(row[i] + above[i]);
}

/* `size` is a constant where this is called, so each call becomes loops of its own. */
INLINE void undo(int filter, uint8_t *row, const uint8_t *above, size_t bytes, size_t size)
{
    if (filter == 1) undo_sub(row, bytes, size);
    if (filter == 3) undo_average(row, above, bytes, size);
    if (filter == 4) undo_paeth(row, above, bytes, size);
}

bool tgl_png_unfilter(uint8_t *rows, size_t row_bytes, size_t count, size_t needed, size_t pixel_bytes, const uint8_t *zeros)
{
    const uint8_t *above = zeros;
    for (size_t y = 0; y < count; y++) {
        int filter = rows[y * (row_bytes + 1)];
        if (filter > 4) return false;
        if (y >= needed || filter == 0) {
            above = rows + y * (row_bytes + 1) + 1;
            continue;
        }
        uint8_t *row = rows + y * (row_bytes + 1) + 1;
        if (filter == 2) undo_up(row, above, row_bytes);
        else switch (pixel_bytes) {
            case 1: undo(filter, row, above, row_bytes, 1); break;
            case 2: undo(filter, row, above, row_bytes, 2); break;
            case 3: undo(filter, row, above, row_bytes, 3); break;
            case 4: undo(filter, row, above, row_bytes, 4); break;
            case 6: undo(filter, row, above, row_bytes, 6); break;
            case 8: undo(filter, row, above, row_bytes, 8); break;
        }
        above = row;
    }
    return true;
}

INLINE unsigned big_endian(const uint8_t *p) { return (unsigned)p[0] << 8 | p[1]; }

/* Red, green, blue and alpha of one pixel in the kind's own depth. */
INLINE void read_pixel(const tgl_png_samples *s, enum png_kind kind, const uint8_t *row, size_t x, unsigned v[4])
{
    const uint8_t *p;
    switch (kind) {
    case PNG_INDEXED: {
        size_t bit = x * (size_t)s->bits;
        p = s->table[row[bit / 8] >> (8 - s->bits - (int)(bit % 8)) & ((1 << s->bits) - 1)];
        for (int c = 0; c < 4; c++) v[c] = p[c];
        return;
    }
    case PNG_GRAY16:
        v[0] = v[1] = v[2] = big_endian(row + 2 * x);
        v[3] = s->keyed && v[0] == s->transparent[0] ? 0 : 0xFFFF;
        return;
    case PNG_RGB8:
        for (int c = 0; c < 3; c++) v[c] = row[3 * x + (size_t)c];
        v[3] = s->keyed && v[0] == s->transparent[0] && v[1] == s->transparent[1] && v[2] == s->transparent[2] ? 0 : 0xFF;
        return;
    case PNG_RGB16:
        for (int c = 0; c < 3; c++) v[c] = big_endian(row + 6 * x + 2 * (size_t)c);
        v[3] = s->keyed && v[0] == s->transparent[0] && v[1] == s->transparent[1] && v[2] == s->transparent[2] ? 0 : 0xFFFF;
        return;
    case PNG_GRAY_ALPHA8:
        v[0] = v[1] = v[2] = row[2 * x];
        v[3] = row[2 * x + 1];
        return;
    case PNG_GRAY_ALPHA16:
        v[0] = v[1] = v[2] = big_endian(row + 4 * x);
        v[3] = big_endian(row + 4 * x + 2);
        return;
    case PNG_RGBA8:
        for (int c = 0; c < 4; c++) v[c] = row[4 * x + (size_t)c];
        return;
    case PNG_RGBA16:
        for (int c = 0; c < 4; c++) v[c] = big_endian(row + 8 * x + 2 * (size_t)c);
        return;
    }
}

INLINE bool is_wide(enum png_kind kind)
{
    return kind == PNG_GRAY16 || kind == PNG_RGB16 || kind == PNG_GRAY_ALPHA16 || kind == PNG_RGBA16;
}

/* Everything but the pixels is a constant where this is called, so each call becomes a loop of its own. */
INLINE void expand(const tgl_png_samples *s, enum png_kind kind, const uint8_t *row, size_t first, size_t width, uint8_t *out,
                   int channels, bool wide)
{
    for (size_t x = 0; x < width; x++) {
        unsigned v[4];
        read_pixel(s, kind, row, first + x, v);
        for (int c = 0; c < channels; c++) {
            size_t at = x * (size_t)channels + (size_t)c;
            if (wide) {
                uint16_t sample = (uint16_t)(is_wide(kind) ? v[c] : v[c] * 257);
                memcpy(out + 2 * at, &sample, sizeof sample);
            } else {
                out[at] = (uint8_t)(is_wide(kind) ? v[c] >> 8 : v[c]);
            }
        }
    }
}

INLINE void expand_kind(const tgl_png_samples *s, enum png_kind kind, const uint8_t *row, size_t x, size_t width, uint8_t *out,
                        int channels, bool wide)
{
    if (channels == 1) expand(s, kind, row, x, width, out, 1, false);
    else if (channels == 3 && wide) expand(s, kind, row, x, width, out, 3, true);
    else if (channels == 3) expand(s, kind, row, x, width, out, 3, false);
    else if (wide) expand(s, kind, row, x, width, out, 4, true);
    else expand(s, kind, row, x, width, out, 4, false);
}

void tgl_png_expand(const tgl_png_samples *s, const uint8_t *row, size_t x, size_t width, uint8_t *out, int channels, bool wide)
{
    switch (s->kind) {
    case PNG_INDEXED: expand_kind(s, PNG_INDEXED, row, x, width, out, channels, wide); break;
    case PNG_GRAY16: expand_kind(s, PNG_GRAY16, row, x, width, out, channels, wide); break;
    case PNG_RGB8:
        if (channels == 3 && !wide) memcpy(out, row + 3 * x, 3 * width);
        else expand_kind(s, PNG_RGB8, row, x, width, out, channels, wide);
        break;
    case PNG_RGB16: expand_kind(s, PNG_RGB16, row, x, width, out, channels, wide); break;
    case PNG_GRAY_ALPHA8: expand_kind(s, PNG_GRAY_ALPHA8, row, x, width, out, channels, wide); break;
    case PNG_GRAY_ALPHA16: expand_kind(s, PNG_GRAY_ALPHA16, row, x, width, out, channels, wide); break;
    case PNG_RGBA8: expand_kind(s, PNG_RGBA8, row, x, width, out, channels, wide); break;
    case PNG_RGBA16: expand_kind(s, PNG_RGBA16, row, x, width, out, channels, wide); break;
    }
}
