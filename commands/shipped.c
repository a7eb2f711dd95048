#include "commands/shipped.h"

#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool ends_in(const struct dirent *d, const char *end)
{
	size_t len = strlen(d->d_name), n = strlen(end);

	return len > n && !strcmp(d->d_name + len - n, end);
}

static int is_job(const struct dirent *d)
{
	return ends_in(d, ".fio");
}

static int is_table(const struct dirent *d)
{
	return ends_in(d, ".csv");
}

/* "atto" before "atto-4", which ".fio" would turn round. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	size_t n = strlen((*a)->d_name) - 4, m = strlen((*b)->d_name) - 4;
	int order = strncmp((*a)->d_name, (*b)->d_name, n < m ? n : m);

	return order ? order : (n > m) - (n < m);
}

static void free_list(struct dirent **list, int n)
{
	while (n-- > 0)
		free(list[n]);
	free(list);
}

static bool has_jobs(const char *folder)
{
	struct dirent **list = NULL;
	int n = scandir(folder, &list, is_job, alphasort);

	free_list(list, n);
	return n > 0;
}

/* Where the shipped job files are: beside the program, in the clone that it was
 * built in (build/gcc/lunbench), or installed. False if nowhere. */
static bool shipped_folder(char *folder, size_t size)
{
	char exe[PATH_MAX] = "";
	const char *dir, *build;

	if (readlink("/proc/self/exe", exe, sizeof(exe) - 1) < 0)
		return false;
	dir = dirname(exe);
	snprintf(folder, size, "%s/workloads", dir);
	if (has_jobs(folder))
		return true;
	/* Two floors up, but only out of a build folder: /usr/local/bin must
	 * not lead to /usr/workloads. */
	build = strrchr(dir, '/');
	if (build && build - dir > 6 && !strncmp(build - 6, "/build", 6)) {
		snprintf(folder, size, "%.*s/workloads", (int)(build - dir - 6),
			 dir);
		if (has_jobs(folder))
			return true;
	}
	snprintf(folder, size, "%s", LUNBENCH_DATADIR "/workloads");
	return has_jobs(folder);
}

/* "basic, smoke", for error texts. */
static void shipped_names(const char *folder,
			  int (*is_wanted)(const struct dirent *), char *names,
			  size_t size)
{
	struct dirent **list = NULL;
	int i, n = scandir(folder, &list, is_wanted, by_name);
	size_t len = 0;

	names[0] = 0;
	for (i = 0; i < n && len < size; i++)
		len += snprintf(names + len, size - len, "%s%.*s",
				i ? ", " : "", (int)strlen(list[i]->d_name) - 4,
				list[i]->d_name);
	free_list(list, n);
}

int shipped_resolve(const char *job, char *path, size_t size, struct err *e)
{
	char folder[PATH_MAX + 16], names[400];
	struct stat st;

	snprintf(path, size, "%s", job);
	if (!stat(job, &st)) {
		if (S_ISDIR(st.st_mode))
			return err_set(e, -EISDIR,
				       "\"%s\": a folder, not a job file", job);
		return 0;
	}
	if (!shipped_folder(folder, sizeof(folder)))
		return err_set(
			e, -ENOENT,
			"\"%s\": no such file; there are no shipped jobs "
			"either (looked in %s)",
			job, LUNBENCH_DATADIR "/workloads");
	if (!strchr(job, '/')) {
		snprintf(path, size, "%s/%s.fio", folder, job);
		if (!stat(path, &st))
			return 0;
	}
	shipped_names(folder, is_job, names, sizeof(names));
	return err_set(e, -ENOENT,
		       "\"%s\": no such job file; the shipped jobs are: %s",
		       job, names);
}

int shipped_reference(const char *name, char *path, size_t size, struct err *e)
{
	char folder[PATH_MAX + 16], tables[PATH_MAX + 32], names[256] = "";
	struct stat st;

	snprintf(path, size, "%s", name);
	if (!stat(name, &st) && S_ISREG(st.st_mode))
		return 0;
	if (shipped_folder(folder, sizeof(folder))) {
		snprintf(tables, sizeof(tables), "%s/reference", folder);
		snprintf(path, size, "%s/%s.csv", tables, name);
		if (!strchr(name, '/') && !stat(path, &st))
			return 0;
		shipped_names(tables, is_table, names, sizeof(names));
	}
	return err_set(e, -ENOENT,
		       "\"%s\": no such table of published figures; the "
		       "shipped ones are: %s",
		       name, names);
}

int shipped_list(char ***paths, size_t *nr, struct err *e)
{
	struct dirent **list = NULL;
	char folder[PATH_MAX + 16];
	int i, n = 0, err = 0;

	*nr = 0;
	*paths = NULL;
	if (shipped_folder(folder, sizeof(folder)))
		n = scandir(folder, &list, is_job, by_name);
	n = n < 0 ? 0 : n;
	*paths = calloc(n + 1, sizeof(**paths));
	for (i = 0; i < n && *paths; i++) {
		if (asprintf(&(*paths)[i], "%s/%s", folder, list[i]->d_name) <
		    0) {
			err = -ENOMEM;
			break;
		}
		++*nr;
	}
	if (!*paths)
		err = -ENOMEM;
	free_list(list, n);
	return err ? err_set(e, err, "no memory for the shipped jobs") : 0;
}
