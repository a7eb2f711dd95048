#include "initiator/guard.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/signature.h"

/* Where partition tables, file systems, md, LVM and LUKS have their marks. */
enum { END_BYTES = 1 << 20, PIECE_BYTES = 64 << 10, TRIES_MAX = 10 };
#define AGAIN_NS (100 * NS_PER_MSEC)
#define CLOSE_LIMIT_NS (3 * NS_PER_SEC)

struct guard {
	const struct transport *transport;
	const struct url *url;
	const struct initiator_opts *opts;
	const struct lun *lun;
	struct loop *loop;
	struct conn *conn;
	int fd;
	void *buf;    /* owned */
	struct io io; /* outstanding until close when there is no answer */
	bool all_zero;
	bool has_answer, is_lost, is_io_done, is_closed;
	struct err why;
};

static void on_open(void *user, const struct lun *lun, const struct err *e)
{
	struct guard *g = user;

	g->has_answer = true;
	g->is_lost = !lun;
	if (!lun)
		g->why = *e;
}

static void on_io(void *user, struct io *io)
{
	struct guard *g = user;

	(void)io;
	g->is_io_done = true;
}

static void on_lost(void *user, const struct err *e)
{
	on_open(user, NULL, e);
}

static void on_closed(void *user)
{
	struct guard *g = user;

	g->is_closed = true;
}

static const struct conn_events events = {
	.on_open = on_open,
	.on_io = on_io,
	.on_lost = on_lost,
	.on_closed = on_closed,
};

/* Turns until *@flag, the loss of the session (if @stop_lost), or @for_ns. */
static bool turn_until(struct guard *g, const bool *flag, bool stop_lost,
		       uint64_t for_ns)
{
	uint64_t end = loop_now_ns(g->loop) + for_ns, now;

	while (!*flag && !(stop_lost && g->is_lost) &&
	       (now = loop_now_ns(g->loop)) < end)
		if (loop_turn(g->loop, end - now))
			break;
	return *flag;
}

static int open_conn(struct guard *g, struct err *e)
{
	struct conn_setup s = {.loop = g->loop,
			       .url = g->url,
			       .opts = g->opts,
			       .known = g->lun,
			       .depth = 1,
			       .events = &events,
			       .user = g};
	int ret = g->transport->open(&g->conn, &s, e);

	if (ret)
		return ret;
	if (!turn_until(g, &g->has_answer, false, g->opts->connect_timeout_ns))
		return err_set(e, -ETIMEDOUT, "%s: no answer in %.3g s",
			       g->transport->stage(g->conn),
			       g->opts->connect_timeout_ns / 1e9);
	if (g->is_lost)
		*e = g->why;
	return g->is_lost ? e->code : 0;
}

static int read_once(struct guard *g, struct err *e)
{
	int ret = g->transport->submit(g->conn, &g->io);

	if (ret)
		return err_set(e, ret, "cannot read \"%s\": %s",
			       g->url->display, strerror(-ret));
	g->is_io_done = false;
	g->transport->kick(g->conn);
	if (turn_until(g, &g->is_io_done, true, g->opts->command_timeout_ns))
		return 0;
	if (g->is_lost)
		*e = g->why;
	else
		err_set(e, -ETIMEDOUT,
			"no answer to a read of \"%s\" in %.3g s",
			g->url->display, g->opts->command_timeout_ns / 1e9);
	return e->code;
}

/* To the copy, if there is anything in it: the copy stays sparse. */
static int keep(struct guard *g, struct err *e)
{
	const struct io *io = &g->io;
	const char *p = io->buf;

	if (!p[0] && memcmp(p, p + 1, io->length_bytes - 1) == 0)
		return 0;
	g->all_zero = false;
	if (pwrite(g->fd, p, io->length_bytes, io->offset_bytes) ==
	    (ssize_t)io->length_bytes)
		return 0;
	return err_set(e, -errno, "copying the LUN's ends: %s",
		       strerror(errno));
}

static int read_piece(struct guard *g, uint64_t offset, uint32_t length,
		      struct err *e)
{
	bool never = false;
	char text[200];
	int ret, tries = 0;

	g->io = (struct io){.op = OP_READ,
			    .offset_bytes = offset,
			    .length_bytes = length,
			    .buf = g->buf};
	do {
		if (tries)
			turn_until(g, &never, true, AGAIN_NS);
		ret = read_once(g, e);
		if (ret)
			return ret;
		ret = g->io.result;
	} while ((ret == -EAGAIN || ret == -EBUSY) && tries++ < TRIES_MAX);
	if (ret)
		return err_set(
			e, ret, "cannot read \"%s\" at %llu: %s",
			g->url->display, (unsigned long long)offset,
			transport_describe_detail(&g->io, text, sizeof(text)));
	return keep(g, e);
}

static int read_range(struct guard *g, uint64_t from, uint64_t to,
		      struct err *e)
{
	uint32_t piece = PIECE_BYTES - PIECE_BYTES % g->lun->block_bytes;
	int ret = 0;

	if (!piece)
		piece = g->lun->block_bytes;
	while (from < to && !ret) {
		uint32_t n = to - from < piece ? to - from : piece;

		ret = read_piece(g, from, n, e);
		from += n;
	}
	return ret;
}

static int read_ends(struct guard *g, struct err *e)
{
	uint64_t size = lun_bytes(g->lun), block = g->lun->block_bytes, tail;
	int ret;

	if (size <= 2 * END_BYTES)
		return read_range(g, 0, size, e);
	tail = (size - END_BYTES) / block * block;
	ret = read_range(g, 0, (END_BYTES + block - 1) / block * block, e);
	return ret ? ret : read_range(g, tail, size, e);
}

static int make_copy(struct guard *g, struct err *e)
{
	size_t size = PIECE_BYTES > g->lun->block_bytes ? PIECE_BYTES
							: g->lun->block_bytes;

	g->buf = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
	if (!g->buf)
		return err_set(e, -ENOMEM, "no memory to inspect the LUN");
	g->fd = memfd_create("lunbench-guard", MFD_CLOEXEC);
	if (g->fd < 0 || ftruncate(g->fd, lun_bytes(g->lun)))
		return err_set(e, -errno,
			       "no sparse copy of %llu bytes to inspect: %s",
			       (unsigned long long)lun_bytes(g->lun),
			       strerror(errno));
	return 0;
}

static int inspect(struct guard *g, char *found, size_t found_size,
		   struct err *e)
{
	int ret = make_copy(g, e);

	if (!ret)
		ret = open_conn(g, e);
	if (!ret)
		ret = read_ends(g, e);
	if (!ret)
		ret = signature_find(g->fd, lun_bytes(g->lun),
				     g->lun->block_bytes, found, found_size, e);
	return ret;
}

int guard_inspect(const struct url *url, const struct initiator_opts *opts,
		  const struct lun *lun, char *found, size_t found_size,
		  bool *all_zero, struct err *e)
{
	struct guard g = {.transport = transport_find(url->scheme, e),
			  .url = url,
			  .opts = opts,
			  .lun = lun,
			  .fd = -1,
			  .all_zero = true};
	int ret;

	found[0] = '\0';
	if (!g.transport)
		return -EINVAL;
	ret = loop_new(&g.loop, transport_caps(url) & IS_VIRTUAL, e);
	if (ret)
		return ret;
	ret = inspect(&g, found, found_size, e);
	*all_zero = g.all_zero;
	if (g.conn) {
		g.transport->close(g.conn);
		turn_until(&g, &g.is_closed, false, CLOSE_LIMIT_NS);
	}
	if (g.fd >= 0)
		close(g.fd);
	/* A connection that does not close in time still has the buffer and
	 * the loop: leak them rather than crash. */
	if (!g.conn || g.is_closed) {
		loop_free(g.loop);
		free(g.buf);
	}
	return ret;
}
