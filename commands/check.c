#include <errno.h>
#include <limits.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "commands/capture.h"
#include "commands/check_ask.h"
#include "commands/check_job.h"
#include "commands/check_tell.h"
#include "commands/commands.h"
#include "commands/measure.h"
#include "commands/signals.h"

enum { FINDINGS_KEPT = 1000, FUA_EVERY = 32, JOB_BYTES = 4096 };

struct check {
	struct check_ask ask;
	struct prepared prepared;
	struct output output;
	struct check_shape shape;
	char journal_path[PATH_MAX + 16], folder[PATH_MAX + 16];
	struct genmap *map;
	struct verify *verify;
	struct check_facts facts;
};

/* RESULT.journal and RESULT.blocks, beside RESULT.json. */
static void name_beside(const struct check *c, const char *end, char *path,
			size_t size)
{
	size_t len = strlen(c->output.path);

	if (len > 5 && !strcmp(c->output.path + len - 5, ".json"))
		len -= 5;
	snprintf(path, size, "%.*s%s", (int)len, c->output.path, end);
}

static void identify(const struct lun *lun, char *text, size_t size)
{
	snprintf(text, size, "%s %s", lun->serial, lun->naa);
}

static int make_map(struct check *c)
{
	const struct lun *lun = &c->prepared.lun;
	struct genmap_shape s = {
		.first_lba = c->shape.offset_bytes / lun->block_bytes,
		.blocks = c->shape.size_bytes / lun->block_bytes,
		.block_bytes = lun->block_bytes,
		.lun_blocks = lun->blocks,
	};
	const char *path = c->ask.journal;
	struct err e = {0};

	if (getrandom(&s.run, sizeof(s.run), 0) != sizeof(s.run))
		s.run = clock_wall_ns();
	identify(lun, s.identity, sizeof(s.identity));
	if (!path && c->output.has_file) {
		name_beside(c, ".journal", c->journal_path,
			    sizeof(c->journal_path));
		path = c->journal_path;
	}
	c->facts.journal = path;
	if (genmap_create(&c->map, path, !c->ask.journal, &s, &e))
		return say_err(&e, STATUS_TARGET);
	return STATUS_OK;
}

/* The LUN must be the one that the journal is of. */
static int check_journal(struct check *c)
{
	const struct genmap_shape *s = genmap_shape(c->map);
	const struct lun *lun = &c->prepared.lun;
	char identity[sizeof(s->identity)];

	identify(lun, identity, sizeof(identity));
	if (s->block_bytes != lun->block_bytes ||
	    s->first_lba + s->blocks > lun->blocks ||
	    strcmp(s->identity, identity)) {
		say("journal \"%s\" is of another LUN: \"%s\", %" PRIu64
		    " blocks of %u bytes; \"%s\" is \"%s\", %" PRIu64
		    " blocks of %u",
		    c->ask.resume, s->identity, s->lun_blocks, s->block_bytes,
		    c->ask.request.url.display, identity, lun->blocks,
		    lun->block_bytes);
		return STATUS_USAGE;
	}
	c->shape.offset_bytes = s->first_lba * s->block_bytes;
	if (!check_shape_fit(&c->shape, lun, s->blocks * s->block_bytes, 0)) {
		say("journal \"%s\" is damaged", c->ask.resume);
		return STATUS_USAGE;
	}
	return STATUS_OK;
}

static int make_verify(struct check *c)
{
	struct verify_setup s = {
		.map = c->map,
		.keep = FINDINGS_KEPT,
		.fua_every = c->prepared.lun.can_fua ? FUA_EVERY : 0,
	};
	struct err e = {0};

	if (c->output.has_file) {
		name_beside(c, ".blocks", c->folder, sizeof(c->folder));
		s.folder = c->folder;
	}
	if (verify_new(&c->verify, &s, &e))
		return say_err(&e, STATUS_TARGET);
	c->ask.request.run.verify = c->verify;
	return STATUS_OK;
}

/* --- what keeps nothing --- */

static int refuse_empty(const struct check *c, const char *why)
{
	say("\"%s\": %s: there is nothing to check", c->ask.request.url.display,
	    why);
	return STATUS_USAGE;
}

/* Writes a little and reads it back, in a map of its own. */
static int try_data(struct check *c)
{
	struct genmap_shape shape = *genmap_shape(c->map);
	struct run_opts opts = c->ask.request.run;
	struct prepared try = {.transport = c->prepared.transport,
			       .lun = c->prepared.lun};
	struct verify_setup setup = {0};
	struct verify_totals totals = {0};
	struct run_result run = {0};
	struct genmap *map = NULL;
	char text[JOB_BYTES];
	struct err e = {0};
	int status;

	check_job_try(&c->shape, text, sizeof(text));
	shape.run = ~shape.run;
	status = prepare_text(&try, &c->ask.request, "try", text);
	if (!status)
		status = prepare_plan(&try, &c->ask.request);
	if (!status && genmap_create(&map, NULL, false, &shape, &e))
		status = say_err(&e, STATUS_TARGET);
	setup.map = map;
	opts.verify = NULL;
	if (!status && verify_new(&opts.verify, &setup, &e))
		status = say_err(&e, STATUS_TARGET);
	opts.url = &c->ask.request.url;
	opts.transport = c->prepared.transport;
	opts.stop = &signals_seen;
	if (!status &&
	    (run_plan(&try.plan, &opts, &run, &e) || run.end == RUN_FAILED))
		status = say_err(e.code ? &e : &run.error, STATUS_TARGET);
	if (!status && signals_seen)
		status = STATUS_INTERRUPTED;
	if (opts.verify)
		verify_totals(opts.verify, &totals);
	if (!status && !totals.blocks[STAMP_OK] && verify_broken(&totals))
		status = refuse_empty(
			c, "it keeps no data: nothing of what was written to "
			   "it came back");
	run_result_release(&run);
	verify_free(opts.verify);
	genmap_close(map);
	prepare_release(&try);
	return status;
}

/* --- the verdict --- */

static uint64_t count_errors(const json_t *document)
{
	json_t *rows =
		json_object_get(json_object_get(document, "lunbench"), "rows");
	json_t *ops, *op;
	const char *name;
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < json_array_size(rows); i++) {
		ops = json_object_get(json_array_get(rows, i), "ops");
		json_object_foreach(ops, name, op) n +=
			json_integer_value(json_object_get(op, "errors"));
	}
	return n;
}

static const char *why_unknown(const struct check_facts *f,
			       const json_t *document)
{
	const json_t *run =
		json_object_get(json_object_get(document, "lunbench"), "run");
	const char *end = json_string_value(json_object_get(run, "end"));

	if (end && strcmp(end, "complete"))
		return "the run did not come to its end; until then nothing "
		       "wrong was found";
	if (!f->totals.blocks[STAMP_OK])
		return "nothing could be compared";
	if (f->io_errors)
		return "some I/Os failed, and what they would have told is "
		       "unknown";
	return NULL;
}

static int add_verdict(void *user, json_t *document, struct err *e)
{
	struct check *c = user;
	struct check_facts *f = &c->facts;

	f->url = c->ask.request.url.display;
	f->shape = genmap_shape(c->map);
	f->max_atomic_blocks = c->prepared.lun.max_atomic_blocks;
	f->is_resumed = c->ask.resume;
	f->folder = c->folder;
	f->io_errors = count_errors(document);
	genmap_count(c->map, &f->counts);
	genmap_sync(c->map);
	verify_totals(c->verify, &f->totals);
	f->findings = verify_findings(c->verify, &f->nr_findings);
	f->why_unknown = why_unknown(f, document);
	f->verdict = verify_broken(&f->totals) ? CHECK_BROKEN
		     : f->why_unknown	       ? CHECK_UNKNOWN
					       : CHECK_KEPT;
	return check_put(f, document, e);
}

static void print_verdict(void *user, FILE *out)
{
	const struct check *c = user;

	check_print(&c->facts, out);
}

static int conclude(const struct check *c, int status)
{
	char kinds[256];

	if (status == STATUS_USAGE || !c->facts.shape)
		return status;
	if (c->facts.verdict == CHECK_BROKEN) {
		say("\"%s\" breaks its promise: %s", c->ask.request.url.display,
		    check_kinds(&c->facts.totals, kinds, sizeof(kinds)));
		return STATUS_GATE;
	}
	if (c->facts.verdict == CHECK_UNKNOWN && !status) {
		say("\"%s\": %s", c->ask.request.url.display,
		    c->facts.why_unknown);
		return STATUS_TARGET;
	}
	return status;
}

/* --- the whole --- */

static int prepare_resume(struct check *c, char *text, size_t size)
{
	struct err e = {0};
	int status;

	if (genmap_open(&c->map, c->ask.resume, &e))
		return say_err(&e, STATUS_USAGE);
	c->facts.journal = c->ask.resume;
	status = prepare_lun(&c->prepared, &c->ask.request);
	if (!status)
		status = check_journal(c);
	if (!status)
		check_job_read(&c->shape, text, size);
	return status;
}

static int prepare_new(struct check *c, char *text, size_t size)
{
	int status = prepare_lun(&c->prepared, &c->ask.request);

	if (!status && !c->prepared.lun.keeps_data)
		status = refuse_empty(c, "it keeps no data");
	if (!status)
		status = check_ask_fit(&c->ask, &c->prepared.lun, &c->shape);
	if (!status)
		check_job_load(&c->shape, text, size);
	return status;
}

/* The leave to write comes before the first write and before the journal of an
 * earlier run is replaced. */
static int prepare(struct check *c)
{
	char text[JOB_BYTES];
	int status;

	status = c->ask.resume ? prepare_resume(c, text, sizeof(text))
			       : prepare_new(c, text, sizeof(text));
	if (!status)
		status = prepare_text(&c->prepared, &c->ask.request, "check",
				      text);
	if (!status)
		status = prepare_plan(&c->prepared, &c->ask.request);
	if (!status)
		status = prepare_guard(&c->prepared, &c->ask.request);
	if (!status && !c->ask.resume)
		status = make_map(c);
	if (!status)
		status = make_verify(c);
	return status;
}

static int check(struct check *c)
{
	const struct measure_addition addition = {
		.add = add_verdict, .print = print_verdict, .user = c};
	int status = output_open(&c->output, &c->ask.request, "check");
	if (!status)
		status = capture_open(&c->ask.request);
	signals_end_at_once(true);
	if (!status)
		status = prepare(c);
	signals_end_at_once(false);
	if (!status && !c->ask.resume)
		status = try_data(c);
	if (status)
		return status;
	c->prepared.addition = &addition;
	return conclude(c, measure(&c->prepared, &c->ask.request, &c->output));
}

int command_check(int argc, char **argv)
{
	struct check c = {.map = NULL};
	int status;

	signals_init();
	status = check_ask_parse(&c.ask, argc, argv);
	if (!status)
		status = check(&c);
	verify_free(c.verify);
	genmap_close(c.map);
	prepare_release(&c.prepared);
	request_release(&c.ask.request);
	return status;
}
