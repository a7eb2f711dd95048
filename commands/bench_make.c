#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "commands/bench_review.h"
#include "commands/bench_set.h"
#include "commands/bench_where.h"
#include "commands/commands.h"
#include "commands/prepare.h"
#include "report/text.h"
#include "vm/cache.h"

/* What a test without a time limit is taken for, and what a target or a guest
 * takes to come up: only for the time that is left. */
enum { UNKNOWN_S = 60, START_S = 6 };

static int no_memory(void)
{
	say("out of memory");
	return STATUS_TARGET;
}

/* --- arrays --- */

static int add_array(struct bench_set *s, const char *name, const char *list)
{
	if (!*name || strchr(name, '/')) {
		say("--array: \"%s\" names no array in \"%s\"", name, list);
		return STATUS_USAGE;
	}
	for (size_t i = 0; i < s->nr_arrays; i++)
		if (!strcmp(s->arrays[i], name)) {
			say("--array: \"%s\" twice", name);
			return STATUS_USAGE;
		}
	if (s->nr_arrays == ARRAYS_MAX) {
		say("--array: more than %d", ARRAYS_MAX);
		return STATUS_USAGE;
	}
	s->arrays[s->nr_arrays++] = name;
	return STATUS_OK;
}

static int cut_arrays(struct bench_set *s, const char *list)
{
	char *rest, *name;
	int status = STATUS_OK;

	s->arrays_text = rest = strdup(list);
	if (!rest)
		return no_memory();
	while (!status && (name = strsep(&rest, ",")))
		status = add_array(s, name, list);
	return status;
}

/* A single one without members is an image file; all others need some. */
static void choose_members(struct bench_set *s)
{
	bool is_image = s->nr_arrays == 1 && !strcmp(s->arrays[0], "single");
	const char *given = s->bench->target.array.members;

	s->members = *given ? given : is_image ? "" : BENCH_MEMBERS;
}

/* What no place could make is refused before anything is booted. */
static int check_arrays(const struct bench_set *s)
{
	struct array_opts o = s->bench->target.array;
	struct err e = {0};

	snprintf(o.members, sizeof(o.members), "%s", s->members);
	for (size_t i = 0; i < s->nr_arrays && *s->members; i++) {
		snprintf(o.kind, sizeof(o.kind), "%s", s->arrays[i]);
		if (array_check(&o, &e) ||
		    array_steps_check(&s->bench->steps, &o, &e))
			return say_err(&e, STATUS_USAGE);
	}
	return STATUS_OK;
}

/* --- tests --- */

/* The settings of its jobs, wherever they were written. */
static uint64_t hash_jobs(const struct jobset *set)
{
	uint64_t h = CACHE_HASH_START;

	for (size_t j = 0; j < set->nr_jobs; j++)
		for (size_t i = 0; i < set->nr_given[j]; i++) {
			const struct setting *given = &set->given[j][i];

			h = cache_hash_text(h, given->key);
			h = cache_hash_text(h,
					    given->value ? given->value : "");
		}
	return h;
}

/* On a LUN big enough for any job. */
static double expected_s(const struct jobset *set)
{
	struct lun lun = {
		.blocks = 1ULL << 31, .block_bytes = 512, .can_unmap = true};
	struct plan plan = {0};
	double s = 0;

	if (plan_build(&plan, set, &lun, 0, NULL))
		s = UNKNOWN_S;
	for (size_t i = 0; i < plan.nr_groups; i++)
		s += plan.groups[i].expected_ns == UINT64_MAX
			     ? UNKNOWN_S
			     : plan.groups[i].expected_ns / 1e9;
	plan_release(&plan);
	return s + START_S;
}

/* @job: NULL for the keys of the command line alone. */
static int add_test(struct bench_set *s, const char *job)
{
	struct bench_test *t = &s->tests[s->nr_tests++];
	struct request r = s->bench->request;
	struct prepared p = {0};
	int status;

	r.job = (char *)job;
	t->job = job;
	status = prepare_read(&p, &r);
	if (!status) {
		text_clean(t->name, sizeof(t->name), p.job_name);
		t->plan = hash_jobs(&p.set);
		t->expected_s = expected_s(&p.set);
		for (size_t i = 0; i < p.set.nr_jobs; i++)
			t->adapts = t->adapts ||
				    p.set.jobs[i].misfit != MISFIT_ERROR;
	}
	prepare_release(&p);
	return status;
}

static int make_tests(struct bench_set *s, const struct bench_review *review)
{
	const struct request *r = &s->bench->request;
	int status = STATUS_OK;
	char *rest, *name;

	if (!review)
		return add_test(s, r->job || r->nr_keys ? r->job : "basic");
	s->tests_text = rest = strdup(review->tests);
	if (!rest)
		return no_memory();
	while (!status && (name = strsep(&rest, ",")))
		status = add_test(s, name);
	return status;
}

/* --- runs --- */

static void name_run(struct bench_set *s, struct bench_run *r, uint64_t repeat)
{
	char number[32] = "";

	if (s->bench->repeats > 1)
		snprintf(number, sizeof(number), "-%d", (int)repeat);
	snprintf(r->name, sizeof(r->name), "%.32s%s %.128s", r->array, number,
		 r->test->name);
	if (s->folder[0])
		snprintf(r->path, sizeof(r->path),
			 "%.3000s/%.32s%s/%.128s.json", s->folder, r->array,
			 number, r->test->name);
}

static int make_runs(struct bench_set *s)
{
	uint64_t repeats = s->bench->repeats ? s->bench->repeats : 1;
	struct bench_run *r;

	s->nr_runs = s->nr_arrays * s->nr_tests * repeats;
	if (s->nr_runs > RUNS_MAX) {
		say("%zu runs are more than %d", s->nr_runs, RUNS_MAX);
		return STATUS_USAGE;
	}
	s->runs = r = calloc(s->nr_runs, sizeof(*s->runs));
	if (!r)
		return no_memory();
	for (uint64_t k = 1; k <= repeats; k++)
		for (size_t t = 0; t < s->nr_tests; t++)
			for (size_t a = 0; a < s->nr_arrays; a++, r++) {
				r->array = s->arrays[a];
				r->test = &s->tests[t];
				r->repeat = k;
				name_run(s, r, k);
			}
	return STATUS_OK;
}

/* results/NAME-20261130T120000Z, unless the request says where. */
static void choose_folder(struct bench_set *s)
{
	const struct request *r = &s->bench->request;
	time_t now = time(NULL);
	char stamp[32];
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &tm);
	if (s->bench->resume || r->folder)
		snprintf(s->folder, sizeof(s->folder), "%s",
			 s->bench->resume ? s->bench->resume : r->folder);
	else
		snprintf(s->folder, sizeof(s->folder), "results/%s-%s",
			 r->job && bench_review_find(r->job) ? r->job
							     : s->tests[0].name,
			 stamp);
}

/* One run's result may go to a file or to standard output, as that of run. */
static int choose_output(struct bench_set *s)
{
	const struct request *r = &s->bench->request;
	bool is_one = s->nr_arrays == 1 && s->nr_tests == 1 &&
		      s->bench->repeats <= 1 && !s->bench->resume;

	if (!r->file && !r->json) {
		choose_folder(s);
		return STATUS_OK;
	}
	if (is_one)
		return STATUS_OK;
	say("\"%s\": several runs have several results, each a file below "
	    "--out; leave it out",
	    r->file ? "-o" : "--output-format=json");
	return STATUS_USAGE;
}

/* Room for its RAM disks, as in the guest all others are files in RAM, too. */
static void choose_memory(struct bench_set *s)
{
	uint64_t mib = disks_bytes(s->members) >> 20;

	mib += mib / 32 + 768;
	snprintf(s->memory, sizeof(s->memory), "%lluM",
		 (unsigned long long)(mib < 1024 ? 1024 : mib));
	if (s->bench->memory)
		snprintf(s->memory, sizeof(s->memory), "%s", s->bench->memory);
}

/* Where they differ, what adapts is cut to the smallest for all of them, so
 * that their plans are equal. */
static void choose_fit(struct bench_set *s)
{
	struct array_opts o = s->bench->target.array;
	uint64_t least = UINT64_MAX, most = 0, bytes;

	snprintf(o.members, sizeof(o.members), "%s", s->members);
	for (size_t i = 0; i < s->nr_arrays; i++) {
		snprintf(o.kind, sizeof(o.kind), "%s", s->arrays[i]);
		bytes = array_least_bytes(&o);
		least = bytes < least ? bytes : least;
		most = bytes > most ? bytes : most;
	}
	if (least && least < most)
		snprintf(s->fit, sizeof(s->fit), "%" PRIu64, least);
}

static int choose_place(struct bench_set *s, const char *list,
			const json_t *record)
{
	if (!record)
		return bench_where_choose(s->bench, list, s->members,
					  &s->in_lab);
	s->in_lab = !strcmp(text_of(record, "place"), "lab");
	return bench_where_check(s->in_lab, list, s->members);
}

int bench_set_make(struct bench_set *s, struct bench *b, const json_t *record)
{
	const struct bench_review *review = bench_review_find(b->request.job);
	const char *list = b->arrays ? b->arrays
			   : review  ? review->arrays
				     : "single";
	int status;

	memset(s, 0, sizeof(*s));
	s->bench = b;
	status = cut_arrays(s, list);
	choose_members(s);
	if (!status)
		status = check_arrays(s);
	if (!status)
		status = make_tests(s, review);
	if (!status)
		status = choose_output(s);
	if (!status)
		status = make_runs(s);
	if (!status)
		status = choose_place(s, list, record);
	choose_memory(s);
	choose_fit(s);
	return status;
}

void bench_set_release(struct bench_set *s)
{
	free(s->arrays_text);
	free(s->tests_text);
	free(s->runs);
	memset(s, 0, sizeof(*s));
}
