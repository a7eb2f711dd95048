#include "commands/passes.h"

#include "base/clock.h"
#include "tests/unit/unit.h"

/* Synthetic rates of every pass, and what the rules say of them. */

enum { ROWS_MAX = 64 };

static struct jobset set;
static struct plan p;
static struct run_result r;
static struct row_result rows[ROWS_MAX];

static void build(const char *text)
{
	const struct lun lun = {.blocks = 1 << 21, .block_bytes = 512};
	struct jobfile f;
	struct err e;

	plan_release(&p);
	jobset_release(&set);
	memset(rows, 0, sizeof(rows));
	CU_ASSERT_EQUAL_FATAL(
		jobfile_parse(&f, "x.fio", text, strlen(text), &e), 0);
	CU_ASSERT_EQUAL_FATAL(jobset_build(&set, &f, NULL, 0, &e), 0);
	jobfile_release(&f);
	CU_ASSERT_EQUAL_FATAL(plan_build(&p, &set, &lun, 0, &e), 0);
	CU_ASSERT_TRUE_FATAL(p.nr_rows <= ROWS_MAX);
	r = (struct run_result){.rows = rows, .nr_rows = p.nr_rows};
}

/* Row @row of each pass, of @per_pass of them after @before, at rate x[pass].
 */
static void rates(size_t before, size_t per_pass, size_t row, const double *x,
		  size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct row_result *rr = &rows[before + i * per_pass + row];

		rr->window_end_ns = 2 * NS_PER_SEC;
		rr->meter.op[OP_READ].ios = (uint64_t)x[i];
		rr->meter.op[OP_WRITE].ios = (uint64_t)x[i];
	}
}

static void test_interval(void)
{
	static const double same[] = {1000, 1000, 1000, 1000};
	static const double noisy[] = {1000, 1010, 990, 1000};
	static const double zero[] = {0, 0, 0};

	build("[fill]\nrw=write\nprepare\n[a]\nstonewall\nrw=rw\n"
	      "clients=1,2\nuntil=ci:1%\nrepeats=4\n");
	rates(1, 2, 0, same, 4);
	rates(1, 2, 1, same, 4);
	CU_ASSERT_FALSE(passes_fulfil(&p, &r, 0));
	CU_ASSERT_FALSE(passes_fulfil(&p, &r, 2)); /* too few to judge */
	CU_ASSERT_TRUE(passes_fulfil(&p, &r, 3));
	/* sd 8.16, t(3) 3.182: +-1.3 % after four; after three +-2.5 %. */
	rates(1, 2, 1, noisy, 4);
	CU_ASSERT_FALSE(passes_fulfil(&p, &r, 3));
	CU_ASSERT_FALSE(passes_fulfil(&p, &r, 4));
	p.until.percent = 1.31;
	CU_ASSERT_TRUE(passes_fulfil(&p, &r, 4));
	CU_ASSERT_FALSE(passes_fulfil(&p, &r, 3));
	/* Nothing done is not a steady rate. */
	rates(1, 2, 0, zero, 3);
	p.until.percent = 99;
	CU_ASSERT_FALSE(passes_fulfil(&p, &r, 3));
}

static void test_steady(void)
{
	static const double falls[] = {2000, 1500, 1000, 1000,
				       1000, 1000, 1000};

	build("[a]\nuntil=steady\nrepeats=7\n");
	rates(0, 1, 0, falls, 7);
	CU_ASSERT_FALSE(passes_fulfil(&p, &r, 5));
	CU_ASSERT_FALSE(passes_fulfil(&p, &r, 6));
	CU_ASSERT_TRUE(passes_fulfil(&p, &r, 7));
}

/* Jobs that are repeated at once are not asked for. */
static void test_together(void)
{
	static const double same[] = {1000, 1000, 1000};
	static const double wild[] = {1, 1000};

	build("[b]\nrepeats=2\nrepeat_order=together\n[a]\nstonewall\n"
	      "until=ci:1%\nrepeats=3\n");
	rates(0, 1, 0, wild, 2);
	rates(2, 1, 0, same, 3);
	CU_ASSERT_TRUE(passes_fulfil(&p, &r, 3));
	plan_release(&p);
	jobset_release(&set);
}

UNIT_TESTS("passes", {"interval", test_interval}, {"steady", test_steady},
	   {"together", test_together})
