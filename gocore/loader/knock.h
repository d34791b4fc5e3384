/* Whether Python's global interpreter lock is held, at a moment that is chosen beforehand. */
#ifndef TGL_KNOCK_H
#define TGL_KNOCK_H

#include <stdint.h>

/* Gives the lock up, sleeps until this time of CLOCK_MONOTONIC in nanoseconds, and takes the lock again. Returns how
 * often the thread had to sleep for it, 0 where it was free, and tells how many nanoseconds that took. The functions are
 * PyEval_SaveThread and PyEval_RestoreThread, handed in since nothing here is linked with Python. To be called with the
 * lock held: from ctypes through PyDLL. */
int64_t tgl_knock(int64_t until, void *(*save)(void), void (*restore)(void *), int64_t *waited);

#endif
