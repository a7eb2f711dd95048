#include <errno.h>
#include <limits.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/units.h"
#include "commands/capture.h"
#include "commands/check_job.h"
#include "commands/check_tell.h"
#include "commands/commands.h"
#include "commands/measure.h"
#include "commands/signals.h"

enum {
	KEY_OVERWRITE = 0x2000,
	KEY_QUICK,
	KEY_CLIENTS,
	KEY_IODEPTH,
	KEY_RUNTIME,
	KEY_SIZE,
	KEY_OFFSET,
	KEY_SEED,
	KEY_RESUME,
	KEY_JOURNAL,
};

/* Of the LUN, where --size says nothing: the map has 8 bytes for each block. */
#define MOST_BYTES (4ULL << 30)
#define MOST_BYTES_QUICK (256ULL << 20)
#define LOAD_NS (540 * NS_PER_SEC)
#define LOAD_NS_QUICK (45 * NS_PER_SEC)

enum { FINDINGS_KEPT = 1000, FUA_EVERY = 32, JOB_BYTES = 4096 };

struct check {
	struct request request;
	struct prepared prepared;
	struct output output;
	struct check_shape shape;
	struct size_value size, offset;
	bool has_offset;
	const char *resume; /* borrowed from argv; NULL */
	const char *journal;
	char journal_path[PATH_MAX + 16], folder[PATH_MAX + 16];
	struct genmap *map;
	struct verify *verify;
	struct check_facts facts;
};

static const struct argp_option own_options[] = {
	{"overwrite", KEY_OVERWRITE, NULL, 0,
	 "write to a LUN that lunbench did not create", 0},
	{"quick", KEY_QUICK, NULL, 0,
	 "a minute, on at most 256 MiB (default: ten minutes, 4 GiB)", 0},
	{"clients", KEY_CLIENTS, "N", 0,
	 "sessions: half with a region each, half on one together (default 8)",
	 0},
	{"iodepth", KEY_IODEPTH, "N", 0,
	 "I/Os in flight in each session (default 8)", 0},
	{"runtime", KEY_RUNTIME, "S", 0,
	 "of the load between the first fill and the last read (default 540; "
	 "45 with --quick)",
	 0},
	{"size", KEY_SIZE, "SIZE|P%", 0, "of the part that is checked", 0},
	{"offset", KEY_OFFSET, "SIZE|P%", 0, "its start (default 0)", 0},
	{"seed", KEY_SEED, "N", 0, "seed of sizes and addresses", 0},
	{"journal", KEY_JOURNAL, "FILE", 0,
	 "what was written, for --resume (default: beside the result, "
	 ".journal)",
	 0},
	{"resume", KEY_RESUME, "JOURNAL", 0,
	 "only read back what the run that left this journal wrote", 0},
	{0},
};

/* --- the command line --- */

static error_t parse_count(const char *option, const char *text, uint64_t max,
			   uint64_t *n)
{
	struct err e = {0};

	if (!units_parse_uint(text, 1, max, n, &e))
		return 0;
	err_prefix(&e, "--%s", option);
	say_err(&e, STATUS_USAGE);
	return EINVAL;
}

static error_t parse_size(const char *option, const char *text,
			  struct size_value *v)
{
	struct err e = {0};

	if (!units_parse_size(text, 1024, v, &e))
		return 0;
	err_prefix(&e, "--%s", option);
	say_err(&e, STATUS_USAGE);
	return EINVAL;
}

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct check *c = state->input;
	uint64_t n = 0;
	error_t rc = 0;

	switch (key) {
	case KEY_OVERWRITE:
		c->request.overwrite = true;
		return 0;
	case KEY_QUICK:
		c->request.quick = true;
		return 0;
	case KEY_CLIENTS:
		rc = parse_count("clients", arg, 4096, &n);
		c->shape.clients = n;
		return rc;
	case KEY_IODEPTH:
		rc = parse_count("iodepth", arg, 4096, &n);
		c->shape.iodepth = n;
		return rc;
	case KEY_RUNTIME:
		return request_time("runtime", arg, &c->shape.runtime_ns);
	case KEY_SIZE:
		return parse_size("size", arg, &c->size);
	case KEY_OFFSET:
		c->has_offset = true;
		return parse_size("offset", arg, &c->offset);
	case KEY_SEED:
		return parse_count("seed", arg, UINT64_MAX, &c->request.seed);
	case KEY_RESUME:
		c->resume = arg;
		return 0;
	case KEY_JOURNAL:
		c->journal = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int check_options(const struct check *c)
{
	if (c->request.run.workers > 1) {
		say("--workers: a check has one worker, because all sessions "
		    "share what was written");
		return STATUS_USAGE;
	}
	if (c->resume && (c->journal || c->size.bytes || c->size.is_percent ||
			  c->has_offset || c->shape.runtime_ns)) {
		say("--resume: the journal says which part of the LUN it is "
		    "of, and nothing is written: leave --journal, --size, "
		    "--offset and --runtime out");
		return STATUS_USAGE;
	}
	return STATUS_OK;
}

/* --- the part that is checked --- */

static uint64_t bytes_of(const struct size_value *v, uint64_t all,
			 uint32_t block)
{
	uint64_t bytes = v->is_percent ? all * (v->percent / 100) : v->bytes;

	return v->is_percent ? bytes - bytes % block : bytes;
}

static int fit(struct check *c)
{
	const struct lun *lun = &c->prepared.lun;
	uint64_t size = bytes_of(&c->size, lun_bytes(lun), lun->block_bytes);
	char all[32];

	c->shape.offset_bytes =
		bytes_of(&c->offset, lun_bytes(lun), lun->block_bytes);
	if (!c->shape.clients)
		c->shape.clients = 8;
	if (!c->shape.iodepth)
		c->shape.iodepth = 8;
	if (!c->shape.runtime_ns)
		c->shape.runtime_ns =
			c->request.quick ? LOAD_NS_QUICK : LOAD_NS;
	if (check_shape_fit(&c->shape, lun, size,
			    c->request.quick ? MOST_BYTES_QUICK : MOST_BYTES))
		return STATUS_OK;
	say("\"%s\": %llu bytes from %llu on are no part of a LUN of %s that "
	    "could be checked: it needs 16 blocks of %u bytes",
	    c->request.url.display,
	    (unsigned long long)(size ? size : lun_bytes(lun)),
	    (unsigned long long)c->shape.offset_bytes,
	    units_bytes(all, sizeof(all), lun_bytes(lun)), lun->block_bytes);
	return STATUS_USAGE;
}

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
	const char *path = c->journal;
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
	if (genmap_create(&c->map, path, !c->journal, &s, &e))
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
		    c->resume, s->identity, s->lun_blocks, s->block_bytes,
		    c->request.url.display, identity, lun->blocks,
		    lun->block_bytes);
		return STATUS_USAGE;
	}
	c->shape.offset_bytes = s->first_lba * s->block_bytes;
	if (!check_shape_fit(&c->shape, lun, s->blocks * s->block_bytes, 0)) {
		say("journal \"%s\" is damaged", c->resume);
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
	c->request.run.verify = c->verify;
	return STATUS_OK;
}

/* --- what keeps nothing --- */

static int refuse_empty(const struct check *c, const char *why)
{
	say("\"%s\": %s: there is nothing to check", c->request.url.display,
	    why);
	return STATUS_USAGE;
}

/* Writes a little and reads it back, in a map of its own. */
static int try_data(struct check *c)
{
	struct genmap_shape shape = *genmap_shape(c->map);
	struct run_opts opts = c->request.run;
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
	status = prepare_text(&try, &c->request, "try", text);
	if (!status)
		status = prepare_plan(&try, &c->request);
	if (!status && genmap_create(&map, NULL, false, &shape, &e))
		status = say_err(&e, STATUS_TARGET);
	setup.map = map;
	opts.verify = NULL;
	if (!status && verify_new(&opts.verify, &setup, &e))
		status = say_err(&e, STATUS_TARGET);
	opts.url = &c->request.url;
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

	f->url = c->request.url.display;
	f->shape = genmap_shape(c->map);
	f->max_atomic_blocks = c->prepared.lun.max_atomic_blocks;
	f->is_resumed = c->resume;
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
		say("\"%s\" breaks its promise: %s", c->request.url.display,
		    check_kinds(&c->facts.totals, kinds, sizeof(kinds)));
		return STATUS_GATE;
	}
	if (c->facts.verdict == CHECK_UNKNOWN && !status) {
		say("\"%s\": %s", c->request.url.display, c->facts.why_unknown);
		return STATUS_TARGET;
	}
	return status;
}

/* --- the whole --- */

static int prepare_resume(struct check *c, char *text, size_t size)
{
	struct err e = {0};
	int status;

	if (genmap_open(&c->map, c->resume, &e))
		return say_err(&e, STATUS_USAGE);
	c->facts.journal = c->resume;
	status = prepare_lun(&c->prepared, &c->request);
	if (!status)
		status = check_journal(c);
	if (!status)
		check_job_read(&c->shape, text, size);
	return status;
}

static int prepare_new(struct check *c, char *text, size_t size)
{
	int status = prepare_lun(&c->prepared, &c->request);

	if (!status && !c->prepared.lun.keeps_data)
		status = refuse_empty(c, "it keeps no data");
	if (!status)
		status = fit(c);
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

	status = c->resume ? prepare_resume(c, text, sizeof(text))
			   : prepare_new(c, text, sizeof(text));
	if (!status)
		status = prepare_text(&c->prepared, &c->request, "check", text);
	if (!status)
		status = prepare_plan(&c->prepared, &c->request);
	if (!status)
		status = prepare_guard(&c->prepared, &c->request);
	if (!status && !c->resume)
		status = make_map(c);
	if (!status)
		status = make_verify(c);
	return status;
}

static int check(struct check *c)
{
	const struct measure_addition addition = {
		.add = add_verdict, .print = print_verdict, .user = c};
	int status = check_options(c);

	if (!status)
		status = output_open(&c->output, &c->request, "check");
	if (!status)
		status = capture_open(&c->request);
	signals_end_at_once(true);
	if (!status)
		status = prepare(c);
	signals_end_at_once(false);
	if (!status && !c->resume)
		status = try_data(c);
	if (status)
		return status;
	c->prepared.addition = &addition;
	return conclude(c, measure(&c->prepared, &c->request, &c->output));
}

int command_check(int argc, char **argv)
{
	struct check c = {.resume = NULL};
	const struct request_form form = {
		.takes = REQUEST_URL | REQUEST_CONNECT | REQUEST_RUN |
			 REQUEST_CAPTURE,
		.args_doc = "URL",
		.doc = "Whether a LUN gives back what was written to it: "
		       "writes blocks that say what they are, over many "
		       "sessions, reads them back during and after the load, "
		       "and tells bit rot, lost, misdirected and torn writes, "
		       "stale reads, zeroed blocks and foreign data apart. "
		       "Status 1 if the LUN breaks a promise.",
		.own = own_options,
		.parse_own = parse_own,
		.own_input = &c,
	};
	int status;

	signals_init();
	status = request_parse(&c.request, &form, argc, argv);
	if (!status)
		status = check(&c);
	verify_free(c.verify);
	genmap_close(c.map);
	prepare_release(&c.prepared);
	request_release(&c.request);
	return status;
}
