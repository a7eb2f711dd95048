#include "commands/target_text.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"

static const char *describe_store(const struct tgt_status *t)
{
	if (!strcmp(t->store, "rdwr"))
		return "rdwr; flush and FUA are honoured";
	if (!strcmp(t->store, "aio"))
		return "aio; not durable: tgt ignores flush and FUA here";
	return "null; not durable: keeps nothing, reads return stale memory";
}

static void print_md(const struct tgt_status *t)
{
	const struct md_state *m = &t->md_state;
	double done = md_progress(m->progress);

	printf("  md        %s, %s", t->md, m->state[0] ? m->state : "gone");
	if (m->degraded[0] && strcmp(m->degraded, "0"))
		printf(", DEGRADED by %s", m->degraded);
	if (m->action[0] && strcmp(m->action, "idle"))
		printf(", %s: %.0f%% (sectors %s)", m->action,
		       done < 0 ? 0 : 100 * done, m->progress);
	putchar('\n');
}

void target_print(const struct tgt_status *t)
{
	char size[32];

	printf("%s  %s\n", t->name, t->url[0] ? t->url : "(not up)");
	if (t->problem[0])
		printf("  problem   %s\n", t->problem);
	if (!t->url[0])
		return;
	printf("  store     %s\n", describe_store(t));
	printf("  cache     write cache %s (tgt's default)\n",
	       t->write_cache ? "on" : "off");
	printf("  size      %s (%llu bytes), blocks of %u%s\n",
	       units_bytes(size, sizeof(size), t->size_bytes),
	       (unsigned long long)t->size_bytes, t->block_bytes,
	       strcmp(t->store, "null") ? "" : "; the LUN itself says 1 TiB");
	if (t->array[0])
		printf("  array     %s of %s%s\n", t->array, t->members,
		       t->nr_luns > 1 ? "; more LUNs at /2 and on" : "");
	if (t->md[0])
		print_md(t);
	if (strcmp(t->store, "null"))
		printf("  backing   %s (%s)\n", t->backing,
		       t->backing_is_ours ? "lunbench's, goes with the target"
					  : "yours, stays");
	printf("  settings  %s\n", t->stock ? "tgt's own (--stock)" : "tuned");
	if (t->user[0])
		printf("  CHAP      as \"%s\": set LIBISCSI_CHAP_USERNAME and "
		       "LIBISCSI_CHAP_PASSWORD\n",
		       t->user);
	printf("  tgtd      %s, process %d, control port %d\n", t->tgt_version,
	       t->pid, t->control_port);
}
