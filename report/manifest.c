#include "report/manifest.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "report/text.h"

#define FILE_NAME "set.json"

enum { BYTES_MAX = 4 << 20 };

bool manifest_is(const char *path)
{
	const char *slash = strrchr(path, '/');

	return !strcmp(slash ? slash + 1 : path, FILE_NAME);
}

static bool is_run(const json_t *run)
{
	return json_is_string(json_object_get(run, "name")) &&
	       json_is_string(json_object_get(run, "file")) &&
	       json_is_string(json_object_get(run, "plan")) &&
	       json_is_string(json_object_get(run, "state"));
}

static bool are_texts(const json_t *array)
{
	const json_t *text;
	size_t i;

	json_array_foreach(array, i,
			   text) if (!json_is_string(text)) return false;
	return json_is_array(array);
}

static int check(const json_t *m, const char *path, struct err *e)
{
	const json_t *runs = json_object_get(m, "runs"), *run;
	size_t i;

	if (int_of(m, "lunbench_set") != MANIFEST_VERSION)
		return err_set(e, -EINVAL,
			       "\"%s\": no set of lunbench's, or another "
			       "version's",
			       path);
	if (!json_is_array(runs) || !are_texts(json_object_get(m, "command")))
		return err_set(e, -EINVAL, "\"%s\": no \"%s\" in it", path,
			       json_is_array(runs) ? "command" : "runs");
	json_array_foreach(runs, i, run) if (!is_run(run)) return err_set(
		e, -EINVAL, "\"%s\": run %zu is damaged", path, i + 1);
	return 0;
}

static int read_path(json_t **m, const char *path, struct err *e)
{
	json_error_t why;
	char *text;
	size_t len;
	int err;

	*m = NULL;
	err = file_read(path, BYTES_MAX, &text, &len, e);
	if (err)
		return err;
	*m = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
	free(text);
	if (!*m)
		return err_set(e, -EINVAL, "\"%s\": no JSON: %s (line %d)",
			       path, why.text, why.line);
	err = check(*m, path, e);
	if (err) {
		json_decref(*m);
		*m = NULL;
	}
	return err;
}

int manifest_read(json_t **m, const char *folder, struct err *e)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" FILE_NAME, folder);
	return read_path(m, path, e);
}

int manifest_write(const json_t *m, const char *folder, struct err *e)
{
	char path[PATH_MAX], *text = json_dumps(m, JSON_INDENT(1));
	int err;

	if (!text)
		return err_set(e, -ENOMEM, "no memory for the set's record");
	snprintf(path, sizeof(path), "%s/" FILE_NAME, folder);
	err = file_write_atomic(path, text, strlen(text), e);
	free(text);
	return err;
}

/* "" if it has a whole result. */
static void missing_text(const json_t *run, char *text, size_t size)
{
	const char *state = text_of(run, "state"), *name = text_of(run, "name");

	if (!strcmp(state, "done"))
		text[0] = '\0';
	else if (!strcmp(state, "failed"))
		snprintf(text, size, "%.100s failed: %.480s", name,
			 text_of(run, "error"));
	else
		snprintf(text, size,
			 "%.100s has not run: go on with lunbench bench "
			 "--resume",
			 name);
}

int manifest_missing(const char *path,
		     int (*fn)(void *user, const char *text, struct err *e),
		     void *user, struct err *e)
{
	const json_t *runs;
	char text[600];
	json_t *m;
	int err = read_path(&m, path, e);

	if (err)
		return err;
	runs = json_object_get(m, "runs");
	for (size_t i = 0; i < json_array_size(runs) && !err; i++) {
		missing_text(json_array_get(runs, i), text, sizeof(text));
		err = text[0] ? fn(user, text, e) : 0;
	}
	json_decref(m);
	return err;
}
