#ifndef VM_TALK_H
#define VM_TALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * What a shell's two ends say to each other over a virtio-serial port: frames,
 * each a type, a length and that many bytes. A port outlives its clients, so
 * each session begins with a greeting that has a nonce in it; whatever comes
 * before its echo is an earlier session's and is skipped. A greeting where a
 * frame should be begins a new session, too.
 */
enum {
	TALK_GREETING = 16, /* bytes: 8 that never change, 8 of nonce */
	TALK_MAX = 32768,   /* bytes of a frame's data */
	TALK_HEADER = 5,    /* type, length in little endian */
};

enum talk_type {
	/* to the guest */
	TALK_START = 'S',  /* see talk_start_*() */
	TALK_INPUT = 'i',  /* of length 0: its end */
	TALK_SIZE = 'w',   /* the window's: rows, columns, 16 bits each */
	TALK_SIGNAL = 's', /* a byte: the number */
	/* to the host */
	TALK_OUT = 'o',
	TALK_ERR = 'e',
	TALK_EXIT = 'x', /* a byte: the status */
};

void talk_greeting(unsigned char greeting[TALK_GREETING], uint64_t nonce);

/* Bytes on their way in. */
struct talk_in {
	unsigned char data[TALK_HEADER + TALK_MAX];
	size_t len;
};

/* Bytes on their way out. */
struct talk_out {
	unsigned char data[2 * (TALK_HEADER + TALK_MAX)];
	size_t at, len;
};

/* Reads what is there. Bytes read; 0: the other end is gone; -EAGAIN; or
 * another -errno. */
long talk_read(struct talk_in *in, int fd);

/* Looks for @greeting and drops what is before it, and it. With
 * @nonce_is_any the nonce may be any, and is put into @greeting. */
bool talk_find_greeting(struct talk_in *in,
			unsigned char greeting[TALK_GREETING],
			bool nonce_is_any);

struct talk_frame {
	enum talk_type type;
	const unsigned char *data; /* in the talk_in, until talk_drop() */
	size_t len;
};

/* The first whole frame. 0; -EAGAIN: none yet; -EBADMSG: that is no frame. */
int talk_peek(const struct talk_in *in, struct talk_frame *f);
void talk_drop(struct talk_in *in, const struct talk_frame *f);

/* True if a frame of TALK_MAX bytes fits. */
bool talk_has_room(const struct talk_out *out);
void talk_add(struct talk_out *out, enum talk_type type, const void *data,
	      size_t len);
void talk_add_raw(struct talk_out *out, const void *data, size_t len);

/* Writes what goes without waiting. 0, also where nothing went; -errno. */
int talk_write(struct talk_out *out, int fd);

/* What TALK_START holds: window, environment, command. */
struct talk_start {
	bool is_terminal;
	uint16_t rows, columns;
	const char *const *env;	    /* "NAME=value", NULL-terminated, or NULL */
	const char *const *command; /* NULL or empty: a shell */
};

/* -E2BIG: it does not fit. */
int talk_add_start(struct talk_out *out, const struct talk_start *s,
		   struct err *e);

/* Takes one apart; @f's data must stay. env and command are two arrays in one
 * allocation, which the caller frees by freeing *words. -EBADMSG, -ENOMEM. */
int talk_parse_start(const struct talk_frame *f, struct talk_start *s,
		     const char ***words);

#endif
