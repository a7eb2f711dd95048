#ifndef COMMANDS_BENCH_SET_H
#define COMMANDS_BENCH_SET_H

#include <jansson.h>
#include <limits.h>

#include "commands/bench.h"

/*
 * Arrays x tests x repeats. Each run is a target of its own, made for it and
 * taken down, and a result file:
 *
 *	FOLDER/ARRAY/TEST.json, with repeats FOLDER/ARRAY-N/TEST.json
 *
 * in the order repeat, test, array, so that repeats of one thing are far apart
 * and what is compared is close. FOLDER/set.json (report/manifest.h) tells of
 * all of them, at any time.
 */

enum { ARRAYS_MAX = 32, TESTS_MAX = 32, RUNS_MAX = 1024 };

struct bench_test {
	char name[128];
	const char *job; /* borrowed; NULL: keys alone */
	uint64_t plan;	 /* names what the job asks for */
	double expected_s;
	bool adapts; /* some job of it has misfit=adapt or skip */
};

enum bench_state { BENCH_WAITING, BENCH_DONE, BENCH_FAILED };

struct bench_run {
	char name[192]; /* "raid5 netbench" */
	const char *array;
	const struct bench_test *test;
	unsigned int repeat; /* from 1 */
	char path[PATH_MAX]; /* "": where the request says */
	enum bench_state state;
	int status;	 /* of the lunbench that ran it */
	char error[512]; /* why it failed */
};

struct bench_set {
	struct bench *bench; /* borrowed */
	bool in_lab;
	const char *members;
	char memory[32];       /* of a guest */
	char fit[32];	       /* bytes that each array has; "": not known */
	char folder[PATH_MAX]; /* "": one run, and its result goes elsewhere */
	char *arrays_text, *tests_text; /* owned; cut at their commas */
	const char *arrays[ARRAYS_MAX];
	size_t nr_arrays;
	struct bench_test tests[TESTS_MAX];
	size_t nr_tests;
	struct bench_run *runs; /* owned */
	size_t nr_runs;
};

/* True if @b asks for more than a run right here; false with one array, which
 * may still have to go to the lab. */
bool bench_is_set(const struct bench *b);

/* All of it: makes the set, runs it, shows what came. Exit status. */
int bench_set(struct bench *b);

/* --- bench_make.c --- */

/* Checks all that can be checked before anything is made or booted. @record:
 * set.json of the set that is gone on with; NULL: a new one. */
int bench_set_make(struct bench_set *s, struct bench *b, const json_t *record);
void bench_set_release(struct bench_set *s);

/* --- bench_record.c --- */

/* Writes set.json, with its folder. */
int bench_set_save(const struct bench_set *s, struct err *e);

/* Takes over what @record says was done, where the result is there and whole.
 * Refuses another set: -EINVAL. */
int bench_set_take(struct bench_set *s, const json_t *record, struct err *e);

/* For --resume DIR: reads its record, and, where the command line says nothing
 * else, parses that of the set into @b. The caller releases *record, and frees
 * *words after @b is released. */
int bench_resume(struct bench *b, json_t **record, char ***words);

#endif
