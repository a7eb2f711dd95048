#ifndef COMMANDS_CHECK_ASK_H
#define COMMANDS_CHECK_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"
#include "commands/check_job.h"
#include "commands/request.h"

/* The command line of `lunbench check`. Both functions return an exit status,
 * after saying why it is not STATUS_OK. */
struct check_ask {
	struct request request;
	struct size_value size, offset;
	bool has_offset;
	unsigned int clients, iodepth; /* 0: not given */
	uint64_t runtime_ns;	       /* same */
	const char *resume, *journal;  /* borrowed from argv; NULL */
};

/* @c zeroed; the caller releases c->request in both cases. */
int check_ask_parse(struct check_ask *c, int argc, char **argv);

/* What of the LUN is checked, and how. */
int check_ask_fit(const struct check_ask *c, const struct lun *lun,
		  struct check_shape *s);

#endif
