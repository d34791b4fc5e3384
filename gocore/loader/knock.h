/* How long Python's global interpreter lock is waited for, at a moment that is chosen beforehand. */
#ifndef TGL_KNOCK_H
#define TGL_KNOCK_H

#include <stdint.h>

/* Gives the lock up, sleeps until this time of CLOCK_MONOTONIC in nanoseconds, takes the lock again, and returns the
 * nanoseconds that the last took. The functions are PyEval_SaveThread and PyEval_RestoreThread, handed in since nothing
 * here is linked with Python. To be called with the lock held: from ctypes through PyDLL. */
int64_t tgl_knock(int64_t until, void *(*save)(void), void (*restore)(void *));

#endif
