#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "workloads/plan.h"

/* Any bytes as a job file: read, typed, planned on a few LUNs, printed. What
 * comes out must keep the promises of plan.h. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct plan *p)
{
	size_t i;

	for (i = 0; i < p->nr_clients; i++) {
		const struct plan_client *c = &p->clients[i];

		if (!c->length_bytes || !c->io_bytes ||
		    c->offset_bytes % p->lun.block_bytes ||
		    c->length_bytes % p->lun.block_bytes ||
		    c->offset_bytes > lun_bytes(&p->lun) ||
		    c->length_bytes > lun_bytes(&p->lun) - c->offset_bytes ||
		    c->row >= p->nr_rows || c->group >= p->nr_groups)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct lun luns[] = {
		{.blocks = 1 << 25, .block_bytes = 512, .can_unmap = true},
		{.blocks = 1 << 18, .block_bytes = 4096, .is_read_only = true},
		{.blocks = 1ULL << 50,
		 .block_bytes = 4096,
		 .max_transfer_blocks = 256,
		 .max_unmap_blocks = 1 << 20,
		 .can_unmap = true},
		{.blocks = 3, .block_bytes = 512},
	};
	static FILE *sink;
	struct jobfile f;
	struct jobset set;
	struct plan p;
	struct err e;
	size_t i;

	if (!sink)
		sink = fopen("/dev/null", "w");
	if (jobfile_parse(&f, "fuzz", (const char *)data, size, &e))
		return 0;
	if (!jobset_build(&set, &f, NULL, 0, &e)) {
		for (i = 0; i < sizeof(luns) / sizeof(luns[0]); i++) {
			if (plan_build(&p, &set, &luns[i], 0, &e))
				continue;
			check(&p);
			plan_print(&p, p.nr_clients < 100, sink);
			plan_end_early(&p, 1, false);
			check(&p);
			plan_release(&p);
		}
		jobset_release(&set);
	}
	jobfile_release(&f);
	return 0;
}
