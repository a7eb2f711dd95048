#include "initiator/resolve.h"

#include <errno.h>

#include "base/clock.h"
#include "tests/unit/unit.h"

static struct portals got;
static int calls;
static struct err why;

static void on_done(void *user, const struct portals *p, const struct err *e)
{
	(void)user;
	calls++;
	memset(&got, 0, sizeof(got));
	memset(&why, 0, sizeof(why));
	if (p)
		got = *p;
	else
		why = *e;
}

static void resolve(const char *host, uint16_t port)
{
	uint64_t end = clock_now_ns() + 10 * NS_PER_SEC;
	struct resolve *r;
	struct loop *l;
	struct err e;

	calls = 0;
	CU_ASSERT_EQUAL_FATAL(loop_new(&l, false, &e), 0);
	CU_ASSERT_EQUAL(resolve_start(&r, l, host, port, on_done, NULL, &e), 0);
	CU_ASSERT_EQUAL(calls, 0); /* never from inside */
	while (!calls && clock_now_ns() < end)
		loop_turn(l, NS_PER_SEC);
	loop_turn(l, 0);
	CU_ASSERT_EQUAL(calls, 1);
	loop_free(l);
}

static void test_numeric(void)
{
	resolve("127.0.0.1", 3321);
	CU_ASSERT_EQUAL(got.n, 1);
	CU_ASSERT_STRING_EQUAL(got.text[0], "127.0.0.1:3321");
	resolve("::1", 65535);
	CU_ASSERT_EQUAL(got.n, 1);
	CU_ASSERT_STRING_EQUAL(got.text[0], "[::1]:65535");
}

static void test_name(void)
{
	bool has_v4 = false;

	resolve("localhost", 3260);
	CU_ASSERT_TRUE(got.n >= 1);
	for (size_t i = 0; i < got.n; i++) {
		has_v4 |= strcmp(got.text[i], "127.0.0.1:3260") == 0;
		for (size_t j = 0; j < i; j++)
			CU_ASSERT_STRING_NOT_EQUAL(got.text[i], got.text[j]);
	}
	CU_ASSERT_TRUE(has_v4);
}

static void test_unknown(void)
{
	resolve("nosuch.invalid", 3260);
	CU_ASSERT_EQUAL(got.n, 0);
	CU_ASSERT_TRUE(why.code == -ENOENT || why.code == -EADDRNOTAVAIL);
	CU_ASSERT_PTR_NOT_NULL(strstr(why.text, "nosuch.invalid"));
}

static void test_cancel(void)
{
	static const char *const hosts[] = {"127.0.0.1", "localhost",
					    "nosuch.invalid"};
	struct resolve *r;
	struct loop *l;
	struct err e;

	calls = 0;
	CU_ASSERT_EQUAL_FATAL(loop_new(&l, false, &e), 0);
	for (int i = 0; i < 30; i++) {
		CU_ASSERT_EQUAL_FATAL(resolve_start(&r, l, hosts[i % 3], 1,
						    on_done, NULL, &e),
				      0);
		resolve_cancel(r);
		loop_turn(l, 0);
	}
	loop_turn(l, 20 * NS_PER_MSEC);
	CU_ASSERT_EQUAL(calls, 0);
	resolve_cancel(NULL);
	loop_free(l);
}

UNIT_TESTS("resolve", {"numeric", test_numeric}, {"name", test_name},
	   {"unknown", test_unknown}, {"cancel", test_cancel})
