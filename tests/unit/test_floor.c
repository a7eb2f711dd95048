#include <errno.h>

#include "base/clock.h"
#include "initiator/floor.h"
#include "tests/unit/unit.h"

static void measure(uint32_t bytes, unsigned int depth, bool reads, bool writes)
{
	const struct floor_opts o = {.block_bytes = bytes,
				     .depth = depth,
				     .reads = reads,
				     .writes = writes,
				     .runtime_ns = 50 * NS_PER_MSEC};
	struct floor_result r;
	struct err e = {0};

	CU_ASSERT_EQUAL(floor_measure(&o, &r, &e), 0);
	CU_ASSERT(r.messages > 0);
	CU_ASSERT(r.elapsed_ns >= 50 * NS_PER_MSEC);
	CU_ASSERT(r.cpu_ns > 0 && r.cpu_ns <= r.elapsed_ns + NS_PER_MSEC);
}

/* More in both directions than sockets and buffers hold: nobody waits for ever.
 */
static void test_exchanges(void)
{
	measure(4096, 1, true, false);
	measure(4096, 32, false, true);
	measure(512, 1024, true, true);
	measure(1 << 20, 16, true, false);
	measure(1 << 20, 16, false, true);
	measure(3 << 20, 8, true, true);
}

static void test_stops(void)
{
	static const volatile sig_atomic_t stop = 1;
	const struct floor_opts o = {.block_bytes = 4096,
				     .depth = 4,
				     .reads = true,
				     .runtime_ns = 60 * NS_PER_SEC,
				     .stop = &stop};
	uint64_t start_ns = clock_now_ns();
	struct floor_result r;
	struct err e = {0};

	CU_ASSERT_EQUAL(floor_measure(&o, &r, &e), -EINTR);
	CU_ASSERT(clock_now_ns() - start_ns < 5 * NS_PER_SEC);
}

UNIT_TESTS("floor", {"exchanges", test_exchanges}, {"stops", test_stops})
