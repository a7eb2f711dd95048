#include "commands/lab_files.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "commands/shipped.h"

/* Relative names stay so: they lie where the command stands. */
static int add_file(struct lab_files *f, const char *from, const char *name,
		    struct err *e)
{
	size_t n = f->nr;
	char *owned;

	while (!strncmp(name, "./", 2))
		name += 2;
	if (n == LAB_FILES_MAX)
		return err_set(e, -EINVAL, "more than %d files for the guest",
			       LAB_FILES_MAX);
	if (!strncmp(name, "../", 3) || strstr(name, "/../"))
		return err_set(e, -EINVAL,
			       "\"%s\": the guest has no such place; give the "
			       "file without \"..\"",
			       from);
	if (asprintf(&owned, "%s%c%s", from, 0, name) < 0)
		return err_set(e, -ENOMEM, "no memory for \"%s\"", from);
	f->names[n] = owned;
	f->list[n].from = owned;
	f->list[n].name = owned + strlen(from) + 1;
	f->nr++;
	return 0;
}

static bool is_plain_file(const char *name)
{
	struct stat st;

	return !stat(name, &st) && S_ISREG(st.st_mode);
}

int lab_files_add(struct lab_files *f, const char *name, struct err *e)
{
	if (!is_plain_file(name))
		return err_set(e, -ENOENT,
			       "--add: \"%s\" is no plain file here", name);
	return add_file(f, name, name, e);
}

int lab_files_of_command(struct lab_files *f, char **argv, struct err *e)
{
	const char *base = strrchr(argv[0], '/');
	int err = 0;

	if (!strcmp(base ? base + 1 : argv[0], "lunbench"))
		argv[0] = "lunbench";
	for (char **a = argv + 1; *a && !err; a++)
		if (is_plain_file(*a))
			err = add_file(f, *a, *a, e);
	return err;
}

int lab_files_shipped(struct lab_files *f, struct err *e)
{
	char **paths, name[PATH_MAX];
	size_t nr;
	int err = shipped_list(&paths, &nr, e);

	for (size_t i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "/lab/workloads%s",
			 strrchr(paths[i], '/'));
		if (!err)
			err = add_file(f, paths[i], name, e);
		free(paths[i]);
	}
	free(paths);
	return err;
}

void lab_files_release(struct lab_files *f)
{
	for (size_t i = 0; i < f->nr; i++)
		free(f->names[i]);
	f->nr = 0;
}
