#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/unit.h"
#include "vm/shell.h"

static char folder[] = "/tmp/lunbench-shell.XXXXXX";
static struct sockaddr_un port = {.sun_family = AF_UNIX};

/* As QEMU when it is stopped: it listens, and its queue is full. */
static void stand_still(int fd[2])
{
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	snprintf(port.sun_path, sizeof(port.sun_path), "%s/shell0", folder);
	fd[0] = socket(AF_UNIX, SOCK_STREAM, 0);
	fd[1] = socket(AF_UNIX, SOCK_STREAM, 0);
	CU_ASSERT_EQUAL_FATAL(
		bind(fd[0], (struct sockaddr *)&port, sizeof(port)), 0);
	CU_ASSERT_EQUAL_FATAL(listen(fd[0], 0), 0);
	CU_ASSERT_EQUAL_FATAL(
		connect(fd[1], (struct sockaddr *)&port, sizeof(port)), 0);
}

static void clean(int fd[2])
{
	char lock[128];

	snprintf(lock, sizeof(lock), "%s/shell0.lock", folder);
	close(fd[0]);
	close(fd[1]);
	unlink(port.sun_path);
	unlink(lock);
	CU_ASSERT_EQUAL(rmdir(folder), 0);
}

/* A guest that stands still: deadline and signal hold before it takes the call.
 */
static void test_still(void)
{
	volatile sig_atomic_t none = 0, interrupt = SIGINT;
	struct shell_opts o = {
		.input = -1, .deadline_ns = NS_PER_SEC / 4, .signal = &none};
	struct err e = {0};
	int fd[2], status;

	stand_still(fd);
	alarm(20);
	CU_ASSERT_EQUAL(shell_run(folder, &o, &status, &e), -ETIMEDOUT);
	o.signal = &interrupt;
	o.deadline_ns = 0;
	CU_ASSERT_EQUAL(shell_run(folder, &o, &status, &e), -EINTR);
	alarm(0);
	clean(fd);
}

UNIT_TESTS("shell", {"a guest that stands still", test_still})
