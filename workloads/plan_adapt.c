#include "workloads/plan_adapt.h"

#include <inttypes.h>

#include "base/units.h"
#include "workloads/plan_check.h"

/* misfit=adapt: the sizes of a job that do not fit its LUN become the next ones
 * that do; each change is a note. */

static int note(const struct job_plan *j, const char *key, uint64_t was,
		uint64_t is, const char *why)
{
	char a[32], b[32];

	return plan_add_note(j, "%s=%s became %s: %s", key,
			     units_bytes(a, sizeof(a), was),
			     units_bytes(b, sizeof(b), is), why);
}

/* Up to whole blocks, down to what one command takes. */
static int adapt_bs(const struct job_plan *j, const char *key, int op,
		    uint32_t *bytes)
{
	const struct lun *lun = &j->p->lun;
	uint64_t limit = plan_command_limit(lun, op), was = *bytes;
	uint64_t is = (was + lun->block_bytes - 1) / lun->block_bytes *
		      lun->block_bytes;
	const char *why = "the LUN takes whole blocks only";

	if (limit >= lun->block_bytes && is > limit) {
		is = limit;
		why = "the LUN takes no more in one command";
	}
	*bytes = (uint32_t)is;
	return is == was || !was ? 0 : note(j, key, was, is, why);
}

static int adapt_sizes(const struct job_plan *j, struct job_opts *o)
{
	int op, ret = 0;
	size_t i;

	for (op = 0; !ret && op < OP_DATA_COUNT; op++) {
		if (!(o->ops & OP_BIT(op)))
			continue;
		for (i = 0; !ret && i < o->nr_bssplit[op]; i++)
			ret = adapt_bs(j, "bssplit", op,
				       &o->bssplit[op][i].bytes);
		if (!ret && !o->nr_bssplit[op])
			ret = adapt_bs(j, "bs", op, &o->bs[op]);
		if (!ret)
			ret = adapt_bs(j, "blockalign", op, &o->blockalign[op]);
	}
	return ret;
}

/* Down to whole blocks, and to @most. */
static int adapt_amount(const struct job_plan *j, const char *key,
			uint64_t *bytes, uint64_t most)
{
	uint64_t was = *bytes, is = was - was % j->p->lun.block_bytes;
	const char *why = "the LUN takes whole blocks only";

	if (is > most) {
		is = most;
		why = plan_why_cut(j);
	}
	*bytes = is;
	return is == was ? 0 : note(j, key, was, is, why);
}

int plan_adapt(const struct job_plan *j, struct job_opts *o)
{
	uint64_t whole = plan_room(j), left;
	int ret = adapt_sizes(j, o);

	if (!ret)
		ret = adapt_amount(j, "filesize", &o->filesize, whole);
	if (!ret && !o->offset.is_percent)
		ret = adapt_amount(j, "offset", &o->offset.bytes, UINT64_MAX);
	if (!ret && !o->offset_increment.is_percent)
		ret = adapt_amount(j, "offset_increment",
				   &o->offset_increment.bytes, UINT64_MAX);
	left = o->offset.is_percent || o->offset.bytes >= whole
		       ? whole
		       : whole - o->offset.bytes;
	if (!ret && o->size.set && !o->size.is_percent)
		ret = adapt_amount(j, "size", &o->size.bytes, left);
	if (!ret && o->io_size.set && !o->io_size.is_percent)
		ret = adapt_amount(j, "io_size", &o->io_size.bytes, left);
	return ret;
}
