#include "initiator/pcap.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

enum { /* block types and options of pcapng */
       BLOCK_SECTION = 0x0a0d0d0a,
       BLOCK_INTERFACE = 1,
       BLOCK_PACKET = 6,
       OPTION_COMMENT = 1,
       OPTION_NAME = 2,
       OPTION_PROGRAM = 4,
       OPTION_TIME_UNIT = 9,
       LINK_IP = 101, /* LINKTYPE_RAW: IPv4 or IPv6, as its version says */
};

enum {
	BUFFER = 1 << 20,
	PACKET_HEAD = 28,
	/* A packet with its block around it, padding and all. */
	BLOCK_MAX = PACKET_HEAD + PCAP_PACKET_MAX + 1 + 4,
};
#define FLUSH_NS NS_PER_SEC

static const char comment[] =
	"TCP/IP packets made up by lunbench around what its iSCSI sockets sent "
	"and received; values of CHAP are blanked with x.";

struct pcap {
	char *path; /* owned */
	uint32_t keep;
	int fd;
	bool is_plain; /* a plain file: it can be cut */

	pthread_mutex_t lock; /* for all below */
	uint8_t *buf;	      /* owned; whole blocks */
	size_t used;
	off_t file_bytes;
	uint64_t flushed_ns; /* wall time */
	unsigned int nr_streams;
	int error; /* errno that ended it */
};

static void put16(uint8_t **at, uint16_t v)
{
	memcpy(*at, &v, 2);
	*at += 2;
}

static void put32(uint8_t **at, uint32_t v)
{
	memcpy(*at, &v, 4);
	*at += 4;
}

static void put_option(uint8_t **at, uint16_t code, const void *value, size_t n)
{
	put16(at, code);
	put16(at, n);
	memcpy(*at, value, n);
	memset(*at + n, 0, -n & 3);
	*at += (n + 3) & ~(size_t)3;
}

/* The length goes to both ends of a block. */
static void end_block(struct pcap *p, uint8_t *at)
{
	uint8_t *start = p->buf + p->used, *length = start + 4;
	uint32_t bytes = at + 4 - start;

	put32(&at, bytes);
	put32(&length, bytes);
	p->used += bytes;
}

/* In the host's byte order, which the section's header tells. */
static void put_head(struct pcap *p)
{
	static const char program[] = "lunbench " LUNBENCH_VERSION;
	static const char name[] = "iSCSI sessions";
	uint8_t nanoseconds = 9, *at = p->buf;

	put32(&at, BLOCK_SECTION);
	put32(&at, 0);
	put32(&at, 0x1a2b3c4d);
	put16(&at, 1);
	put16(&at, 0);
	put32(&at, UINT32_MAX); /* the section's length: unknown */
	put32(&at, UINT32_MAX);
	put_option(&at, OPTION_COMMENT, comment, sizeof(comment) - 1);
	put_option(&at, OPTION_PROGRAM, program, sizeof(program) - 1);
	put32(&at, 0); /* no more options */
	end_block(p, at);

	at = p->buf + p->used;
	put32(&at, BLOCK_INTERFACE);
	put32(&at, 0);
	put16(&at, LINK_IP);
	put16(&at, 0);
	put32(&at, 0); /* no limit of a packet's bytes */
	put_option(&at, OPTION_NAME, name, sizeof(name) - 1);
	put_option(&at, OPTION_TIME_UNIT, &nanoseconds, 1);
	put32(&at, 0); /* no more options */
	end_block(p, at);
}

/* Of the first @n bytes of the buffer, those that are whole blocks. */
static size_t whole_blocks(const struct pcap *p, size_t n)
{
	size_t at = 0;
	uint32_t bytes;

	while (at < n) {
		memcpy(&bytes, p->buf + at + 4, 4);
		if (at + bytes > n)
			break;
		at += bytes;
	}
	return at;
}

/* Its end, at a whole block, @n bytes of the buffer being written. */
static void give_up(struct pcap *p, size_t n, int code)
{
	p->error = code ? code : EIO;
	p->file_bytes += whole_blocks(p, n);
	if (p->is_plain && ftruncate(p->fd, p->file_bytes))
		return; /* a reader drops the half packet at the end */
}

static void write_out(struct pcap *p)
{
	size_t done = 0;
	ssize_t n;

	while (!p->error && done < p->used) {
		n = write(p->fd, p->buf + done, p->used - done);
		if (n > 0)
			done += n;
		else if (n == 0 || errno != EINTR)
			give_up(p, done, n ? errno : 0);
	}
	if (!p->error)
		p->file_bytes += done;
	p->used = 0;
}

/* A fifo would wait for its reader, and a folder is none. */
static int open_file(struct pcap *p, struct err *e)
{
	struct stat st;

	/* What a LUN holds is not for everybody's eyes. */
	p->fd = open(p->path,
		     O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
		     0600);
	if (p->fd < 0 || fstat(p->fd, &st))
		return err_set(e, -errno,
			       "\"%s\": the capture cannot be written there: "
			       "%s",
			       p->path, strerror(errno));
	p->is_plain = S_ISREG(st.st_mode);
	if (!p->is_plain && !S_ISCHR(st.st_mode))
		return err_set(e, -EINVAL,
			       "\"%s\": a capture needs a plain file", p->path);
	if (p->is_plain && ftruncate(p->fd, 0))
		return err_set(e, -errno,
			       "\"%s\": the old capture cannot be replaced: "
			       "%s",
			       p->path, strerror(errno));
	return 0;
}

int pcap_open(struct pcap **out, const char *path, uint32_t keep, struct err *e)
{
	struct pcap *p = calloc(1, sizeof(*p));
	int ret;

	if (!p)
		return err_set(e, -ENOMEM, "no memory for a capture");
	p->fd = -1;
	p->keep = keep;
	pthread_mutex_init(&p->lock, NULL);
	p->path = strdup(path);
	p->buf = malloc(BUFFER + BLOCK_MAX);
	if (!p->path || !p->buf)
		ret = err_set(e, -ENOMEM, "no memory for a capture");
	else
		ret = open_file(p, e);
	if (!ret) {
		put_head(p);
		ret = pcap_flush(p, e);
	}
	if (ret) {
		pcap_close(p);
		return ret;
	}
	*out = p;
	return 0;
}

int pcap_flush(struct pcap *p, struct err *e)
{
	int code;

	pthread_mutex_lock(&p->lock);
	write_out(p);
	code = p->error;
	pthread_mutex_unlock(&p->lock);
	if (!code)
		return 0;
	return err_set(e, -code, "the capture \"%s\" ended early: %s", p->path,
		       strerror(code));
}

void pcap_close(struct pcap *p)
{
	if (!p)
		return;
	if (p->buf)
		write_out(p);
	if (p->fd >= 0)
		close(p->fd);
	pthread_mutex_destroy(&p->lock);
	free(p->buf);
	free(p->path);
	free(p);
}

const char *pcap_path(const struct pcap *p)
{
	return p->path;
}

uint32_t pcap_keep(const struct pcap *p)
{
	return p->keep;
}

/* --- for its streams --- */

uint64_t pcap_begin(struct pcap *p)
{
	pthread_mutex_lock(&p->lock);
	return clock_wall_ns();
}

void pcap_end(struct pcap *p, bool at_once)
{
	uint64_t now = clock_wall_ns();

	if (at_once || now - p->flushed_ns >= FLUSH_NS) {
		write_out(p);
		p->flushed_ns = now;
	}
	pthread_mutex_unlock(&p->lock);
}

unsigned int pcap_number(struct pcap *p)
{
	return p->nr_streams++;
}

uint8_t *pcap_packet(struct pcap *p)
{
	if (p->used > BUFFER)
		write_out(p);
	return p->buf + p->used + PACKET_HEAD;
}

void pcap_packet_put(struct pcap *p, uint64_t at_ns, size_t captured,
		     size_t length)
{
	uint8_t *at = p->buf + p->used;

	if (p->error) {
		p->used = 0;
		return;
	}
	put32(&at, BLOCK_PACKET);
	put32(&at, 0);
	put32(&at, 0); /* the interface */
	put32(&at, at_ns >> 32);
	put32(&at, at_ns);
	put32(&at, captured);
	put32(&at, length);
	at += captured;
	memset(at, 0, -captured & 3);
	end_block(p, at + (-captured & 3));
}
