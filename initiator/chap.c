#include "initiator/chap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

enum {
	SECRET_WANTED = 12, /* RFC 7143 section 9.2.1: 96 bits */
	FILE_MAX_BYTES = 65536,
};

struct field {
	const char *key;	 /* in the file */
	const char *environment; /* libiscsi's names */
	char *to;		 /* 256 bytes */
};

static int take(const struct field *f, const char *value, const char *where,
		struct err *e)
{
	if (f->to[0])
		return 0; /* already given closer to hand */
	if (strlen(value) > CHAP_SECRET_MAX)
		return err_set(e, -EINVAL,
			       "CHAP %s from %s has %zu bytes; %d at most",
			       f->key, where, strlen(value), CHAP_SECRET_MAX);
	strcpy(f->to, value);
	return 0;
}

static int take_line(const struct field *fields, char *line,
		     unsigned int number, const char *path, struct err *e)
{
	char *value = strchr(line, '=');
	const struct field *f;

	line[strcspn(line, "\r")] = '\0';
	if (!*line || *line == '#')
		return 0;
	if (value)
		*value++ = '\0';
	for (f = fields; value && f->key; f++)
		if (strcmp(f->key, line) == 0)
			return take(f, value, path, e);
	return err_set(e, -EINVAL,
		       "\"%s\" line %u: wanted user=, password=, target_user= "
		       "or target_password=",
		       path, number);
}

static int take_file(const struct field *fields, const char *path,
		     struct err *e)
{
	char *text, *line, *next;
	unsigned int number = 1;
	size_t len;
	int ret = file_read(path, FILE_MAX_BYTES, &text, &len, e);

	if (ret)
		return err_prefix(e, "LUNBENCH_CHAP_FILE");
	for (line = text; line && !ret; line = next, number++) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		ret = take_line(fields, line, number, path, e);
	}
	explicit_bzero(text, len);
	free(text);
	return ret;
}

static int check(const struct url *u, char *warning, struct err *e)
{
	if (u->user[0] && !u->password[0])
		return err_set(e, -EINVAL,
			       "CHAP user \"%s\" has no password: set "
			       "LIBISCSI_CHAP_PASSWORD or LUNBENCH_CHAP_FILE",
			       u->user);
	if (u->password[0] && !u->user[0])
		return err_set(e, -EINVAL,
			       "a CHAP password without a user name: set "
			       "LIBISCSI_CHAP_USERNAME or LUNBENCH_CHAP_FILE");
	if (!u->target_user[0] != !u->target_password[0])
		return err_set(e, -EINVAL,
			       "mutual CHAP needs both target_user and "
			       "target_password");
	if (u->target_user[0] && !u->user[0])
		return err_set(e, -EINVAL,
			       "mutual CHAP (target_user) needs a user and "
			       "password of ours too");
	if (u->target_user[0] && strcmp(u->password, u->target_password) == 0)
		return err_set(e, -EINVAL,
			       "mutual CHAP with the same secret both ways "
			       "proves nothing (RFC 7143 9.2.1): use two");
	if (!warning)
		return 0;
	if (u->user[0] && strlen(u->password) < SECRET_WANTED)
		snprintf(warning, 256,
			 "the CHAP password has %zu bytes; RFC 7143 wants at "
			 "least %d",
			 strlen(u->password), SECRET_WANTED);
	else if (u->target_user[0] &&
		 strlen(u->target_password) < SECRET_WANTED)
		snprintf(warning, 256,
			 "the mutual CHAP password has %zu bytes; RFC 7143 "
			 "wants at least %d",
			 strlen(u->target_password), SECRET_WANTED);
	return 0;
}

int chap_complete(struct url *u, char *warning, struct err *e)
{
	const struct field fields[] = {
		{"user", "LIBISCSI_CHAP_USERNAME", u->user},
		{"password", "LIBISCSI_CHAP_PASSWORD", u->password},
		{"target_user", "LIBISCSI_CHAP_TARGET_USERNAME",
		 u->target_user},
		{"target_password", "LIBISCSI_CHAP_TARGET_PASSWORD",
		 u->target_password},
		{NULL, NULL, NULL},
	};
	const char *file = getenv("LUNBENCH_CHAP_FILE");
	int ret = 0;

	for (const struct field *f = fields; f->key && !ret; f++) {
		const char *value = getenv(f->environment);

		if (value)
			ret = take(f, value, f->environment, e);
	}
	if (!ret && file && *file)
		ret = take_file(fields, file, e);
	return ret ? ret : check(u, warning, e);
}
