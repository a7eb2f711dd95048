#include "base/clock.h"

#include <sys/resource.h>
#include <time.h>

static uint64_t read_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * NS_PER_SEC + ts.tv_nsec;
}

uint64_t clock_now_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t clock_wall_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}

static uint64_t timeval_ns(struct timeval tv)
{
	return tv.tv_sec * NS_PER_SEC + tv.tv_usec * NS_PER_USEC;
}

void clock_thread_cpu_ns(uint64_t *user_ns, uint64_t *system_ns)
{
	struct rusage ru;

	getrusage(RUSAGE_THREAD, &ru);
	*user_ns = timeval_ns(ru.ru_utime);
	*system_ns = timeval_ns(ru.ru_stime);
}
