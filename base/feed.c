#include "base/feed.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/pidfd.h>

#include "base/launch.h"

enum { FEEDS_MAX = 64, LOOK_MS = 100 };

/* The writing end in *@to, which the program gets. */
static int make_pipe(int *from, int *to)
{
	int fd[2], err = launch_pipe(fd);

	if (err)
		return err;
	*from = fd[0];
	*to = fd[1];
	return fcntl(*from, F_SETFL, O_NONBLOCK) ? -errno : 0;
}

static void forget(struct feed *f)
{
	close_fd(&f->out);
	close_fd(&f->err);
	close_fd(&f->ended);
	f->pid = 0;
}

int feed_start(struct feed *f, const char *const argv[], struct err *e)
{
	struct launch l;
	int err = launch_prepare(&l, argv, NULL, e);

	*f = (struct feed){.out = -1, .err = -1, .ended = -1};
	if (err)
		goto out;
	l.death_signal = SIGTERM;
	err = make_pipe(&f->out, &l.out);
	if (!err)
		err = make_pipe(&f->err, &l.err);
	if (err)
		err_set(e, err, "\"%s\": no pipe for it: %s", argv[0],
			strerror(-err));
	else
		err = launch_start(&l, NULL, NULL, &f->pid, e);
	if (err)
		goto out;
	f->start = child_start_time(f->pid);
	f->ended = pidfd_open(f->pid, 0);
out:
	launch_release(&l);
	if (err)
		forget(f);
	return err;
}

void feed_wait(struct feed *const feeds[], size_t nr, int ms)
{
	struct pollfd p[3 * FEEDS_MAX];
	nfds_t n = 0;

	for (size_t i = 0; i < nr && i < FEEDS_MAX; i++) {
		const struct feed *f = feeds[i];

		if (!f->pid)
			continue;
		p[n++] = (struct pollfd){f->out, POLLIN, 0};
		p[n++] = (struct pollfd){f->err, POLLIN, 0};
		p[n++] = (struct pollfd){f->ended, POLLIN, 0};
		if (f->ended < 0 && ms > LOOK_MS)
			ms = LOOK_MS;
	}
	poll(p, n, ms);
}

static void take(int *fd, feed_take *on_data, void *user)
{
	char buf[65536];
	ssize_t n;

	while (*fd >= 0) {
		n = read_retry(*fd, buf, sizeof(buf));
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0)
			close_fd(fd);
		else
			on_data(user, buf, n);
	}
}

int feed_read(struct feed *f, feed_take *on_out, feed_take *on_err, void *user,
	      int *status)
{
	/* Asked before the last read, so that nothing it wrote is missed. */
	bool has_ended = !child_is_alive(f->pid, f->start);

	take(&f->out, on_out, user);
	take(&f->err, on_err, user);
	if (!has_ended)
		return 0;
	/* What it left behind goes with it: see child_run(). */
	kill(-f->pid, SIGKILL);
	*status = launch_reap(f->pid);
	forget(f);
	return 1;
}

void feed_signal(const struct feed *f, int number)
{
	if (f->pid > 0)
		kill(f->pid, number);
}
