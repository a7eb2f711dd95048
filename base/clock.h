#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

#define NS_PER_SEC 1000000000ULL
#define NS_PER_MSEC 1000000ULL
#define NS_PER_USEC 1000ULL

/* Monotonic time in ns (CLOCK_MONOTONIC; never steps, never 0). */
uint64_t clock_now_ns(void);

/* Wall time in ns since the epoch, for stamps in files only. */
uint64_t clock_wall_ns(void);

/* CPU time of the calling thread in ns: user and system apart. */
void clock_thread_cpu_ns(uint64_t *user_ns, uint64_t *system_ns);

#endif
