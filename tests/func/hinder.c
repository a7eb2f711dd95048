/*
 * hinder PID: until that QEMU ends, holds up its main thread at each system
 * call, and the thread that runs the guest at any moment, for random times of
 * some 100 us. What the one does while the other is between two instructions
 * is then done often, and not once in a day. Not more than a test's aid: it
 * takes the busiest thread but the main one for the guest's.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAIN_HOLD_US = 100, GUEST_GAP_US = 400, GUEST_HOLD_US = 250 };

static void pause_us(long us)
{
	nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

/* Clock ticks that a thread has used, 0 where it is gone. */
static unsigned long cpu_ticks(pid_t pid, pid_t tid)
{
	char path[64], text[1024] = "";
	unsigned long user = 0, system = 0;
	char *end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	f = fopen(path, "r");
	if (!f)
		return 0;
	if (!fgets(text, sizeof(text), f))
		text[0] = 0;
	fclose(f);
	end = strrchr(text, ')');
	if (!end || sscanf(end + 1,
			   " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u "
			   "%lu %lu",
			   &user, &system) != 2)
		return 0;
	return user + system;
}

static pid_t guest_thread(pid_t pid)
{
	unsigned long most = 0;
	struct dirent *e;
	char path[64];
	pid_t best = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		pid_t tid = atoi(e->d_name);
		unsigned long ticks =
			tid && tid != pid ? cpu_ticks(pid, tid) : 0;

		if (ticks > most) {
			most = ticks;
			best = tid;
		}
	}
	if (d)
		closedir(d);
	return best;
}

/* The signal to hand on where a stop was for one, else 0. */
static int signal_of(int status)
{
	return status >> 16 || WSTOPSIG(status) == (SIGTRAP | 0x80)
		       ? 0
		       : WSTOPSIG(status);
}

/* Goes on until the thread has ended; both return the number of stops. */
static long hold_at_calls(pid_t tid)
{
	long stops = 0;
	int status;

	ptrace(PTRACE_INTERRUPT, tid, 0, 0);
	while (waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status)) {
		if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
			stops++;
			pause_us(rand() % MAIN_HOLD_US);
		}
		ptrace(PTRACE_SYSCALL, tid, 0, signal_of(status));
	}
	return stops;
}

static long hold_anywhere(pid_t tid)
{
	long stops = 0;
	int status;

	for (;;) {
		pause_us(rand() % GUEST_GAP_US);
		if (ptrace(PTRACE_INTERRUPT, tid, 0, 0) ||
		    waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
			return stops;
		stops++;
		pause_us(GUEST_HOLD_US);
		ptrace(PTRACE_CONT, tid, 0, signal_of(status));
	}
}

int main(int argc, char **argv)
{
	pid_t pid = argc == 2 ? atoi(argv[1]) : 0;
	pid_t guest = guest_thread(pid), child;
	long stops;

	if (!guest) {
		fprintf(stderr, "hinder: no process \"%s\" with threads\n",
			argc == 2 ? argv[1] : "");
		return 2;
	}
	prctl(PR_SET_TIMERSLACK, 1); /* ns: short pauses are short */
	srand((unsigned int)pid);
	child = fork();
	if (ptrace(PTRACE_SEIZE, child ? pid : guest, 0,
		   PTRACE_O_TRACESYSGOOD)) {
		fprintf(stderr, "hinder: ptrace: %s\n", strerror(errno));
		return 1;
	}
	stops = child ? hold_at_calls(pid) : hold_anywhere(guest);
	printf("%s: %ld stops\n", child ? "main thread" : "guest", stops);
	return child && waitpid(child, NULL, 0) < 0;
}
