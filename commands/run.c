#include "commands/capture.h"
#include "commands/commands.h"
#include "commands/measure.h"
#include "commands/signals.h"

enum { KEY_OVERWRITE = 0x2000 };

static const struct argp_option own_options[] = {
	{"overwrite", KEY_OVERWRITE, NULL, 0,
	 "write to a LUN that lunbench did not create", 0},
	{0},
};

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct request *r = state->input;

	(void)arg;
	if (key != KEY_OVERWRITE)
		return ARGP_ERR_UNKNOWN;
	r->overwrite = true;
	return 0;
}

static int prepare(struct prepared *p, struct output *o, struct request *r)
{
	int status = prepare_load(p, r);

	if (!status)
		status = output_open(o, r, p->job_name);
	if (!status)
		status = capture_open(r);
	/* Nothing is up and nothing measured: Ctrl-C may just end the waits. */
	signals_end_at_once(true);
	if (!status)
		status = prepare_plan(p, r);
	if (!status)
		status = prepare_guard(p, r);
	signals_end_at_once(false);
	return status;
}

int command_run(int argc, char **argv)
{
	struct request r;
	struct prepared p = {0};
	struct output o = {0};
	const struct request_form form = {
		.takes = REQUEST_JOB | REQUEST_URL | REQUEST_CONNECT |
			 REQUEST_RUN | REQUEST_CAPTURE,
		.args_doc = "[JOB] URL",
		.doc = "Runs a fio job file, a shipped job, or the keys given "
		       "as options, on one LUN; writes a result file and "
		       "prints a table.",
		.own = own_options,
		.parse_own = parse_own,
		.own_input = &r,
	};
	int status;

	signals_init();
	status = request_parse(&r, &form, argc, argv);
	if (!status)
		status = prepare(&p, &o, &r);
	if (!status)
		status = measure(&p, &r, &o);
	prepare_release(&p);
	request_release(&r);
	return status;
}
