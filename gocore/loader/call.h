/* How a sample reaches a function: an area of shared memory begins with a call; all places are bytes from there. */
#ifndef TGL_CALL_H
#define TGL_CALL_H

#include <stdint.h>

typedef struct {
    uint64_t seed; /* of the view; it and the next two are what random numbers are made of */
    int64_t epoch;
    int64_t index;    /* of the sample, in its source */
    int64_t label;    /* may be changed, as the boxes may */
    uint64_t picture; /* where it lies, row by row, of uint8 or float32 */
    uint64_t output;  /* where that which is made of it goes; the same place where the size stays */
    uint64_t mask;    /* uint8, one channel; 0 where there is none */
    uint64_t output_mask;
    uint64_t box_values; /* four doubles for each box, as the loader's box_format has them */
    uint64_t box_labels; /* int64 */
    uint32_t boxes;      /* how many there are */
    uint32_t most_boxes; /* how many there may be */
    uint32_t height, width, channels;
    uint32_t output_height, output_width;
    uint32_t is_float;
    uint8_t reserved[16];
} tgl_call;

#endif
