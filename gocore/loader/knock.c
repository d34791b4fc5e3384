#define _GNU_SOURCE
#include "knock.h"

#include <errno.h>
#include <sys/resource.h>
#include <time.h>

static const int64_t second = 1000000000;

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * second + time.tv_nsec;
}

/* Switches to other threads because this one slept. One that only has to wait for a processor is switched too, but not
 * voluntarily: so a busy processor is not taken for a held lock, as it would be by the time alone. */
static int64_t sleeps(void) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

int64_t tgl_knock(int64_t until, void *(*save)(void), void (*restore)(void *), int64_t *waited) {
    const struct timespec time = {.tv_sec = until / second, .tv_nsec = until % second};
    void *state = save();
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR) {
    }
    const int64_t sleeps_before = sleeps(), asked = now();
    restore(state);
    *waited = now() - asked;
    return sleeps() - sleeps_before;
}
