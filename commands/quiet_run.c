#include "commands/quiet_run.h"

#include "commands/commands.h"
#include "commands/prepare.h"
#include "commands/signals.h"

int quiet_run(struct request *r, const char *url, struct run_result *run)
{
	struct prepared p = {0};
	struct err e = {0};
	int status = STATUS_OK;

	if (url_parse(&r->url, url, true, NULL, &e))
		status = say_err(&e, STATUS_TARGET);
	if (!status)
		status = prepare_load(&p, r);
	if (!status)
		status = prepare_plan(&p, r);
	r->run.url = &r->url;
	r->run.transport = p.transport;
	r->run.stop = &signals_seen;
	if (!status &&
	    (run_plan(&p.plan, &r->run, run, &e) || run->end == RUN_FAILED)) {
		if (!e.code)
			e = run->error;
		status = say_err(&e, STATUS_TARGET);
	}
	if (!status && signals_seen)
		status = STATUS_INTERRUPTED;
	prepare_release(&p);
	return status;
}
