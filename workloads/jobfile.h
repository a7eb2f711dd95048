#ifndef WORKLOADS_JOBFILE_H
#define WORKLOADS_JOBFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "workloads/options.h"

/*
 * fio's job files (HOWTO, "Job file format"): sections, global sections (any
 * section whose name starts with "global"; they go for the jobs after them),
 * `;` and `#` comments anywhere, include (settings only, into the section where
 * it stands), ${ENV} in values, one `key=value` or bare key a line. CR LF, a
 * byte order mark and blanks around keys and values do no harm.
 *
 * Ours: a comment `#lunbench: key=value` (or `;lunbench:`) is a setting, whose
 * value goes to the end of the line. fio sees a comment.
 */

struct setting {
	char *key;   /* owned */
	char *value; /* owned; NULL for a bare key */
	char *place; /* owned; "file:line", or "command line" */
};

struct section {
	char *name; /* owned */
	char *place;
	bool is_global;
	struct setting *settings; /* owned */
	size_t nr_settings;
};

struct jobfile {
	struct section *sections; /* owned, in file order */
	size_t nr_sections;
};

/* Reads @path and what it includes (relative to the including file; cycles
 * and depth over 16 are errors). Every error says "file:line: ..." where there
 * is a line. A file without a job is an error. @f is empty after an error. */
int jobfile_read(struct jobfile *f, const char *path, struct err *e);

/* The same from memory; @name stands for the file. An include is an error
 * here. For tests and fuzzers: any bytes are safe. */
int jobfile_parse(struct jobfile *f, const char *name, const char *text,
		  size_t len, struct err *e);
void jobfile_release(struct jobfile *f);

/* The jobs that run: globals applied, typed, checked on their own. */
struct jobset {
	struct job_opts *jobs; /* owned */
	/* per job: the settings that made it, of global sections too, for the
	 * result's "job options" (later wins, aliases under the option's own
	 * name, NOT_APPLICABLE ones included) */
	struct setting **given;
	size_t *nr_given;
	size_t nr_jobs;
	struct setting *global; /* owned; fio's "global options"; likewise */
	size_t nr_global;
	char **warnings; /* owned sentences with their place */
	size_t nr_warnings;
	char **departs; /* owned sentences, each once */
	size_t nr_departs;
	bool is_quick;	       /* see quick.h */
	bool no_prepare;       /* jobs that prepare are left out of the plan */
	char **not_applicable; /* owned: "ioengine: reason" each once */
	size_t nr_not_applicable;
};

/*
 * @f may be NULL (no file): then @over alone makes one job, named by its
 * "name" or "lunbench". @over (command line) is applied to every job last.
 * Unknown key: "file:line: unknown key "iodepht"; did you mean "iodepth"?".
 * Duplicate section, no section, no job, rate with rate_iops: an error, and
 * @set is empty. A place of NULL in @over is "command line". kb_base goes for
 * its whole section, and one in @over for the file too.
 */
int jobset_build(struct jobset *set, const struct jobfile *f,
		 const struct setting *over, size_t nr_over, struct err *e);
void jobset_release(struct jobset *set);

/* Adds a sentence to set->warnings, once. 0 or -ENOMEM. */
int jobset_warn(struct jobset *set, const char *text, struct err *e);

/* True if a job asks for other random streams in each run (randrepeat=0 without
 * a randseed): the caller then draws the run's seed, and prints it. */
bool jobset_wants_new_seed(const struct jobset *set);

#endif
