#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "initiator/io_list.h"
#include "initiator/transport.h"

/*
 * block:PATH is a local block device or regular file, through io_uring, past
 * the page cache (O_DIRECT) where the file system can: the layer below iSCSI.
 *
 * One ring a connection. A trim of a device is an ioctl that does not return
 * before it is done (io_uring got one only in Linux 6.12), so it holds up the
 * worker, as fio's does; a trim of a file is a hole, punched by io_uring.
 */

enum { FILE_BLOCK_BYTES = 512, ALIGN_BYTES = 4096 };

struct block_conn {
	struct conn conn;
	struct loop *loop;		  /* borrowed */
	const struct conn_events *events; /* borrowed */
	void *user;
	const char *path; /* borrowed, of the url */
	int file;	  /* owned; -1 */
	bool is_device, is_direct;
	bool is_open, is_closing;
	bool has_ring, is_polled;
	struct io_uring ring; /* owned while has_ring */
	struct loop_fd fd;
	size_t nr_queued; /* not yet in the kernel */
	struct io_list outstanding;
	struct io_list refused; /* done without the ring: answer next turn */
	struct loop_timer answer;
	struct loop_task end;
	struct lun lun;
};

/* --- opening --- */

static int open_file(struct block_conn *c, struct err *e)
{
	static const int ways[][2] = {
		{O_RDWR, O_DIRECT},
		{O_RDWR, 0},
		{O_RDONLY, O_DIRECT},
		{O_RDONLY, 0},
	};
	size_t i;
	int code;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		c->file = open(c->path, ways[i][0] | ways[i][1] | O_CLOEXEC);
		if (c->file >= 0) {
			c->is_direct = ways[i][1];
			c->lun.is_read_only = ways[i][0] == O_RDONLY;
			return 0;
		}
		if (errno == ENOENT || errno == EISDIR || errno == ENOTDIR)
			break;
	}
	code = -errno;
	return err_set(e, code, "cannot open \"%s\": %s", c->path,
		       strerror(-code));
}

/* discard_max_bytes of the device, or of the disk that it is a partition of. */
static bool device_can_discard(dev_t dev)
{
	static const char *const places[] = {"", "/.."};
	unsigned long long max = 0;
	char path[128];
	size_t i;
	FILE *f;

	for (i = 0; i < 2; i++) {
		snprintf(path, sizeof(path),
			 "/sys/dev/block/%u:%u%s/queue/discard_max_bytes",
			 major(dev), minor(dev), places[i]);
		f = fopen(path, "re");
		if (!f)
			continue;
		if (fscanf(f, "%llu", &max) != 1)
			max = 0;
		fclose(f);
		break;
	}
	return max > 0;
}

static int learn_device(struct block_conn *c, const struct stat *st,
			struct err *e)
{
	unsigned int physical = 0;
	uint64_t bytes = 0;
	int block = 0, read_only = 0, code;

	if (ioctl(c->file, BLKGETSIZE64, &bytes) ||
	    ioctl(c->file, BLKSSZGET, &block)) {
		code = -errno;
		return err_set(e, code, "cannot learn the size of \"%s\": %s",
			       c->path, strerror(-code));
	}
	ioctl(c->file, BLKPBSZGET, &physical);
	ioctl(c->file, BLKROGET, &read_only);
	c->is_device = true;
	c->lun.block_bytes = block;
	c->lun.blocks = bytes / block;
	c->lun.physical_block_bytes = physical;
	c->lun.is_read_only |= read_only != 0;
	c->lun.can_unmap = device_can_discard(st->st_rdev);
	return 0;
}

/* A file has no blocks of its own; but O_DIRECT wants those of the disk below:
 * 512 bytes or 4096, which one a read tells. */
static int learn_file(struct block_conn *c, const struct stat *st,
		      struct err *e)
{
	void *buf;

	c->lun.block_bytes = FILE_BLOCK_BYTES;
	if (c->is_direct) {
		buf = aligned_alloc(ALIGN_BYTES, ALIGN_BYTES);
		if (!buf)
			return err_set(e, -ENOMEM, "no memory for a buffer");
		if (pread(c->file, buf, FILE_BLOCK_BYTES, 0) < 0 &&
		    errno == EINVAL)
			c->lun.block_bytes = ALIGN_BYTES;
		free(buf);
	}
	c->lun.blocks = st->st_size / c->lun.block_bytes;
	c->lun.can_unmap = true;
	return 0;
}

static int learn(struct block_conn *c, struct err *e)
{
	struct stat st;
	int r;

	r = open_file(c, e);
	if (r)
		return r;
	c->lun.keeps_data = true;
	c->lun.can_fua = true;
	if (fstat(c->file, &st))
		return err_set(e, -errno, "cannot stat \"%s\": %s", c->path,
			       strerror(errno));
	if (S_ISBLK(st.st_mode))
		return learn_device(c, &st, e);
	if (S_ISREG(st.st_mode))
		return learn_file(c, &st, e);
	return err_set(e, -ENOTBLK,
		       "\"%s\" is neither a block device nor a regular file",
		       c->path);
}

/* --- answers --- */

static int set_result(struct io *io, int res)
{
	if (res == -ECANCELED)
		return -EINTR; /* by the kernel, not by close */
	if (res < 0)
		return res;
	if ((io->op == OP_READ || io->op == OP_WRITE) &&
	    (uint32_t)res != io->length_bytes) {
		io->detail.residual_bytes = io->length_bytes - res;
		return -EBADMSG;
	}
	return 0;
}

/* Hands the ring to the kernel; what it has no room for now it gets again a
 * little later. */
static void push_ring(struct block_conn *c)
{
	int n;

	while (c->nr_queued) {
		n = io_uring_submit(&c->ring);
		if (n > 0) {
			c->nr_queued -= n;
		} else if (n != -EINTR) {
			loop_timer_set(c->loop, &c->answer,
				       loop_now_ns(c->loop) + NS_PER_MSEC);
			return;
		}
	}
}

static void end_if_idle(struct block_conn *c)
{
	if (c->is_closing && !c->outstanding.nr)
		loop_defer(c->loop, &c->end);
}

/* Takes what the kernel has answered. While closing, results no longer count:
 * the answer is -ECANCELED, but it must wait for the kernel, which until then
 * may still write into the buffer. */
static void reap(struct block_conn *c)
{
	size_t n = c->outstanding.nr;
	struct io_uring_cqe *cqe;
	struct io *io;
	int res;

	while (n-- && io_uring_peek_cqe(&c->ring, &cqe) == 0) {
		io = io_uring_cqe_get_data(cqe);
		res = cqe->res;
		io_uring_cqe_seen(&c->ring, cqe);
		if (!io) /* a cancel's own answer */
			continue;
		io_list_remove(&c->outstanding, io);
		io->result = c->is_closing ? -ECANCELED : set_result(io, res);
		c->events->on_io(c->user, io);
	}
	end_if_idle(c);
}

static void on_ring(struct loop_fd *f, uint32_t epoll_events)
{
	struct block_conn *c =
		(void *)((char *)f - offsetof(struct block_conn, fd));

	(void)epoll_events;
	reap(c);
}

static void on_answer(struct loop_timer *t)
{
	struct block_conn *c =
		(void *)((char *)t - offsetof(struct block_conn, answer));
	size_t n = c->refused.nr;

	if (!c->is_open && !c->is_closing) {
		c->is_open = true;
		c->events->on_open(c->user, &c->lun, NULL);
	}
	while (n-- && !c->is_closing)
		c->events->on_io(c->user, io_list_pop(&c->refused));
	if (c->refused.nr && !c->is_closing)
		loop_timer_set(c->loop, &c->answer, 0);
	push_ring(c);
}

static void block_free(struct block_conn *c)
{
	loop_timer_cancel(c->loop, &c->answer);
	if (c->is_polled)
		loop_fd_del(c->loop, &c->fd);
	if (c->has_ring)
		io_uring_queue_exit(&c->ring);
	if (c->file >= 0)
		close(c->file);
	free(c);
}

static void on_end(struct loop_task *t)
{
	struct block_conn *c =
		(void *)((char *)t - offsetof(struct block_conn, end));
	const struct conn_events *events = c->events;
	void *user = c->user;

	io_list_cancel(&c->refused, events, user);
	block_free(c);
	events->on_closed(user);
}

/* --- the transport --- */

/* Room for every io, and for a cancel of each. */
static int start_ring(struct block_conn *c, unsigned int depth, struct err *e)
{
	int r = io_uring_queue_init(2 * depth, &c->ring, 0);

	if (r)
		return err_set(e, r,
			       "io_uring is not available (%s); is it disabled "
			       "by kernel.io_uring_disabled or a container?",
			       strerror(-r));
	c->has_ring = true;
	c->fd.fd = c->ring.ring_fd;
	c->fd.on_event = on_ring;
	r = loop_fd_add(c->loop, &c->fd, EPOLLIN, e);
	c->is_polled = !r;
	return r;
}

static int block_open(struct conn **out, const struct conn_setup *s,
		      struct err *e)
{
	struct block_conn *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return err_set(e, -ENOMEM, "no memory for a connection");
	c->conn.transport = &transport_block;
	c->loop = s->loop;
	c->events = s->events;
	c->user = s->user;
	c->path = s->url->rest;
	c->file = -1;
	c->answer.on_timer = on_answer;
	c->end.on_task = on_end;
	r = learn(c, e);
	if (!r)
		r = start_ring(c, s->depth, e);
	if (r) {
		block_free(c);
		return r;
	}
	loop_timer_set(c->loop, &c->answer, 0);
	*out = &c->conn;
	return 0;
}

static int discard(struct block_conn *c, struct io *io)
{
	uint64_t range[2] = {io->offset_bytes, io->length_bytes};

	io->result = ioctl(c->file, BLKDISCARD, range) ? -errno : 0;
	io_list_push(&c->refused, io);
	loop_timer_set(c->loop, &c->answer, 0);
	return 0;
}

static int block_submit(struct conn *conn, struct io *io)
{
	struct block_conn *c = (struct block_conn *)conn;
	struct io_uring_sqe *sqe;

	if (!c->is_open || c->is_closing)
		return -ENOTCONN;
	if (io->op == OP_TRIM && c->is_device)
		return discard(c, io);
	sqe = io_uring_get_sqe(&c->ring);
	if (!sqe)
		return -EAGAIN; /* more than depth outstanding */
	switch (io->op) {
	case OP_READ:
		io_uring_prep_read(sqe, c->file, io->buf, io->length_bytes,
				   io->offset_bytes);
		break;
	case OP_WRITE:
		io_uring_prep_write(sqe, c->file, io->buf, io->length_bytes,
				    io->offset_bytes);
		sqe->rw_flags = io->fua ? RWF_DSYNC : 0;
		break;
	case OP_TRIM:
		io_uring_prep_fallocate(sqe, c->file,
					FALLOC_FL_PUNCH_HOLE |
						FALLOC_FL_KEEP_SIZE,
					io->offset_bytes, io->length_bytes);
		break;
	default:
		io_uring_prep_fsync(sqe, c->file, IORING_FSYNC_DATASYNC);
	}
	io_uring_sqe_set_data(sqe, io);
	io_list_push(&c->outstanding, io);
	c->nr_queued++;
	return 0;
}

static void block_kick(struct conn *conn)
{
	push_ring((struct block_conn *)conn);
}

/* Asks the kernel to give up what it can, then waits for every answer. */
static void block_close(struct conn *conn)
{
	struct block_conn *c = (struct block_conn *)conn;
	struct io_uring_sqe *sqe;
	struct io *io;

	c->is_closing = true;
	loop_timer_cancel(c->loop, &c->answer);
	for (io = c->outstanding.head; io; io = io->transport_next) {
		sqe = io_uring_get_sqe(&c->ring);
		if (!sqe)
			break;
		io_uring_prep_cancel(sqe, io, 0);
		io_uring_sqe_set_data(sqe, NULL);
		c->nr_queued++;
	}
	push_ring(c);
	end_if_idle(c);
}

static const char *block_stage(const struct conn *conn)
{
	(void)conn;
	return "opening the device";
}

static void block_describe(const struct conn *conn,
			   void (*emit)(void *user, const char *key,
					const char *value),
			   void *user)
{
	const struct block_conn *c = (const struct block_conn *)conn;

	emit(user, "kind", c->is_device ? "block device" : "regular file");
	emit(user, "O_DIRECT", c->is_direct ? "yes" : "no (page cache)");
}

const struct transport transport_block = {
	.scheme = "block",
	.summary = "block:PATH  a local block device or file, by io_uring",
	.caps = CAN_WRITE | CAN_TRIM | CAN_FLUSH,
	.open = block_open,
	.submit = block_submit,
	.kick = block_kick,
	.close = block_close,
	.stage = block_stage,
	.describe = block_describe,
};
