#include "shim.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

/* What a giant picture needed is not kept for the next one. */
#define KEPT (64 << 20)
/* A hostile progressive file can hold any number of scans, each over the whole picture. */
#define MAX_SCANS 500

struct tgl_jpeg {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf escape;
    char message[JMSG_LENGTH_MAX + 64];
    int truncated, accept_truncated, opened;
    uint8_t *pixels;
    size_t capacity;
};

static void fail(j_common_ptr jpeg) {
    tgl_jpeg *d = jpeg->client_data;
    char text[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, text);
    snprintf(d->message, sizeof d->message, "%s%s", d->truncated ? "truncated: premature end of file: " : "", text);
    longjmp(d->escape, jpeg->err->msg_code == JERR_OUT_OF_MEMORY ? TGL_JPEG_NO_MEMORY
                       : d->truncated                            ? TGL_JPEG_TRUNCATED
                                                                 : TGL_JPEG_CORRUPT);
}

static void count_warning(j_common_ptr jpeg, int level) {
    tgl_jpeg *d = jpeg->client_data;
    if (level >= 0) return;
    jpeg->err->num_warnings++;
    if (jpeg->err->msg_code == JWRN_JPEG_EOF) d->truncated = 1;
}

static void keep_quiet(j_common_ptr jpeg) { (void)jpeg; }

static int refuse(tgl_jpeg *d, int status, const char *why) {
    snprintf(d->message, sizeof d->message, "%s", why);
    jpeg_abort_decompress(&d->jpeg);
    return status;
}

static void limit_scans(j_common_ptr jpeg) {
    tgl_jpeg *d = jpeg->client_data;
    if (((j_decompress_ptr)jpeg)->input_scan_number > MAX_SCANS) {
        snprintf(d->message, sizeof d->message, "corrupt: more than %d scans", MAX_SCANS);
        longjmp(d->escape, TGL_JPEG_CORRUPT);
    }
}

static int create(tgl_jpeg *d) {
    d->jpeg.err = jpeg_std_error(&d->errors);
    d->errors.error_exit = fail;
    d->errors.emit_message = count_warning;
    d->errors.output_message = keep_quiet;
    d->progress.progress_monitor = limit_scans;
    d->jpeg.client_data = d;
    int status = setjmp(d->escape);
    if (!status) jpeg_create_decompress(&d->jpeg);
    return status;
}

tgl_jpeg *tgl_jpeg_new(void) {
    tgl_jpeg *d = calloc(1, sizeof *d);
    if (d && create(d) != TGL_JPEG_OK) {
        tgl_jpeg_free(d);
        return NULL;
    }
    return d;
}

void tgl_jpeg_free(tgl_jpeg *d) {
    if (!d) return;
    jpeg_destroy_decompress(&d->jpeg);
    free(d->pixels);
    free(d);
}

/* Walks from marker to marker through the scans without decoding them: a window above the place where a file is cut
 * short or damaged would decode, one below would not, and whether a file is good must not depend on the window. */
static int check_markers(const uint8_t *at, const uint8_t *end) {
    for (;;) {
        at = memchr(at, 0xFF, (size_t)(end - at));
        while (at && at < end && *at == 0xFF) at++;
        if (!at || at == end) return TGL_JPEG_TRUNCATED;
        int marker = *at++;
        if (marker == JPEG_EOI) return TGL_JPEG_OK;
        if (marker <= 0x01 || (marker >= JPEG_RST0 && marker <= JPEG_RST0 + 7)) continue;
        int tables_or_scan = marker == 0xC4 || marker == 0xCC || (marker >= 0xDA && marker <= 0xDD);
        if (!tables_or_scan && (marker < JPEG_APP0 || marker > JPEG_APP0 + 15) && marker != JPEG_COM) return TGL_JPEG_CORRUPT;
        if (end - at < 2) return TGL_JPEG_TRUNCATED;
        ptrdiff_t length = at[0] << 8 | at[1];
        if (length > end - at) return TGL_JPEG_TRUNCATED;
        at += length;
    }
}

int tgl_jpeg_open(tgl_jpeg *d, const uint8_t *data, size_t size, int accept_truncated, tgl_jpeg_size *out) {
    d->opened = d->truncated = 0;
    d->accept_truncated = accept_truncated;
    if (d->capacity > KEPT) {
        free(d->pixels);
        d->pixels = NULL;
        d->capacity = 0;
    }
    d->message[0] = 0;
    /* Made anew, since libjpeg keeps the tables of one file for the next: pixels must depend on one file alone. */
    jpeg_destroy_decompress(&d->jpeg);
    int status = create(d);
    if (status) return status;
    status = setjmp(d->escape);
    if (status) {
        jpeg_abort_decompress(&d->jpeg);
        return status;
    }
    jpeg_mem_src(&d->jpeg, data, size);
    jpeg_read_header(&d->jpeg, TRUE);
    if (d->jpeg.num_components != 1 && d->jpeg.num_components != 3 && d->jpeg.num_components != 4) {
        char why[80];
        snprintf(why, sizeof why, "unsupported: %d components; 1, 3 and 4 are known", d->jpeg.num_components);
        return refuse(d, TGL_JPEG_CORRUPT, why);
    }
    status = check_markers(d->jpeg.src->next_input_byte, data + size);
    if (status == TGL_JPEG_CORRUPT) return refuse(d, status, "corrupt: a marker in the scan that cannot be there");
    if (status == TGL_JPEG_TRUNCATED && !accept_truncated)
        return refuse(d, status, "truncated: premature end of file: the end marker is missing");
    *out = (tgl_jpeg_size){d->jpeg.image_width, d->jpeg.image_height, (uint32_t)d->jpeg.num_components};
    d->opened = 1;
    return TGL_JPEG_OK;
}

/* TensorFlow's integer formulas; Adobe's files store the inks inverted. Gray is the luma of the RGB, as Pillow rounds it. */
static void cmyk_to_rgb(const uint8_t *in, uint8_t *row, uint32_t width, int inverted, int channels) {
    for (uint32_t i = 0; i < width; i++, in += 4, row += channels) {
        unsigned c = in[0], m = in[1], y = in[2], k = in[3];
        if (!inverted) c = 255 - c, m = 255 - m, y = 255 - y, k = 255 - k;
        unsigned red = c * k / 255, green = m * k / 255, blue = y * k / 255;
        if (channels == 1) {
            row[0] = (uint8_t)((19595 * red + 38470 * green + 7471 * blue + 0x8000) >> 16);
            continue;
        }
        row[0] = (uint8_t)red;
        row[1] = (uint8_t)green;
        row[2] = (uint8_t)blue;
    }
}

/* libjpeg-turbo reads part of a row exactly where the first component has the largest sampling factors and the
 * others are not repeated more than twice; elsewhere the whole row is decoded. */
static int can_crop(const struct jpeg_decompress_struct *jpeg) {
    for (int i = 0; i < jpeg->num_components; i++) {
        const jpeg_component_info *c = &jpeg->comp_info[i];
        if (jpeg->max_h_samp_factor > 2 * c->h_samp_factor || jpeg->max_v_samp_factor > 2 * c->v_samp_factor) return 0;
    }
    return jpeg->comp_info[0].h_samp_factor == jpeg->max_h_samp_factor && jpeg->comp_info[0].v_samp_factor == jpeg->max_v_samp_factor;
}

/* A progressive file that ends before its last scan is smoothed across blocks, which must all be there for that. */
static int smooths(const struct jpeg_decompress_struct *jpeg) {
    for (int i = 0; jpeg->progressive_mode && jpeg->coef_bits && i < jpeg->num_components; i++)
        for (int k = 1; k < DCTSIZE2; k++)
            if (jpeg->coef_bits[i][k]) return 1;
    return 0;
}

int tgl_jpeg_read(tgl_jpeg *d, const tgl_jpeg_window *window, int fast_dct, int channels, tgl_jpeg_rows *out) {
    struct jpeg_decompress_struct *jpeg = &d->jpeg;
    const tgl_jpeg_window w = *window;
    if (!d->opened) return refuse(d, TGL_JPEG_MISUSE, "no picture is open");
    d->opened = 0;
    if (!w.width || !w.height || w.width > jpeg->image_width || w.height > jpeg->image_height ||
        w.x > jpeg->image_width - w.width || w.y > jpeg->image_height - w.height)
        return refuse(d, TGL_JPEG_MISUSE, "the window reaches out of the picture");

    int status = setjmp(d->escape);
    if (status) {
        jpeg_abort_decompress(jpeg);
        return status;
    }
    int cmyk = jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK;
    jpeg->out_color_space = cmyk ? JCS_CMYK : channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg->dct_method = fast_dct ? JDCT_IFAST : JDCT_ISLOW;
    jpeg->progress = jpeg_has_multiple_scans(jpeg) ? &d->progress : NULL;
    jpeg_start_decompress(jpeg);

    /* Smooth upsampling looks at one neighbour, which can be two pixels wide. */
    JDIMENSION left = 0, width = jpeg->output_width;
    int whole = smooths(jpeg);
    if (w.width < jpeg->output_width && can_crop(jpeg) && !whole) {
        left = w.x > 2 ? w.x - 2 : 0;
        width = jpeg->output_width - left;
        if (width > w.x - left + w.width + 2) width = w.x - left + w.width + 2;
        jpeg_crop_scanline(jpeg, &left, &width);
    }
    size_t stride = (size_t)width * (size_t)jpeg->output_components, packed = (size_t)width * (size_t)channels;
    if (stride > (SIZE_MAX >> 1) / w.height) return refuse(d, TGL_JPEG_NO_MEMORY, "the window is too large");
    if (stride * w.height > d->capacity) {
        free(d->pixels);
        d->capacity = 0;
        d->pixels = malloc(stride * w.height);
        if (!d->pixels) return refuse(d, TGL_JPEG_NO_MEMORY, "out of memory");
        d->capacity = stride * w.height;
    }
    if (w.y && !whole) jpeg_skip_scanlines(jpeg, w.y);
    while (jpeg->output_scanline < w.y) jpeg_read_scanlines(jpeg, &(JSAMPROW){d->pixels}, 1);
    for (uint32_t done = 0; done < w.height;) {
        JSAMPROW rows[8];
        JDIMENSION want = w.height - done < 8 ? w.height - done : 8;
        for (JDIMENSION i = 0; i < want; i++) rows[i] = d->pixels + (size_t)(done + i) * stride;
        JDIMENSION got = jpeg_read_scanlines(jpeg, rows, want);
        for (JDIMENSION i = 0; cmyk && i < got; i++) cmyk_to_rgb(rows[i], d->pixels + (done + i) * packed, width, jpeg->saw_Adobe_marker, channels);
        done += got;
    }
    if (jpeg->output_scanline == jpeg->output_height) jpeg_finish_decompress(jpeg);
    jpeg_abort_decompress(jpeg);
    if (d->truncated && !d->accept_truncated) return refuse(d, TGL_JPEG_TRUNCATED, "truncated: premature end of file");
    *out = (tgl_jpeg_rows){d->pixels + (size_t)(w.x - left) * (size_t)channels, packed};
    return TGL_JPEG_OK;
}

const char *tgl_jpeg_message(const tgl_jpeg *d) { return d->message; }
long tgl_jpeg_warnings(const tgl_jpeg *d) { return d->errors.num_warnings; }
