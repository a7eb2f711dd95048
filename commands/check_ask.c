#include "commands/check_ask.h"

#include <errno.h>
#include <inttypes.h>

#include "base/clock.h"
#include "commands/commands.h"

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
	struct check_ask *c = state->input;
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
		c->clients = n;
		return rc;
	case KEY_IODEPTH:
		rc = parse_count("iodepth", arg, 4096, &n);
		c->iodepth = n;
		return rc;
	case KEY_RUNTIME:
		return request_time("runtime", arg, &c->runtime_ns);
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

static int check_options(const struct check_ask *c)
{
	if (c->request.run.workers > 1) {
		say("--workers: a check has one worker, because all sessions "
		    "share what was written");
		return STATUS_USAGE;
	}
	if (c->resume && (c->journal || c->size.bytes || c->size.is_percent ||
			  c->has_offset || c->runtime_ns)) {
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

int check_ask_fit(const struct check_ask *c, const struct lun *lun,
		  struct check_shape *s)
{
	uint64_t size = bytes_of(&c->size, lun_bytes(lun), lun->block_bytes);
	char all[32];

	s->offset_bytes =
		bytes_of(&c->offset, lun_bytes(lun), lun->block_bytes);
	s->clients = c->clients ? c->clients : 8;
	s->iodepth = c->iodepth ? c->iodepth : 8;
	s->runtime_ns = c->runtime_ns	   ? c->runtime_ns
			: c->request.quick ? LOAD_NS_QUICK
					   : LOAD_NS;
	if (check_shape_fit(s, lun, size,
			    c->request.quick ? MOST_BYTES_QUICK : MOST_BYTES))
		return STATUS_OK;
	say("\"%s\": %" PRIu64 " bytes from %" PRIu64
	    " on are no part of a LUN of %s that could be checked: it needs 16 "
	    "blocks of %u bytes",
	    c->request.url.display, size ? size : lun_bytes(lun),
	    s->offset_bytes, units_bytes(all, sizeof(all), lun_bytes(lun)),
	    lun->block_bytes);
	return STATUS_USAGE;
}

int check_ask_parse(struct check_ask *c, int argc, char **argv)
{
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
		.own_input = c,
	};
	int status = request_parse(&c->request, &form, argc, argv);

	return status ? status : check_options(c);
}
