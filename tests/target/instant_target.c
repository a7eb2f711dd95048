/*
 * An iSCSI target that answers at once, from memory, as its script says
 * (tests/target/script.h): the ceiling of a load, and the other end for what
 * tgtd cannot be made to do. No libiscsi is in it.
 *
 * instant_target [-f SCRIPT] [LINE...]: prints its port on 127.0.0.1 and
 * serves any number of sessions, one thread, until it is killed. The target's
 * name is iqn.2026-11.lb:instant.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/target/session.h"

static struct target target;

static void die(const char *what)
{
	fprintf(stderr, "instant_target: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* The same pages twice in a row, so that a range may run over the end. */
static void map_store(void)
{
	size_t n = target.script.store_bytes;
	int fd = memfd_create("store", MFD_CLOEXEC);
	uint8_t *p = mmap(NULL, 2 * n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	if (fd < 0 || ftruncate(fd, n) || p == MAP_FAILED)
		die("store");
	for (int i = 0; i < 2; i++)
		if (mmap(p + i * n, n, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd,
			 0) == MAP_FAILED)
			die("store");
	close(fd);
	target.store = p;
}

static int listen_on_loopback(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int rcvbuf = target.script.rcvbuf, sndbuf = target.script.sndbuf;

	if (fd < 0)
		die("socket");
	/* An accepted socket has them from this one. */
	if (rcvbuf)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &rcvbuf, sizeof(rcvbuf));
	if (sndbuf)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &sndbuf, sizeof(sndbuf));
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 4096) ||
	    getsockname(fd, (struct sockaddr *)&a, &size))
		die("127.0.0.1");
	target.port = ntohs(a.sin_port);
	return fd;
}

static void accept_all(int listener)
{
	int fd, one = 1;

	while ((fd = accept4(listener, NULL, NULL,
			     SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		session_event(session_new(&target, fd), 0);
	}
}

static void serve(int listener)
{
	struct epoll_event ev[256] = {{.events = EPOLLIN}};
	int64_t wait_ns = -1;

	target.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_ctl(target.epoll_fd, EPOLL_CTL_ADD, listener, &ev[0]))
		die("epoll");
	for (;;) {
		uint64_t ns = wait_ns < 0 ? 0 : wait_ns;
		struct timespec ts = {.tv_sec = ns / NS_PER_SEC,
				      .tv_nsec = ns % NS_PER_SEC};
		int n = epoll_pwait2(target.epoll_fd, ev, 256,
				     wait_ns < 0 ? NULL : &ts, NULL);

		for (int i = 0; i < n; i++) {
			if (ev[i].data.ptr)
				session_event(ev[i].data.ptr, ev[i].events);
			else
				accept_all(listener);
		}
		wait_ns = target.later
				  ? session_run_later(&target, clock_now_ns())
				  : -1;
	}
}

static void many_files(void)
{
	struct rlimit r;

	if (!getrlimit(RLIMIT_NOFILE, &r)) {
		r.rlim_cur = r.rlim_max;
		setrlimit(RLIMIT_NOFILE, &r);
	}
}

int main(int argc, char **argv)
{
	struct script *s = &target.script;
	int listener, ret = 0;
	struct err e;

	script_init(s);
	for (int i = 1; i < argc && !ret; i++) {
		if (!strcmp(argv[i], "-f") && i + 1 < argc)
			ret = script_file(s, argv[++i], &e);
		else
			ret = script_line(s, argv[i], &e);
	}
	if (!ret)
		ret = script_check(s, &e);
	if (ret) {
		fprintf(stderr, "instant_target: %s\n", e.text);
		return 2;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	rng_init(&target.corrupt.rng, 1);
	many_files();
	map_store();
	listener = listen_on_loopback();
	printf("%u\n", target.port);
	fflush(stdout);
	serve(listener);
}
