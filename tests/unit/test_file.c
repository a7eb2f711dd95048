#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/unit/unit.h"

static char folder[64];

static void enter(void)
{
	snprintf(folder, sizeof(folder), "/tmp/lunbench-file.XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	CU_ASSERT_EQUAL_FATAL(chdir(folder), 0);
}

static int nr_entries(void)
{
	DIR *d = opendir(".");
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static void leave(void)
{
	char command[128];

	CU_ASSERT_EQUAL(chdir("/"), 0);
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	CU_ASSERT_EQUAL(system(command), 0);
}

static void expect_text(const char *path, const char *want)
{
	struct err e = {0};
	char *text;
	size_t len;

	CU_ASSERT_EQUAL_FATAL(file_read(path, 1 << 20, &text, &len, &e), 0);
	CU_ASSERT_EQUAL(len, strlen(want));
	CU_ASSERT_STRING_EQUAL(text, want);
	free(text);
}

static void test_read_back(void)
{
	struct err e = {0};
	struct stat st;

	enter();
	CU_ASSERT_EQUAL(file_write_atomic("a", "one", 3, &e), 0);
	expect_text("a", "one");
	CU_ASSERT_EQUAL(chmod("a", 0640), 0);
	CU_ASSERT_EQUAL(file_write_atomic("a", "", 0, &e), 0);
	expect_text("a", "");
	CU_ASSERT_EQUAL(stat("a", &st), 0);
	CU_ASSERT_EQUAL(st.st_mode & 0777, 0640);
	CU_ASSERT_EQUAL(nr_entries(), 1);
	leave();
}

static void test_sizes(void)
{
	struct err e = {0};
	char *big = malloc(20000), *text;
	size_t len;

	enter();
	memset(big, 'x', 20000);
	for (size_t n = 4090; n < 4100; n++) {
		CU_ASSERT_EQUAL(file_write_atomic("a", big, n, &e), 0);
		CU_ASSERT_EQUAL(file_read("a", n, &text, &len, &e), 0);
		CU_ASSERT_EQUAL(len, n);
		CU_ASSERT_EQUAL(text[len], '\0');
		free(text);
		CU_ASSERT_EQUAL(file_read("a", n - 1, &text, &len, &e), -EFBIG);
		CU_ASSERT_PTR_NULL(text);
	}
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "larger than 4098 bytes"));
	free(big);
	leave();
}

static void test_proc(void)
{
	struct err e = {0};
	char *text;
	size_t len;

	CU_ASSERT_EQUAL_FATAL(
		file_read("/proc/self/status", 1 << 16, &text, &len, &e), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "Pid:"));
	free(text);
}

/* A FIFO that nobody writes to must not keep us; a pipe with a writer may be
 * read, as in `plan <(...)`. */
static void test_pipes(void)
{
	char path[] = "/tmp/lunbench-fifo.XXXXXX", name[64], *text;
	int pipe_fd[2];
	struct err e;
	size_t len;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(path));
	snprintf(name, sizeof(name), "%s/fifo", path);
	CU_ASSERT_EQUAL_FATAL(mkfifo(name, 0600), 0);
	CU_ASSERT_EQUAL(file_read(name, 100, &text, &len, &e), 0);
	CU_ASSERT_EQUAL(len, 0);
	free(text);
	unlink(name);
	rmdir(path);

	CU_ASSERT_EQUAL_FATAL(pipe(pipe_fd), 0);
	if (!fork()) {
		close(pipe_fd[0]);
		usleep(100000);
		_exit(write(pipe_fd[1], "late", 4) != 4);
	}
	close(pipe_fd[1]);
	snprintf(name, sizeof(name), "/dev/fd/%d", pipe_fd[0]);
	CU_ASSERT_EQUAL(file_read(name, 100, &text, &len, &e), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT_STRING_EQUAL(text, "late");
	free(text);
	close(pipe_fd[0]);
	wait(NULL);
}

static void test_bad_paths(void)
{
	struct err e = {0};
	char *text;
	size_t len;

	enter();
	CU_ASSERT_EQUAL(file_read("none", 10, &text, &len, &e), -ENOENT);
	CU_ASSERT_STRING_EQUAL(
		e.text, "cannot open \"none\": No such file or directory");
	CU_ASSERT_EQUAL(file_read(".", 10, &text, &len, &e), -EISDIR);
	CU_ASSERT_EQUAL(file_write_atomic(".", "x", 1, &e), -EISDIR);
	CU_ASSERT_EQUAL(file_write_atomic("no/a", "x", 1, &e), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "\"no/a\""));
	leave();
}

/* A disk that fills up: the old file stays whole and nothing else is left. */
static void test_full(void)
{
	struct rlimit small = {100, RLIM_INFINITY}, old;
	struct err e = {0};
	char data[1000];

	enter();
	memset(data, 'n', sizeof(data));
	CU_ASSERT_EQUAL(file_write_atomic("a", "old", 3, &e), 0);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	setrlimit(RLIMIT_FSIZE, &small);
	CU_ASSERT_EQUAL(file_write_atomic("a", data, sizeof(data), &e), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &old);
	signal(SIGXFSZ, SIG_DFL);
	expect_text("a", "old");
	CU_ASSERT_EQUAL(nr_entries(), 1);
	leave();
}

/* What is no file is written to, not replaced: think of /dev/null and root. */
static void test_device(void)
{
	struct err e = {0};
	struct stat st;

	CU_ASSERT_EQUAL(file_write_atomic("/dev/null", "x", 1, &e), 0);
	CU_ASSERT_EQUAL(stat("/dev/null", &st), 0);
	CU_ASSERT_TRUE(S_ISCHR(st.st_mode));
}

static void test_link(void)
{
	struct err e = {0};
	struct stat st;

	enter();
	CU_ASSERT_EQUAL(file_write_atomic("a", "old", 3, &e), 0);
	CU_ASSERT_EQUAL(symlink("a", "b"), 0);
	CU_ASSERT_EQUAL(file_write_atomic("b", "new", 3, &e), 0);
	expect_text("a", "new");
	CU_ASSERT_EQUAL(lstat("b", &st), 0);
	CU_ASSERT_TRUE(S_ISLNK(st.st_mode));
	leave();
}

static void test_make_dirs(void)
{
	struct err e = {0};
	struct stat st;

	enter();
	CU_ASSERT_EQUAL(file_make_dirs("a//b/c/", 0700, &e), 0);
	CU_ASSERT_EQUAL(file_make_dirs("a/b/c", 0700, &e), 0);
	CU_ASSERT_EQUAL(stat("a/b/c", &st), 0);
	CU_ASSERT_EQUAL(st.st_mode & 0777, 0700);
	CU_ASSERT_EQUAL(file_make_dirs("/", 0700, &e), 0);
	CU_ASSERT_EQUAL(file_write_atomic("a/f", "", 0, &e), 0);
	CU_ASSERT_EQUAL(file_make_dirs("a/f/x", 0700, &e), -ENOTDIR);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "\"a/f\""));
	leave();
}

UNIT_TESTS("file", {"reads back what it wrote", test_read_back},
	   {"sizes around its buffer", test_sizes},
	   {"files without a size", test_proc}, {"bad paths", test_bad_paths},
	   {"pipes", test_pipes}, {"a full disk", test_full},
	   {"a device", test_device}, {"a symbolic link", test_link},
	   {"folders", test_make_dirs})
