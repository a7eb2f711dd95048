#include <errno.h>

#include "tests/unit/unit.h"
#include "workloads/jobfile.h"

static struct jobset set;
static struct err e;

static int build_over(const char *text, const struct setting *over, size_t nr)
{
	struct jobfile f;
	int ret;

	jobset_release(&set);
	memset(&e, 0, sizeof(e));
	if (!text)
		return jobset_build(&set, NULL, over, nr, &e);
	ret = jobfile_parse(&f, "x.fio", text, strlen(text), &e);
	if (!ret)
		ret = jobset_build(&set, &f, over, nr, &e);
	jobfile_release(&f); /* the set must stand alone */
	return ret;
}

static int build(const char *text)
{
	return build_over(text, NULL, 0);
}

static int fails(const char *text, int code, const char *sentence)
{
	int ret = build(text);

	if (ret != code || strcmp(e.text, sentence) != 0)
		printf("# %d \"%s\" instead of %d \"%s\"\n", ret, e.text, code,
		       sentence);
	return ret == code && !strcmp(e.text, sentence) && !set.nr_jobs;
}

static void test_globals(void)
{
	CU_ASSERT_EQUAL_FATAL(build("[global]\nbs=8k\niodepth=4\n"
				    "[a]\n"
				    "[b]\niodepth=2\n"
				    "[global]\nbs=16k\n"
				    "[c]\n"),
			      0);
	CU_ASSERT_EQUAL_FATAL(set.nr_jobs, 3);
	CU_ASSERT_STRING_EQUAL(set.jobs[0].name, "a");
	CU_ASSERT_EQUAL(set.jobs[0].bs[0], 8192);
	CU_ASSERT_EQUAL(set.jobs[0].iodepth, 4);
	CU_ASSERT_EQUAL(set.jobs[1].iodepth, 2);
	CU_ASSERT_EQUAL(set.jobs[2].bs[0], 16384);
	CU_ASSERT_EQUAL(set.jobs[2].iodepth, 4);
	CU_ASSERT_EQUAL(set.nr_global, 2);
}

static const char *given(size_t job, const char *key)
{
	size_t i;

	for (i = 0; i < set.nr_given[job]; i++)
		if (!strcmp(set.given[job][i].key, key))
			return set.given[job][i].value;
	return "absent";
}

static void test_given(void)
{
	static struct setting over[] = {{"iodepth", "9", NULL},
					{"stonewall", NULL, NULL}};

	CU_ASSERT_EQUAL_FATAL(
		build_over("[global]\nblocksize=8k\nioengine=libaio\n"
			   "[a]\nbs=16k\nname=other\niodepth=2\n",
			   over, 2),
		0);
	CU_ASSERT_STRING_EQUAL(set.jobs[0].name, "other");
	CU_ASSERT_EQUAL(set.jobs[0].iodepth, 9);
	CU_ASSERT_TRUE(set.jobs[0].stonewall);
	CU_ASSERT_STRING_EQUAL(given(0, "bs"), "16k");
	CU_ASSERT_STRING_EQUAL(given(0, "blocksize"), "absent");
	CU_ASSERT_STRING_EQUAL(given(0, "ioengine"), "libaio");
	CU_ASSERT_STRING_EQUAL(given(0, "iodepth"), "9");
	CU_ASSERT_PTR_NULL(given(0, "stonewall"));
	CU_ASSERT_EQUAL(set.nr_given[0], 5);
	CU_ASSERT_EQUAL_FATAL(set.nr_global, 2);
	CU_ASSERT_STRING_EQUAL(set.global[0].key, "bs");
	CU_ASSERT_STRING_EQUAL(set.global[0].value, "8k");
}

static void test_command_line(void)
{
	static struct setting over[] = {{"bs", "1m", NULL},
					{"rw", "randwrite", NULL}};
	static struct setting named[] = {{"name", "mine", NULL}};
	static struct setting bad[] = {{"iodepht", "1", NULL}};
	static struct setting zero[] = {{"iodepth", "0", "command line"}};

	CU_ASSERT_EQUAL_FATAL(build_over(NULL, over, 2), 0);
	CU_ASSERT_EQUAL_FATAL(set.nr_jobs, 1);
	CU_ASSERT_STRING_EQUAL(set.jobs[0].name, "lunbench");
	CU_ASSERT_EQUAL(set.jobs[0].bs[OP_WRITE], 1 << 20);
	CU_ASSERT_EQUAL_FATAL(build_over(NULL, named, 1), 0);
	CU_ASSERT_STRING_EQUAL(set.jobs[0].name, "mine");
	CU_ASSERT_EQUAL(build_over(NULL, bad, 1), -EINVAL);
	CU_ASSERT_STRING_EQUAL(e.text, "command line: unknown key \"iodepht\"; "
				       "did you mean \"iodepth\"?");
	CU_ASSERT_EQUAL(build_over("[a]\n", zero, 1), -ERANGE);
	CU_ASSERT_STRING_EQUAL(e.text, "command line: \"iodepth=0\": 0 is "
				       "outside 1..65536");
	CU_ASSERT_EQUAL(build_over(NULL, NULL, 0), 0);
}

static void test_bs_over_bssplit(void)
{
	static struct setting both[] = {{"blocksize", "8k", NULL},
					{"bssplit", "4k/50:16k/50", NULL}};
	const char *text = "[a]\nbs=32k\nbssplit=4k/80:64k/20\n";

	CU_ASSERT_EQUAL_FATAL(build(text), 0);
	CU_ASSERT_EQUAL(set.jobs[0].nr_bssplit[OP_READ], 2);
	CU_ASSERT_EQUAL_FATAL(build_over(text, both, 1), 0);
	CU_ASSERT_EQUAL(set.jobs[0].nr_bssplit[OP_READ], 0);
	CU_ASSERT_EQUAL(set.jobs[0].bs[OP_READ], 8192);
	CU_ASSERT_STRING_EQUAL(given(0, "bssplit"), "absent");
	CU_ASSERT_EQUAL_FATAL(build_over(text, both, 2), 0);
	CU_ASSERT_EQUAL(set.jobs[0].nr_bssplit[OP_READ], 2);
	CU_ASSERT_EQUAL(set.jobs[0].bssplit[OP_READ][1].bytes, 16384);
}

static void test_kb_base(void)
{
	static struct setting over[] = {{"size", "1k", NULL},
					{"kb_base", "1000", NULL}};

	/* For the whole section, also for what stands before it. */
	CU_ASSERT_EQUAL_FATAL(build("[a]\nbs=4k\nkb_base=1000\n"
				    "[b]\nbs=4k\n"
				    "[global]\nkb_base=1000\n"
				    "[c]\nbs=4k\n"),
			      0);
	CU_ASSERT_EQUAL(set.jobs[0].bs[0], 4000);
	CU_ASSERT_EQUAL(set.jobs[1].bs[0], 4096);
	CU_ASSERT_EQUAL(set.jobs[2].bs[0], 4000);
	CU_ASSERT_EQUAL_FATAL(build_over("[a]\nbs=4k\n", over, 2), 0);
	CU_ASSERT_EQUAL(set.jobs[0].bs[0], 4000);
	CU_ASSERT_EQUAL(set.jobs[0].size.bytes, 1000);
}

static void test_remarks(void)
{
	CU_ASSERT_EQUAL_FATAL(build("[global]\nioengine=libaio\nbs=4kib\n"
				    "[a]\nioengine=sync\n"
				    "[b]\nverify=0\ndirect=1\n"),
			      0);
	CU_ASSERT_EQUAL_FATAL(set.nr_warnings, 1);
	CU_ASSERT_STRING_EQUAL(set.warnings[0],
			       "x.fio:3: \"bs=4kib\": as in fio, 4kib means "
			       "4000 bytes with kb_base=1024; for powers of "
			       "1024 write 4k");
	CU_ASSERT_EQUAL_FATAL(set.nr_not_applicable, 2);
	CU_ASSERT_EQUAL(strncmp(set.not_applicable[0], "ioengine: ", 10), 0);
	CU_ASSERT_EQUAL(strncmp(set.not_applicable[1], "direct: ", 8), 0);
}

static void test_time_based(void)
{
	CU_ASSERT_EQUAL_FATAL(build("\n[a]\ntime_based\n"), 0);
	CU_ASSERT_FALSE(set.jobs[0].time_based);
	CU_ASSERT_EQUAL_FATAL(set.nr_warnings, 1);
	CU_ASSERT_STRING_EQUAL(set.warnings[0],
			       "x.fio:2: job \"a\": time_based without a "
			       "runtime is ignored, as in fio; give "
			       "runtime=SECONDS");
}

static void test_pattern_wins(void)
{
	CU_ASSERT_EQUAL_FATAL(build("[a]\nbuffer_pattern=1\nzero_buffers\n"
				    "[b]\nzero_buffers\n"),
			      0);
	CU_ASSERT_FALSE(set.jobs[0].zero_buffers);
	CU_ASSERT_TRUE(set.jobs[1].zero_buffers);
}

static void test_many_warnings(void)
{
	static char text[8192];
	int i;

	strcpy(text, "[a]\n");
	for (i = 0; i < 300; i++)
		strcat(text, "bs=4kib\n");
	CU_ASSERT_EQUAL_FATAL(build(text), 0);
	CU_ASSERT_EQUAL_FATAL(set.nr_warnings, 100);
	CU_ASSERT_STRING_EQUAL(set.warnings[99],
			       "there are more warnings, which are left out");
}

static void test_errors(void)
{
	CU_ASSERT_TRUE(fails("[a]\nrw=read\niodepht=4\n", -EINVAL,
			     "x.fio:3: unknown key \"iodepht\"; did you mean "
			     "\"iodepth\"?"));
	CU_ASSERT_TRUE(fails("[a]\nBS=4k\n", -EINVAL,
			     "x.fio:2: unknown key \"BS\"; did you mean "
			     "\"bs\"?"));
	CU_ASSERT_TRUE(fails("[a]\nxyzzyplugh=4k\n", -EINVAL,
			     "x.fio:2: unknown key \"xyzzyplugh\"; see "
			     "`lunbench run --help` for all keys"));
	CU_ASSERT_TRUE(fails("[global]\nverify=md5\n[a]\n", -EOPNOTSUPP,
			     "x.fio:2: \"verify\" is not supported: lunbench "
			     "run does not compare data; lunbench check "
			     "does"));
	CU_ASSERT_TRUE(fails("[a]\niodepth=0\n", -ERANGE,
			     "x.fio:2: \"iodepth=0\": 0 is outside 1..65536"));
	CU_ASSERT_TRUE(fails("[a]\nbs=-4k\n", -EINVAL,
			     "x.fio:2: \"bs=-4k\": \"-4k\" is negative; give a "
			     "size such as 4096, 4k, 1m, 10g or 50%"));
	CU_ASSERT_TRUE(fails("[a]\nruntime=5y\n", -EINVAL,
			     "x.fio:2: \"runtime=5y\": \"5y\" is not a time "
			     "such as 30, 30s, 5m, 250ms or 10us"));
	CU_ASSERT_TRUE(fails("[a]\nsize=200%\n", -ERANGE,
			     "x.fio:2: \"size=200%\": \"200%\" is more than "
			     "100%"));
	CU_ASSERT_TRUE(fails("[a]\n[b]\n[a]\n", -EEXIST,
			     "x.fio:3: section [a] is there already, at "
			     "x.fio:1; give each job its own name"));
	CU_ASSERT_TRUE(fails("[a]\nrate=1m\nrate_iops=10\n", -EINVAL,
			     "x.fio:1: job \"a\" sets rate and rate_iops; give "
			     "one of them"));
}

static void test_new_seed(void)
{
	CU_ASSERT_EQUAL(build("[a]\n"), 0);
	CU_ASSERT_FALSE(jobset_wants_new_seed(&set));
	CU_ASSERT_EQUAL(build("[a]\n[b]\nrandrepeat=0\n"), 0);
	CU_ASSERT_TRUE(jobset_wants_new_seed(&set));
	CU_ASSERT_EQUAL(build("[a]\nrandrepeat=0\nrandseed=3\n"), 0);
	CU_ASSERT_FALSE(jobset_wants_new_seed(&set));
	jobset_release(&set);
}

/* What prepares the LUN is not asked what is asked of the measured jobs. */
static void test_prepare(void)
{
	const struct setting over[] = {
		{(char *)"clients", (char *)"1,2", NULL},
		{(char *)"runtime", (char *)"9", NULL},
		{(char *)"zero_buffers", NULL, NULL},
	};

	CU_ASSERT_EQUAL_FATAL(build_over("[fill]\nrw=write\n"
					 "#lunbench: prepare\n[a]\nrw=read\n",
					 over, 3),
			      0);
	CU_ASSERT_EQUAL_FATAL(set.nr_jobs, 2);
	CU_ASSERT_EQUAL(set.jobs[0].nr_steps, 0);
	CU_ASSERT_EQUAL(set.jobs[0].runtime_ns, 0);
	CU_ASSERT_TRUE(set.jobs[0].zero_buffers);
	CU_ASSERT_EQUAL(set.jobs[1].nr_steps, 2);
	CU_ASSERT_NOT_EQUAL(set.jobs[1].runtime_ns, 0);
	/* Its "job options" say what went for it. */
	CU_ASSERT_EQUAL(set.nr_given[0], 3);
	CU_ASSERT_EQUAL(set.nr_given[1], 4);
}

static void test_departs(void)
{
	CU_ASSERT_EQUAL_FATAL(build("[global]\n#lunbench: departs=a; b # c\n"
				    "#lunbench: departs=two\n[a]\n[b]\n"
				    "departs=two\n;lunbench: departs=three\n"),
			      0);
	CU_ASSERT_EQUAL_FATAL(set.nr_departs, 3);
	CU_ASSERT_STRING_EQUAL(set.departs[0], "a; b # c");
	CU_ASSERT_STRING_EQUAL(set.departs[1], "two");
	CU_ASSERT_STRING_EQUAL(set.departs[2], "three");
	CU_ASSERT_EQUAL(set.nr_given[0], 0);
	jobset_release(&set);
}

UNIT_TESTS("jobset", {"globals go for later jobs", test_globals},
	   {"what was given", test_given}, {"command line", test_command_line},
	   {"a bs on the command line wins over a bssplit",
	    test_bs_over_bssplit},
	   {"kb_base", test_kb_base},
	   {"warnings and keys passed over", test_remarks},
	   {"time_based without runtime", test_time_based},
	   {"a pattern wins over zeros", test_pattern_wins},
	   {"many warnings", test_many_warnings},
	   {"errors name the place", test_errors}, {"new seed", test_new_seed},
	   {"prepare", test_prepare}, {"departs", test_departs})
