/* The calls that are defined here must not be the inline ones of a fortified
 * C library. */
#undef _FORTIFY_SOURCE
#include "initiator/wire.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "initiator/ledger.h"
#include "initiator/pcap_stream.h"
#include "initiator/pdu.h"
#include "initiator/tap.h"

enum {
	OUT_VECTORS = 512, /* two for a PDU with data; IOV_MAX is 1024 */
	OUT_BYTES = 32 << 10,
	OUT_PDUS = OUT_BYTES / PDU_HEADER + 1,
	IN_BYTES = 128 << 10,
	/* A data segment from LARGE on goes straight to its place, with no
	 * more than LITTLE of what comes after it: that will be copied. */
	LARGE = 16 << 10,
	LITTLE = 1 << 10,
	READ_VECTORS = 8,
};

struct wire {
	int fd;

	/* Out: vectors first..end of @out; their copied bytes are in @bytes,
	 * which is filled upwards and starts again when all has gone. */
	struct iovec *out; /* owned */
	char *bytes;	   /* owned */
	size_t first, end, used;

	/* In: bytes first..end of @in, which is only there while it holds
	 * some. */
	char *in; /* owned; NULL when empty */
	size_t in_first, in_end;
	size_t read_ahead;
	bool is_drained; /* the last receive brought less than was asked for */
	int in_error;	 /* came after bytes that had to be given first */

	/* Where libiscsi is in the PDU that it reads. */
	uint8_t header[PDU_HEADER];
	size_t header_bytes; /* with its digest */
	size_t header_has, data_left;
	struct ledger ledger;
	struct tap tap;
	struct pcap_stream *capture; /* owned; NULL: none */
};

/* Of the thread: the wire that is served now, and one buffer for input. A
 * thousand idle sessions need none. */
static _Thread_local struct wire *current;
static _Thread_local char *spare_in;
static _Thread_local size_t nr_wires;

struct wire *wire_new(int fd)
{
	struct wire *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->fd = fd;
	w->read_ahead = IN_BYTES;
	ledger_init(&w->ledger);
	tap_init(&w->tap, &w->ledger, OUT_PDUS);
	w->out = malloc(OUT_VECTORS * sizeof(*w->out));
	w->bytes = malloc(OUT_BYTES);
	if (!w->out || !w->bytes) {
		tap_release(&w->tap);
		free(w->out);
		free(w->bytes);
		free(w);
		return NULL;
	}
	nr_wires++;
	return w;
}

static void take_in(struct wire *w)
{
	w->in = spare_in;
	spare_in = NULL;
	if (!w->in)
		w->in = malloc(IN_BYTES);
}

static void give_in(struct wire *w)
{
	if (spare_in)
		free(w->in);
	else
		spare_in = w->in;
	w->in = NULL;
	w->in_first = w->in_end = 0;
}

void wire_free(struct wire *w)
{
	if (!w)
		return;
	if (current == w)
		current = NULL;
	if (w->in)
		give_in(w);
	if (!--nr_wires) {
		free(spare_in);
		spare_in = NULL;
	}
	tap_release(&w->tap);
	ledger_release(&w->ledger);
	pcap_stream_free(w->capture);
	free(w->out);
	free(w->bytes);
	free(w);
}

int wire_capture(struct wire *w, struct pcap *p)
{
	w->capture = pcap_stream_new(p, w->fd);
	return w->capture ? 0 : -ENOMEM;
}

const char *wire_complaint(const struct wire *w)
{
	return w && w->ledger.complaint[0] ? w->ledger.complaint : NULL;
}

int64_t wire_data_in(const struct wire *w, uint32_t itt)
{
	return w ? ledger_data_in(&w->ledger, itt) : -1;
}

int64_t wire_data_left(const struct wire *w, uint32_t itt)
{
	return w ? ledger_data_left(&w->ledger, itt) : -1;
}

bool wire_times(const struct wire *w, uint32_t itt, struct wire_times *t)
{
	const struct ledger_entry *e = w ? ledger_find(&w->ledger, itt) : NULL;

	if (!e || !e->times.first_ns)
		return false;
	*t = e->times;
	return true;
}

void wire_settled(struct wire *w, bool are_held)
{
	if (w)
		tap_settled(&w->tap, are_held);
}

void wire_digest_error(struct wire *w)
{
	if (w)
		w->tap.counts.digest_errors++;
}

bool wire_counts(const struct wire *w, struct wire_counts *c)
{
	if (w)
		tap_counts(&w->tap, c);
	return w;
}

const struct negotiation *wire_negotiation(const struct wire *w)
{
	return w ? w->tap.negotiation : NULL;
}

struct wire *wire_enter(struct wire *w)
{
	struct wire *before = current;

	if (w && !w->in)
		w->is_drained = false;
	current = w;
	return before;
}

void wire_leave(struct wire *before)
{
	current = before;
}

/* --- out --- */

bool wire_has_output(const struct wire *w)
{
	return w && w->first < w->end;
}

bool wire_holds(const struct wire *w, const void *buf, size_t bytes)
{
	const char *from = buf;

	if (!w)
		return false;
	for (size_t i = w->first; i < w->end; i++) {
		const char *base = w->out[i].iov_base;

		if (base < from + bytes && from < base + w->out[i].iov_len)
			return true;
	}
	return false;
}

static void drop_sent(struct wire *w, size_t n)
{
	struct iovec *v = w->out + w->first;

	for (; w->first < w->end && n >= v->iov_len; w->first++)
		n -= v++->iov_len;
	if (w->first == w->end) {
		w->first = w->end = w->used = 0;
		return;
	}
	v->iov_base = (char *)v->iov_base + n;
	v->iov_len -= n;
}

bool wire_message(const struct wire *w, struct msghdr *m)
{
	m->msg_iov = w->out + w->first;
	m->msg_iovlen = w->end - w->first;
	return wire_has_output(w);
}

int wire_sent(struct wire *w, ssize_t result)
{
	if (result < 0)
		return result;
	if (w->capture && result)
		pcap_sent(w->capture, w->out + w->first, result);
	tap_sent(&w->tap, result);
	drop_sent(w, result);
	return wire_has_output(w) ? -EAGAIN : 0;
}

int wire_flush(struct wire *w)
{
	struct msghdr m = {0};
	ssize_t n;

	while (wire_message(w, &m)) {
		n = sendmsg(w->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		return wire_sent(w, n < 0 ? -errno : n);
	}
	return 0;
}

/* Room for @vectors more, and @bytes more to copy. */
static bool has_room(const struct wire *w, size_t vectors, size_t bytes)
{
	return w->end + vectors <= OUT_VECTORS && w->used + bytes <= OUT_BYTES;
}

/* 0 or -errno. What has been sent makes room only at the front. */
static int make_room(struct wire *w, size_t vectors, size_t bytes)
{
	int ret;

	if (has_room(w, vectors, bytes))
		return 0;
	ret = wire_flush(w);
	if (ret && ret != -EAGAIN)
		return ret;
	memmove(w->out, w->out + w->first,
		(w->end - w->first) * sizeof(*w->out));
	w->end -= w->first;
	w->first = 0;
	return has_room(w, vectors, bytes) ? 0 : -EAGAIN;
}

static void put_ref(struct wire *w, const void *data, size_t n)
{
	struct iovec *last = w->out + w->end - 1;

	if (w->end > w->first &&
	    (const char *)last->iov_base + last->iov_len == data)
		last->iov_len += n;
	else
		w->out[w->end++] = (struct iovec){(void *)data, n};
}

/* All of it, or as much as there is room for at all; -errno. */
static ssize_t put(struct wire *w, const void *data, size_t n)
{
	int ret;

	if (n >= WIRE_REF_MIN) {
		ret = make_room(w, 1, 0);
		if (ret)
			return ret;
		put_ref(w, data, n);
		return n;
	}
	ret = make_room(w, 1, n);
	if (ret)
		return ret;
	memcpy(w->bytes + w->used, data, n);
	put_ref(w, w->bytes + w->used, n);
	w->used += n;
	return n;
}

/* What send() is given may be freed as soon as it returns: copied, however
 * long it is. */
static ssize_t put_copies(struct wire *w, const char *data, size_t n)
{
	size_t done = 0, part;
	ssize_t ret;

	while (done < n) {
		part = n - done;
		if (part >= WIRE_REF_MIN)
			part = WIRE_REF_MIN - 1;
		ret = put(w, data + done, part);
		if (ret < 0)
			return done ? (ssize_t)done : ret;
		done += part;
	}
	return done;
}

static ssize_t put_vectors(struct wire *w, const struct iovec *v, int nr)
{
	ssize_t done = 0, ret;

	for (int i = 0; i < nr; i++) {
		if (!v[i].iov_len)
			continue;
		ret = put(w, v[i].iov_base, v[i].iov_len);
		if (ret < 0)
			return done ? done : ret;
		done += ret;
	}
	return done;
}

/* --- in --- */

size_t wire_input(const struct wire *w)
{
	return w ? w->in_end - w->in_first : 0;
}

/* Moves @n bytes on in @v; the vectors that are left. */
static int skip(struct iovec *v, int nr, size_t n)
{
	int gone = 0;

	while (gone < nr && n >= v[gone].iov_len)
		n -= v[gone++].iov_len;
	memmove(v, v + gone, (nr - gone) * sizeof(*v));
	if (gone < nr) {
		v->iov_base = (char *)v->iov_base + n;
		v->iov_len -= n;
	}
	return nr - gone;
}

/* From the buffer. */
static size_t take_buffered(struct wire *w, const struct iovec *v, int nr)
{
	size_t done = 0;

	for (int i = 0; i < nr && wire_input(w); i++) {
		size_t n = wire_input(w);

		if (n > v[i].iov_len)
			n = v[i].iov_len;
		memcpy(v[i].iov_base, w->in + w->in_first, n);
		w->in_first += n;
		done += n;
	}
	if (w->in && !wire_input(w))
		give_in(w);
	return done;
}

/* How much to receive beyond the @wanted bytes. Headers that come alone are
 * small PDUs: more and more of them at once. */
static size_t choose_read_ahead(struct wire *w, size_t wanted)
{
	size_t now = w->read_ahead;

	if (wanted >= LARGE)
		return w->read_ahead = LITTLE;
	w->read_ahead = 2 * now < IN_BYTES ? 2 * now : IN_BYTES;
	return now;
}

/* From the kernel, to the @wanted bytes of @v (with room for one more vector)
 * and beyond them to the buffer, which is empty. */
static ssize_t receive(struct wire *w, struct iovec *v, int nr, size_t wanted)
{
	size_t ahead = choose_read_ahead(w, wanted);
	struct msghdr m = {.msg_iov = v, .msg_iovlen = nr};
	ssize_t n;

	take_in(w);
	if (w->in)
		v[m.msg_iovlen++] = (struct iovec){w->in, ahead};
	else
		ahead = 0; /* no memory: without */
	do
		n = recvmsg(w->fd, &m, MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	tap_received(&w->tap);
	if (w->capture && n >= 0)
		pcap_received(w->capture, v, n);
	w->is_drained = n && (n < 0 || (size_t)n < wanted + ahead);
	if (n > (ssize_t)wanted) {
		w->in_end = n - wanted;
		n = wanted;
	} else if (w->in) {
		int code = errno;

		give_in(w);
		errno = code;
	}
	return n < 0 ? -errno : n;
}

static ssize_t wire_read(struct wire *w, const struct iovec *from, int nr)
{
	struct iovec v[READ_VECTORS + 1];
	size_t wanted = 0, done;
	ssize_t n;

	if (nr > READ_VECTORS)
		nr = READ_VECTORS; /* a short read */
	memcpy(v, from, nr * sizeof(*v));
	for (int i = 0; i < nr; i++)
		wanted += v[i].iov_len;
	done = take_buffered(w, v, nr);
	if (done == wanted)
		return done;
	if (w->in_error || w->is_drained) {
		n = w->in_error ? -w->in_error : -EAGAIN;
		if (!done)
			w->in_error = 0;
		return done ? (ssize_t)done : n;
	}
	n = receive(w, v, skip(v, nr, done), wanted - done);
	if (!done)
		return n;
	/* The socket forgets an error that it has told. */
	if (n < 0 && n != -EAGAIN)
		w->in_error = -n;
	return n < 0 ? (ssize_t)done : (ssize_t)done + n;
}

/* --- what passes --- */

/* Of the data segment, padding and all. */
static ssize_t note_data(struct wire *w, ssize_t n)
{
	if (n > 0)
		w->data_left -=
			n > (ssize_t)w->data_left ? w->data_left : (size_t)n;
	return n;
}

/* libiscsi has asked for @asked bytes at @buf and gets @n. It asks for a header
 * as a whole; what is shorter at such a place is a digest of data. */
static ssize_t note_received(struct wire *w, const void *buf, size_t asked,
			     ssize_t n)
{
	size_t left;

	if (n > 0 && w->data_left)
		tap_received_text(&w->tap, w->header, buf, n);
	if (n <= 0 || w->data_left)
		return note_data(w, n);
	if (!w->header_has) {
		if (asked < PDU_HEADER)
			return n;
		w->header_bytes = asked;
	}
	left = w->header_has < PDU_HEADER ? PDU_HEADER - w->header_has : 0;
	memcpy(w->header + w->header_has, buf,
	       (size_t)n < left ? (size_t)n : left);
	w->header_has += n;
	if (w->header_has < w->header_bytes)
		return n;
	w->header_has = 0;
	w->data_left = pdu_padded_bytes(w->header);
	if (ledger_received(&w->ledger, w->header))
		return -EPROTO;
	tap_received_header(&w->tap, w->header);
	return n;
}

/* A header is sent by itself, but for logins and the like, which the ledger
 * does not have; whole, with or without its digest. */
static void note_sent(struct wire *w, const void *buf, ssize_t n)
{
	if (n == PDU_HEADER || n == PDU_HEADER + 4)
		ledger_sent(&w->ledger, buf);
	if (n >= PDU_HEADER)
		tap_queued_header(&w->tap, buf, n);
	else if (n > 0)
		tap_queued_data(&w->tap, n);
}

/* --- the calls --- */

static ssize_t result(ssize_t n)
{
	if (n >= 0)
		return n;
	errno = -n;
	return -1;
}

static struct wire *wire_of(int fd)
{
	struct wire *w = current;

	return w && w->fd == fd ? w : NULL;
}

ssize_t recv(int fd, void *buf, size_t n, int flags)
{
	struct wire *w = wire_of(fd);
	struct iovec v = {buf, n};

	if (!w || flags)
		return recvfrom(fd, buf, n, flags, NULL, NULL);
	return result(note_received(w, buf, n, wire_read(w, &v, 1)));
}

ssize_t readv(int fd, const struct iovec *v, int nr)
{
	struct wire *w = wire_of(fd);

	if (!w || nr <= 0)
		return preadv2(fd, v, nr, -1, 0);
	return result(note_data(w, wire_read(w, v, nr)));
}

ssize_t send(int fd, const void *buf, size_t n, int flags)
{
	struct wire *w = wire_of(fd);
	ssize_t done;

	if (!w)
		return sendto(fd, buf, n, flags, NULL, 0);
	done = put_copies(w, buf, n);
	note_sent(w, buf, done);
	return result(done);
}

ssize_t writev(int fd, const struct iovec *v, int nr)
{
	struct wire *w = wire_of(fd);
	ssize_t done;

	if (!w || nr <= 0)
		return pwritev2(fd, v, nr, -1, 0);
	done = put_vectors(w, v, nr);
	if (done > 0) {
		ledger_sent_data(&w->ledger, done);
		tap_queued_data(&w->tap, done);
	}
	return result(done);
}
