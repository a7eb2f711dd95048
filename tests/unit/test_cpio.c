#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/unit/unit.h"
#include "vm/cache.h"
#include "vm/cpio.h"

static char top[64], archive[96], into[96];

static void enter(void)
{
	snprintf(top, sizeof(top), "/tmp/lunbench-cpio.XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(top));
	snprintf(archive, sizeof(archive), "%s/archive", top);
	snprintf(into, sizeof(into), "%s/into", top);
	CU_ASSERT_EQUAL_FATAL(mkdir(into, 0700), 0);
}

static void leave(void)
{
	cache_remove_tree(top);
	CU_ASSERT_NOT_EQUAL(access(top, F_OK), 0);
}

static void check_file(const char *name, const char *want)
{
	char path[256], *text = NULL;
	size_t len;

	snprintf(path, sizeof(path), "%s/%s", into, name);
	CU_ASSERT_EQUAL_FATAL(file_read(path, 1 << 20, &text, &len, NULL), 0);
	CU_ASSERT_STRING_EQUAL(text, want);
	free(text);
}

/* Names of every length around the padding, contents too. */
static void test_round_trip(void)
{
	static const char *const words[] = {"",	   "a",	   "ab",
					    "abc", "abcd", "abcde"};
	struct cpio c;
	char name[64];
	size_t nr;

	enter();
	CU_ASSERT_EQUAL_FATAL(cpio_create(&c, archive, NULL), 0);
	for (int i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "/in/x%s", words[i]);
		CU_ASSERT_EQUAL(cpio_add_data(&c, name, 0600, words[i],
					      strlen(words[i]), NULL),
				0);
	}
	CU_ASSERT_EQUAL_FATAL(cpio_finish(&c, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(cpio_extract(archive, into, &nr, NULL), 0);
	CU_ASSERT_EQUAL(nr, 6);
	for (int i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "in/x%s", words[i]);
		check_file(name, words[i]);
	}
	leave();
}

static void write_one(const char *name)
{
	struct cpio c;

	CU_ASSERT_EQUAL_FATAL(cpio_create(&c, archive, NULL), 0);
	CU_ASSERT_EQUAL(cpio_add_data(&c, name, 0644, "text", 4, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(cpio_finish(&c, NULL), 0);
}

/* The same bytes whenever and whatever the file's own date. */
static void test_deterministic(void)
{
	char *a, *b;
	size_t na, nb;

	enter();
	write_one("one/two");
	CU_ASSERT_EQUAL_FATAL(file_read(archive, 1 << 20, &a, &na, NULL), 0);
	write_one("one/two");
	CU_ASSERT_EQUAL_FATAL(file_read(archive, 1 << 20, &b, &nb, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(na, nb);
	CU_ASSERT_EQUAL(memcmp(a, b, na), 0);
	free(a);
	free(b);
	leave();
}

static void test_refuses(void)
{
	static const char *const names[] = {"../out", "in/../../out", ".."};
	struct err e = {0};
	struct cpio c;
	size_t nr;

	enter();
	for (int i = 0; i < 3; i++) {
		write_one(names[i]);
		CU_ASSERT_EQUAL(cpio_extract(archive, into, &nr, &e), -EPERM);
		CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "outside"));
	}
	CU_ASSERT_EQUAL_FATAL(cpio_create(&c, archive, NULL), 0);
	CU_ASSERT_EQUAL(cpio_add_link(&c, "link", "/etc/passwd", NULL), 0);
	CU_ASSERT_EQUAL_FATAL(cpio_finish(&c, NULL), 0);
	CU_ASSERT_EQUAL(cpio_extract(archive, into, &nr, &e), -EPERM);
	leave();
}

/* What a full disk leaves: every length short of the whole is noticed. */
static void test_cut(void)
{
	struct stat st;
	size_t nr;
	int bad = 0;

	enter();
	write_one("one/two");
	CU_ASSERT_EQUAL_FATAL(stat(archive, &st), 0);
	for (off_t n = st.st_size - 4; n >= 0; n--) {
		CU_ASSERT_EQUAL_FATAL(truncate(archive, n), 0);
		bad += cpio_extract(archive, into, &nr, NULL) != -EBADMSG;
	}
	CU_ASSERT_EQUAL(bad, 0);
	leave();
}

/* A link that is there already is not followed. */
static void test_link_on_the_way(void)
{
	char link[256], beside[256], landed[300];
	size_t nr;

	enter();
	snprintf(link, sizeof(link), "%s/link", into);
	snprintf(beside, sizeof(beside), "%s/beside", top);
	snprintf(landed, sizeof(landed), "%s/file", beside);
	CU_ASSERT_EQUAL_FATAL(mkdir(beside, 0700), 0);
	CU_ASSERT_EQUAL_FATAL(symlink(beside, link), 0);
	write_one("link/file");
	CU_ASSERT_EQUAL(cpio_extract(archive, into, &nr, NULL), -EPERM);
	CU_ASSERT_NOT_EQUAL(access(landed, F_OK), 0);
	leave();
}

static void test_tree(void)
{
	char path[256];
	struct cpio c;
	size_t nr;

	enter();
	write_one("tree/b/file");
	CU_ASSERT_EQUAL_FATAL(cpio_extract(archive, into, &nr, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(cpio_create(&c, archive, NULL), 0);
	CU_ASSERT_EQUAL(cpio_add_tree(&c, into, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(cpio_finish(&c, NULL), 0);
	snprintf(path, sizeof(path), "%s/tree", into);
	cache_remove_tree(path);
	CU_ASSERT_EQUAL_FATAL(cpio_extract(archive, into, &nr, NULL), 0);
	CU_ASSERT_EQUAL(nr, 1);
	check_file("tree/b/file", "text");
	leave();
}

UNIT_TESTS("cpio", {"round trip", test_round_trip},
	   {"deterministic", test_deterministic}, {"refuses", test_refuses},
	   {"a cut archive", test_cut},
	   {"a link on the way", test_link_on_the_way}, {"a tree", test_tree})
