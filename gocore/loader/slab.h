/* A slab holds one batch outside the Go heap: this header, then arrays, which lie in the same places in all slabs of a
 * loader. Each starts at a multiple of 64 bytes and has a row for every sample of a full batch.
 *
 * Ownership is counted. Whoever is handed a slab owns one reference and gives it back with
 * tgl_slab_release, from any thread, in any process, before or after the loader is closed; it calls
 * neither Go nor Python. The memory returns to the system with the last reference. */
#ifndef TGL_SLAB_H
#define TGL_SLAB_H

#include <stdint.h>

typedef struct {
    uint32_t references; /* atomic */
    uint32_t samples;    /* in this batch: fewer than the batch size only in an epoch's last one */
    uint64_t size;       /* bytes, this header included */
    int64_t epoch;
    int64_t batch;       /* its place in the epoch */
    int64_t tail;        /* from this place of the epoch's order on, all samples are used up or do not exist */
    uint8_t reserved[24];
} tgl_slab;

/* Zeroed and page aligned, with one reference; NULL where memory is short. */
tgl_slab *tgl_slab_new(uint64_t size);
void tgl_slab_retain(tgl_slab *slab);
void tgl_slab_release(tgl_slab *slab);
uint32_t tgl_slab_references(const tgl_slab *slab);

#endif
