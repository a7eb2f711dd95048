#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "commands/bench_set.h"
#include "commands/commands.h"
#include "report/manifest.h"
#include "report/result.h"
#include "report/text.h"

static const char *const states[] = {"waiting", "done", "failed"};

/* --- the command that a set is of --- */

static void add_word(json_t *words, const char *option, const char *value)
{
	char word[1200];

	if (!value)
		return;
	snprintf(word, sizeof(word), "%s%s", option, value);
	text_mask_urls(word);
	json_array_append_new(words, json_string(word));
}

/* The words that make @b, whatever their order was; not where its results go
 * nor how many run at a time. Empty if none of that was given. */
static json_t *words_of(const struct bench *b)
{
	json_t *words = json_array();
	char repeats[32];

	snprintf(repeats, sizeof(repeats), "%" PRIu64, b->repeats);
	add_word(words, "", b->request.job);
	add_word(words, "--array=", b->arrays);
	if (b->is_virtual)
		add_word(words, b->mips ? "--virtual-time=" : "--virtual-time",
			 b->mips ? b->mips : "");
	add_word(words, "--repeats=", b->repeats ? repeats : NULL);
	add_word(words, "--lab-memory=", b->memory);
	add_word(words, "--lab-timeout=", b->timeout);
	for (int i = 1; i < b->argc; i++)
		if (!b->request.set_aside[i])
			add_word(words, "", b->argv[i]);
	return words;
}

/* "netbench --array=raid0,raid5" */
static void join(const json_t *words, char *text, size_t size)
{
	const json_t *word;
	size_t i, n = 0;

	text[0] = '\0';
	json_array_foreach(words, i, word) if (n < size) n +=
		snprintf(text + n, size - n, "%s%s", i ? " " : "",
			 json_string_value(word));
}

static int check_command(const struct bench *b, const json_t *record)
{
	const json_t *was = json_object_get(record, "command");
	json_t *is = words_of(b);
	bool is_same = json_equal(is, was);
	char text[300];

	join(was, text, sizeof(text));
	json_decref(is);
	if (is_same)
		return STATUS_OK;
	say("\"%s\" holds a set of another command: bench %s; give --resume "
	    "alone to go on with that",
	    b->resume, text);
	return STATUS_USAGE;
}

static int check_version(const struct bench *b, const json_t *record)
{
	if (!strcmp(text_of(record, "version"), LUNBENCH_VERSION))
		return STATUS_OK;
	say("\"%s\" holds a set of lunbench %s, this is %s: their results are "
	    "not of one set",
	    b->resume, text_of(record, "version"), LUNBENCH_VERSION);
	return STATUS_USAGE;
}

/* The command of @record into @b, which said no more than --resume. */
static int parse_again(struct bench *b, const json_t *record, char ***argv)
{
	const json_t *words = json_object_get(record, "command");
	size_t n = json_array_size(words), i;
	struct bench old = *b;
	const json_t *word;
	int status;

	*argv = calloc(n + 2, sizeof(**argv));
	if (!*argv) {
		say("out of memory");
		return STATUS_TARGET;
	}
	(*argv)[0] = old.argv[0];
	json_array_foreach(words, i, word)(*argv)[i + 1] =
		(char *)json_string_value(word);
	bench_release(&old);
	status = bench_parse(b, n + 1, *argv);
	b->resume = old.resume;
	b->jobs = old.jobs;
	return status;
}

int bench_resume(struct bench *b, json_t **record, char ***words)
{
	struct err e = {0};
	json_t *given;
	bool is_bare;
	int status;

	*words = NULL;
	if (b->request.folder) {
		say("--resume names the folder already: leave --out away");
		return STATUS_USAGE;
	}
	if (manifest_read(record, b->resume, &e)) {
		err_prefix(&e, "--resume");
		return say_err(&e, STATUS_USAGE);
	}
	status = check_version(b, *record);
	if (status)
		return status;
	given = words_of(b);
	is_bare = !json_array_size(given);
	json_decref(given);
	return is_bare ? parse_again(b, *record, words)
		       : check_command(b, *record);
}

/* --- what became of its runs --- */

static void hash_text(uint64_t hash, char text[20])
{
	snprintf(text, 20, "%016" PRIx64, hash);
}

static json_t *pack_run(const struct bench_set *s, const struct bench_run *r)
{
	char plan[20];

	hash_text(r->test->plan, plan);
	return json_pack("{s:s, s:s, s:s, s:s, s:i, s:s}", "name", r->name,
			 "file", r->path + strlen(s->folder) + 1, "plan", plan,
			 "state", states[r->state], "status", r->status,
			 "error", r->error);
}

int bench_set_save(const struct bench_set *s, struct err *e)
{
	json_t *record, *runs;
	int err;

	if (!s->folder[0])
		return 0;
	record = json_pack("{s:i, s:s, s:o, s:s, s:[]}", "lunbench_set",
			   MANIFEST_VERSION, "version", LUNBENCH_VERSION,
			   "command", words_of(s->bench), "place",
			   s->in_lab ? "lab" : "host", "runs");
	runs = json_object_get(record, "runs");
	for (size_t i = 0; i < s->nr_runs; i++)
		json_array_append_new(runs, pack_run(s, &s->runs[i]));
	err = file_make_dirs(s->folder, 0777, e);
	if (!err)
		err = manifest_write(record, s->folder, e);
	json_decref(record);
	return err;
}

/* Its result is there, whole, and came to its end. */
static bool is_whole(const struct bench_run *r)
{
	json_t *doc = result_read(r->path, NULL);
	const json_t *own = json_object_get(doc, "lunbench");
	const char *end = text_of(json_object_get(own, "run"), "end");
	bool is_whole = !strcmp(end, "complete");

	json_decref(doc);
	return is_whole;
}

static int take_run(const struct bench_set *s, struct bench_run *r,
		    const json_t *was, struct err *e)
{
	char plan[20];

	hash_text(r->test->plan, plan);
	if (strcmp(text_of(was, "file"), r->path + strlen(s->folder) + 1))
		return err_set(e, -EINVAL, "\"%s\": its runs are others",
			       s->folder);
	if (strcmp(text_of(was, "plan"), plan))
		return err_set(e, -EINVAL,
			       "the job \"%s\" is not what it was when \"%s\" "
			       "was begun: start a new set",
			       r->test->name, s->folder);
	if (!strcmp(text_of(was, "state"), states[BENCH_DONE]) && is_whole(r))
		r->state = BENCH_DONE;
	return 0;
}

int bench_set_take(struct bench_set *s, const json_t *record, struct err *e)
{
	const json_t *runs = json_object_get(record, "runs");
	int err = 0;

	if (json_array_size(runs) != s->nr_runs)
		return err_set(e, -EINVAL, "\"%s\": %zu runs, not %zu",
			       s->folder, json_array_size(runs), s->nr_runs);
	for (size_t i = 0; i < s->nr_runs && !err; i++)
		err = take_run(s, &s->runs[i], json_array_get(runs, i), e);
	return err;
}
