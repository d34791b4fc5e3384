#define _GNU_SOURCE
#include "slab.h"

#include <stddef.h>
#include <sys/mman.h>

_Static_assert(sizeof(tgl_slab) == 64, "the first array is 64-byte aligned");

tgl_slab *tgl_slab_new(uint64_t size) {
    if (size < sizeof(tgl_slab) || size > PTRDIFF_MAX) return NULL;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    madvise(memory, size, MADV_HUGEPAGE); /* only advice: without it there are more page faults */
    tgl_slab *slab = memory;
    slab->references = 1;
    slab->size = size;
    return slab;
}

void tgl_slab_retain(tgl_slab *slab) { __atomic_add_fetch(&slab->references, 1, __ATOMIC_RELAXED); }

void tgl_slab_release(tgl_slab *slab) {
    if (__atomic_sub_fetch(&slab->references, 1, __ATOMIC_ACQ_REL) == 0) munmap(slab, slab->size);
}

uint32_t tgl_slab_references(const tgl_slab *slab) { return __atomic_load_n(&slab->references, __ATOMIC_ACQUIRE); }
