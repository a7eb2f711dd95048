#include <stdio.h>

#include "commands/commands.h"
#include "commands/prepare.h"

int command_plan(int argc, char **argv)
{
	struct request r;
	struct prepared p = {0};
	const struct request_form form = {
		.takes = REQUEST_JOB | REQUEST_URL | REQUEST_CONNECT,
		.args_doc = "[JOB] URL",
		.doc = "Says what `run` would do, on what, and for how long. "
		       "Only asks the LUN for its size and abilities; a size "
		       "does, too: null:1T.",
	};
	int status;

	status = request_parse(&r, &form, argc, argv);
	if (!status)
		status = prepare_load(&p, &r);
	if (!status)
		status = prepare_plan(&p, &r);
	if (!status)
		plan_print(&p.plan, r.verbose, stdout);
	if (!status && prepare_wants_leave(&p))
		puts("\nIt writes to a LUN that lunbench did not create: run "
		     "will want --overwrite.");
	prepare_release(&p);
	request_release(&r);
	return status;
}
