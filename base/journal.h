#ifndef BASE_JOURNAL_H
#define BASE_JOURNAL_H

#include <stddef.h>

#include "base/err.h"

/*
 * What a target or a lab is made of, written down before it is made: one line a
 * step, "KEY VALUE", in the disk's hands (fsync) before the step is taken.
 * Whoever takes it down undoes what the lines say; a line without a newline
 * was cut by a kill, so its step was never taken.
 *
 * For the tests of exactly that: with LUNBENCH_TEST_KILL_AT_STEP=N in the
 * environment the process gets SIGKILL after its N-th line is written, and
 * with -N before it is (after the step of the line before, that is).
 */
struct journal {
	int fd; /* owned; -1 when closed */
	int steps;
};

int journal_create(struct journal *j, const char *path, struct err *e);
/* One that is there, to write on; steps count from 0 again. */
int journal_open(struct journal *j, const char *path, struct err *e);
void journal_close(struct journal *j);

/* -EINVAL when the value has a newline in it. */
int journal_write(struct journal *j, struct err *e, const char *key,
		  const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* The whole lines of a journal. */
struct journal_text {
	char *text; /* owned; lines end in NUL */
	size_t len;
};

/* -ENOENT, with no text in @e: a journal that was never begun. */
int journal_read(struct journal_text *t, const char *path, struct err *e);
void journal_text_release(struct journal_text *t);

/* The value of the last line with that key; of the @n-th from 0; or NULL. */
const char *journal_get(const struct journal_text *t, const char *key);
const char *journal_get_nth(const struct journal_text *t, const char *key,
			    size_t n);

#endif
