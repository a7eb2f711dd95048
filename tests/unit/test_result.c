#include "tests/unit/unit.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/result.h"
#include "tests/unit/result_sample.h"

/* --- aids --- */

/* The value at "lunbench/rows/0/window/end_ns". */
static json_t *at(json_t *v, const char *path)
{
	char part[64];
	size_t n;

	while (v && *path) {
		n = strcspn(path, "/");
		snprintf(part, sizeof(part), "%.*s", (int)n, path);
		v = json_is_array(v) ? json_array_get(v, atoi(part))
				     : json_object_get(v, part);
		path += n + (path[n] == '/');
	}
	return v;
}

static double number_at(json_t *d, const char *path)
{
	CU_ASSERT_TRUE(json_is_number(at(d, path)));
	return json_number_value(at(d, path));
}

static const char *text_at(json_t *d, const char *path)
{
	const char *s = json_string_value(at(d, path));

	CU_ASSERT_PTR_NOT_NULL(s);
	return s ? s : "";
}

static json_t *build(struct sample *s)
{
	struct err e = {0};
	json_t *d = result_build(&s->in, &e);

	CU_ASSERT_PTR_NOT_NULL_FATAL(d);
	return d;
}

/* Whether some warning holds @text. */
static bool warns(json_t *d, const char *text)
{
	json_t *all = at(d, "lunbench/warnings");
	size_t i;

	for (i = 0; i < json_array_size(all); i++)
		if (strstr(json_string_value(json_array_get(all, i)), text))
			return true;
	return false;
}

/* Builds, looks, and forgets: does the spoilt sample warn so? */
static bool sample_warns(struct sample *s, const char *text)
{
	json_t *d = build(s), *all = at(d, "lunbench/warnings");
	bool found = warns(d, text);
	size_t i;

	for (i = 0; !found && i < json_array_size(all); i++)
		printf("# warned: %s\n",
		       json_string_value(json_array_get(all, i)));
	json_decref(d);
	return found;
}

/* --- fio's part --- */

static void test_rates_are_of_the_window(void)
{
	struct sample s;
	json_t *d;

	sample_init(&s);
	d = build(&s);
	CU_ASSERT_STRING_EQUAL(text_at(d, "fio version"), "fio-3.33");
	CU_ASSERT_STRING_EQUAL(text_at(d, "jobs/0/jobname"), "mixed");
	/* 5000 reads a second of 4 KiB for 10 s; a second of ramp is out. */
	CU_ASSERT_EQUAL(number_at(d, "jobs/0/read/total_ios"), 50000);
	CU_ASSERT_EQUAL(number_at(d, "jobs/0/read/runtime"), 10000);
	CU_ASSERT_EQUAL(number_at(d, "jobs/0/read/iops"), 5000);
	CU_ASSERT_EQUAL(number_at(d, "jobs/0/read/bw_bytes"), 20480000);
	CU_ASSERT_EQUAL(number_at(d, "jobs/0/read/bw"), 20000);
	CU_ASSERT_EQUAL(number_at(d, "jobs/0/read/io_bytes"), 204800000);
	CU_ASSERT_EQUAL(number_at(d, "jobs/0/read/io_kbytes"), 200000);
	CU_ASSERT_EQUAL(number_at(d, "jobs/0/sync/total_ios"), 3124);
	CU_ASSERT_EQUAL(number_at(d, "jobs/0/trim/total_ios"), 0);
	CU_ASSERT_EQUAL(number_at(d, "jobs/0/trim/runtime"), 0);
	CU_ASSERT_EQUAL(number_at(d, "lunbench/rows/0/ops/read/outside_ios"),
			5000);
	/* Stamps are of the end. */
	CU_ASSERT_EQUAL(number_at(d, "timestamp"), 1767225600 + 18);
	json_decref(d);
	sample_release(&s);
}

static void test_samples_are_full_intervals(void)
{
	struct sample s;
	json_t *d;

	sample_init(&s);
	/* The window cuts interval 1 and 10: 2..9 are left. */
	s.run.rows[0].window_start_ns += NS_PER_SEC / 2;
	s.run.rows[0].window_end_ns -= NS_PER_SEC / 2;
	/* One slow interval. */
	s.run.rows[0].meter.series[4].ios[OP_READ] = 1000;
	s.run.rows[0].meter.series[4].bytes[OP_READ] = 4096000;
	d = build(&s);
	CU_ASSERT_EQUAL(number_at(d, "jobs/0/read/iops_samples"), 8);
	CU_ASSERT_EQUAL(number_at(d, "jobs/0/read/iops_min"), 1000);
	CU_ASSERT_EQUAL(number_at(d, "jobs/0/read/iops_max"), 5001);
	CU_ASSERT_DOUBLE_EQUAL(number_at(d, "jobs/0/read/iops_mean"), 4500, 1);
	/* 7 samples of 5000 and one of 1000: s = 4000 / sqrt(8) */
	CU_ASSERT_DOUBLE_EQUAL(number_at(d, "jobs/0/read/iops_stddev"), 1414.2,
			       1);
	CU_ASSERT_EQUAL(number_at(d, "jobs/0/read/bw_min"), 4000);
	CU_ASSERT_EQUAL(number_at(d, "jobs/0/trim/bw_samples"), 0);
	json_decref(d);
	sample_release(&s);
}

static void test_depths(void)
{
	struct meter *m;
	struct sample s;
	json_t *d;

	sample_init(&s);
	m = &s.run.rows[0].meter;
	m->depth_level[0] = 1;
	m->depth_level[3] = 2;
	m->depth_level[6] = 5;
	m->sends = 100;
	m->held_sends = 2;
	m->held_sum = 50;
	m->sent_depth_sum = 800;
	d = build(&s);
	CU_ASSERT_EQUAL(number_at(d, "jobs/0/iodepth_level/1"), 12.5);
	CU_ASSERT_EQUAL(number_at(d, "jobs/0/iodepth_level/2"), 0);
	CU_ASSERT_EQUAL(number_at(d, "jobs/0/iodepth_level/8"), 25);
	CU_ASSERT_EQUAL(number_at(d, "jobs/0/iodepth_level/>=64"), 62.5);
	CU_ASSERT_EQUAL(
		number_at(d, "lunbench/rows/0/command_window/held_mean"), 0.5);
	CU_ASSERT_TRUE(warns(d, "command window (MaxCmdSN) was shut at "
				"2 % of the sends"));
	json_decref(d);
	sample_release(&s);
}

/* slat is waiting, clat the service, lat both: by sums, that is exact. */
static void test_three_latencies(void)
{
	double wait, service, response;
	struct sample s;
	json_t *d;

	sample_init(&s);
	d = build(&s);
	wait = number_at(d, "jobs/1/read/slat_ns/mean");
	service = number_at(d, "jobs/1/read/clat_ns/mean");
	response = number_at(d, "jobs/1/read/lat_ns/mean");
	CU_ASSERT_EQUAL(wait, 20000);
	CU_ASSERT_DOUBLE_EQUAL(response, wait + service, 0.001);
	CU_ASSERT_EQUAL(number_at(d, "jobs/1/read/clat_ns/N"), 4000);
	json_decref(d);
	sample_release(&s);
}

/* Every sample is in a bin; percentiles are bins, or the extremes. */
static void test_bins_hold_every_sample(void)
{
	json_t *d, *bins, *v;
	json_int_t sum = 0, last = -1;
	struct sample s;
	const char *key;

	sample_init(&s);
	d = build(&s);
	bins = at(d, "jobs/0/read/clat_ns/bins");
	json_object_foreach(bins, key, v)
	{
		CU_ASSERT_TRUE(atoll(key) > last);
		last = atoll(key);
		sum += json_integer_value(v);
	}
	CU_ASSERT_EQUAL(sum, 50000);
	CU_ASSERT_EQUAL(
		json_object_size(at(d, "jobs/0/read/clat_ns/percentile")), 17);
	v = at(d, "jobs/0/read/clat_ns/percentile/99.000000");
	CU_ASSERT_PTR_NOT_NULL_FATAL(v);
	CU_ASSERT_EQUAL(json_integer_value(v),
			(json_int_t)hist_percentile_ns(
				s.run.rows[0].meter.op[OP_READ].service, 99));
	/* Empty ones have neither: fio_jsonplus_clat2csv fails on no bins. */
	CU_ASSERT_PTR_NULL(at(d, "jobs/0/trim/clat_ns/bins"));
	CU_ASSERT_PTR_NULL(at(d, "jobs/0/trim/clat_ns/percentile"));
	json_decref(d);
	sample_release(&s);
}

/* fio's clat2csv would never end on a bin beyond fio's last. */
static void test_bins_end_where_fios_end(void)
{
	uint64_t start = 1000 * NS_PER_SEC, slow = 30 * NS_PER_SEC;
	struct sample s;
	json_t *d;

	sample_init(&s);
	meter_record(&s.run.rows[2].meter, OP_TRIM, 512, true, start, start,
		     start + slow, slow);
	meter_record(&s.run.rows[2].meter, OP_TRIM, 512, true, start, start,
		     start + 2 * slow, 2 * slow);
	d = build(&s);
	CU_ASSERT_EQUAL(number_at(d, "jobs/2/trim/clat_ns/bins/17112760320"),
			2);
	CU_ASSERT_EQUAL(number_at(d, "jobs/2/trim/clat_ns/max"), 60e9);
	json_decref(d);
	sample_release(&s);
}

static void test_percentile_list_is_the_jobs(void)
{
	struct sample s;
	json_t *d, *p;

	sample_init(&s);
	s.jobs[0].percentiles[0] = 12.5;
	s.jobs[0].percentiles[1] = 100;
	s.jobs[0].nr_percentiles = 2;
	d = build(&s);
	p = at(d, "jobs/0/read/lat_ns/percentile");
	CU_ASSERT_EQUAL(json_object_size(p), 2);
	CU_ASSERT_PTR_NOT_NULL(json_object_get(p, "12.500000"));
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(p, "100.000000")),
			json_integer_value(at(d, "jobs/0/read/lat_ns/max")));
	json_decref(d);
	sample_release(&s);
}

static void test_distribution_adds_up(void)
{
	static const char *const scales[] = {"latency_ns", "latency_us",
					     "latency_ms"};
	struct sample s;
	json_t *d, *o, *v;
	double sum = 0;
	const char *key;
	char path[64];
	size_t i;

	sample_init(&s);
	d = build(&s);
	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "jobs/0/%s", scales[i]);
		o = at(d, path);
		json_object_foreach(o, key, v) sum += json_real_value(v);
	}
	CU_ASSERT_DOUBLE_EQUAL(sum, 100, 1e-6);
	/* Service times here are 50 us and more. */
	CU_ASSERT_EQUAL(number_at(d, "jobs/0/latency_us/50"), 0);
	CU_ASSERT_TRUE(number_at(d, "jobs/0/latency_us/100") > 50);
	json_decref(d);
	sample_release(&s);
}

static void test_job_options(void)
{
	struct setting global[] = {
		{.key = (char *)"time_based"},
		{.key = (char *)"filename",
		 .value = (char *)"iscsi\\://u%se/cr@et@h/iqn.x/1"}};
	struct sample s;
	json_t *d;

	sample_init(&s);
	sample_set(&s, 0, "readwrite", "randrw");
	sample_set(&s, 0, "blocksize", "4k");
	sample_set(&s, 0, "stonewall", NULL);
	sample_set(&s, 0, "http_pass", "hush");
	s.set.global = global;
	s.set.nr_global = 2;
	d = build(&s);
	/* Aliases go by fio's own name. */
	CU_ASSERT_STRING_EQUAL(text_at(d, "jobs/0/job options/rw"), "randrw");
	CU_ASSERT_STRING_EQUAL(text_at(d, "jobs/0/job options/bs"), "4k");
	CU_ASSERT_STRING_EQUAL(text_at(d, "jobs/0/job options/stonewall"), "1");
	/* What fio-plot needs is there, given or not. */
	CU_ASSERT_STRING_EQUAL(text_at(d, "jobs/0/job options/iodepth"), "4");
	CU_ASSERT_STRING_EQUAL(text_at(d, "jobs/2/job options/rw"), "randtrim");
	CU_ASSERT_STRING_EQUAL(text_at(d, "jobs/2/job options/bs"), "1048576");
	CU_ASSERT_STRING_EQUAL(text_at(d, "jobs/2/job options/numjobs"), "1");
	CU_ASSERT_STRING_EQUAL(text_at(d, "jobs/2/job options/name"), "trims");
	CU_ASSERT_STRING_EQUAL(text_at(d, "global options/time_based"), "1");
	/* Nothing secret gets through. */
	CU_ASSERT_STRING_EQUAL(text_at(d, "jobs/0/job options/http_pass"),
			       "***");
	CU_ASSERT_STRING_EQUAL(text_at(d, "global options/filename"),
			       "iscsi\\://u@h/iqn.x/1");
	json_decref(d);
	sample_release(&s);
}

static void test_bytes_that_are_not_utf8(void)
{
	static char name[] = "gr\xf6\xdf"
			     "e",
		    good[] = "gr\xc3\xb6\xc3\x9f"
			     "e";
	struct sample s;
	json_t *d;

	sample_init(&s);
	s.rows[0].name = name;
	s.rows[1].name = good;
	d = build(&s);
	CU_ASSERT_STRING_EQUAL(text_at(d, "jobs/0/jobname"), "gr??e");
	CU_ASSERT_STRING_EQUAL(text_at(d, "jobs/1/jobname"), good);
	json_decref(d);
	sample_release(&s);
}

/* --- the checks --- */

static void test_a_good_run_has_no_warning(void)
{
	struct sample s;
	json_t *d, *all;
	size_t i;

	sample_init(&s);
	d = build(&s);
	CU_ASSERT_EQUAL(json_array_size(at(d, "lunbench/warnings")), 0);
	all = at(d, "lunbench/checks");
	CU_ASSERT_TRUE(json_array_size(all) > 20);
	for (i = 0; i < json_array_size(all); i++)
		CU_ASSERT_TRUE(json_is_true(
			json_object_get(json_array_get(all, i), "ok")));
	json_decref(d);
	sample_release(&s);
}

static void test_littles_law(void)
{
	struct sample s;
	json_t *d;

	sample_init(&s);
	s.run.rows[0].meter.outstanding_ns *= 1.04;
	d = build(&s);
	CU_ASSERT_DOUBLE_EQUAL(
		number_at(d, "lunbench/rows/0/littles_law/ratio"), 1 / 1.04,
		1e-6);
	CU_ASSERT_FALSE(warns(d, "Little"));
	json_decref(d);
	s.run.rows[0].meter.outstanding_ns *= 1.1;
	CU_ASSERT_TRUE(sample_warns(&s, "row \"mixed\": Little's law is off "
					"by 12.6 %"));
	/* Too few I/Os for the depth: the edges alone can do that. */
	s.jobs[0].iodepth = 100000;
	d = build(&s);
	CU_ASSERT_FALSE(warns(d, "Little"));
	json_decref(d);
	sample_release(&s);
}

static void test_unfair(void)
{
	struct sample s;

	sample_init(&s);
	s.run.rows[0].clients[0].ios = 100;
	CU_ASSERT_TRUE(sample_warns(
		&s, "row \"mixed\": its 2 clients were served unequally, 100 "
		    "to 39062"));
	sample_release(&s);
}

/* Clients of two jobs in one row (group_reporting) owe each other nothing. */
static void test_fairness_is_within_a_job(void)
{
	struct sample s;
	json_t *d;

	sample_init(&s);
	s.run.rows[0].clients[0].ios = 100;
	s.clients[0].job = 2;
	d = build(&s);
	CU_ASSERT_EQUAL(number_at(d, "lunbench/rows/0/fairness/jain"), 1);
	json_decref(d);
	sample_release(&s);
}

static void test_initiator_is_the_limit(void)
{
	struct sample s;
	json_t *d;

	sample_init(&s);
	s.run.rows[0].user_cpu_ns = 10 * NS_PER_SEC;
	CU_ASSERT_TRUE(sample_warns(&s, "row \"mixed\": lunbench itself kept "
					"its 1 worker 101 % busy"));
	/* Two workers share it; a third would have no session. */
	s.run.nr_workers = 3;
	d = build(&s);
	CU_ASSERT_FALSE(warns(d, "busy"));
	json_decref(d);
	/* A virtual clock has no CPU time; fio's fields are then 0. */
	s.run.nr_workers = 1;
	s.run.is_virtual_time = true;
	d = build(&s);
	CU_ASSERT_FALSE(warns(d, "busy"));
	CU_ASSERT_TRUE(json_is_null(at(d, "lunbench/rows/0/cpu")));
	CU_ASSERT_EQUAL(number_at(d, "jobs/0/usr_cpu"), 0);
	json_decref(d);
	sample_release(&s);
}

static void test_short_run(void)
{
	struct sample s;

	sample_init(&s);
	s.run.rows[2].window_end_ns = 900 * NS_PER_MSEC;
	s.run.rows[2].meter.op[OP_TRIM].ios = 999;
	CU_ASSERT_TRUE(sample_warns(&s, "row \"trims\": measured for 900 ms"));
	CU_ASSERT_TRUE(sample_warns(
		&s, "row \"trims\": trim I/Os measured: 999, under"));
	sample_release(&s);
}

static void test_troubles(void)
{
	struct error_sample bad = {.op = OP_WRITE,
				   .at_ns = 2 * NS_PER_SEC,
				   .length_bytes = 4096,
				   .result = -EIO,
				   .text = "medium error"};
	struct sample s;
	json_t *d;

	sample_init(&s);
	meter_record_error(&s.run.rows[0].meter, &bad, true);
	meter_record_error(&s.run.rows[0].meter, &bad, false);
	s.run.rows[0].meter.retries[RETRY_BUSY] = 3;
	s.run.rows[0].meter.retries[RETRY_UNIT_ATTENTION] = 1;
	s.run.rows[1].clients[0].disconnects = 2;
	s.run.rows[1].clients[0].outage_ns = 1500 * NS_PER_MSEC;
	CU_ASSERT_TRUE(sample_warns(&s, "row \"mixed\": 2 of 85939 I/Os "
					"failed; first: write medium error"));
	CU_ASSERT_TRUE(sample_warns(&s, "4 commands had to be repeated (busy "
					"3, unit_attention 1)"));
	CU_ASSERT_TRUE(sample_warns(&s, "sessions were lost 2 times and away "
					"for 1.50 s"));
	d = build(&s);
	CU_ASSERT_EQUAL(number_at(d, "jobs/0/total_err"), 2);
	CU_ASSERT_EQUAL(number_at(d, "jobs/0/first_error"), EIO);
	CU_ASSERT_EQUAL(number_at(d, "lunbench/rows/0/errors/0/count"), 2);
	CU_ASSERT_EQUAL(number_at(d, "lunbench/rows/0/errors/0/errno"), EIO);
	CU_ASSERT_EQUAL(number_at(d, "lunbench/rows/0/retries/busy"), 3);
	json_decref(d);
	/* The first that came, whichever worker's; what ended the row. */
	bad.at_ns = NS_PER_SEC;
	bad.result = -ENODATA;
	strcpy(bad.text, "unreadable");
	meter_record_error(&s.run.rows[0].meter, &bad, true);
	s.run.rows[0].error = -EIO;
	CU_ASSERT_TRUE(sample_warns(&s, "first: write unreadable"));
	d = build(&s);
	CU_ASSERT_EQUAL(number_at(d, "jobs/0/first_error"), ENODATA);
	CU_ASSERT_STRING_EQUAL(
		json_string_value(at(d, "lunbench/rows/0/error")),
		"medium error");
	json_decref(d);
	sample_release(&s);
}

static void test_behind_schedule(void)
{
	struct sample s;

	sample_init(&s);
	/* 200 of 4000 come 80 ms late. */
	sample_ios(&s.run.rows[1], OP_READ, 65536, 0, 1000, 200,
		   80 * NS_PER_MSEC);
	CU_ASSERT_TRUE(sample_warns(&s, "row \"paced\": p99 of read is 80"));
	sample_release(&s);
}

static void test_ends(void)
{
	struct sample s;
	json_t *d;

	sample_init(&s);
	s.run.end = RUN_INTERRUPTED;
	CU_ASSERT_TRUE(sample_warns(&s, "interrupted after 18.0 s"));
	s.run.end = RUN_FAILED;
	err_set(&s.run.error, -ETIMEDOUT, "portal \"10.0.0.5:3260\" is gone");
	s.run.rows[0].error = -ETIMEDOUT;
	CU_ASSERT_TRUE(sample_warns(&s, "failed after 18.0 s: portal"));
	d = build(&s);
	CU_ASSERT_STRING_EQUAL(text_at(d, "lunbench/run/end"), "failed");
	CU_ASSERT_EQUAL(number_at(d, "lunbench/run/error/errno"), ETIMEDOUT);
	CU_ASSERT_EQUAL(number_at(d, "jobs/0/error"), ETIMEDOUT);
	json_decref(d);
	sample_release(&s);
}

/* A run that failed before a group began, or had no time for any row. */
static void test_rows_that_never_ran(void)
{
	struct sample s;
	char *text;
	json_t *d;

	sample_init(&s);
	run_result_release(&s.run);
	s.run.end = RUN_FAILED;
	d = build(&s);
	CU_ASSERT_TRUE(warns(d, "row \"trims\": never ran"));
	CU_ASSERT_TRUE(json_is_null(at(d, "lunbench/rows/1/littles_law")));
	CU_ASSERT_EQUAL(number_at(d, "jobs/2/trim/iops"), 0);
	text = result_format(d, NULL);
	json_decref(d);
	d = result_parse("t", text, strlen(text), NULL);
	CU_ASSERT_PTR_NOT_NULL(d);
	json_decref(d);
	free(text);
	sample_release(&s);
}

static void test_stores(void)
{
	struct sample s;
	json_t *d;

	sample_init(&s);
	s.target[0].value = (char *)"aio";
	s.target[1].value = (char *)"no";
	CU_ASSERT_TRUE(sample_warns(&s, "aio store, which is not durable"));
	s.run.rows[0].meter.op[OP_WRITE].ios = 0;
	d = build(&s);
	CU_ASSERT_FALSE(warns(d, "not durable")); /* nothing was written */
	json_decref(d);
	s.target[0].value = (char *)"null";
	CU_ASSERT_TRUE(sample_warns(&s, "null store keeps no data"));
	s.in.nr_target = 0;
	s.in.transport = "sim";
	CU_ASSERT_TRUE(sample_warns(&s, "sim transport reaches no storage"));
	sample_release(&s);
}

static void test_own_machine(void)
{
	static const char *const own[] = {
		"iscsi://127.0.0.1:4000/iqn.x/1", "iscsi://user@[::1]/iqn.x/1",
		"fault:drop=1:iscsi://localhost/iqn.x/1"};
	struct sample s;
	json_t *d;
	size_t i;

	sample_init(&s);
	for (i = 0; i < 3; i++) {
		s.in.url = own[i];
		CU_ASSERT_TRUE(sample_warns(&s, "runs on this machine"));
	}
	s.in.url = "iscsi://10.127.0.1/iqn.2026-11.x:127.0.0.1/1";
	d = build(&s);
	CU_ASSERT_FALSE(warns(d, "this machine"));
	json_decref(d);
	sample_release(&s);
}

static void test_warnings_from_outside(void)
{
	char *given[] = {(char *)"from the command"};
	char *planned[] = {(char *)"4kib is 4000 bytes"};
	struct sample s;

	sample_init(&s);
	s.in.warnings = given;
	s.in.nr_warnings = 1;
	s.set.warnings = planned;
	s.set.nr_warnings = 1;
	CU_ASSERT_TRUE(sample_warns(&s, "from the command"));
	CU_ASSERT_TRUE(sample_warns(&s, "4kib is 4000"));
	sample_release(&s);
}

/* --- the same run twice --- */

static void test_only_host_and_stamps_differ(void)
{
	struct sample s;
	json_t *a, *b;

	sample_init(&s);
	a = build(&s);
	s.run.start_wall_ns += 86400 * NS_PER_SEC;
	b = build(&s);
	CU_ASSERT_FALSE(json_equal(a, b));
	json_object_del(a, "timestamp");
	json_object_del(a, "timestamp_ms");
	json_object_del(a, "time");
	json_object_del(json_object_get(a, "lunbench"), "host");
	json_object_del(b, "timestamp");
	json_object_del(b, "timestamp_ms");
	json_object_del(b, "time");
	json_object_del(json_object_get(b, "lunbench"), "host");
	CU_ASSERT_TRUE(json_equal(a, b));
	json_decref(a);
	json_decref(b);
	sample_release(&s);
}

/* --- files --- */

static void test_write_and_read(void)
{
	char folder[] = "/tmp/lunbench-result.XXXXXX", path[64];
	struct err e = {0};
	struct sample s;
	json_t *d, *back;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/r.json", folder);
	sample_init(&s);
	d = build(&s);
	CU_ASSERT_EQUAL(result_write(d, path, &e), 0);
	back = result_read(path, &e);
	CU_ASSERT_PTR_NOT_NULL(back);
	CU_ASSERT_TRUE(json_equal(at(d, "jobs/0/read/clat_ns/bins"),
				  at(back, "jobs/0/read/clat_ns/bins")));
	json_decref(back);

	snprintf(path, sizeof(path), "%s/none/r.json", folder);
	CU_ASSERT_EQUAL(result_write(d, path, &e), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, path));
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "make that folder first"));
	CU_ASSERT_EQUAL(result_write(d, "/dev/full", &e), -ENOSPC);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "/dev/full"));
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "free some space"));
	CU_ASSERT_PTR_NULL(result_read(path, &e));
	CU_ASSERT_EQUAL(e.code, -ENOENT);

	json_decref(d);
	sample_release(&s);
	snprintf(path, sizeof(path), "%s/r.json", folder);
	unlink(path);
	CU_ASSERT_EQUAL(rmdir(folder), 0); /* no temporary left */
}

/* A minute of one busy row: well under a MiB. */
static void test_size(void)
{
	struct sample s;
	char *text;
	json_t *d;

	sample_init(&s);
	s.run.rows[0].window_end_ns = 60 * NS_PER_SEC;
	sample_ios(&s.run.rows[0], OP_READ, 4096, 0, 20000, 3000000, 0);
	sample_ios(&s.run.rows[0], OP_WRITE, 4096, 0, 20000, 3000000, 1000);
	d = build(&s);
	text = result_format(d, NULL);
	CU_ASSERT_TRUE(strlen(text) < (512 << 10));
	CU_ASSERT_EQUAL(text[strlen(text) - 1], '\n');
	printf("# %zu bytes for 60 s of two ops at 50k a second\n",
	       strlen(text));
	free(text);
	json_decref(d);
	sample_release(&s);
}

/* --- the reader --- */

static char *sample_text(void)
{
	struct sample s;
	json_t *d;
	char *text;

	sample_init(&s);
	d = build(&s);
	text = result_format(d, NULL);
	json_decref(d);
	sample_release(&s);
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	return text;
}

static void refuses(const char *text, const char *why)
{
	struct err e = {0};
	json_t *d = result_parse("r.json", text, strlen(text), &e);

	CU_ASSERT_PTR_NULL(d);
	if (!strstr(e.text, why))
		printf("# said: %s\n", e.text);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, why));
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "\"r.json\""));
	json_decref(d);
}

static void test_foreign_files(void)
{
	refuses("", "is empty");
	refuses("hello", "not a lunbench result: line 1");
	refuses("[]", "no \"lunbench\" object");
	refuses("{}", "no \"lunbench\" object");
	refuses("{\"lunbench\": 3}", "no \"lunbench\" object");
	refuses("{\"fio version\": \"fio-3.33\", \"jobs\": []}",
		"no \"lunbench\" object; it is fio's own output");
	refuses("{\"lunbench\": {\"schema\": 2, \"version\": \"7\"}}",
		"has schema version 2, and this lunbench");
	refuses("{\"lunbench\": {}}", "lunbench.schema is not an integer");
	refuses("{\"a\":1,\n\n\"a\":2}", "line 3");
}

static void test_cut_off(void)
{
	char *text = sample_text();
	struct err e = {0};
	size_t len = strlen(text), cut, lines, i;
	char want[64];

	for (cut = 1; cut < len - 3; cut += 97) {
		for (lines = 1, i = 0; i < cut; i++)
			lines += text[i] == '\n';
		CU_ASSERT_PTR_NULL_FATAL(result_parse("x", text, cut, &e));
		snprintf(want, sizeof(want), "\"x\" is cut off at line %zu",
			 lines);
		if (!strstr(e.text, want)) {
			printf("# at %zu: %s\n", cut, e.text);
			CU_FAIL("not said to be cut off");
		}
	}
	free(text);
}

/* Every value that the reader leans on, taken away or of a wrong type. */
static void test_damaged(void)
{
	static const char *const paths[][2] = {
		{"", "jobs"},
		{"", "fio version"},
		{"jobs/0", "jobname"},
		{"jobs/1/read", "iops"},
		{"jobs/0/read/clat_ns", "mean"},
		{"lunbench", "run"},
		{"lunbench/run", "end"},
		{"lunbench/lun", "bytes"},
		{"lunbench/rows/2", "ops"},
		{"lunbench/rows/2/ops/trim", "ios"},
		{"lunbench/rows/1/ops/read/latency", "p50_ns"},
		{"lunbench/rows/1/cpu", "core_percent"},
		{"lunbench/events/0", "text"},
	};
	char *text = sample_text(), want[128], dotted[96], *c;
	struct err e = {0};
	json_t *d;
	size_t i, k;

	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		for (k = 0; k < 2; k++) {
			d = json_loads(text, 0, NULL);
			if (k)
				json_object_set_new(at(d, paths[i][0]),
						    paths[i][1], json_true());
			else
				json_object_del(at(d, paths[i][0]),
						paths[i][1]);
			c = json_dumps(d, 0);
			json_decref(d);
			CU_ASSERT_PTR_NULL(result_parse("x", c, strlen(c), &e));
			free(c);
			snprintf(dotted, sizeof(dotted), "%s", paths[i][1]);
			snprintf(want, sizeof(want), "%s is %s", dotted,
				 k ? "not" : "missing");
			if (!strstr(e.text, want)) {
				printf("# %s: %s\n", want, e.text);
				CU_FAIL("unclear");
			}
		}
	}
	/* The place is the whole one. */
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "lunbench.events[0].text"));
	free(text);
}

static void test_rows_and_jobs_match(void)
{
	char *text = sample_text(), *less;
	struct err e = {0};
	json_t *d = json_loads(text, 0, NULL);

	json_array_remove(at(d, "jobs"), 2);
	less = json_dumps(d, 0);
	CU_ASSERT_PTR_NULL(result_parse("x", less, strlen(less), &e));
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "one entry a job"));
	json_decref(d);
	free(less);
	free(text);
}

UNIT_TESTS("result", {"rates are of the window", test_rates_are_of_the_window},
	   {"samples are full intervals", test_samples_are_full_intervals},
	   {"three latencies", test_three_latencies},
	   {"bins hold every sample", test_bins_hold_every_sample},
	   {"bins end where fio's end", test_bins_end_where_fios_end},
	   {"percentiles of the job's list", test_percentile_list_is_the_jobs},
	   {"distribution adds up", test_distribution_adds_up},
	   {"depths", test_depths}, {"job options", test_job_options},
	   {"bytes that are not UTF-8", test_bytes_that_are_not_utf8},
	   {"a good run has no warning", test_a_good_run_has_no_warning},
	   {"Little's law", test_littles_law}, {"unfair", test_unfair},
	   {"fairness is within a job", test_fairness_is_within_a_job},
	   {"initiator is the limit", test_initiator_is_the_limit},
	   {"short run", test_short_run},
	   {"errors, retries, outages", test_troubles},
	   {"behind schedule", test_behind_schedule},
	   {"interrupted and failed", test_ends},
	   {"rows that never ran", test_rows_that_never_ran},
	   {"stores", test_stores}, {"own machine", test_own_machine},
	   {"warnings from outside", test_warnings_from_outside},
	   {"only host and stamps differ", test_only_host_and_stamps_differ},
	   {"write and read", test_write_and_read}, {"size", test_size},
	   {"foreign files", test_foreign_files}, {"cut off", test_cut_off},
	   {"damaged", test_damaged},
	   {"rows and jobs match", test_rows_and_jobs_match})
