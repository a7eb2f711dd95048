#include "tests/unit/unit.h"

#include "report/curves.h"
#include "report/figures.h"
#include "report/text.h"
#include "tests/unit/result_sample.h"

static bool near(double a, double b)
{
	if (fabs(a - b) <= 1e-9 * fabs(b))
		return true;
	printf("# %.15g is not %.15g\n", a, b);
	return false;
}

/* By hand; 4.30265 is Student's t of two degrees. */
static void test_spread(void)
{
	double three[] = {3, 1, 2}, four[] = {10, 20, 40, 30}, one[] = {7};
	struct spread s;

	spread_of(&s, three, 3, true);
	CU_ASSERT(s.n == 3 && s.best == 3 && s.mean == 2 && s.median == 2);
	CU_ASSERT(s.sd == 1 && near(s.half, 4.302652729911275 / sqrt(3)));
	spread_of(&s, four, 4, false);
	CU_ASSERT(s.best == 10 && s.mean == 25 && s.median == 25);
	spread_of(&s, one, 1, true);
	CU_ASSERT(s.n == 1 && s.best == 7 && s.median == 7 && s.half == 0);
	spread_of(&s, one, 0, true);
	CU_ASSERT(!s.n && s.best == 0 && s.mean == 0 && s.half == 0);
}

static json_t *own(json_t *d)
{
	return json_object_get(d, "lunbench");
}

static json_t *row(json_t *d, size_t i)
{
	return json_array_get(json_object_get(own(d), "rows"), i);
}

static json_t *make(void)
{
	struct sample s;
	json_t *d;

	sample_init(&s);
	d = result_build(&s.in, NULL);
	sample_release(&s);
	CU_ASSERT_PTR_NOT_NULL_FATAL(d);
	return d;
}

static void add(struct set *s, const char *name, json_t *d)
{
	CU_ASSERT_EQUAL_FATAL(set_add_document(s, name, d, NULL), 0);
}

/* The trims: @repeat of it, at @ios_per_s. */
static void set_trims(json_t *d, int repeat, double ios_per_s)
{
	json_t *op = json_object_get(json_object_get(row(d, 2), "ops"), "trim");

	json_object_set_new(row(d, 2), "repeat", json_integer(repeat));
	json_object_set_new(op, "ios_per_s", json_real(ios_per_s));
}

static const struct figure *find(const struct figures *f, const char *name,
				 unsigned int step, enum io_op op)
{
	size_t i;

	for (i = 0; i < f->nr; i++)
		if (!strcmp(f->list[i].point->name, name) &&
		    f->list[i].point->step == step &&
		    f->list[i].point->op == op)
			return &f->list[i];
	CU_FAIL_FATAL("no such figure");
	return NULL;
}

/* Repeats of one file and of another are one figure; an array of its own is
 * another. */
static void test_pooling(void)
{
	const struct figure *one;
	struct set s = {0};
	struct figures f;
	json_t *d = make();
	int i;

	for (i = 2; i <= 3; i++) {
		json_array_append_new(json_object_get(own(d), "rows"),
				      json_deep_copy(row(d, 2)));
		json_array_append_new(json_object_get(d, "jobs"),
				      json_deep_copy(json_array_get(
					      json_object_get(d, "jobs"), 2)));
	}
	set_trims(d, 1, 100);
	json_object_set_new(row(d, 3), "repeat", json_integer(2));
	json_object_set_new(
		json_object_get(json_object_get(row(d, 3), "ops"), "trim"),
		"ios_per_s", json_real(110));
	json_object_set_new(row(d, 4), "repeat", json_integer(3));
	json_object_set_new(
		json_object_get(json_object_get(row(d, 4), "ops"), "trim"),
		"ios_per_s", json_real(120));
	add(&s, "a.json", d);
	d = make();
	set_trims(d, 1, 130);
	add(&s, "b.json", d);
	d = make();
	set_trims(d, 1, 9000);
	json_object_set_new(json_object_get(own(d), "target"), "array",
			    json_string("raid5"));
	add(&s, "c.json", d);
	CU_ASSERT_EQUAL_FATAL(figures_of(&f, &s, NULL), 0);
	one = find(&f, "trims", 0, OP_TRIM);
	CU_ASSERT_EQUAL(one->nr_points, 4);
	CU_ASSERT(near(one->spread[METRIC_IOPS].mean, 115));
	CU_ASSERT(near(one->spread[METRIC_IOPS].median, 115));
	CU_ASSERT(near(one->spread[METRIC_IOPS].best, 130));
	CU_ASSERT_EQUAL(find(&f, "paced", 0, OP_READ)->nr_points, 2);
	CU_ASSERT(figures_have_repeats(&f));
	figures_release(&f);
	set_release(&s);
}

static void test_titles(void)
{
	struct set s = {0};
	json_t *d = make();
	char text[256];

	/* The reads of the first row, the trims of the last, as two repeats of
	 * one step. */
	json_object_set_new(row(d, 1), "name", json_string("load"));
	json_object_set_new(row(d, 1), "step_clients", json_integer(8));
	json_object_set_new(row(d, 2), "name", json_string("load"));
	json_object_set_new(row(d, 2), "step_clients", json_integer(1));
	add(&s, "dir/a.json", d);
	CU_ASSERT_STRING_EQUAL(
		point_label(&s, &s.points[3], text, sizeof(text)),
		"load 8 clients read");
	CU_ASSERT_STRING_EQUAL(
		point_title(&s, &s.points[4], text, sizeof(text)),
		"load 1 client trim");
	set_release(&s);
	d = make();
	json_array_append_new(json_object_get(own(d), "rows"),
			      json_deep_copy(row(d, 2)));
	json_array_append_new(
		json_object_get(d, "jobs"),
		json_deep_copy(json_array_get(json_object_get(d, "jobs"), 2)));
	json_object_set_new(row(d, 3), "repeat", json_integer(2));
	memset(&s, 0, sizeof(s));
	add(&s, "dir/a.json", d);
	CU_ASSERT_STRING_EQUAL(
		point_title(&s, &s.points[5], text, sizeof(text)),
		"trims trim (repeat 2)");
	add(&s, "dir/b.json", make());
	CU_ASSERT_STRING_EQUAL(
		point_title(&s, &s.points[5], text, sizeof(text)),
		"trims trim (a.json, repeat 2)");
	CU_ASSERT_STRING_EQUAL(
		point_title(&s, &s.points[0], text, sizeof(text)),
		"mixed read (a.json)");
	set_release(&s);
}

/* The rows as steps: what the curve has of one is the sum over its ops. */
static void test_curve(void)
{
	const json_t *ops;
	struct curves c;
	struct set s = {0};
	json_t *d = make();
	double mb_s;
	size_t i;

	for (i = 0; i < 3; i++) {
		json_object_set_new(row(d, i), "name", json_string("load"));
		json_object_set_new(row(d, i), "step_clients",
				    json_integer(1 << i));
	}
	ops = json_object_get(row(d, 0), "ops");
	mb_s = (number_of(json_object_get(ops, "read"), "bytes_per_s") +
		number_of(json_object_get(ops, "write"), "bytes_per_s")) /
	       1e6;
	add(&s, "a.json", d);
	CU_ASSERT_EQUAL_FATAL(curves_of(&c, &s, true, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(c.nr, 1);
	CU_ASSERT_EQUAL(c.list[0].sweep.nr_points, 3);
	CU_ASSERT(near(c.list[0].loads[0].mb_s, mb_s));
	CU_ASSERT(near(c.list[0].loads[0].iops, 5000 + 2500 + 312.4));
	/* p99 of reads, writes and flushes together lies between theirs. */
	CU_ASSERT(c.list[0].loads[0].p99_ns > 230e3 &&
		  c.list[0].loads[0].p99_ns < 240e3);
	CU_ASSERT_STRING_EQUAL(c.list[0].label, "load");
	curves_release(&c);
	/* Another file, another array: another curve. */
	d = json_deep_copy(s.files[0].doc);
	json_object_set_new(json_object_get(own(d), "target"), "array",
			    json_string("raid5"));
	add(&s, "b.json", d);
	CU_ASSERT_EQUAL_FATAL(curves_of(&c, &s, true, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(c.nr, 2);
	CU_ASSERT_STRING_EQUAL(c.list[1].label, "raid5 load");
	curves_release(&c);
	/* The same array: repeats. */
	add(&s, "c.json", json_deep_copy(s.files[1].doc));
	CU_ASSERT_EQUAL_FATAL(curves_of(&c, &s, true, NULL), 0);
	CU_ASSERT_EQUAL(c.nr, 2);
	CU_ASSERT_EQUAL(c.list[1].sweep.points[0].rate.n, 2);
	CU_ASSERT(near(c.list[1].loads[0].mb_s, mb_s));
	curves_release(&c);
	set_release(&s);
}

/* Rows of unlike numbers of clients without a sweep in the job: a curve from
 * three numbers on, and only for who asks. */
static void test_curve_without_a_sweep(void)
{
	struct curves c;
	struct set s = {0};
	json_t *d = make();
	size_t i;

	for (i = 0; i < 3; i++)
		json_object_set_new(json_object_get(row(d, i), "fairness"),
				    "clients", json_integer(1 << i));
	add(&s, "a.json", d);
	CU_ASSERT_EQUAL_FATAL(curves_of(&c, &s, true, NULL), 0);
	CU_ASSERT_EQUAL(c.nr, 0);
	curves_release(&c);
	CU_ASSERT_EQUAL_FATAL(curves_of(&c, &s, false, NULL), 0);
	CU_ASSERT_EQUAL(c.nr, 1);
	curves_release(&c);
	json_object_set_new(json_object_get(row(d, 2), "fairness"), "clients",
			    json_integer(1));
	CU_ASSERT_EQUAL_FATAL(curves_of(&c, &s, false, NULL), 0);
	CU_ASSERT_EQUAL(c.nr, 0);
	curves_release(&c);
	set_release(&s);
}

UNIT_TESTS("figures", {"spread", test_spread}, {"pooling", test_pooling},
	   {"titles", test_titles}, {"a curve", test_curve},
	   {"a curve without a sweep", test_curve_without_a_sweep})
