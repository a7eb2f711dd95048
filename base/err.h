#ifndef BASE_ERR_H
#define BASE_ERR_H

/*
 * One error: a number and one sentence. The caller owns the storage and passes
 * it down; the first function that fails fills it, the rest hand it on.
 * Text is lower case, without a full stop: the subject in quotes, the value,
 * and what to do about it. Every function here accepts a NULL err.
 */
struct err {
	int code; /* negative errno, 0 when nothing failed */
	char text[512];
};

/* Fills @e and returns @code (a negative errno), so that a failure is
 * `return err_set(e, -EINVAL, "...")`. */
int err_set(struct err *e, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts "prefix: " in front of the text; returns e->code (-EIO for NULL). */
int err_prefix(struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Makes text that strangers had a part in (a target's name, a file's) fit for a
 * terminal and for JSON: controls and what is not UTF-8 become '?'. err_set()
 * and err_prefix() do it.
 */
void err_make_printable(char *text);

#endif
