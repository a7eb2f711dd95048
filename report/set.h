#ifndef REPORT_SET_H
#define REPORT_SET_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "workloads/options.h"

/*
 * A result set: a result file, or a folder of them (and of folders), read
 * whole. It is cut into points: one row and op of one file each. Points that
 * mean the same are repeats of each other, whether they are in one file
 * (`repeats=N`) or in several.
 */

struct result_file {
	char *path;  /* owned; as given, made printable: to show, not to open */
	json_t *doc; /* owned */
};

struct point {
	const struct result_file *file; /* borrowed from the set, as the rest */
	size_t row_index;
	size_t nth; /* of the file's rows of that name, op, step, repeat */
	enum io_op op;
	unsigned int repeat; /* within the file, from 1 on */
	unsigned int step;   /* of a sweep: its clients; 0: of none */
	const char *array;   /* what the LUN lies on; "" where none is told */
	const char *test;    /* the job file's name; "" for a command line */
	const char *name;    /* of the row */
	const char *view;    /* how readers like to see it; "" */
	const json_t *row;   /* lunbench.rows[] */
	const json_t *data;  /* its ops.OP */
	const json_t *fio;   /* jobs[].OP */
};

struct set {
	char *name;		   /* owned; as given */
	struct result_file *files; /* owned */
	size_t nr_files;
	struct point *points; /* owned; by file, row, op */
	size_t nr_points;
	char **warnings; /* owned; what was in the folder and is no result */
	size_t nr_warnings;
};

/* A file must be a result. In a folder what is none (cut off, foreign JSON,
 * another version) is a warning, so that the others can be seen; none at all
 * is -ENOENT. */
int set_read(struct set *s, const char *path, struct err *e);

/* Adds @path to what @s holds. */
int set_add(struct set *s, const char *path, struct err *e);

/* The same from memory. @doc is what result_parse() or result_read() let pass;
 * @s takes it, also on failure. */
int set_add_document(struct set *s, const char *name, json_t *doc,
		     struct err *e);
void set_release(struct set *s);

/* Whether its clock was a model's: the sim transport's, or the lab's in virtual
 * time. */
bool file_is_virtual(const struct result_file *f);

/* Whether its points differ in array, in test. */
bool set_has_arrays(const struct set *s);
bool set_has_tests(const struct set *s);

/* Whether both are the same figure of the same job, as far as their own file
 * tells; whether that also on the same array and of the same job file: then
 * they are repeats of each other. */
bool point_is_like(const struct point *a, const struct point *b);
bool point_is_repeat_of(const struct point *a, const struct point *b);

/* "randread read", with the array or test in front where the set has several
 * of them, "8 clients" for a step of a sweep, and "#2" where a file has several
 * rows of that name. Made printable. */
char *point_label(const struct set *s, const struct point *p, char *buf,
		  size_t size);

/* The same, with the file's name and the repeat behind where the set has
 * repeats of it. */
char *point_title(const struct set *s, const struct point *p, char *buf,
		  size_t size);

/* And without the op: what a row's points have in common. */
char *point_row_title(const struct set *s, const struct point *p, char *buf,
		      size_t size);

/* How long its row's name is without its op: "4K-write" and "4K-read" are two
 * ops of the row "4K". */
int point_stem(const struct point *p);

/* A setting of the job as the file has it, or else of the global section; NULL
 * where it is not set. */
const char *point_setting(const struct point *p, const char *key);

/* The latency that is shown: open loops have response times, else service
 * times. Where fio has them: with N, mean, bins. NULL for none. */
const json_t *point_latency(const struct point *p);
bool point_is_open(const struct point *p);

#endif
