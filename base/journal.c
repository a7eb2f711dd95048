#include "base/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

enum { LINE_MAX_BYTES = 2048, JOURNAL_MAX_BYTES = 1 << 20 };

int journal_create(struct journal *j, const char *path, struct err *e)
{
	j->steps = 0;
	j->fd = open(path,
		     O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC |
			     O_NOFOLLOW,
		     0600);
	if (j->fd < 0)
		return err_set(e, -errno, "cannot make the journal \"%s\": %s",
			       path, strerror(errno));
	return 0;
}

int journal_open(struct journal *j, const char *path, struct err *e)
{
	j->steps = 0;
	j->fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	if (j->fd < 0)
		return err_set(e, -errno, "cannot open the journal \"%s\": %s",
			       path, strerror(errno));
	return 0;
}

void journal_close(struct journal *j)
{
	if (j->fd >= 0)
		close(j->fd);
	j->fd = -1;
}

/* See the header: the seam for tests. */
static void die_at_step(int step)
{
	const char *at = getenv("LUNBENCH_TEST_KILL_AT_STEP");

	if (at && atoi(at) == step)
		raise(SIGKILL);
}

int journal_write(struct journal *j, struct err *e, const char *key,
		  const char *fmt, ...)
{
	char line[LINE_MAX_BYTES];
	size_t len, n;
	ssize_t done;
	va_list ap;

	j->steps++;
	die_at_step(-j->steps);
	n = snprintf(line, sizeof(line), "%s ", key);
	va_start(ap, fmt);
	len = n + vsnprintf(line + n, sizeof(line) - n, fmt, ap);
	va_end(ap);
	if (len + 2 > sizeof(line) || strchr(line, '\n'))
		return err_set(e, -EINVAL,
			       "\"%.64s...\": too long, or has a line break",
			       line);
	line[len++] = '\n';
	do
		done = write(j->fd, line, len);
	while (done < 0 && errno == EINTR);
	if (done != (ssize_t)len || fsync(j->fd))
		return err_set(e, done < 0 ? -errno : -ENOSPC,
			       "cannot write the journal: %s",
			       strerror(done < 0 ? errno : ENOSPC));
	die_at_step(j->steps);
	return 0;
}

int journal_read(struct journal_text *t, const char *path, struct err *e)
{
	struct err why = {0};
	int err = file_read(path, JOURNAL_MAX_BYTES, &t->text, &t->len, &why);

	if (err == -ENOENT)
		return err;
	if (err)
		return err_set(e, err, "%s", why.text);
	while (t->len && t->text[t->len - 1] != '\n')
		t->text[--t->len] = '\0';
	for (size_t i = 0; i < t->len; i++)
		if (t->text[i] == '\n')
			t->text[i] = '\0';
	return 0;
}

void journal_text_release(struct journal_text *t)
{
	free(t->text);
	t->text = NULL;
	t->len = 0;
}

const char *journal_get_nth(const struct journal_text *t, const char *key,
			    size_t n)
{
	const char *line = t->text;
	size_t len = strlen(key);

	for (; line && line < t->text + t->len; line += strlen(line) + 1)
		if (!strncmp(line, key, len) && line[len] == ' ' && n-- == 0)
			return line + len + 1;
	return NULL;
}

const char *journal_get(const struct journal_text *t, const char *key)
{
	const char *found = NULL, *next;

	for (size_t n = 0; (next = journal_get_nth(t, key, n)); n++)
		found = next;
	return found;
}
