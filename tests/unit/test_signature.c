#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/signature.h"
#include "tests/unit/unit.h"

enum { SIZE = 32 << 20 };

static char path[64];

static int make_image(void)
{
	int fd;

	snprintf(path, sizeof(path), "/tmp/lunbench-signature.XXXXXX");
	fd = mkstemp(path);
	CU_ASSERT_TRUE_FATAL(fd >= 0);
	CU_ASSERT_EQUAL(ftruncate(fd, SIZE), 0);
	return fd;
}

static void expect_found(int fd, uint64_t size, uint32_t block,
			 const char *want)
{
	struct err e = {0};
	char found[200];

	CU_ASSERT_EQUAL(
		signature_find(fd, size, block, found, sizeof(found), &e), 0);
	CU_ASSERT_STRING_EQUAL(found, want);
	if (strcmp(found, want))
		printf("# \"%s\"\n", found);
}

static void put(int fd, off_t at, const void *data, size_t len)
{
	CU_ASSERT_EQUAL(pwrite(fd, data, len, at), (ssize_t)len);
}

static void test_nothing(void)
{
	int fd = make_image();

	expect_found(fd, SIZE, 512, "");
	expect_found(fd, SIZE, 4096, "");
	expect_found(fd, 0, 512, "");
	expect_found(fd, 512, 512, "");
	close(fd);
	unlink(path);
}

static void test_partition_table(void)
{
	/* One Linux partition at block 64, 1000 blocks long. */
	static const unsigned char entry[16] = {0,  0, 0, 0, 0x83, 0,	 0, 0,
						64, 0, 0, 0, 0xe8, 0x03, 0, 0};
	int fd = make_image();

	put(fd, 446, entry, sizeof(entry));
	put(fd, 510, "\x55\xaa", 2);
	expect_found(fd, SIZE, 512, "MBR (dos) partition table");
	close(fd);
	unlink(path);
}

static void test_swap_and_label(void)
{
	unsigned char header[48] = {0};
	int fd = make_image();

	header[0] = 1;	  /* version */
	header[5] = 0x1f; /* last page 0x1f00, big enough to be believed */
	memcpy(header + 28, "sw\x1b[1m", 6); /* the label, with an escape */
	put(fd, 1024, header, sizeof(header));
	put(fd, 4096 - 10, "SWAPSPACE2", 10);
	expect_found(fd, SIZE, 512, "swap space \"sw?[1m\"");
	close(fd);
	unlink(path);
}

static void test_ext4(void)
{
	const char *const argv[] = {"mkfs.ext4", "-q", "-F", "-L",
				    "backup",	 path, NULL};
	struct child_result r = {0};
	struct err e = {0};
	int fd;

	if (!child_has_program("mkfs.ext4")) {
		printf("# skipped: no mkfs.ext4 here\n");
		return;
	}
	fd = make_image();
	CU_ASSERT_EQUAL(child_run(argv, NULL, 20 * NS_PER_SEC, &r, &e), 0);
	CU_ASSERT_EQUAL(r.status, 0);
	child_result_release(&r);
	expect_found(fd, SIZE, 512, "ext4 file system \"backup\"");
	expect_found(fd, SIZE, 4096, "ext4 file system \"backup\"");
	close(fd);
	unlink(path);
}

static void test_bad_fd(void)
{
	struct err e = {0};
	char found[200];

	CU_ASSERT_EQUAL(signature_find(-1, SIZE, 512, found, sizeof(found), &e),
			-EIO);
	CU_ASSERT_NOT_EQUAL(e.text[0], '\0');
}

UNIT_TESTS("signature", {"nothing on an empty disk", test_nothing},
	   {"a partition table", test_partition_table},
	   {"swap, and a label that is no text", test_swap_and_label},
	   {"ext4 with its label", test_ext4}, {"no disk", test_bad_fd})
