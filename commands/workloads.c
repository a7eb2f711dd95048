#include <argp.h>
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

#include "base/clock.h"
#include "base/units.h"
#include "commands/commands.h"
#include "commands/shipped.h"
#include "commands/spelling.h"
#include "workloads/plan.h"

enum { KEY_KEYS = 0x100 };

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
	int i, n = scandir(folder, &list, is_wanted, alphasort);
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
	char folder[PATH_MAX + 16], names[256];
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
		n = scandir(folder, &list, is_job, alphasort);
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

/* --- lunbench workloads --- */

/* What its groups take in all; UINT64_MAX when amounts decide. Planned for a
 * LUN big enough for any job, so that time limits alone count. */
static int expected_time(const char *path, uint64_t *ns, char *doc, size_t size,
			 struct err *e)
{
	struct lun lun = {
		.blocks = 1ULL << 31, .block_bytes = 512, .can_unmap = true};
	struct jobfile file = {0};
	struct jobset set = {0};
	struct plan plan = {0};
	size_t i;
	int rc;

	rc = jobfile_read(&file, path, e);
	if (!rc)
		rc = jobset_build(&set, &file, NULL, 0, e);
	if (!rc)
		rc = plan_build(&plan, &set, &lun, 0, e);
	*ns = 0;
	for (i = 0; !rc && i < plan.nr_groups; i++)
		*ns = plan.groups[i].expected_ns == UINT64_MAX ||
				      *ns == UINT64_MAX
			      ? UINT64_MAX
			      : *ns + plan.groups[i].expected_ns;
	snprintf(doc, size, "%s",
		 !rc && set.jobs[0].description ? set.jobs[0].description : "");
	plan_release(&plan);
	jobset_release(&set);
	jobfile_release(&file);
	return rc;
}

static int print_one(const char *folder, const char *file)
{
	char path[PATH_MAX + 300], doc[256], expected[32] = "as it takes";
	struct err e = {0};
	uint64_t ns;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	if (expected_time(path, &ns, doc, sizeof(doc), &e))
		return say_err(&e, STATUS_USAGE);
	if (ns != UINT64_MAX)
		units_time(expected, sizeof(expected), (double)ns);
	printf("%-12.*s %12s  %s\n", (int)strlen(file) - 4, file, expected,
	       doc);
	return STATUS_OK;
}

static int print_all(void)
{
	char folder[PATH_MAX + 16];
	struct dirent **list = NULL;
	int i, n, status = STATUS_OK;

	if (!shipped_folder(folder, sizeof(folder))) {
		say("\"%s\": no job files there; run make install",
		    LUNBENCH_DATADIR "/workloads");
		return STATUS_USAGE;
	}
	n = scandir(folder, &list, is_job, alphasort);
	for (i = 0; i < n && !status; i++)
		status = print_one(folder, list[i]->d_name);
	free_list(list, n);
	return status;
}

/* One line a key, tabs between: for people with grep, and for the test that
 * holds the man page to the table. */
static void print_keys(void)
{
	static const char *const kinds[] = {
		[OPTION_WORKS] = "works",
		[OPTION_NOT_APPLICABLE] = "not applicable",
		[OPTION_UNSUPPORTED] = "not supported",
	};
	const struct option_desc *d;

	for (d = options_table(); d->name; d++)
		printf("%s\t%s\t%s\t%s\n", d->name, d->alias ? d->alias : "-",
		       kinds[d->kind], d->help);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	bool *keys = state->input;

	switch (key) {
	case KEY_KEYS:
		*keys = true;
		return 0;
	case ARGP_KEY_ARG:
		say("\"%s\": not asked for; usage: lunbench workloads [--keys]",
		    arg);
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int command_workloads(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{"keys", KEY_KEYS, NULL, 0,
		 "the keys of job files instead, and what becomes of each", 0},
		{0},
	};
	struct argp argp = {
		.options = options,
		.parser = parse,
		.doc = "Lists the job files that come with lunbench: name, "
		       "expected time, what they measure."};
	const struct argp_child all[] = {{&argp, 0, NULL, 0}, {0}};
	bool keys = false;

	if (!spelling_check(all, argc, argv) ||
	    argp_parse(&argp, argc, argv, 0, NULL, &keys))
		return STATUS_USAGE;
	if (!keys)
		return print_all();
	print_keys();
	return STATUS_OK;
}
