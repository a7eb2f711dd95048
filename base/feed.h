#ifndef BASE_FEED_H
#define BASE_FEED_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/*
 * A program that runs beside us and whose output is read as it comes: several
 * may run at a time, in one thread. Started as child.h says, but without a
 * deadline: the caller watches it. When the thread that started it ends, it
 * gets SIGTERM.
 */
struct feed {
	pid_t pid;	/* 0: none; our child, leader of its own group */
	int out, err;	/* owned; its standard output and error, not blocking;
			   -1: closed by it */
	int ended;	/* owned; readable when it has ended; may be -1 */
	uint64_t start; /* names the process, with its pid */
};

/* Takes what is there of @f->out or @f->err; called again and again. */
typedef void feed_take(void *user, const char *data, size_t len);

int feed_start(struct feed *f, const char *const argv[], struct err *e);

/* Waits until one of @feeds has something, or @ms milliseconds. */
void feed_wait(struct feed *const feeds[], size_t nr, int ms);

/* Hands over what has come. *@status and 1 when it has ended and all of its
 * output is taken (then @f is as before the start), else 0. */
int feed_read(struct feed *f, feed_take *on_out, feed_take *on_err, void *user,
	      int *status);

/* To it alone. */
void feed_signal(const struct feed *f, int number);

#endif
