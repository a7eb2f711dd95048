#include "vm/talk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const unsigned char magic[8] = {'l', 'u', 'n', 'b', 0xf0, 0x0d, 0, 1};

enum { START_HEADER = 7 }; /* terminal, rows, columns, number of env */

void talk_greeting(unsigned char greeting[TALK_GREETING], uint64_t nonce)
{
	memcpy(greeting, magic, sizeof(magic));
	memcpy(greeting + sizeof(magic), &nonce, sizeof(nonce));
}

/* --- in --- */

static void drop(struct talk_in *in, size_t n)
{
	in->len -= n;
	memmove(in->data, in->data + n, in->len);
}

long talk_read(struct talk_in *in, int fd)
{
	ssize_t n;

	if (in->len == sizeof(in->data))
		return -EAGAIN;
	do
		n = read(fd, in->data + in->len, sizeof(in->data) - in->len);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	in->len += n;
	return n;
}

bool talk_find_greeting(struct talk_in *in,
			unsigned char greeting[TALK_GREETING],
			bool nonce_is_any)
{
	size_t same = nonce_is_any ? sizeof(magic) : TALK_GREETING, i;

	for (i = 0; i + TALK_GREETING <= in->len; i++)
		if (!memcmp(in->data + i, greeting, same)) {
			memcpy(greeting, in->data + i, TALK_GREETING);
			drop(in, i + TALK_GREETING);
			return true;
		}
	/* What is left may be the beginning of one. */
	drop(in, i);
	return false;
}

int talk_peek(const struct talk_in *in, struct talk_frame *f)
{
	const unsigned char *d = in->data;

	if (!in->len)
		return -EAGAIN;
	if (!strchr("Siwsoex", d[0]) || !d[0])
		return -EBADMSG;
	if (in->len < TALK_HEADER)
		return -EAGAIN;
	f->type = d[0];
	f->len = d[1] | d[2] << 8 | d[3] << 16 | (size_t)d[4] << 24;
	f->data = d + TALK_HEADER;
	if (f->len > TALK_MAX)
		return -EBADMSG;
	return in->len < TALK_HEADER + f->len ? -EAGAIN : 0;
}

void talk_drop(struct talk_in *in, const struct talk_frame *f)
{
	drop(in, TALK_HEADER + f->len);
}

/* --- out --- */

bool talk_has_room(const struct talk_out *out)
{
	return out->len + TALK_HEADER + TALK_MAX <= sizeof(out->data);
}

void talk_add_raw(struct talk_out *out, const void *data, size_t len)
{
	memcpy(out->data + out->len, data, len);
	out->len += len;
}

void talk_add(struct talk_out *out, enum talk_type type, const void *data,
	      size_t len)
{
	const unsigned char header[TALK_HEADER] = {type, len, len >> 8,
						   len >> 16, len >> 24};

	talk_add_raw(out, header, sizeof(header));
	if (len)
		talk_add_raw(out, data, len);
}

int talk_write(struct talk_out *out, int fd)
{
	ssize_t n;

	while (out->at < out->len) {
		n = write(fd, out->data + out->at, out->len - out->at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0)
			return -errno;
		out->at += n;
	}
	out->len -= out->at;
	memmove(out->data, out->data + out->at, out->len);
	out->at = 0;
	return 0;
}

/* --- the start --- */

static size_t put_words(unsigned char *data, size_t len,
			const char *const *words)
{
	for (; words && *words && len <= TALK_MAX; words++) {
		size_t n = strlen(*words) + 1;

		if (len + n > TALK_MAX)
			return TALK_MAX + 1;
		memcpy(data + len, *words, n);
		len += n;
	}
	return len;
}

int talk_add_start(struct talk_out *out, const struct talk_start *s,
		   struct err *e)
{
	static _Thread_local unsigned char data[TALK_MAX];
	uint16_t nr_env = 0;
	size_t len;

	while (s->env && s->env[nr_env])
		nr_env++;
	data[0] = s->is_terminal;
	memcpy(data + 1, &s->rows, 2);
	memcpy(data + 3, &s->columns, 2);
	memcpy(data + 5, &nr_env, 2);
	len = put_words(data, START_HEADER, s->env);
	if (len <= TALK_MAX)
		len = put_words(data, len, s->command);
	if (len > TALK_MAX)
		return err_set(e, -E2BIG,
			       "the command for the guest has over %d bytes",
			       TALK_MAX);
	talk_add(out, TALK_START, data, len);
	explicit_bzero(data, sizeof(data));
	return 0;
}

int talk_parse_start(const struct talk_frame *f, struct talk_start *s,
		     const char ***words)
{
	const char *at = (const char *)f->data + START_HEADER;
	const char *end = (const char *)f->data + f->len;
	size_t n = 0, nr = 0;
	uint16_t nr_env;

	*words = NULL;
	if (f->len < START_HEADER || (at < end && end[-1]))
		return -EBADMSG;
	s->is_terminal = f->data[0];
	memcpy(&s->rows, f->data + 1, 2);
	memcpy(&s->columns, f->data + 3, 2);
	memcpy(&nr_env, f->data + 5, 2);
	for (const char *p = at; p < end; p += strlen(p) + 1)
		nr++;
	if (nr_env > nr)
		return -EBADMSG;
	*words = calloc(nr + 2, sizeof(**words));
	if (!*words)
		return -ENOMEM;
	s->env = *words;
	s->command = *words + nr_env + 1;
	for (; at < end; at += strlen(at) + 1, n++)
		(*words)[n < nr_env ? n : n + 1] = at;
	return 0;
}
