#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/usage.h"
#include "tests/unit/unit.h"

static char root[64];

static void put(const char *path, const char *text)
{
	char full[256], *slash;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	slash = strrchr(full, '/');
	*slash = '\0';
	CU_ASSERT_EQUAL_FATAL(file_make_dirs(full, 0700, NULL), 0);
	*slash = '/';
	CU_ASSERT_EQUAL_FATAL(file_write_atomic(full, text, strlen(text), NULL),
			      0);
}

static void enter(void)
{
	snprintf(root, sizeof(root), "/tmp/lunbench-usage.XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(root));
}

static void leave(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	CU_ASSERT_EQUAL(system(command), 0);
}

static void test_process(void)
{
	struct process_usage a, b;
	struct process_share s;
	struct err e;

	enter();
	put("proc/7/task/7/schedstat", "1000000000 5 6\n");
	put("proc/7/task/12/schedstat", "200000000 0 1\n");
	/* No schedstat: ticks; the name holds what would mislead. */
	put("proc/7/task/9/stat",
	    "9 (a) b 1 2 (3) S 1 1 1 0 -1 1 2 3 4 5 10 20 0 0 20 0 1\n");
	put("proc/7/task/10/stat", "no such thing");
	CU_ASSERT_EQUAL_FATAL(process_usage_read(&a, root, 7, &e), 0);
	CU_ASSERT_EQUAL(a.nr, 3);
	CU_ASSERT_EQUAL(a.threads[1].tid, 9);
	CU_ASSERT_EQUAL(a.threads[1].cpu_ns,
			30 * NS_PER_SEC / sysconf(_SC_CLK_TCK));
	put("proc/7/task/7/schedstat", "1790000000 200000005 6\n");
	put("proc/7/task/12/schedstat", "300000000 0 1\n");
	put("proc/7/task/13/schedstat", "9900000000 0 1\n"); /* new */
	CU_ASSERT_EQUAL_FATAL(process_usage_read(&b, root, 7, &e), 0);
	a.at_ns = 5 * NS_PER_SEC;
	b.at_ns = 6 * NS_PER_SEC;
	CU_ASSERT_FATAL(process_share_of(&s, &a, &b));
	CU_ASSERT_EQUAL(s.threads, 3);
	CU_ASSERT_DOUBLE_EQUAL(s.busiest, 0.79, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(s.starved, 0.2, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(s.all, 0.89, 1e-9);
	CU_ASSERT(!process_share_of(&s, &b, &b));
	process_usage_release(&a);
	CU_ASSERT(!process_share_of(&s, &a, &b));
	process_usage_release(&b);
	CU_ASSERT_EQUAL(process_usage_read(&a, root, 8, &e), -ENOENT);
	CU_ASSERT_EQUAL(a.nr, 0);
	leave();
}

static void test_host(void)
{
	struct host_usage a, b;
	struct host_share s;
	struct err e;

	enter();
	CU_ASSERT_EQUAL(host_usage_read(&a, root, &e), -ENOENT);
	put("proc/stat", "intr 1 2 3\n");
	CU_ASSERT_EQUAL(host_usage_read(&a, root, &e), -EPROTO);
	put("proc/stat", "cpu  100 0 100 700 100 0 0 0 5 0\n"
			 "cpu0 50 0 50 350 50 0 0 0 5 0\n"
			 "cpu1 50 0 50 350 50 0 0 0 0 0\nintr 1\n");
	CU_ASSERT_EQUAL_FATAL(host_usage_read(&a, root, &e), 0);
	CU_ASSERT_EQUAL(a.cpus, 2);
	put("proc/stat", "cpu  150 10 110 710 110 5 5 10 5 0\n"
			 "cpu0 1 0 0 0 0 0 0 0 0 0\ncpu1 1\n");
	CU_ASSERT_EQUAL_FATAL(host_usage_read(&b, root, &e), 0);
	CU_ASSERT_FATAL(host_share_of(&s, &a, &b));
	CU_ASSERT_DOUBLE_EQUAL(s.used, 80 / 110.0, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(s.steal, 10 / 110.0, 1e-9);
	/* Too few ticks to say anything; and time that runs backwards. */
	b.total = a.total + 19;
	CU_ASSERT(!host_share_of(&s, &a, &b));
	CU_ASSERT(!host_share_of(&s, &b, &a));
	leave();
}

static void test_disk(void)
{
	struct disk_usage a, b;
	struct disk_share s;
	struct err e;

	enter();
	/* /dev/null is no disk, but its name may stand for one. */
	CU_ASSERT_EQUAL(disk_usage_read(&a, root, "/dev/null", &e), -ENOTBLK);
	CU_ASSERT_EQUAL(disk_usage_read(&a, root, "/dev/not there", &e),
			-ENOENT);
	CU_ASSERT_EQUAL(disk_usage_read(&a, root, "/etc/passwd", &e), -ENOTBLK);
	put("sys/class/block/null/stat",
	    "  1 2 3 4 5 6 7 8 0 1000 2500 0 0 0 0 1 2\n");
	CU_ASSERT_EQUAL_FATAL(disk_usage_read(&a, root, "/dev/null", &e), 0);
	CU_ASSERT_EQUAL(a.busy_ns, NS_PER_SEC);
	put("sys/class/block/null/stat", "1 2 3 4 5 6 7 8 0 1950 6500 0 0\n");
	CU_ASSERT_EQUAL_FATAL(disk_usage_read(&b, root, "/dev/null", &e), 0);
	b.at_ns = a.at_ns + NS_PER_SEC;
	CU_ASSERT_FATAL(disk_share_of(&s, &a, &b));
	CU_ASSERT_DOUBLE_EQUAL(s.busy, 0.95, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(s.queue, 4, 1e-9);
	b.at_ns = a.at_ns + NS_PER_SEC / 2;
	CU_ASSERT_FATAL(disk_share_of(&s, &a, &b));
	CU_ASSERT_EQUAL(s.busy, 1);
	CU_ASSERT(!disk_share_of(&s, &b, &a));
	put("sys/class/block/null/stat", "1 2 3\n");
	CU_ASSERT_EQUAL(disk_usage_read(&a, root, "/dev/null", &e), -EPROTO);
	leave();
}

/* Our own thread works for a while: the kernel's figures and ours agree. */
static void test_this_process(void)
{
	struct process_usage a, b;
	struct process_share s;
	uint64_t user, system, from, to;
	double own;

	CU_ASSERT_EQUAL_FATAL(process_usage_read(&a, "", getpid(), NULL), 0);
	clock_thread_cpu_ns(&user, &system);
	from = user + system;
	do {
		clock_thread_cpu_ns(&user, &system);
		to = user + system;
	} while (to - from < 100 * NS_PER_MSEC);
	CU_ASSERT_EQUAL_FATAL(process_usage_read(&b, "", getpid(), NULL), 0);
	own = (double)(to - from) / (b.at_ns - a.at_ns);
	CU_ASSERT(process_share_of(&s, &a, &b));
	CU_ASSERT_DOUBLE_EQUAL(s.busiest, own, 0.2 * own);
	process_usage_release(&a);
	process_usage_release(&b);
}

static void test_below(void)
{
	char device[64];

	CU_ASSERT_EQUAL(disk_below("/dev/shm", device, sizeof(device), NULL),
			0);
	CU_ASSERT_STRING_EQUAL(device, "");
	CU_ASSERT_EQUAL(disk_below("/proc", device, sizeof(device), NULL),
			-ENODEV);
	CU_ASSERT_EQUAL(disk_below("/not/there", device, sizeof(device), NULL),
			-ENODEV);
}

UNIT_TESTS("usage", {"a process", test_process}, {"the host", test_host},
	   {"a disk", test_disk}, {"this process", test_this_process},
	   {"what lies below", test_below})
