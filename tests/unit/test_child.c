#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"
#include "tests/unit/unit.h"

#define SHELL(script) ((const char *const[]){"sh", "-c", script, NULL})

static int run(const char *script, uint64_t deadline_ns, struct child_result *r,
	       struct err *e)
{
	*e = (struct err){0};
	return child_run(SHELL(script), NULL, deadline_ns, r, e);
}

static void expect_no_children(void)
{
	CU_ASSERT_EQUAL(waitpid(-1, NULL, WNOHANG), -1);
	CU_ASSERT_EQUAL(errno, ECHILD);
}

static void test_result(void)
{
	struct child_result r;
	struct err e;

	CU_ASSERT_EQUAL(
		run("echo out; echo err >&2; exit 7", 5 * NS_PER_SEC, &r, &e),
		0);
	CU_ASSERT_EQUAL(r.status, 7);
	CU_ASSERT_FALSE(r.timed_out);
	CU_ASSERT_STRING_EQUAL(r.out, "out\n");
	CU_ASSERT_STRING_EQUAL(r.err, "err\n");
	child_result_release(&r);
	CU_ASSERT_EQUAL(run("kill -SEGV $$", 5 * NS_PER_SEC, &r, &e), 0);
	CU_ASSERT_EQUAL(r.status, 128 + SIGSEGV);
	CU_ASSERT_STRING_EQUAL(r.out, "");
	child_result_release(&r);
	expect_no_children();
}

static void test_missing(void)
{
	static const char *const none[] = {"no-such-program-x", NULL};
	static const char *const folder[] = {"/tmp", NULL};
	struct child_result r;
	struct err e = {0};

	CU_ASSERT_EQUAL(child_run(none, NULL, NS_PER_SEC, &r, &e), -ENOENT);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "\"no-such-program-x\""));
	child_result_release(&r);
	CU_ASSERT_EQUAL(child_run(folder, NULL, NS_PER_SEC, &r, &e), -ENOENT);
	child_result_release(&r);
	CU_ASSERT_FALSE(child_has_program("no-such-program-x"));
	CU_ASSERT_TRUE(child_has_program("sh"));
	expect_no_children();
}

/* tgtd and mdadm are in /usr/sbin, which a user's PATH lacks. */
static void test_sbin(void)
{
	char *old = strdup(getenv("PATH"));

	setenv("PATH", "/usr/bin", 1);
	CU_ASSERT_TRUE(child_has_program("ldconfig"));
	unsetenv("PATH");
	CU_ASSERT_TRUE(child_has_program("ldconfig"));
	CU_ASSERT_TRUE(child_has_program("sh"));
	setenv("PATH", old, 1);
	free(old);
}

/* A file that the kernel will not run: the error comes back from the exec. */
static void test_exec_fails(void)
{
	char path[] = "/tmp/lunbench-child.XXXXXX";
	const char *const argv[] = {path, NULL};
	struct child_result r;
	struct err e = {0};
	int fd = mkstemp(path);

	CU_ASSERT_EQUAL(write(fd,
			      "\x7f"
			      "ELF nonsense",
			      13),
			13);
	fchmod(fd, 0700);
	close(fd);
	CU_ASSERT_EQUAL(child_run(argv, NULL, NS_PER_SEC, &r, &e), -ENOEXEC);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, path));
	child_result_release(&r);
	unlink(path);
	expect_no_children();
}

static void test_deadline(void)
{
	uint64_t start = clock_now_ns();
	struct child_result r;
	struct err e;

	/* Both the shell and what it started hold the pipes. */
	CU_ASSERT_EQUAL(run("echo begun; sleep 60 & sleep 60; echo no",
			    200 * NS_PER_MSEC, &r, &e),
			-ETIMEDOUT);
	CU_ASSERT_TRUE(r.timed_out);
	CU_ASSERT_EQUAL(r.status, 128 + SIGKILL);
	CU_ASSERT_STRING_EQUAL(r.out, "begun\n");
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "within 0.2 s"));
	CU_ASSERT_TRUE(clock_now_ns() - start < 5 * NS_PER_SEC);
	child_result_release(&r);
	expect_no_children();
}

/* The end of the program is the end, even if a grandchild keeps the pipe; and
 * the grandchild goes with it. */
static void test_grandchild(void)
{
	uint64_t start = clock_now_ns(), born;
	struct child_result r;
	struct err e;
	pid_t pid;

	CU_ASSERT_EQUAL(run("sleep 60 & echo $!", 30 * NS_PER_SEC, &r, &e), 0);
	CU_ASSERT_TRUE(clock_now_ns() - start < 5 * NS_PER_SEC);
	pid = atoi(r.out);
	child_result_release(&r);
	CU_ASSERT_TRUE(pid > 1);
	born = child_start_time(pid);
	/* Killed, but only init can reap it, and perhaps later. */
	if (born)
		CU_ASSERT_TRUE(child_wait(pid, born, 5 * NS_PER_SEC));
	CU_ASSERT_FALSE(child_is_alive(pid, born));
}

static void test_much_output(void)
{
	struct child_result r;
	struct err e;

	CU_ASSERT_EQUAL(run("head -c 3000000 /dev/zero | tr '\\0' x; "
			    "head -c 100000 /dev/zero | tr '\\0' y >&2",
			    20 * NS_PER_SEC, &r, &e),
			0);
	CU_ASSERT_EQUAL(strlen(r.out), 3000000);
	CU_ASSERT_EQUAL(strlen(r.err), 100000);
	child_result_release(&r);
	CU_ASSERT_EQUAL(run("exec cat /dev/zero", 20 * NS_PER_SEC, &r, &e),
			-EFBIG);
	CU_ASSERT_FALSE(r.timed_out);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "16 MiB"));
	child_result_release(&r);
	expect_no_children();
}

static void test_environment(void)
{
	const char *const env[] = {"TGT_IPC_SOCKET=/x", "HOME=/here", NULL};
	struct child_result r;
	struct err e = {0};

	setenv("LIBISCSI_CHAP_PASSWORD", "secret1", 1);
	setenv("LUNBENCH_TARGET_PASSWORD", "secret2", 1);
	setenv("LUNBENCH_PLAIN", "kept", 1);
	setenv("LC_ALL", "de_DE.UTF-8", 1);
	CU_ASSERT_EQUAL(
		child_run(SHELL("env; exec cat"), env, 5 * NS_PER_SEC, &r, &e),
		0);
	CU_ASSERT_PTR_NULL(strstr(r.out, "secret"));
	CU_ASSERT_PTR_NULL(strstr(r.out, "de_DE"));
	CU_ASSERT_PTR_NOT_NULL(strstr(r.out, "LC_ALL=C\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(r.out, "LUNBENCH_PLAIN=kept\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(r.out, "TGT_IPC_SOCKET=/x\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(r.out, "HOME=/here\n"));
	child_result_release(&r);
	unsetenv("LC_ALL");
}

/* No descriptor of ours, no ignored or blocked signal goes down. */
static void test_inheritance(void)
{
	int fd = open("/dev/null", O_RDONLY); /* without close-on-exec */
	struct child_result r;
	sigset_t all, old;
	const char *text;
	struct err e;

	CU_ASSERT_EQUAL(dup2(fd, 77), 77);
	signal(SIGINT, SIG_IGN);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	/* grep's own status: a shell blocks signals while it waits. */
	CU_ASSERT_EQUAL(run("ls -m /proc/$$/fd; grep -E 'Sig(Blk|Ign)' "
			    "/proc/self/status | tr -d '\\n\\t'",
			    5 * NS_PER_SEC, &r, &e),
			0);
	sigprocmask(SIG_SETMASK, &old, NULL);
	signal(SIGINT, SIG_DFL);
	CU_ASSERT_PTR_NULL(strstr(r.out, "77"));
	CU_ASSERT_PTR_NOT_NULL(strstr(r.out, "SigBlk:0000000000000000"));
	/* Bits 32 and 33 are libc's own; who was started by make, whose libc
	 * spawns so, has them ignored, and no program can change that. */
	text = strstr(r.out, "SigIgn:");
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT_EQUAL(strtoull(text + strlen("SigIgn:"), NULL, 16) &
				~0x180000000ULL,
			0);
	child_result_release(&r);
	close(77);
	close(fd);
}

/* Our own standard ones may be closed: pipes must not land on their numbers.
 * In a process apart, which ends with 0 when all is well. */
static void test_closed_stdio(void)
{
	struct child_result r;
	struct err e;
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 3; i++)
			close(i);
		if (run("echo out; echo err >&2", 5 * NS_PER_SEC, &r, &e))
			_exit(1);
		_exit(strcmp(r.out, "out\n") || strcmp(r.err, "err\n"));
	}
	waitpid(pid, &status, 0);
	CU_ASSERT_EQUAL(status, 0);
}

/* As in valgrind or under a container's old filter: no pidfd_open. */
static void forbid_pidfd(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(*code), code};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int live_without_pidfd(void)
{
	struct child_result r;
	uint64_t start;
	struct err e;
	pid_t pid;

	forbid_pidfd();
	if (syscall(SYS_pidfd_open, getpid(), 0) != -1)
		return 1;
	if (run("echo out", 5 * NS_PER_SEC, &r, &e) || strcmp(r.out, "out\n"))
		return 2;
	if (run("exec sleep 60", 50 * NS_PER_MSEC, &r, &e) != -ETIMEDOUT)
		return 3;
	if (child_start(SHELL("exec sleep 60"), NULL, "/dev/null", true, NULL,
			NULL, &pid, &e))
		return 4;
	start = child_start_time(pid);
	if (child_wait(pid, start, 20 * NS_PER_MSEC))
		return 5;
	if (child_kill(pid, start, 5 * NS_PER_SEC, &e) ||
	    child_is_alive(pid, start))
		return 6;
	return waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD;
}

static void test_without_pidfd(void)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(live_without_pidfd());
	waitpid(pid, &status, 0);
	CU_ASSERT_EQUAL(status, 0);
}

static void on_alarm(int sig)
{
	(void)sig;
}

/* Signals that land on us at any point change nothing. */
static void test_interrupted(void)
{
	const struct itimerval often = {{0, 500}, {0, 500}}, off = {0};
	struct sigaction sa = {.sa_handler = on_alarm}; /* no SA_RESTART */
	struct child_result r;
	struct err e;

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 5; i++) {
		CU_ASSERT_EQUAL(
			run("sleep 0.05; echo done", 5 * NS_PER_SEC, &r, &e),
			0);
		CU_ASSERT_STRING_EQUAL(r.out, "done\n");
		child_result_release(&r);
	}
	setitimer(ITIMER_REAL, &off, NULL);
	signal(SIGALRM, SIG_DFL);
	expect_no_children();
}

static void *run_many(void *bad)
{
	struct child_result r;
	struct err e;

	for (int i = 0; i < 10; i++) {
		if (run("echo $$", 10 * NS_PER_SEC, &r, &e) || r.status ||
		    atoi(r.out) < 2)
			*(int *)bad = 1;
		child_result_release(&r);
	}
	return NULL;
}

static void test_threads(void)
{
	pthread_t thread[4];
	int bad[4] = {0};

	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, run_many, &bad[i]);
	for (int i = 0; i < 4; i++) {
		pthread_join(thread[i], NULL);
		CU_ASSERT_EQUAL(bad[i], 0);
	}
	expect_no_children();
}

/* --- daemons --- */

struct seen {
	pid_t pid;
	uint64_t start;
	int answer;
};

static int on_fork(void *user, pid_t pid, uint64_t start, struct err *e)
{
	struct seen *seen = user;

	seen->pid = pid;
	seen->start = start;
	return seen->answer ? err_set(e, seen->answer, "no") : 0;
}

static void test_daemon(void)
{
	char log[] = "/tmp/lunbench-child-log.XXXXXX", *text;
	struct seen seen = {0};
	struct err e = {0};
	size_t len;
	pid_t pid;

	close(mkstemp(log));
	CU_ASSERT_EQUAL_FATAL(
		child_start(SHELL("echo up; echo more >&2; kill -STOP $$"),
			    NULL, log, true, on_fork, &seen, &pid, &e),
		0);
	CU_ASSERT_EQUAL(waitpid(pid, NULL, WUNTRACED), pid); /* stopped */
	CU_ASSERT_EQUAL(seen.pid, pid);
	CU_ASSERT_EQUAL(seen.start, child_start_time(pid));
	CU_ASSERT_TRUE(child_is_alive(pid, seen.start));
	CU_ASSERT_FALSE(child_is_alive(pid, seen.start + 1));
	CU_ASSERT_EQUAL(getsid(pid), pid);
	/* A stranger's start time: not ours to kill. */
	CU_ASSERT_EQUAL(child_kill(pid, seen.start + 1, NS_PER_SEC, &e), 0);
	CU_ASSERT_FALSE(child_wait(pid, seen.start, 100 * NS_PER_MSEC));
	CU_ASSERT_EQUAL(child_kill(pid, seen.start, NS_PER_SEC, &e), 0);
	CU_ASSERT_FALSE(child_is_alive(pid, seen.start));
	CU_ASSERT_EQUAL(child_kill(pid, seen.start, NS_PER_SEC, &e), 0);
	CU_ASSERT_EQUAL(file_read(log, 100, &text, &len, &e), 0);
	CU_ASSERT_STRING_EQUAL(text, "up\nmore\n");
	free(text);
	unlink(log);
	expect_no_children();
}

static void test_daemon_refused(void)
{
	char log[] = "/tmp/lunbench-child-log.XXXXXX", *text;
	struct seen seen = {.answer = -ENOSPC};
	struct err e = {0};
	size_t len;
	pid_t pid;

	close(mkstemp(log));
	CU_ASSERT_EQUAL(child_start(SHELL("echo ran"), NULL, log, false,
				    on_fork, &seen, &pid, &e),
			-ENOSPC);
	CU_ASSERT_FALSE(child_is_alive(seen.pid, seen.start));
	CU_ASSERT_EQUAL(file_read(log, 100, &text, &len, &e), 0);
	CU_ASSERT_STRING_EQUAL(text, "");
	free(text);
	unlink(log);
	expect_no_children();
}

static int die(void *fd, pid_t pid, uint64_t start, struct err *e)
{
	struct seen seen = {pid, start, 0};

	(void)e;
	if (write(*(int *)fd, &seen, sizeof(seen)) == sizeof(seen))
		raise(SIGKILL);
	return 0;
}

/* Killed after the fork, before the pid is written down: it never ran. */
static void test_killed_at_fork(void)
{
	char log[] = "/tmp/lunbench-child-log.XXXXXX", *text;
	struct seen seen = {0};
	struct err e = {0};
	int fd[2], status;
	size_t len;
	pid_t pid;

	close(mkstemp(log));
	CU_ASSERT_EQUAL(pipe(fd), 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		child_start(SHELL("echo ran; exec sleep 60"), NULL, log, false,
			    die, &fd[1], &pid, &e);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	CU_ASSERT_TRUE(WIFSIGNALED(status));
	CU_ASSERT_EQUAL(read(fd[0], &seen, sizeof(seen)), sizeof(seen));
	CU_ASSERT_TRUE(child_wait(seen.pid, seen.start, 5 * NS_PER_SEC));
	CU_ASSERT_EQUAL(file_read(log, 100, &text, &len, &e), 0);
	CU_ASSERT_STRING_EQUAL(text, "");
	free(text);
	close(fd[0]);
	close(fd[1]);
	unlink(log);
}

/* Killed while a program of ours runs: it goes too. */
static void test_killed_while_running(void)
{
	struct child_result r;
	uint64_t start;
	struct err e;
	int fd[2], status;
	pid_t pid, inner = 0;
	char script[64];

	CU_ASSERT_EQUAL(pipe(fd), 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		/* Our pipe is closed there, but not out of reach. */
		snprintf(script, sizeof(script),
			 "echo $$ >/proc/%d/fd/%d; exec sleep 60", getpid(),
			 fd[1]);
		run(script, 60 * NS_PER_SEC, &r, &e);
		_exit(0);
	}
	status = read(fd[0], script, sizeof(script) - 1);
	CU_ASSERT_TRUE_FATAL(status > 0);
	script[status] = '\0';
	inner = atoi(script);
	start = child_start_time(inner);
	CU_ASSERT_TRUE(inner > 1 && start);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	CU_ASSERT_TRUE(child_wait(inner, start, 5 * NS_PER_SEC));
	close(fd[0]);
	close(fd[1]);
}

static void test_last_line(void)
{
	char line[8];

	CU_ASSERT_STRING_EQUAL(child_last_line("a\nbc\n\n ", line, 8), "bc");
	CU_ASSERT_STRING_EQUAL(child_last_line("one", line, 8), "one");
	CU_ASSERT_STRING_EQUAL(child_last_line("0123456789", line, 8),
			       "0123456");
	CU_ASSERT_STRING_EQUAL(child_last_line("\n", line, 8), "");
	CU_ASSERT_STRING_EQUAL(child_last_line(NULL, line, 8), "");
}

UNIT_TESTS("child", {"status and output", test_result},
	   {"no such program", test_missing}, {"sbin", test_sbin},
	   {"a program that cannot run", test_exec_fails},
	   {"deadline", test_deadline}, {"grandchildren", test_grandchild},
	   {"much output", test_much_output},
	   {"environment without secrets", test_environment},
	   {"nothing is inherited", test_inheritance},
	   {"closed standard descriptors", test_closed_stdio},
	   {"without pidfd_open", test_without_pidfd},
	   {"signals meanwhile", test_interrupted},
	   {"many threads", test_threads}, {"a daemon's life", test_daemon},
	   {"a daemon refused before its exec", test_daemon_refused},
	   {"killed between fork and exec", test_killed_at_fork},
	   {"killed while a program runs", test_killed_while_running},
	   {"last line", test_last_line})
