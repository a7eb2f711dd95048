#include "base/clock.h"
#include "tests/unit/unit.h"
#include "workloads/plan.h"
#include "workloads/quick.h"

static struct jobset set;
static struct err e;

static int scale(const char *text)
{
	struct jobfile f;
	int ret;

	jobset_release(&set);
	ret = jobfile_parse(&f, "x.fio", text, strlen(text), &e);
	if (!ret)
		ret = jobset_build(&set, &f, NULL, 0, &e);
	jobfile_release(&f);
	return ret ? ret : quick_scale(&set, &e);
}

static void test_times(void)
{
	CU_ASSERT_EQUAL_FATAL(scale("[a]\nruntime=60\nramp_time=5\n"
				    "startdelay=5\ntime_based\n"
				    "[b]\nruntime=500ms\nramp_time=50ms\n"
				    "[c]\nsize=1g\nloops=2\n"),
			      0);
	CU_ASSERT_EQUAL(set.jobs[0].runtime_ns, NS_PER_SEC);
	CU_ASSERT_EQUAL(set.jobs[0].ramp_ns, 200 * NS_PER_MSEC);
	CU_ASSERT_EQUAL(set.jobs[0].startdelay_ns, 0);
	CU_ASSERT_TRUE(set.jobs[0].time_based);
	/* What is shorter stays. */
	CU_ASSERT_EQUAL(set.jobs[1].runtime_ns, 500 * NS_PER_MSEC);
	CU_ASSERT_EQUAL(set.jobs[1].ramp_ns, 50 * NS_PER_MSEC);
	/* An amount has a limit now, and is what it was. */
	CU_ASSERT_EQUAL(set.jobs[2].runtime_ns, NS_PER_SEC);
	CU_ASSERT_FALSE(set.jobs[2].time_based);
	CU_ASSERT_EQUAL(set.jobs[2].loops, 2);
	CU_ASSERT_TRUE(set.is_quick);
	CU_ASSERT_EQUAL_FATAL(set.nr_warnings, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(set.warnings[0], "--quick"));
}

static void test_repeats(void)
{
	CU_ASSERT_EQUAL_FATAL(scale("[a]\nrepeats=20\n[b]\nrepeats=2\n"
				    "[c]\nuntil=ci:2%\n[d]\nuntil=steady\n"
				    "[e]\n[f]\nprepare\nrepeats=9\n"),
			      0);
	CU_ASSERT_EQUAL(plan_repeats(&set.jobs[0]), 3);
	CU_ASSERT_EQUAL(plan_repeats(&set.jobs[1]), 2);
	CU_ASSERT_EQUAL(plan_repeats(&set.jobs[2]), 3);
	CU_ASSERT_EQUAL(plan_repeats(&set.jobs[3]), 5);
	CU_ASSERT_EQUAL(plan_repeats(&set.jobs[4]), 1);
	CU_ASSERT_EQUAL(plan_repeats(&set.jobs[5]), 1);
	jobset_release(&set);
}

UNIT_TESTS("quick", {"times", test_times}, {"repeats", test_repeats})
