#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "tests/unit/unit.h"
#include "workloads/plan.h"

static struct jobset set;
static struct plan p;
static struct err e;
static struct lun lun;

static void use_lun(uint64_t bytes, uint32_t block)
{
	lun = (struct lun){.blocks = bytes / block,
			   .block_bytes = block,
			   .max_transfer_blocks = (16 << 20) / block,
			   .can_unmap = true,
			   .vendor = "ACME",
			   .product = "DISK"};
}

static int build_seed(const char *text, uint64_t seed)
{
	struct jobfile f;
	int ret;

	plan_release(&p);
	jobset_release(&set);
	memset(&e, 0, sizeof(e));
	ret = jobfile_parse(&f, "x.fio", text, strlen(text), &e);
	if (!ret)
		ret = jobset_build(&set, &f, NULL, 0, &e);
	jobfile_release(&f);
	return ret ? ret : plan_build(&p, &set, &lun, seed, &e);
}

static int build(const char *text)
{
	return build_seed(text, 0);
}

static int fails(const char *text, int code, const char *sentence)
{
	int ret = build(text);

	if (ret != code || strcmp(e.text, sentence) != 0)
		printf("# %d \"%s\" instead of %d \"%s\"\n", ret, e.text, code,
		       sentence);
	return ret == code && !strcmp(e.text, sentence) && !p.nr_clients;
}

#define MIB (1ULL << 20)
#define GIB (1ULL << 30)

static void test_whole_lun(void)
{
	use_lun(GIB + 512, 512);
	CU_ASSERT_EQUAL_FATAL(build("[a]\nbs=1m\n"), 0);
	CU_ASSERT_EQUAL_FATAL(p.nr_clients, 1);
	CU_ASSERT_EQUAL(p.clients[0].offset_bytes, 0);
	CU_ASSERT_EQUAL(p.clients[0].length_bytes, GIB); /* whole I/Os */
	CU_ASSERT_EQUAL(p.clients[0].io_bytes, GIB);
	CU_ASSERT_EQUAL(p.clients[0].number_ios, UINT64_MAX);
	CU_ASSERT_EQUAL(p.nr_groups, 1);
	CU_ASSERT_EQUAL(p.groups[0].expected_ns, UINT64_MAX);
	CU_ASSERT_FALSE(p.writes);
	CU_ASSERT_EQUAL(p.nr_notes, 0);
}

static void test_regions(void)
{
	use_lun(GIB, 512);
	CU_ASSERT_EQUAL_FATAL(build("[a]\noffset=256m\n"), 0);
	CU_ASSERT_EQUAL(p.clients[0].offset_bytes, 256 * MIB);
	CU_ASSERT_EQUAL(p.clients[0].length_bytes, 768 * MIB);
	CU_ASSERT_EQUAL_FATAL(build("[a]\noffset=25%\nsize=50%\n"), 0);
	CU_ASSERT_EQUAL(p.clients[0].offset_bytes, 256 * MIB);
	CU_ASSERT_EQUAL(p.clients[0].length_bytes, 512 * MIB);
	/* A percentage is of the whole LUN, and is cut off at its end. */
	CU_ASSERT_EQUAL_FATAL(build("[a]\noffset=75%\nsize=50%\n"), 0);
	CU_ASSERT_EQUAL(p.clients[0].length_bytes, 256 * MIB);
	CU_ASSERT_EQUAL_FATAL(p.nr_notes, 1);
	CU_ASSERT_STRING_EQUAL(p.notes[0],
			       "a: size=50% reaches past the end of "
			       "the LUN; cut off there");
	/* Percentages become whole I/Os. */
	CU_ASSERT_EQUAL_FATAL(build("[a]\nbs=1m\noffset=33.3%\nsize=10%\n"), 0);
	CU_ASSERT_EQUAL(p.clients[0].offset_bytes, 340 * MIB);
	CU_ASSERT_EQUAL(p.clients[0].length_bytes, 102 * MIB);
	CU_ASSERT_EQUAL_FATAL(p.nr_notes, 1);
	CU_ASSERT_STRING_EQUAL(p.notes[0], "a: size rounded down to 106954752 "
					   "bytes, a multiple of 1 MiB");
	/* The largest of the sizes in use decides. */
	CU_ASSERT_EQUAL_FATAL(build("[a]\nrw=rw\nbs=4k,64k,1m\nsize=1025k\n"),
			      0);
	CU_ASSERT_EQUAL(p.clients[0].length_bytes, MIB);
	CU_ASSERT_EQUAL_FATAL(build("[a]\nbssplit=4k/50:192k/50\nsize=1m\n"),
			      0);
	CU_ASSERT_EQUAL(p.clients[0].length_bytes, 5 * 192 << 10);
}

static void test_clones(void)
{
	use_lun(GIB, 512);
	CU_ASSERT_EQUAL_FATAL(build("[a]\nnumjobs=3\nsize=100m\noffset=1m\n"
				    "offset_increment=200m\n[b]\nnumjobs=2\n"
				    "offset_increment=50%\n"),
			      0);
	CU_ASSERT_EQUAL_FATAL(p.nr_clients, 5);
	CU_ASSERT_EQUAL(p.clients[0].offset_bytes, MIB);
	CU_ASSERT_EQUAL(p.clients[2].offset_bytes, 401 * MIB);
	CU_ASSERT_EQUAL(p.clients[2].length_bytes, 100 * MIB);
	CU_ASSERT_EQUAL(p.clients[2].clone, 2);
	/* Without size each has what is left. */
	CU_ASSERT_EQUAL(p.clients[3].length_bytes, GIB);
	CU_ASSERT_EQUAL(p.clients[4].offset_bytes, GIB / 2);
	CU_ASSERT_EQUAL(p.clients[4].length_bytes, GIB / 2);
	CU_ASSERT_EQUAL(p.nr_rows, 5);
	CU_ASSERT_EQUAL(p.nr_groups, 1);
}

static void test_slices(void)
{
	uint64_t end = 8 * MIB;
	size_t i;

	use_lun(GIB, 512);
	CU_ASSERT_EQUAL_FATAL(build("[a]\nclients=7\nnumjobs=2\nbs=64k\n"
				    "offset=8m\nsize=10m\nnumber_ios=30\n"
				    "loops=2\n"),
			      0);
	CU_ASSERT_EQUAL_FATAL(p.nr_clients, 14);
	for (i = 0; i < 7; i++) {
		const struct plan_client *c = &p.clients[i];

		CU_ASSERT_EQUAL(c->offset_bytes, end);
		CU_ASSERT_EQUAL(c->length_bytes, 22 * 65536);
		CU_ASSERT_EQUAL(c->io_bytes, 2 * 22 * 65536);
		CU_ASSERT_EQUAL(c->number, i);
		CU_ASSERT_EQUAL(c->number_ios, i < 2 ? 10 : 8);
		end = c->offset_bytes + c->length_bytes;
	}
	CU_ASSERT_TRUE(end <= 18 * MIB);
	CU_ASSERT_EQUAL(p.nr_rows, 2);
	CU_ASSERT_EQUAL(p.rows[1].nr_clients, 7);
	CU_ASSERT_EQUAL(p.rows[1].first_client, 7);
	CU_ASSERT_STRING_EQUAL(p.notes[0],
			       "a: the last 393216 bytes are left out: 7 equal "
			       "slices of 1408 KiB");
}

static void test_amounts(void)
{
	use_lun(GIB, 512);
	/* The I/Os that fio 3.33 did for these, with ioengine=null. */
	CU_ASSERT_EQUAL_FATAL(build("[a]\nsize=1m\nloops=3\n"), 0);
	CU_ASSERT_EQUAL(p.clients[0].io_bytes, 3 * MIB);
	CU_ASSERT_EQUAL_FATAL(build("[a]\nsize=1m\nio_size=512k\nloops=2\n"),
			      0);
	CU_ASSERT_EQUAL(p.clients[0].io_bytes, MIB);
	CU_ASSERT_EQUAL_FATAL(build("[a]\nsize=1m\nio_size=50%\n"), 0);
	CU_ASSERT_EQUAL(p.clients[0].io_bytes, MIB / 2);
	CU_ASSERT_EQUAL_FATAL(build("[a]\nnumber_ios=10\nloops=3\n"), 0);
	CU_ASSERT_EQUAL(p.clients[0].number_ios, 30);
	/* With time_based neither ends the job. */
	CU_ASSERT_EQUAL_FATAL(build("[a]\nnumber_ios=10\nio_size=1m\n"
				    "time_based\nruntime=5\n"),
			      0);
	CU_ASSERT_EQUAL(p.clients[0].io_bytes, UINT64_MAX);
	CU_ASSERT_EQUAL(p.clients[0].number_ios, UINT64_MAX);
	CU_ASSERT_STRING_EQUAL(p.notes[0],
			       "a: number_ios is ignored with time_based");
	/* Too many bytes to count are still not "without end". */
	CU_ASSERT_EQUAL_FATAL(build("[a]\nloops=4294967295\nio_size=8192p\n"),
			      0);
	CU_ASSERT_EQUAL(p.clients[0].io_bytes, UINT64_MAX - 1);
}

static void test_groups(void)
{
	use_lun(GIB, 512);
	CU_ASSERT_EQUAL_FATAL(build("[a]\nstonewall\nruntime=10\ntime_based\n"
				    "[b]\nruntime=20\nramp_time=5\n"
				    "startdelay=1\ntime_based\n"
				    "[c]\nstonewall\nruntime=7\n"
				    "[d]\nwait_for_previous\n"
				    "[e]\nruntime=5\ntime_based\n"),
			      0);
	CU_ASSERT_EQUAL_FATAL(p.nr_groups, 3);
	CU_ASSERT_EQUAL(p.groups[0].nr_clients, 2);
	CU_ASSERT_EQUAL(p.groups[0].expected_ns, 26000000000);
	CU_ASSERT_FALSE(p.groups[0].may_end_early);
	CU_ASSERT_EQUAL(p.groups[1].first_client, 2);
	CU_ASSERT_EQUAL(p.groups[1].expected_ns, 7000000000);
	CU_ASSERT_TRUE(p.groups[1].may_end_early);
	CU_ASSERT_EQUAL(p.groups[2].first_client, 3);
	CU_ASSERT_EQUAL(p.groups[2].nr_clients, 2);
	CU_ASSERT_EQUAL(p.groups[2].expected_ns, UINT64_MAX);
	CU_ASSERT_EQUAL(p.clients[4].group, 2);
	CU_ASSERT_EQUAL(p.rows[4].group, 2);
}

/* The rows and group ids that fio 3.33 gives for the same file. */
static void test_rows(void)
{
	static const struct {
		const char *name;
		unsigned int groupid;
		size_t nr_clients;
	} want[] = {{"a", 0, 4}, {"c", 1, 1}, {"c", 1, 1},
		    {"d", 1, 1}, {"e", 2, 2}, {"f", 3, 1}};
	size_t i;

	use_lun(GIB, 512);
	CU_ASSERT_EQUAL_FATAL(
		build("[a]\ngroup_reporting\nnumjobs=3\nrw=randread\n"
		      "[b]\ngroup_reporting\nrw=randwrite\nend_fsync=1\n"
		      "[c]\nnew_group\nnumjobs=2\nrw=randread\n"
		      "[d]\n"
		      "[e]\nstonewall\ngroup_reporting\nnumjobs=2\n"
		      "rw=randread\n"
		      "[f]\nnew_group\ngroup_reporting\n"),
		0);
	CU_ASSERT_EQUAL_FATAL(p.nr_rows, 6);
	for (i = 0; i < 6; i++) {
		CU_ASSERT_STRING_EQUAL(p.rows[i].name, want[i].name);
		CU_ASSERT_EQUAL(p.rows[i].groupid, want[i].groupid);
		CU_ASSERT_EQUAL(p.rows[i].nr_clients, want[i].nr_clients);
	}
	CU_ASSERT_EQUAL(p.rows[0].ops,
			OP_BIT(OP_READ) | OP_BIT(OP_WRITE) | OP_BIT(OP_FLUSH));
	CU_ASSERT_EQUAL(p.nr_groups, 2);
	CU_ASSERT_TRUE(p.writes);
	CU_ASSERT_STRING_EQUAL(p.notes[0],
			       "b: group_reporting puts it into the row of "
			       "\"a\"; new_group gives it a row of its own");
}

static void test_seeds(void)
{
	uint64_t first, second;

	use_lun(GIB, 512);
	CU_ASSERT_EQUAL_FATAL(build("[a]\nclients=2\n[b]\n"), 0);
	first = p.clients[0].seed;
	second = p.clients[2].seed;
	CU_ASSERT_EQUAL(p.seed, 1);
	CU_ASSERT_NOT_EQUAL(first, p.clients[1].seed);
	CU_ASSERT_NOT_EQUAL(first, second);
	/* The same again; another client changes nobody else's. */
	CU_ASSERT_EQUAL_FATAL(build("[a]\nclients=3\n[b]\n"), 0);
	CU_ASSERT_EQUAL(p.clients[0].seed, first);
	CU_ASSERT_EQUAL(p.clients[3].seed, second);
	CU_ASSERT_EQUAL_FATAL(build_seed("[a]\n[b]\n", 7), 0);
	CU_ASSERT_EQUAL(p.seed, 7);
	CU_ASSERT_NOT_EQUAL(p.clients[0].seed, first);
	first = p.clients[0].seed;
	CU_ASSERT_EQUAL_FATAL(build("[global]\nrandseed=7\n[a]\n[b]\n"), 0);
	CU_ASSERT_EQUAL(p.seed, 7);
	CU_ASSERT_EQUAL(p.clients[0].seed, first);
	CU_ASSERT_NOT_EQUAL(p.clients[0].seed, p.clients[1].seed);
	/* One job's own seed stays whatever the run's is. */
	CU_ASSERT_EQUAL_FATAL(build_seed("[a]\nrandseed=7\n[b]\n", 9), 0);
	CU_ASSERT_EQUAL(p.seed, 9);
	CU_ASSERT_EQUAL(p.clients[0].seed, first);
}

static void test_sweep(void)
{
	static const unsigned int want[] = {1, 4, 8, 12};
	unsigned int i, n;

	use_lun(GIB, 512);
	CU_ASSERT_EQUAL_FATAL(build("[fill]\nrw=write\nbs=1m\nprepare=1\n"
				    "[a]\nstonewall\nworkspace=1m\nview=copy\n"
				    "clients=1,4-12:4\n"),
			      0);
	CU_ASSERT_EQUAL_FATAL(p.nr_groups, 5);
	CU_ASSERT_EQUAL_FATAL(p.nr_rows, 5);
	CU_ASSERT_EQUAL(p.nr_parts, 2);
	CU_ASSERT_EQUAL(p.nr_clients, 1 + 25);
	/* What the others use, at most. */
	CU_ASSERT_EQUAL(p.clients[0].length_bytes, 12 * MIB);
	CU_ASSERT_EQUAL(p.rows[0].clients, 0);
	CU_ASSERT_EQUAL(p.rows[0].repeat, 1);
	CU_ASSERT_PTR_NULL(p.rows[0].view);
	for (i = 0; i < 4; i++) {
		const struct plan_row *row = &p.rows[i + 1];

		CU_ASSERT_STRING_EQUAL(row->name, "a");
		CU_ASSERT_STRING_EQUAL(row->view, "copy");
		CU_ASSERT_EQUAL(row->clients, want[i]);
		CU_ASSERT_EQUAL(row->nr_clients, want[i]);
		CU_ASSERT_EQUAL(row->group, i + 1);
		CU_ASSERT_EQUAL(row->groupid, i + 1);
		for (n = 0; n < want[i]; n++) {
			const struct plan_client *c =
				&p.clients[row->first_client + n];

			CU_ASSERT_EQUAL(c->opts->clients, want[i]);
			CU_ASSERT_EQUAL(c->number, n);
			CU_ASSERT_EQUAL(c->offset_bytes, n * MIB);
			CU_ASSERT_EQUAL(c->length_bytes, MIB);
			CU_ASSERT_EQUAL(c->io_bytes, MIB);
			/* A step more changes nothing for a client. */
			if (!n)
				CU_ASSERT_EQUAL(c->seed, p.clients[1].seed);
		}
	}
	CU_ASSERT_TRUE(fails("[a]\nclients=1,2\n[b]\n", -EINVAL,
			     "jobs \"a\" and \"b\" run at the same time, and "
			     "\"a\" goes through several numbers of clients; "
			     "put a stonewall between them"));
}

static void test_workspace(void)
{
	use_lun(10 * MIB, 512);
	CU_ASSERT_EQUAL_FATAL(build("[a]\nworkspace=4m\nclients=1,3\n"
				    "misfit=adapt\n"),
			      0);
	CU_ASSERT_EQUAL_FATAL(p.nr_clients, 4);
	/* The same in all steps. */
	CU_ASSERT_EQUAL(p.clients[0].length_bytes, 853 * 4096);
	CU_ASSERT_EQUAL(p.clients[3].length_bytes, 853 * 4096);
	CU_ASSERT_EQUAL(p.clients[3].offset_bytes, 2 * 853 * 4096);
	CU_ASSERT_EQUAL_FATAL(p.nr_notes, 1);
	CU_ASSERT_STRING_EQUAL(p.notes[0],
			       "a: workspace=4 MiB: 3412 KiB for each of 3 "
			       "clients, since the LUN has no more");
	CU_ASSERT_TRUE(fails("[a]\nworkspace=4m\nclients=1,3\nbs=4m\n"
			     "misfit=adapt\n",
			     -ENOSPC,
			     "job \"a\": there are only 3.33 MiB for each of 3 "
			     "clients, less than one I/O of 4 MiB; there is "
			     "room for 2: give clients=N or a list with no "
			     "more"));
	CU_ASSERT_TRUE(fails("[a]\nworkspace=4m\nclients=1,3\n", -ENOSPC,
			     "job \"a\": workspace=4 MiB for each of 3 clients "
			     "is more than the LUN has (10485760 bytes); give "
			     "a smaller one, fewer clients, or misfit=adapt"));
	CU_ASSERT_TRUE(fails("[a]\nworkspace=4m\nsize=8m\n", -EINVAL,
			     "job \"a\": workspace says how large the region "
			     "is; leave size, filesize and an offset in "
			     "percent out"));
	CU_ASSERT_TRUE(fails("[a]\nworkspace=4m\nnumjobs=2\n", -EINVAL,
			     "job \"a\": workspace is for clients, not for "
			     "numjobs=2 clones; give clients=N"));
}

/* The same on LUNs of several sizes, where the job adapts. */
static void test_fit(void)
{
	static const uint64_t luns[] = {64 * MIB, GIB};

	for (size_t i = 0; i < 2; i++) {
		use_lun(luns[i], 512);
		CU_ASSERT_EQUAL_FATAL(
			build("[fill]\nrw=write\nbs=1m\nprepare=1\n"
			      "[global]\nmisfit=adapt\nstonewall\nfit=32m\n"
			      "[a]\nsize=1g\nio_size=40m\n"
			      "[b]\nworkspace=20m\nclients=2\n"
			      "[c]\nsize=8m\n"
			      "[d]\nsize=50%\nmisfit=skip\n"
			      "[e]\nio_size=40m\nmisfit=skip\n"),
			0);
		CU_ASSERT_EQUAL(p.clients[0].length_bytes, 32 * MIB);
		CU_ASSERT_EQUAL(p.clients[1].length_bytes, 32 * MIB);
		CU_ASSERT_EQUAL(p.clients[1].io_bytes, 32 * MIB);
		CU_ASSERT_EQUAL(p.clients[2].length_bytes, 16 * MIB);
		CU_ASSERT_EQUAL(p.clients[4].length_bytes, 8 * MIB);
		CU_ASSERT_EQUAL(p.clients[5].length_bytes, 16 * MIB);
		CU_ASSERT_EQUAL(p.clients[6].length_bytes, 32 * MIB);
		CU_ASSERT_EQUAL(p.clients[6].io_bytes, 40 * MIB);
		CU_ASSERT_STRING_EQUAL(p.notes[0],
				       "a: size=1 GiB became 32 MiB: fit "
				       "allows no more");
	}
	/* A smaller LUN has the last word; without adapt there is none. */
	use_lun(16 * MIB, 512);
	CU_ASSERT_EQUAL_FATAL(build("[a]\nsize=1g\nmisfit=adapt\nfit=32m\n"),
			      0);
	CU_ASSERT_EQUAL(p.clients[0].length_bytes, 16 * MIB);
	use_lun(GIB, 512);
	CU_ASSERT_EQUAL_FATAL(build("[a]\nsize=64m\nfit=32m\n"), 0);
	CU_ASSERT_EQUAL(p.clients[0].length_bytes, 64 * MIB);
}

static void test_left_out(void)
{
	use_lun(GIB, 4096);
	CU_ASSERT_EQUAL_FATAL(build("[global]\nmisfit=skip\n[a]\nbs=512\n"
				    "[b]\nstonewall\nbs=1k\n[c]\n"
				    "[d]\nstonewall\n"),
			      0);
	CU_ASSERT_EQUAL_FATAL(p.nr_rows, 2);
	CU_ASSERT_EQUAL(p.nr_groups, 2); /* c is not beside a */
	CU_ASSERT_STRING_EQUAL(p.rows[0].name, "c");
	CU_ASSERT_EQUAL(p.rows[0].job, 2);
	CU_ASSERT_EQUAL_FATAL(p.nr_notes, 2);
	CU_ASSERT_STRING_EQUAL(p.notes[1], "b: left out: bs=1024 is not a "
					   "multiple of the LUN's block size "
					   "4096");
	/* What is left out parts nothing that was not parted. */
	CU_ASSERT_EQUAL_FATAL(build("[a]\n[b]\nsize=2g\nmisfit=skip\n"
				    "[c]\nstonewall\nrw=trim\nbs=512\n"
				    "misfit=skip\n[d]\n"),
			      0);
	CU_ASSERT_EQUAL(p.nr_groups, 2);
	CU_ASSERT_STRING_EQUAL(p.notes[0],
			       "b: left out: size=2147483648 is more than the "
			       "LUN has (1073741824 bytes)");
	CU_ASSERT_TRUE(fails("[a]\nsize=2g\nmisfit=skip\n", -ENOSPC,
			     "no job fits the LUN: a: left out: "
			     "size=2147483648 is more than the LUN has "
			     "(1073741824 bytes); all are left out "
			     "(misfit=skip)"));
}

static void test_adapted(void)
{
	use_lun(GIB, 4096);
	CU_ASSERT_EQUAL_FATAL(build("[a]\nrw=randwrite\nbs=2k\nio_size=2g\n"
				    "misfit=adapt\n[b]\nbs=64m\n"
				    "offset=513k\nsize=4g\nmisfit=adapt\n"),
			      0);
	CU_ASSERT_EQUAL(p.clients[0].opts->bs[OP_WRITE], 4096);
	CU_ASSERT_EQUAL(p.clients[0].io_bytes, GIB);
	CU_ASSERT_EQUAL(p.clients[1].opts->bs[OP_READ], 16 * MIB);
	CU_ASSERT_EQUAL(p.clients[1].offset_bytes, 512 << 10);
	CU_ASSERT_EQUAL(p.clients[1].length_bytes, GIB - 16 * MIB);
	CU_ASSERT_STRING_EQUAL(p.notes[0], "a: bs=2 KiB became 4 KiB: the LUN "
					   "takes whole blocks only");
	CU_ASSERT_STRING_EQUAL(p.notes[1], "a: io_size=2 GiB became 1 GiB: "
					   "the LUN has no more");
	CU_ASSERT_STRING_EQUAL(p.notes[2],
			       "b: bs=64 MiB became 16 MiB: the LUN takes no "
			       "more in one command");
	/* What cannot be adapted is an error yet. */
	CU_ASSERT_TRUE(fails("[a]\noffset=2g\nmisfit=adapt\n", -ENOSPC,
			     "job \"a\": offset=2147483648 is past the end of "
			     "the LUN (1073741824 bytes)"));
	CU_ASSERT_EQUAL(build("[a]\nbs=2k\n"), -EINVAL);
}

/* The plan as "name repeat pass" words. */
static char *order(void)
{
	static char text[400];
	size_t i, len = 0;

	text[0] = '\0';
	for (i = 0; i < p.nr_rows; i++)
		len += snprintf(text + len, sizeof(text) - len, "%s%s%u.%u",
				i ? " " : "", p.rows[i].name, p.rows[i].repeat,
				p.groups[p.rows[i].group].pass);
	return text;
}

static void test_repeats(void)
{
	use_lun(GIB, 512);
	CU_ASSERT_EQUAL_FATAL(build("[a]\n[b]\nstonewall\nrepeats=3\n"
				    "[c]\nstonewall\nrepeats=2\n"),
			      0);
	CU_ASSERT_STRING_EQUAL(order(), "a1.1 b1.1 c1.1 b2.2 c2.2 b3.3");
	CU_ASSERT_EQUAL(p.nr_passes, 3);
	CU_ASSERT_EQUAL(p.nr_groups, 6);
	/* Other addresses in each, and again the same in the next run. */
	CU_ASSERT_NOT_EQUAL(p.clients[1].seed, p.clients[3].seed);
	CU_ASSERT_NOT_EQUAL(p.clients[3].seed, p.clients[5].seed);
	CU_ASSERT_EQUAL_FATAL(build("[global]\nramp_time=5\nstartdelay=2\n"
				    "runtime=10\ntime_based\nrepeats=2\n"
				    "repeat_order=together\n[a]\n"
				    "[b]\nstonewall\n"),
			      0);
	CU_ASSERT_STRING_EQUAL(order(), "a1.1 a2.1 b1.1 b2.1");
	CU_ASSERT_EQUAL(p.groups[0].expected_ns, 17 * NS_PER_SEC);
	CU_ASSERT_EQUAL(p.groups[1].expected_ns, 10 * NS_PER_SEC);
	CU_ASSERT_EQUAL(p.clients[0].opts->ramp_ns, 5 * NS_PER_SEC);
	CU_ASSERT_EQUAL(p.clients[1].opts->ramp_ns, 0);
	/* A first repeat is what the job alone would be. */
	CU_ASSERT_EQUAL_FATAL(build("[a]\nclients=2\nrepeats=2\n"), 0);
	uint64_t seed = p.clients[1].seed;
	CU_ASSERT_EQUAL_FATAL(build("[a]\nclients=2\n"), 0);
	CU_ASSERT_EQUAL(p.clients[1].seed, seed);
	/* Steps and repeats. */
	CU_ASSERT_EQUAL_FATAL(build("[a]\nclients=1,2\nrepeats=2\n"), 0);
	CU_ASSERT_STRING_EQUAL(order(), "a1.1 a1.1 a2.2 a2.2");
	CU_ASSERT_EQUAL_FATAL(build("[a]\nclients=1,2\nrepeats=2\n"
				    "repeat_order=together\n"),
			      0);
	CU_ASSERT_STRING_EQUAL(order(), "a1.1 a2.1 a1.1 a2.1");
	CU_ASSERT_TRUE(fails("[a]\nrepeats=2\n[b]\n", -EINVAL,
			     "jobs \"a\" and \"b\" run at the same time, but "
			     "with 2 and 1 repeats or in another repeat_order; "
			     "give both the same, or put a stonewall between "
			     "them"));
}

static void test_until(void)
{
	use_lun(GIB, 512);
	CU_ASSERT_EQUAL_FATAL(build("[fill]\nrw=write\nprepare\n[a]\n"
				    "stonewall\nuntil=ci:2%\n"),
			      0);
	CU_ASSERT_EQUAL(p.nr_passes, 30);
	CU_ASSERT_EQUAL(p.min_passes, 3);
	CU_ASSERT_EQUAL(p.until.kind, UNTIL_CI);
	CU_ASSERT_EQUAL(p.until.percent, 2);
	CU_ASSERT_EQUAL_FATAL(p.nr_rows, 31);
	plan_end_early(&p, 4, true);
	CU_ASSERT_EQUAL(p.nr_passes, 4);
	CU_ASSERT_EQUAL(p.nr_rows, 5);
	CU_ASSERT_EQUAL(p.nr_groups, 5);
	CU_ASSERT_EQUAL(p.nr_clients, 5);
	CU_ASSERT_TRUE(p.until_reached);
	CU_ASSERT_EQUAL_FATAL(build("[a]\nrepeats=1\n[b]\nstonewall\n"
				    "until=steady\nclients=1,2\nrepeats=6\n"),
			      0);
	CU_ASSERT_EQUAL(p.nr_passes, 6);
	CU_ASSERT_EQUAL(p.min_passes, 5);
	CU_ASSERT_EQUAL(p.nr_rows, 13);
	CU_ASSERT_TRUE(fails("[a]\nuntil=steady\nrepeats=4\n", -EINVAL,
			     "job \"a\": repeats=4 are too few for until: it "
			     "cannot judge less than 5"));
	CU_ASSERT_TRUE(fails("[a]\nuntil=steady\nrepeats=1\n", -EINVAL,
			     "job \"a\": until without repeats: it has "
			     "repeats=1; give at least 5"));
	CU_ASSERT_TRUE(fails("[a]\nuntil=ci:1%\nrepeat_order=together\n",
			     -EINVAL,
			     "job \"a\": until looks at the repeats of all "
			     "jobs and needs repeat_order=interleaved"));
	CU_ASSERT_TRUE(fails("[a]\nuntil=ci:1%\n[b]\nstonewall\n"
			     "until=steady\n",
			     -EINVAL,
			     "job \"a\" is repeated until \"ci:1%\" and job "
			     "\"b\" until \"steady\"; the passes are common to "
			     "both: give the same"));
}

static void test_misfits(void)
{
	use_lun(GIB, 4096);
	CU_ASSERT_TRUE(fails("[a]\nbs=512\n", -EINVAL,
			     "job \"a\": bs=512 is not a multiple of the LUN's "
			     "block size 4096"));
	CU_ASSERT_TRUE(fails("[a]\nbssplit=4k/50:6k/50\n", -EINVAL,
			     "job \"a\": bssplit=6144 is not a multiple of the "
			     "LUN's block size 4096"));
	CU_ASSERT_TRUE(fails("[a]\nrw=randread\nblockalign=512\n", -EINVAL,
			     "job \"a\": blockalign=512 is not a multiple of "
			     "the LUN's block size 4096"));
	CU_ASSERT_TRUE(
		fails("[a]\nrw=read:1000\n", -EINVAL,
		      "job \"a\": the hole after the colon of rw=1000 is "
		      "not a multiple of the LUN's block size 4096"));
	CU_ASSERT_TRUE(fails("[a]\nsize=1000000\n", -EINVAL,
			     "job \"a\": size=1000000 is not a multiple of the "
			     "LUN's block size 4096"));
	CU_ASSERT_TRUE(fails("[a]\noffset=512\n", -EINVAL,
			     "job \"a\": offset=512 is not a multiple of the "
			     "LUN's block size 4096"));
	CU_ASSERT_TRUE(
		fails("[a]\nbs=32m\n", -EINVAL,
		      "job \"a\": bs=33554432 is more than the LUN takes "
		      "in one read command, 16777216 bytes (16 MiB); "
		      "give a smaller bs"));
	/* What is not used is not looked at. */
	CU_ASSERT_EQUAL(build("[a]\nrw=read\nbs=4k,512,512\n"), 0);
	lun.max_transfer_blocks = 0;
	CU_ASSERT_EQUAL(build("[a]\nbs=32m\n"), 0);
	lun.max_unmap_blocks = 16;
	CU_ASSERT_TRUE(fails("[a]\nrw=trim\nbs=1m\n", -EINVAL,
			     "job \"a\": bs=1048576 is more than the LUN takes "
			     "in one trim command, 65536 bytes (64 KiB); give "
			     "a smaller bs"));
	lun.max_unmap_blocks = UINT32_MAX;
	CU_ASSERT_EQUAL(build("[a]\nrw=trim\nbs=1m\n"), 0);
	lun.unmap_granularity_blocks = 1024;
	CU_ASSERT_EQUAL(build("[a]\nrw=trim\nbs=1m\n"), 0);
	CU_ASSERT_EQUAL(p.nr_notes, 1);
}

static void test_past_the_end(void)
{
	use_lun(GIB, 512);
	CU_ASSERT_TRUE(fails("[a]\nsize=2g\n", -ENOSPC,
			     "job \"a\": size=2147483648 is more than the LUN "
			     "has (1073741824 bytes)"));
	CU_ASSERT_TRUE(
		fails("[a]\nsize=1g\noffset=1m\n", -ENOSPC,
		      "job \"a\": size=1073741824 at offset 1048576 ends "
		      "past the end of the LUN (1073741824 bytes); at "
		      "most 1072693248 are left there"));
	CU_ASSERT_TRUE(fails("[a]\noffset=1g\n", -ENOSPC,
			     "job \"a\": offset=1073741824 is past the end of "
			     "the LUN (1073741824 bytes)"));
	CU_ASSERT_TRUE(fails("[a]\nnumjobs=3\noffset_increment=512m\n", -ENOSPC,
			     "job \"a\": clone 2 of numjobs=3 starts past the "
			     "end of the LUN (1073741824 bytes); reduce "
			     "offset_increment or numjobs"));
	CU_ASSERT_EQUAL(build("[a]\nnumjobs=3\noffset_increment=16383p\n"),
			-ENOSPC);
	CU_ASSERT_TRUE(fails("[a]\nsize=0\n", -ENOSPC,
			     "job \"a\": its region of 0 B is smaller than one "
			     "I/O of 4 KiB; give a larger size or a smaller "
			     "bs"));
	CU_ASSERT_TRUE(fails("[a]\nsize=1m\nclients=300\n", -ENOSPC,
			     "job \"a\": its region of 1 MiB is too small for "
			     "clients=300 with I/Os of 4 KiB; give a larger "
			     "size or fewer clients"));
	CU_ASSERT_TRUE(fails("[a]\nclients=4\nnumber_ios=3\n", -EINVAL,
			     "job \"a\": number_ios=3 is less than one I/O for "
			     "each of its 4 clients"));
	CU_ASSERT_TRUE(fails("[a]\nio_size=1000\nclients=2\n", -EINVAL,
			     "job \"a\": io_size leaves 500 bytes for each of "
			     "its 2 clients, less than one block of 512 "
			     "bytes; give more"));
	CU_ASSERT_TRUE(fails("[a]\nfilesize=2g\n", -ENOSPC,
			     "job \"a\": filesize=2147483648 is more than the "
			     "LUN has (1073741824 bytes)"));
	CU_ASSERT_TRUE(fails("[a]\nfilesize=1m\noffset=1m\n", -ENOSPC,
			     "job \"a\": offset=1048576 is past the end of "
			     "filesize (1048576 bytes)"));
	CU_ASSERT_TRUE(fails("[a]\nnumjobs=65536\nclients=65536\n", -EINVAL,
			     "the jobs need more than 65536 sessions in all; "
			     "reduce numjobs, clients or repeats"));
}

static uint64_t amount(const char *text)
{
	CU_ASSERT_EQUAL_FATAL(build(text), 0);
	return p.clients[0].io_bytes;
}

/* fio 3.33 on a file of 64 MiB: 16, 4, 16 and 8 MiB. */
static void test_filesize(void)
{
	use_lun(64 * MIB, 512);
	CU_ASSERT_EQUAL(amount("[a]\nfilesize=16m\n"), 16 * MIB);
	CU_ASSERT_EQUAL(p.clients[0].length_bytes, 16 * MIB);
	CU_ASSERT_EQUAL(amount("[a]\nfilesize=16m\nsize=4m\n"), 4 * MIB);
	CU_ASSERT_EQUAL(p.clients[0].length_bytes, 16 * MIB);
	CU_ASSERT_EQUAL(amount("[a]\nfilesize=16m\nsize=32m\n"), 16 * MIB);
	CU_ASSERT_EQUAL(amount("[a]\nfilesize=16m\noffset=8m\n"), 8 * MIB);
	CU_ASSERT_EQUAL(p.clients[0].length_bytes, 8 * MIB);
	CU_ASSERT_EQUAL(amount("[a]\nfilesize=16m\nsize=50%\nclients=2\n"),
			4 * MIB);
	CU_ASSERT_EQUAL(amount("[a]\nfilesize=16m\nsize=4m\nio_size=50%\n"),
			2 * MIB);
}

/* The counts are fio 3.33's; it reads beyond its region in the last of 228. */
static void test_holes(void)
{
	use_lun(64 * MIB, 512);
	CU_ASSERT_EQUAL(amount("[a]\nrw=read:4k\nsize=4m\n"), 512 * 4096);
	CU_ASSERT_EQUAL(amount("[a]\nrw=read:4k\nsize=4m\nloops=2\n"),
			1024 * 4096);
	CU_ASSERT_EQUAL(amount("[a]\nrw=write:8k\nsize=4m\n"), 342 * 4096);
	CU_ASSERT_EQUAL(amount("[a]\nrw=read:512\nsize=1m\n"),
			227 * 4096 + 2560);
	CU_ASSERT_EQUAL(amount("[a]\nrw=read:4k\nsize=4m\nio_size=8m\n"),
			8 * MIB);
	CU_ASSERT_EQUAL(amount("[a]\nrw=read:-8k\nsize=4m\n"), 4 * MIB);
	CU_ASSERT_EQUAL(amount("[a]\nrw=read:4k\nsize=8m\nclients=2\n"),
			2 * MIB);
	/* Here 640 of the faster direction, 4/5 of all, are the way. */
	CU_ASSERT_EQUAL(amount("[a]\nrw=rw:4k\nsize=5m\nrwmixread=80\n"),
			800 * 4096);
	CU_ASSERT_EQUAL(amount("[a]\nrw=rw:4k\nsize=5m\nrwmixread=100\n"),
			640 * 4096);
}

static void test_abilities(void)
{
	use_lun(GIB, 512);
	lun.is_read_only = true;
	CU_ASSERT_TRUE(fails("[a]\nrw=randrw\n", -EROFS,
			     "job \"a\": it writes, and the LUN is write "
			     "protected; only rw=read and rw=randread can "
			     "run"));
	CU_ASSERT_EQUAL(build("[a]\nrw=read\n"), 0);
	use_lun(GIB, 512);
	lun.can_unmap = false;
	CU_ASSERT_TRUE(
		fails("[a]\nrw=trim\n", -EOPNOTSUPP,
		      "job \"a\": it trims, and the LUN does not support "
		      "UNMAP"));
	use_lun(0, 512);
	CU_ASSERT_TRUE(fails("[a]\n", -ENOSPC,
			     "the LUN has no blocks (size 0); is it "
			     "configured?"));
}

static void test_huge_lun(void)
{
	use_lun(1ULL << 60, 4096);
	CU_ASSERT_EQUAL_FATAL(build("[a]\noffset=50%\nbs=1m\n"), 0);
	CU_ASSERT_EQUAL(p.clients[0].offset_bytes, 1ULL << 59);
	CU_ASSERT_EQUAL(p.clients[0].length_bytes, 1ULL << 59);
}

/* --- golden plans: tests/data/NAME.fio and NAME.plan --- */

static char *print(const char *path, bool verbose)
{
	struct jobfile f;
	char *text = NULL;
	size_t len;
	FILE *out;
	int ret = jobfile_read(&f, path, &e);

	plan_release(&p);
	jobset_release(&set);
	if (!ret)
		ret = jobset_build(&set, &f, NULL, 0, &e);
	jobfile_release(&f);
	if (!ret)
		ret = plan_build(&p, &set, &lun, 0, &e);
	if (ret)
		return strdup(e.text);
	out = open_memstream(&text, &len);
	plan_print(&p, verbose, out);
	fclose(out);
	return text;
}

static void check_golden(const char *name)
{
	char path[512], *got, *want = NULL;
	size_t len;

	snprintf(path, sizeof(path), "tests/data/%s.fio", name);
	got = print(path, false);
	snprintf(path, sizeof(path), "tests/data/%s.plan", name);
	if (getenv("PLAN_UPDATE"))
		CU_ASSERT_EQUAL(file_write_atomic(path, got, strlen(got), &e),
				0);
	CU_ASSERT_EQUAL(file_read(path, 1 << 20, &want, &len, &e), 0);
	if (!want || strcmp(want, got) != 0) {
		printf("# %s has changed:\n%s", path, got);
		CU_FAIL("plan differs");
	}
	free(got);
	free(want);
}

static void test_golden(void)
{
	DIR *d = opendir("tests/data");
	struct dirent *entry;
	int nr = 0;

	use_lun(16 * GIB, 512);
	CU_ASSERT_PTR_NOT_NULL_FATAL(d);
	while ((entry = readdir(d))) {
		char *dot = strrchr(entry->d_name, '.');

		if (!dot || strcmp(dot, ".fio") != 0)
			continue;
		*dot = '\0';
		check_golden(entry->d_name);
		nr++;
	}
	closedir(d);
	CU_ASSERT_TRUE(nr >= 4);
}

static void test_print(void)
{
	char *brief, *full, *line;

	use_lun(16 * GIB, 512);
	brief = print("tests/data/mixed.fio", false);
	full = print("tests/data/mixed.fio", true);
	CU_ASSERT_PTR_NULL(strstr(brief, "client 1.3"));
	CU_ASSERT_PTR_NOT_NULL(strstr(full, "client 1.3: 2 GiB at 6 GiB"));
	for (line = strtok(full, "\n"); line; line = strtok(NULL, "\n"))
		CU_ASSERT_TRUE(strlen(line) <= 80);
	free(brief);
	free(full);
	plan_release(&p);
	jobset_release(&set);
}

UNIT_TESTS("plan", {"whole LUN", test_whole_lun}, {"regions", test_regions},
	   {"clones", test_clones}, {"slices", test_slices},
	   {"amounts", test_amounts}, {"filesize", test_filesize},
	   {"holes", test_holes}, {"groups", test_groups},
	   {"rows as fio", test_rows}, {"seeds", test_seeds},
	   {"sweep", test_sweep}, {"workspace", test_workspace},
	   {"fit", test_fit}, {"left out", test_left_out},
	   {"adapted", test_adapted}, {"repeats", test_repeats},
	   {"until", test_until}, {"block sizes that do not fit", test_misfits},
	   {"regions that do not fit", test_past_the_end},
	   {"abilities", test_abilities}, {"huge LUN", test_huge_lun},
	   {"golden plans", test_golden}, {"print", test_print})
