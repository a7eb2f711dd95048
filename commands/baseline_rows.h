#ifndef COMMANDS_BASELINE_ROWS_H
#define COMMANDS_BASELINE_ROWS_H

#include "commands/request.h"
#include "report/baseline.h"
#include "target/tgt.h"

/* What `lunbench baseline` measures, one after another. */
struct baseline_ask {
	struct request request;			 /* the URL; how to run */
	const char *rw, *bs, *iodepth, *runtime; /* borrowed from argv */

	/* by baseline_ask_check() */
	bool reads, writes, is_loopback;
	uint64_t runtime_ns;
	bool is_ours; /* the bundled target on this host, */
	struct tgt_status target;
};

/* Whether that can be measured; fills what is asked in @b. Both return an exit
 * status, after saying why it is not STATUS_OK. */
int baseline_ask_check(struct baseline_ask *a, struct baseline *b);

/* All of them; one that fails or does not make sense is a note in its row. Not
 * STATUS_OK only after Ctrl-C. Leaves nothing behind. */
int baseline_measure(struct baseline_ask *a, struct baseline *b);

#endif
