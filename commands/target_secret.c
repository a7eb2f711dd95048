#include "commands/target_secret.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

static int set_secret(struct tgt_opts *o, const char *line, struct err *e)
{
	if (!strncmp(line, "user=", 5) && strlen(line + 5) < sizeof(o->user)) {
		snprintf(o->user, sizeof(o->user), "%s", line + 5);
		return 0;
	}
	if (!strncmp(line, "user=", 5))
		return err_set(e, -EINVAL,
			       "the CHAP user has more than %zu bytes",
			       sizeof(o->user) - 1);
	if (strncmp(line, "password=", 9))
		return 0;
	if (strlen(line + 9) >= sizeof(o->password))
		return err_set(e, -EINVAL,
			       "the CHAP secret has more than %zu bytes",
			       sizeof(o->password) - 1);
	snprintf(o->password, sizeof(o->password), "%s", line + 9);
	return 0;
}

static int read_chap_file(struct tgt_opts *o, const char *path, struct err *e)
{
	char *text, *line, *rest;
	size_t len;
	int err = file_read(path, 4096, &text, &len, e);

	if (err)
		return err;
	rest = text;
	while (!err && (line = strsep(&rest, "\n")))
		err = set_secret(o, line, e);
	explicit_bzero(text, len);
	free(text);
	if (!err && (!o->user[0] || !o->password[0]))
		err = err_set(e, -EINVAL,
			      "\"%s\" lacks a line user=... or password=...",
			      path);
	return err;
}

int target_secret_find(struct tgt_opts *o, const char *file, struct err *e)
{
	const char *secret = getenv("LUNBENCH_TARGET_PASSWORD");

	if (file)
		return read_chap_file(o, file, e);
	if (!o->user[0])
		return 0;
	if (!secret || !*secret)
		return err_set(e, -EINVAL,
			       "--chap-user \"%s\": set its secret in "
			       "LUNBENCH_TARGET_PASSWORD, or use --chap-file",
			       o->user);
	if (strlen(secret) >= sizeof(o->password))
		return err_set(e, -EINVAL,
			       "LUNBENCH_TARGET_PASSWORD has more than %zu "
			       "bytes",
			       sizeof(o->password) - 1);
	snprintf(o->password, sizeof(o->password), "%s", secret);
	return 0;
}
