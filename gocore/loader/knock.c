#define _GNU_SOURCE
#include "knock.h"

#include <errno.h>
#include <time.h>

static const int64_t second = 1000000000;

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * second + time.tv_nsec;
}

int64_t tgl_knock(int64_t until, void *(*save)(void), void (*restore)(void *)) {
    const struct timespec time = {.tv_sec = until / second, .tv_nsec = until % second};
    void *state = save();
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR) {
    }
    const int64_t woken = now(); /* however long a processor let wait for itself */
    restore(state);
    return now() - woken;
}
