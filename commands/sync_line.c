#include "commands/sync_line.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "commands/signals.h"

#define TTY_NS (200 * NS_PER_MSEC)
#define LOG_NS (10 * NS_PER_SEC)

/* `target up` has its signals blocked, `bench` a handler. */
static bool is_interrupted(void)
{
	sigset_t set;

	if (signals_seen)
		return true;
	sigpending(&set);
	return sigismember(&set, SIGINT) || sigismember(&set, SIGTERM) ||
	       sigismember(&set, SIGHUP);
}

static bool on_sync(void *user, double done, uint64_t left_ns)
{
	struct sync_line *l = user;
	uint64_t now = clock_now_ns();
	char left[48] = "", time[32];

	if (is_interrupted())
		return false;
	if (l->is_quiet ||
	    (l->said_ns && now - l->said_ns < (l->is_tty ? TTY_NS : LOG_NS)))
		return true;
	l->said_ns = now;
	if (left_ns != UINT64_MAX)
		snprintf(left, sizeof(left), ", %s left",
			 units_time(time, sizeof(time), (double)left_ns));
	fprintf(stderr, "%slunbench: first sync of the array: %.0f%%%s%s",
		l->is_tty ? "\r" : "", 100 * done, left,
		l->is_tty ? "\033[K" : "\n");
	l->is_open = l->is_tty;
	return true;
}

void sync_line_attach(struct sync_line *l, struct array_opts *o, bool is_quiet)
{
	const char *term = getenv("TERM");

	memset(l, 0, sizeof(*l));
	l->is_quiet = is_quiet;
	l->is_tty = isatty(STDERR_FILENO) && !(term && !strcmp(term, "dumb"));
	o->on_sync = on_sync;
	o->on_sync_user = l;
}

void sync_line_end(struct sync_line *l)
{
	if (l->is_open)
		fputs("\r\033[K", stderr);
	l->is_open = false;
}
