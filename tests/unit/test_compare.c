#include "tests/unit/unit.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/compare.h"
#include "report/text.h"
#include "tests/unit/result_sample.h"

/* Folders of results made by hand in a folder of the test's own, which is
 * made with the first of them and removed by the last test. */
static char top[] = "/tmp/lunbench-compare.XXXXXX";
static const struct compare_opts all = {.metrics = (1U << METRICS) - 1,
					.max_regress = 0.05,
					.protocol = "iscsi"};

static json_t *own(json_t *d)
{
	return json_object_get(d, "lunbench");
}

static json_t *row(json_t *d, size_t i)
{
	return json_array_get(json_object_get(own(d), "rows"), i);
}

/* The reads of the first row: @iops, latencies in inverse proportion. */
static void set_read_iops(json_t *d, double iops)
{
	json_t *op = json_object_get(json_object_get(row(d, 0), "ops"), "read");
	json_t *latency = json_object_get(op, "latency");

	json_object_set_new(op, "ios_per_s", json_real(iops));
	json_object_set_new(op, "bytes_per_s", json_real(iops * 4096));
	json_object_set_new(latency, "mean_ns", json_real(1e9 / iops));
	json_object_set_new(latency, "p99_ns", json_integer(2e9 / iops));
}

static json_t *make(double iops)
{
	struct sample s;
	json_t *d;

	sample_init(&s);
	sample_set(&s, 0, "bs", "4k");
	d = result_build(&s.in, NULL);
	sample_release(&s);
	CU_ASSERT_PTR_NOT_NULL_FATAL(d);
	set_read_iops(d, iops);
	return d;
}

/* Writes @d, which it takes, to top/FOLDER/N.json; the folder's path. */
static const char *keep(json_t *d, const char *folder, int n)
{
	static char path[64][256];
	static int next;
	char *dir = path[next % 64], file[300];
	struct err e = {0};

	if (!next++)
		CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(top));
	snprintf(dir, 256, "%s/%s", top, folder);
	mkdir(dir, 0700);
	snprintf(file, sizeof(file), "%s/%d.json", dir, n);
	CU_ASSERT_EQUAL(result_write(d, file, &e), 0);
	json_decref(d);
	return dir;
}

static const char *keep_runs(const char *folder, const double *iops, int n)
{
	const char *dir = NULL;
	int i;

	for (i = 0; i < n; i++)
		dir = keep(make(iops[i]), folder, i);
	return dir;
}

struct outcome {
	struct set a, b;
	struct comparison c;
	struct err e;
	int rc;
};

static void compare(struct outcome *o, const char *a, const char *b,
		    const struct compare_opts *opts)
{
	memset(o, 0, sizeof(*o));
	CU_ASSERT_EQUAL_FATAL(set_read(&o->a, a, &o->e), 0);
	CU_ASSERT_EQUAL_FATAL(set_read(&o->b, b, &o->e), 0);
	o->rc = compare_sets(&o->c, &o->a, &o->b, opts, &o->e);
}

static void release(struct outcome *o)
{
	comparison_release(&o->c);
	set_release(&o->a);
	set_release(&o->b);
}

static const struct comparison_item *find(const struct outcome *o,
					  const char *label, enum metric m)
{
	size_t i;

	for (i = 0; i < o->c.nr_items; i++)
		if (o->c.items[i].metric == m &&
		    !strcmp(o->c.items[i].label, label))
			return &o->c.items[i];
	CU_FAIL_FATAL("no such item");
	return NULL;
}

static void test_repeats(void)
{
	const double before[] = {1000, 1010, 990, 1005, 995};
	const double after[] = {900, 910, 890, 905, 895};
	const struct comparison_item *i;
	struct outcome o;

	compare(&o, keep_runs("before", before, 5),
		keep_runs("after", after, 5), &all);
	CU_ASSERT_EQUAL_FATAL(o.rc, 0);
	i = find(&o, "mixed read", METRIC_IOPS);
	CU_ASSERT_EQUAL(i->verdict, VERDICT_WORSE);
	CU_ASSERT_DOUBLE_EQUAL(i->ratio, 0.9, 1e-12);
	CU_ASSERT(i->interval.low > 0.88 && i->interval.high < 0.92);
	CU_ASSERT(i->a.basis == BASIS_RUNS && i->a.n == 5);
	CU_ASSERT(i->fails);
	/* latencies rise, which is worse too */
	i = find(&o, "mixed read", METRIC_P99);
	CU_ASSERT_EQUAL(i->verdict, VERDICT_WORSE);
	CU_ASSERT(i->ratio > 1.05 && i->fails);
	/* the same figures in all runs, on both sides */
	i = find(&o, "mixed write", METRIC_IOPS);
	CU_ASSERT_EQUAL(i->verdict, VERDICT_NO_DIFFERENCE);
	CU_ASSERT(i->interval.low == 1 && i->interval.high == 1);
	CU_ASSERT_EQUAL(comparison_failures(&o.c), 4);
	release(&o);
	compare(&o, keep_runs("after", after, 5),
		keep_runs("before", before, 5), &all);
	i = find(&o, "mixed read", METRIC_MEAN);
	CU_ASSERT_EQUAL(i->verdict, VERDICT_BETTER);
	CU_ASSERT_EQUAL(comparison_failures(&o.c), 0);
	release(&o);
}

/* Worse, but by less than the gate lets pass; and noise is no verdict. */
static void test_gate(void)
{
	const double a[] = {1000, 1001, 999}, b[] = {970, 971, 969};
	const double noisy[] = {500, 1500, 700};
	const struct comparison_item *i;
	struct outcome o;

	compare(&o, keep_runs("a", a, 3), keep_runs("b", b, 3), &all);
	i = find(&o, "mixed read", METRIC_IOPS);
	CU_ASSERT(i->verdict == VERDICT_WORSE && !i->fails);
	release(&o);
	compare(&o, keep_runs("a", a, 3), keep_runs("noisy", noisy, 3), &all);
	i = find(&o, "mixed read", METRIC_IOPS);
	CU_ASSERT(i->verdict == VERDICT_NO_DIFFERENCE && !i->fails);
	CU_ASSERT(i->ratio < 0.95);
	release(&o);
}

static void test_single_runs(void)
{
	const double a[] = {5000}, b[] = {4000};
	const struct comparison_item *i;
	struct outcome o;

	compare(&o, keep_runs("one_a", a, 1), keep_runs("one_b", b, 1), &all);
	CU_ASSERT_EQUAL_FATAL(o.rc, 0);
	i = find(&o, "mixed read", METRIC_IOPS);
	CU_ASSERT(i->a.basis == BASIS_SERIES && i->a.n >= 9);
	CU_ASSERT_EQUAL(i->verdict, VERDICT_WORSE);
	/* no interval of the series has a p99, nor a mix its ops' means */
	i = find(&o, "mixed read", METRIC_P99);
	CU_ASSERT(i->verdict == VERDICT_NO_INTERVAL && !i->fails);
	i = find(&o, "mixed read", METRIC_MEAN);
	CU_ASSERT_EQUAL(i->verdict, VERDICT_NO_INTERVAL);
	/* two seconds are too few */
	i = find(&o, "trims trim", METRIC_IOPS);
	CU_ASSERT_EQUAL(i->verdict, VERDICT_NO_INTERVAL);
	CU_ASSERT_FALSE(i->fails);
	release(&o);
}

/* Too short for an interval: rates fail all the same, latencies are counted. */
static void test_short_runs(void)
{
	json_t *d = make(5000), *op;
	const struct comparison_item *i;
	struct outcome o;

	op = json_object_get(json_object_get(row(d, 2), "ops"), "trim");
	json_object_set_new(op, "ios_per_s", json_real(100));
	json_object_set_new(json_object_get(op, "latency"), "mean_ns",
			    json_real(1e9));
	compare(&o, keep(make(5000), "sa", 0), keep(d, "sb", 0), &all);
	i = find(&o, "trims trim", METRIC_IOPS);
	CU_ASSERT(i->verdict == VERDICT_NO_INTERVAL && i->fails);
	i = find(&o, "trims trim", METRIC_MEAN);
	CU_ASSERT(i->verdict == VERDICT_NO_INTERVAL && !i->fails);
	CU_ASSERT(comparison_unjudged(&o.c) > 0);
	release(&o);
}

static void check_exact(json_t *a, json_t *b, bool is_exact)
{
	const struct comparison_item *i;
	struct outcome o;

	compare(&o, keep(a, "va", 0), keep(b, "vb", 0), &all);
	i = find(&o, "mixed read", METRIC_P99);
	CU_ASSERT_EQUAL(i->a.basis == BASIS_EXACT, is_exact);
	CU_ASSERT_EQUAL(i->verdict == VERDICT_WORSE, is_exact);
	if (is_exact)
		CU_ASSERT(i->interval.low == i->ratio &&
			  i->interval.high == i->ratio);
	release(&o);
}

static json_t *in_lab(json_t *d, const char *lab)
{
	json_object_set_new(json_object_get(own(d), "host"), "lab",
			    json_string(lab));
	return d;
}

/* One per mille is a finding, of the sim transport and of the lab's guests. */
static void test_virtual_time(void)
{
	json_t *a = make(1000), *b = make(999);

	json_object_set_new(json_object_get(own(a), "run"), "is_virtual_time",
			    json_true());
	json_object_set_new(json_object_get(own(b), "run"), "is_virtual_time",
			    json_true());
	check_exact(a, b, true);
	check_exact(in_lab(make(1000), "tcg, virtual time 500 MIPS"),
		    in_lab(make(999), "tcg, virtual time 500 MIPS"), true);
	check_exact(in_lab(make(1000), "tcg, virtual time 500 MIPS"),
		    in_lab(make(999), "tcg, virtual time 1000 MIPS"), false);
	check_exact(in_lab(make(1000), "tcg"), in_lab(make(999), "tcg"), false);
}

/* A difference of plans is refused and named; --force goes on. */
static void test_plans(void)
{
	json_t *d = make(1000), *jobs;
	struct outcome o;

	jobs = json_object_get(d, "jobs");
	json_object_set_new(
		json_object_get(json_array_get(jobs, 0), "job options"), "bs",
		json_string("8k"));
	compare(&o, keep(make(1000), "pa", 0), keep(d, "pb", 0), &all);
	CU_ASSERT_EQUAL(o.rc, -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(o.e.text, "mixed read: bs is \"4k\" and \"8k\""));
	release(&o);
}

static void test_plans_of_clients(void)
{
	struct compare_opts force = all;
	json_t *d = make(1000), *client;
	const char *a, *b;
	struct outcome o;

	force.force = true;
	client = json_array_get(
		json_object_get(json_object_get(own(d), "plan"), "clients"), 1);
	json_object_set_new(client, "length_bytes", json_integer(4096));
	a = keep(make(1000), "ca", 0);
	b = keep(d, "cb", 0);
	compare(&o, a, b, &all);
	CU_ASSERT_EQUAL(o.rc, -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(o.e.text, "region is 536870912 and 4096"));
	release(&o);
	compare(&o, a, b, &force);
	CU_ASSERT_EQUAL(o.rc, 0);
	CU_ASSERT_FATAL(o.c.nr_notes > 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(o.c.notes[0], "the plans differ"));
	release(&o);
}

/* A row that is in one alone; a row that never ran. */
static void test_missing(void)
{
	const struct comparison_item *i;
	const char *a, *b;
	struct outcome o;
	json_t *d, *op;

	a = keep(make(1000), "ma", 0);
	d = make(1000);
	json_object_set_new(row(d, 2), "name", json_string("other"));
	compare(&o, a, keep(d, "mb", 0), &all);
	CU_ASSERT_EQUAL(o.rc, -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(o.e.text, "trims trim is in"));
	release(&o);
	d = make(1000);
	json_object_set_new(row(d, 2), "has_run", json_false());
	op = json_object_get(json_object_get(row(d, 2), "ops"), "trim");
	json_object_set_new(op, "ios", json_integer(0));
	b = keep(d, "mc", 0);
	compare(&o, a, b, &all);
	CU_ASSERT_EQUAL_FATAL(o.rc, 0);
	i = find(&o, "trims trim", METRIC_MB_S);
	CU_ASSERT(i->verdict == VERDICT_MISSING && i->fails);
	release(&o);
}

/* Foreign, cut off and empty files of a folder are left out and named. */
static void test_folder_with_others(void)
{
	const char *a = keep(make(1000), "fa", 0);
	char path[300];
	struct set s;
	struct err e;
	FILE *f;

	snprintf(path, sizeof(path), "%s/foreign.json", a);
	f = fopen(path, "w");
	fputs("{\"some\": \"thing\"}", f);
	fclose(f);
	snprintf(path, sizeof(path), "%s/cut.json", a);
	f = fopen(path, "w");
	fputs("{\"fio version\": \"lunb", f);
	fclose(f);
	CU_ASSERT_EQUAL(set_read(&s, a, &e), 0);
	CU_ASSERT_EQUAL(s.nr_files, 1);
	CU_ASSERT_EQUAL(s.nr_warnings, 2);
	set_release(&s);
	/* given by name it is an error */
	CU_ASSERT_NOT_EQUAL(set_read(&s, path, &e), 0);
	set_release(&s);
	snprintf(path, sizeof(path), "%s/nothing", top);
	mkdir(path, 0700);
	CU_ASSERT_EQUAL(set_read(&s, path, &e), -ENOENT);
	set_release(&s);
}

static void test_reference(void)
{
	struct reference_line lines[] = {
		{"copy-large", "iscsi", "raid5", 94.1, 54.1},
		{"copy-large", "smb", "raid5", 42.8, 54.7},
		{"copy-large", "iscsi", "raid0", 106.8, 55.6},
	};
	char name[] = "table";
	struct reference r = {name, lines, 3};
	const struct comparison_item *i;
	json_t *d = make(54.1e6 / 4096);
	struct outcome o = {0};
	const char *path;

	json_object_set_new(own(d), "job", json_string("copy-large"));
	json_object_set_new(json_object_get(own(d), "target"), "array",
			    json_string("raid5"));
	path = keep(d, "ra", 0);
	CU_ASSERT_EQUAL_FATAL(set_read(&o.b, path, &o.e), 0);
	CU_ASSERT_EQUAL(compare_reference(&o.c, &r, &o.b, &all, &o.e), 0);
	i = find(&o, "raid5 copy-large, mixed read", METRIC_MB_S);
	CU_ASSERT_DOUBLE_EQUAL(i->ratio, 1, 1e-6);
	CU_ASSERT_DOUBLE_EQUAL(
		find(&o, "raid5 copy-large, mixed write", METRIC_MB_S)
			->a.estimate.mean,
		94.1, 1e-9);
	comparison_release(&o.c);
	lines[0].volume[4] = '6';
	CU_ASSERT_EQUAL(compare_reference(&o.c, &r, &o.b, &all, &o.e), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(o.e.text, "\"raid5\""));
	release(&o);
}

/* Names from elsewhere harm neither XML nor the terminal. */
static void test_hostile_names(void)
{
	json_t *a = make(1000), *b = make(900);
	char *text = NULL;
	struct outcome o;
	size_t size;
	FILE *out;

	json_object_set_new(row(a, 0), "name",
			    json_string("<x a=\"1\">&'\x1b[2J"));
	json_object_set_new(row(b, 0), "name",
			    json_string("<x a=\"1\">&'\x1b[2J"));
	compare(&o, keep(a, "ha", 0), keep(b, "hb", 0), &all);
	CU_ASSERT_EQUAL_FATAL(o.rc, 0);
	out = open_memstream(&text, &size);
	compare_put_junit(&o.c, 1, out);
	compare_print(&o.c, out);
	fclose(out);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(text, "&lt;x a=&quot;1&quot;&gt;&amp;&#39;?[2J"));
	CU_ASSERT_PTR_NULL(strchr(text, '\x1b'));
	free(text);
	release(&o);
}

static void test_end(void)
{
	char command[300];

	snprintf(command, sizeof(command), "rm -r %s", top);
	CU_ASSERT_EQUAL(system(command), 0);
}

UNIT_TESTS("compare", {"repeats", test_repeats}, {"gate", test_gate},
	   {"single runs", test_single_runs}, {"short runs", test_short_runs},
	   {"virtual time", test_virtual_time},
	   {"plans that differ", test_plans},
	   {"clients that differ", test_plans_of_clients},
	   {"what is missing", test_missing},
	   {"a folder with other files", test_folder_with_others},
	   {"published figures", test_reference},
	   {"hostile names", test_hostile_names}, {"cleans up", test_end})
