#include "tests/unit/unit.h"

#include <errno.h>
#include <malloc.h>

#include "base/clock.h"
#include "initiator/meter.h"

enum { OPS = OP_BIT(OP_READ) | OP_BIT(OP_WRITE) };

static struct error_sample error(enum io_op op, int result, const char *text,
				 uint64_t at_ns)
{
	struct error_sample s = {.op = op, .result = result, .at_ns = at_ns};

	s.offset_bytes = at_ns; /* to tell which one was kept */
	snprintf(s.text, sizeof(s.text), "%s", text);
	return s;
}

static void test_init(void)
{
	struct meter m;

	CU_ASSERT_EQUAL_FATAL(meter_init(&m, OPS, NS_PER_SEC, NULL), 0);
	CU_ASSERT_PTR_NOT_NULL(m.op[OP_READ].service);
	CU_ASSERT_PTR_NOT_NULL(m.op[OP_WRITE].wait);
	CU_ASSERT_PTR_NULL(m.op[OP_TRIM].response);
	CU_ASSERT_PTR_NULL(m.op[OP_FLUSH].service);
	CU_ASSERT_EQUAL(m.op[OP_READ].first_submit_ns, UINT64_MAX);
	CU_ASSERT_EQUAL(m.nr_series, 0);
	meter_release(&m);
	meter_release(&m); /* a zeroed one */
	CU_ASSERT_PTR_NULL(m.series);
}

static void test_three_times(void)
{
	struct meter m;
	struct meter_op *o = &m.op[OP_READ];

	CU_ASSERT_EQUAL_FATAL(meter_init(&m, OPS, NS_PER_SEC, NULL), 0);
	meter_record(&m, OP_READ, 4096, true, 1000, 1030, 1130, 130);
	meter_record(&m, OP_READ, 512, true, 900, 1010, 1020, 20);
	CU_ASSERT_EQUAL(o->ios, 2);
	CU_ASSERT_EQUAL(o->bytes, 4608);
	CU_ASSERT_EQUAL(o->first_submit_ns, 1010);
	CU_ASSERT_EQUAL(o->last_done_ns, 1130);
	CU_ASSERT_EQUAL(o->wait->min_ns, 30);
	CU_ASSERT_EQUAL(o->wait->max_ns, 110);
	CU_ASSERT_EQUAL(o->service->min_ns, 10);
	CU_ASSERT_EQUAL(o->service->max_ns, 100);
	CU_ASSERT_EQUAL(o->response->min_ns, 120);
	CU_ASSERT_EQUAL(o->response->max_ns, 130);
	CU_ASSERT_EQUAL(m.op[OP_WRITE].ios, 0);
	meter_release(&m);
}

/* Ramp and drain: in the series, nowhere else. */
static void test_outside_window(void)
{
	struct meter m;

	CU_ASSERT_EQUAL_FATAL(meter_init(&m, OPS, NS_PER_SEC, NULL), 0);
	meter_record(&m, OP_WRITE, 4096, false, 1, 2, 3, 3);
	CU_ASSERT_EQUAL(m.op[OP_WRITE].outside_ios, 1);
	CU_ASSERT_EQUAL(m.op[OP_WRITE].ios, 0);
	CU_ASSERT_EQUAL(m.op[OP_WRITE].service->count, 0);
	CU_ASSERT_EQUAL(m.op[OP_WRITE].first_submit_ns, UINT64_MAX);
	CU_ASSERT_EQUAL(m.series[0].ios[OP_WRITE], 1);
	meter_release(&m);
}

static void test_series(void)
{
	struct meter m;
	uint64_t i;

	mallopt(M_PERTURB, 0x5a); /* memory comes dirty: points must not */
	CU_ASSERT_EQUAL_FATAL(meter_init(&m, OPS, NS_PER_SEC, NULL), 0);
	for (i = 0; i < 200; i++)
		meter_record(&m, OP_READ, 4096, true, 0, 0, 100 + i,
			     i * NS_PER_SEC / 2);
	CU_ASSERT_EQUAL(m.nr_series, 100);
	for (i = 0; i < 100; i++) {
		CU_ASSERT_EQUAL(m.series[i].ios[OP_READ], 2);
		CU_ASSERT_EQUAL(m.series[i].bytes[OP_READ], 8192);
		CU_ASSERT_EQUAL(m.series[i].service_max_ns, 101 + 2 * i);
		CU_ASSERT_EQUAL(m.series[i].service_sum_ns, 201 + 4 * i);
	}
	/* A gap is there, empty; an interval's first ns belongs to it. */
	meter_record(&m, OP_WRITE, 1, true, 0, 0, 1, 1000 * NS_PER_SEC);
	meter_record(&m, OP_WRITE, 1, true, 0, 0, 1, 1000 * NS_PER_SEC - 1);
	CU_ASSERT_EQUAL(m.nr_series, 1001);
	CU_ASSERT_EQUAL(m.series[500].ios[OP_READ], 0);
	CU_ASSERT_EQUAL(m.series[999].ios[OP_WRITE], 1);
	CU_ASSERT_EQUAL(m.series[1000].ios[OP_WRITE], 1);
	meter_release(&m);
}

static void test_no_room(void)
{
	struct meter m;

	CU_ASSERT_EQUAL_FATAL(meter_init(&m, OPS, 1, NULL), 0);
	meter_record(&m, OP_READ, 1, true, 0, 0, 1, UINT64_MAX);
	CU_ASSERT_EQUAL(m.series_dropped, 1);
	CU_ASSERT_EQUAL(m.nr_series, 0);
	CU_ASSERT_EQUAL(m.op[OP_READ].ios, 1);
	meter_release(&m);
	CU_ASSERT_EQUAL_FATAL(meter_init(&m, OPS, 0, NULL), 0); /* none asked */
	meter_record(&m, OP_READ, 1, true, 0, 0, 1, 5);
	CU_ASSERT_EQUAL(m.series_dropped, 0);
	CU_ASSERT_EQUAL(m.nr_series, 0);
	meter_release(&m);
}

static void test_errors_merge(void)
{
	struct error_sample s;
	struct meter m;
	int i;

	CU_ASSERT_EQUAL_FATAL(meter_init(&m, OPS, NS_PER_SEC, NULL), 0);
	s = error(OP_READ, -EIO, "medium error", 70);
	meter_record_error(&m, &s, true);
	s = error(OP_READ, -EIO, "medium error", 50);
	s.count = 99; /* ignored */
	meter_record_error(&m, &s, true);
	s = error(OP_READ, -EIO, "medium error", 60);
	meter_record_error(&m, &s, false);
	s = error(OP_WRITE, -EIO, "medium error", 1);
	meter_record_error(&m, &s, true);
	s = error(OP_READ, -ENODATA, "medium error", 1);
	meter_record_error(&m, &s, true);
	s = error(OP_READ, -EIO, "hardware error", 1);
	meter_record_error(&m, &s, true);
	CU_ASSERT_EQUAL(m.nr_errors, 4);
	CU_ASSERT_EQUAL(m.error[0].count, 3);
	CU_ASSERT_EQUAL(m.error[0].at_ns, 50);
	CU_ASSERT_EQUAL(m.error[0].offset_bytes, 50);
	CU_ASSERT_EQUAL(m.error[1].count, 1);
	CU_ASSERT_EQUAL(m.op[OP_READ].errors, 4);
	CU_ASSERT_EQUAL(m.op[OP_WRITE].errors, 1);
	CU_ASSERT_EQUAL(m.series[0].errors, 6);
	for (i = 0; i < 100; i++) { /* more kinds than are kept */
		s = error(OP_READ, -1000 - i, "odd", 1);
		meter_record_error(&m, &s, true);
	}
	CU_ASSERT_EQUAL(m.nr_errors, ERROR_SAMPLES);
	CU_ASSERT_EQUAL(m.op[OP_READ].errors, 104);
	meter_release(&m);
}

/* Two meters added are one meter that saw everything. */
static void test_add(void)
{
	struct meter part[2], whole, sum;
	struct error_sample s;
	size_t i;

	for (i = 0; i < 2; i++)
		CU_ASSERT_EQUAL_FATAL(
			meter_init(&part[i], OPS, NS_PER_SEC, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(meter_init(&whole, OPS, NS_PER_SEC, NULL), 0);
	/* No histograms of its own: it gets them. */
	CU_ASSERT_EQUAL_FATAL(meter_init(&sum, 0, NS_PER_SEC, NULL), 0);
	for (i = 0; i < 5000; i++) {
		struct meter *to[] = {&part[i % 2], &whole};
		size_t j;

		s = error(i % 2 ? OP_READ : OP_WRITE, -EIO, "x", 5000 - i);
		for (j = 0; j < 2; j++) {
			meter_record(to[j], i % 3 ? OP_READ : OP_WRITE, 4096,
				     i % 7, i, i + 5, i + 5 + i % 100,
				     i * NS_PER_MSEC * (1 + i % 2));
			if (i % 10 == 0)
				meter_record_error(to[j], &s, true);
			to[j]->retries[RETRY_BUSY]++;
			to[j]->outstanding_ns += 2;
			meter_record_depth(to[j], i % 200 + 1);
			meter_record_send(to[j], 8, i % 4);
		}
	}
	CU_ASSERT_EQUAL(meter_add(&sum, &part[0], NULL), 0);
	CU_ASSERT_EQUAL(meter_add(&sum, &part[1], NULL), 0);
	for (i = 0; i <= OP_WRITE; i++) {
		struct meter_op *a = &sum.op[i], *b = &whole.op[i];

		CU_ASSERT_EQUAL(a->ios, b->ios);
		CU_ASSERT_EQUAL(a->bytes, b->bytes);
		CU_ASSERT_EQUAL(a->errors, b->errors);
		CU_ASSERT_EQUAL(a->outside_ios, b->outside_ios);
		CU_ASSERT_EQUAL(a->first_submit_ns, b->first_submit_ns);
		CU_ASSERT_EQUAL(a->last_done_ns, b->last_done_ns);
		CU_ASSERT(!memcmp(a->wait, b->wait, sizeof(*a->wait)));
		CU_ASSERT(!memcmp(a->service, b->service, sizeof(*a->wait)));
		CU_ASSERT(!memcmp(a->response, b->response, sizeof(*a->wait)));
	}
	CU_ASSERT_EQUAL(sum.nr_series, whole.nr_series);
	CU_ASSERT(!memcmp(sum.series, whole.series,
			  sum.nr_series * sizeof(*sum.series)));
	CU_ASSERT_EQUAL(sum.retries[RETRY_BUSY], 5000);
	CU_ASSERT_EQUAL(sum.outstanding_ns, 10000);
	for (i = 0; i < DEPTH_LEVELS - 1; i++)
		CU_ASSERT_EQUAL(sum.depth_level[i], 25u << i);
	CU_ASSERT_EQUAL(sum.depth_level[i], 25 * (200 - 63));
	CU_ASSERT_EQUAL(sum.sends, 5000);
	CU_ASSERT_EQUAL(sum.held_sends, 3750);
	CU_ASSERT_EQUAL(sum.held_sum, 1250 * (1 + 2 + 3));
	CU_ASSERT_EQUAL(sum.sent_depth_sum, 40000);
	CU_ASSERT_EQUAL(sum.nr_errors, 1);
	CU_ASSERT_EQUAL(sum.error[0].count, 500);
	CU_ASSERT_EQUAL(sum.error[0].at_ns, 10);
	CU_ASSERT_EQUAL(sum.op[OP_WRITE].errors, 500);
	for (i = 0; i < 2; i++)
		meter_release(&part[i]);
	meter_release(&whole);
	meter_release(&sum);
}

static void test_add_unlike(void)
{
	struct meter a, b;
	struct err e = {0};

	CU_ASSERT_EQUAL_FATAL(meter_init(&a, OPS, NS_PER_SEC, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(meter_init(&b, OPS, NS_PER_MSEC, NULL), 0);
	CU_ASSERT_EQUAL(meter_add(&a, &b, &e), -EINVAL);
	CU_ASSERT(strstr(e.text, "1000000 ns") != NULL);
	meter_release(&a);
	meter_release(&b);
}

static void test_release_run(void)
{
	struct run_result r = {.nr_rows = 2, .nr_groups = 1};
	size_t i;

	r.rows = calloc(2, sizeof(*r.rows));
	r.events = calloc(3, sizeof(*r.events));
	r.group_start_ns = calloc(1, sizeof(uint64_t));
	r.group_end_ns = calloc(1, sizeof(uint64_t));
	CU_ASSERT_PTR_NOT_NULL_FATAL(r.rows);
	for (i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(
			meter_init(&r.rows[i].meter, OPS, NS_PER_SEC, NULL), 0);
		r.rows[i].clients = calloc(4, sizeof(*r.rows[i].clients));
	}
	run_result_release(&r); /* leaks are ASan's to find */
	CU_ASSERT_PTR_NULL(r.rows);
	CU_ASSERT_EQUAL(r.nr_rows, 0);
	run_result_release(&r);
}

static void test_jain(void)
{
	uint64_t equal[] = {5, 5, 5, 5}, one[] = {8, 0, 0, 0};
	uint64_t mixed[] = {1, 2, 3}, none[] = {0, 0};
	uint64_t huge[] = {UINT64_MAX / 2, UINT64_MAX / 2};

	CU_ASSERT_DOUBLE_EQUAL(meter_jain(equal, 4), 1, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(meter_jain(one, 4), 0.25, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(meter_jain(mixed, 3), 36.0 / 42, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(meter_jain(huge, 2), 1, 1e-12);
	CU_ASSERT_EQUAL(meter_jain(none, 2), 1);
	CU_ASSERT_EQUAL(meter_jain(one, 1), 1);
	CU_ASSERT_EQUAL(meter_jain(NULL, 0), 1);
}

static void test_cause_names(void)
{
	int i, j;

	CU_ASSERT_STRING_EQUAL(retry_cause_name(RETRY_BUSY), "busy");
	CU_ASSERT_STRING_EQUAL(retry_cause_name(RETRY_CONNECTION_LOST),
			       "connection_lost");
	for (i = 0; i < RETRY_CAUSES; i++)
		for (j = 0; j < i; j++)
			CU_ASSERT_STRING_NOT_EQUAL(retry_cause_name(i),
						   retry_cause_name(j));
}

UNIT_TESTS("meter", {"histograms of the mask only", test_init},
	   {"three times", test_three_times},
	   {"outside the window", test_outside_window}, {"series", test_series},
	   {"series without room", test_no_room},
	   {"errors merge by kind", test_errors_merge}, {"add", test_add},
	   {"add of unlike intervals", test_add_unlike},
	   {"release of a run", test_release_run}, {"jain", test_jain},
	   {"names of causes", test_cause_names})
