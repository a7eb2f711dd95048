#include "initiator/genmap.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static const struct genmap_shape shape = {
	.run = 99,
	.first_lba = 1000,
	.blocks = 500,
	.block_bytes = 512,
	.lun_blocks = 5000,
	.identity = "serial",
};

static void test_generations(void)
{
	struct genmap_counts n;
	struct genmap *m = NULL;
	struct genmap_block b;
	uint32_t g;

	CU_ASSERT_EQUAL_FATAL(genmap_create(&m, NULL, false, &shape, NULL), 0);
	CU_ASSERT_TRUE(genmap_covers(m, 1000, 500));
	CU_ASSERT_FALSE(genmap_covers(m, 999, 2));
	CU_ASSERT_FALSE(genmap_covers(m, 1499, 2));
	CU_ASSERT_FALSE(genmap_covers(m, 1000, UINT64_MAX));

	g = genmap_begin(m, 1010, 5, false);
	CU_ASSERT_EQUAL(g, 1);
	CU_ASSERT_FALSE(genmap_is_free(m, 1014, 3));
	CU_ASSERT_TRUE(genmap_is_free(m, 1015, 3));
	b = genmap_get(m, 1012);
	CU_ASSERT_TRUE(b.low == 0 && b.high == 1 && b.is_busy);
	genmap_end(m, 1010, 5, g, false, true);
	b = genmap_get(m, 1012);
	CU_ASSERT_TRUE(b.low == 1 && b.high == 1 && !b.is_busy);

	/* One that fails leaves old or new, also after the next failure. */
	g = genmap_begin(m, 1012, 1, false);
	genmap_end(m, 1012, 1, g, false, false);
	g = genmap_begin(m, 1012, 1, false);
	genmap_end(m, 1012, 1, g, false, false);
	b = genmap_get(m, 1012);
	CU_ASSERT_TRUE(b.low == 1 && b.high == 3);
	genmap_count(m, &n);
	CU_ASSERT_TRUE(n.written == 4 && n.unknown == 1 && n.unwritten == 495);

	/* A trim, until a write is acknowledged. */
	g = genmap_begin(m, 1010, 2, true);
	genmap_end(m, 1010, 2, g, true, true);
	CU_ASSERT_TRUE(genmap_get(m, 1010).may_be_trimmed);
	g = genmap_begin(m, 1010, 1, false);
	CU_ASSERT_TRUE(genmap_get(m, 1010).may_be_trimmed);
	genmap_end(m, 1010, 1, g, false, true);
	CU_ASSERT_FALSE(genmap_get(m, 1010).may_be_trimmed);
	CU_ASSERT_TRUE(genmap_get(m, 1011).may_be_trimmed);

	/* A block that was told of, until it is written. */
	genmap_mark_bad(m, 1010);
	CU_ASSERT_TRUE(genmap_get(m, 1010).is_bad);
	genmap_begin(m, 1010, 1, false);
	CU_ASSERT_FALSE(genmap_get(m, 1010).is_bad);
	genmap_close(m);
}

/* Killed in the middle: what it had begun is in the file. */
static void test_killed(void)
{
	char path[] = "/tmp/genmap-test.XXXXXX";
	struct genmap *m = NULL;
	struct genmap_block b;
	struct err e;
	pid_t pid;

	close(mkstemp(path));
	CU_ASSERT_EQUAL(genmap_create(&m, path, false, &shape, &e), -EEXIST);
	pid = fork();
	if (!pid) {
		if (genmap_create(&m, path, true, &shape, NULL))
			_exit(1);
		genmap_end(m, 1100, 4, genmap_begin(m, 1100, 4, false), false,
			   true);
		genmap_begin(m, 1102, 1, false);
		kill(getpid(), SIGKILL);
	}
	waitpid(pid, NULL, 0);
	CU_ASSERT_EQUAL_FATAL(genmap_open(&m, path, &e), 0);
	CU_ASSERT_EQUAL(genmap_shape(m)->run, shape.run);
	CU_ASSERT_STRING_EQUAL(genmap_shape(m)->identity, "serial");
	b = genmap_get(m, 1101);
	CU_ASSERT_TRUE(b.low == 1 && b.high == 1);
	b = genmap_get(m, 1102);
	CU_ASSERT_TRUE(b.low == 1 && b.high == 2 && !b.is_busy);
	/* Generations go on behind those that were given out. */
	CU_ASSERT_EQUAL(genmap_begin(m, 1200, 1, false), 3);
	/* Only one at a time. */
	struct genmap *second = NULL;
	CU_ASSERT_EQUAL(genmap_open(&second, path, &e), -EBUSY);
	genmap_close(m);
	unlink(path);
}

static void test_damaged(void)
{
	char path[] = "/tmp/genmap-test.XXXXXX";
	struct genmap_shape shape_out = shape;
	int fd = mkstemp(path), n;
	struct genmap *m = NULL;
	struct err e;

	CU_ASSERT_EQUAL(genmap_open(&m, path, &e), -EINVAL);
	CU_ASSERT_EQUAL_FATAL(genmap_create(&m, path, true, &shape, &e), 0);
	genmap_close(m);
	m = NULL;
	for (n = genmap_bytes(shape.blocks) - 1; n > 0; n /= 2) {
		CU_ASSERT_EQUAL(ftruncate(fd, n), 0);
		CU_ASSERT_EQUAL(genmap_open(&m, path, &e), -EINVAL);
	}
	/* A region that is no part of its LUN. */
	shape_out.first_lba = 4501;
	CU_ASSERT_EQUAL_FATAL(genmap_create(&m, path, true, &shape_out, &e), 0);
	genmap_close(m);
	CU_ASSERT_EQUAL(genmap_open(&m, path, &e), -EINVAL);
	CU_ASSERT_EQUAL(genmap_open(&m, "/nonexistent/x", &e), -ENOENT);
	close(fd);
	unlink(path);
}

UNIT_TESTS("genmap", {"generations, failures and trims", test_generations},
	   {"a map survives the kill of its process", test_killed},
	   {"what is no map is refused", test_damaged})
