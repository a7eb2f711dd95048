#include "workloads/plan_check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/units.h"

static bool has_op(const struct job_opts *o, int op)
{
	return (o->ops & OP_BIT(op)) != 0;
}

/* The @i-th block size of @op; 0 after the last. */
static uint32_t nth_bs(const struct job_opts *o, int op, size_t i)
{
	if (o->nr_bssplit[op])
		return i < o->nr_bssplit[op] ? o->bssplit[op][i].bytes : 0;
	return i ? 0 : o->bs[op];
}

uint32_t plan_smallest_bs(const struct job_opts *o, enum io_op op)
{
	uint32_t smallest = UINT32_MAX, bs;
	size_t i;

	for (i = 0; (bs = nth_bs(o, op, i)); i++)
		if (bs < smallest)
			smallest = bs;
	return smallest;
}

uint32_t plan_largest_bs(const struct job_opts *o)
{
	uint32_t largest = 0, bs;
	size_t i;
	int op;

	for (op = 0; op < OP_DATA_COUNT; op++)
		for (i = 0; has_op(o, op) && (bs = nth_bs(o, op, i)); i++)
			if (bs > largest)
				largest = bs;
	return largest;
}

static int check_multiple(const char *key, uint64_t bytes,
			  const struct lun *lun, struct err *e)
{
	if (bytes % lun->block_bytes == 0)
		return 0;
	return err_set(e, -EINVAL,
		       "%s=%" PRIu64
		       " is not a multiple of the LUN's block size %u",
		       key, bytes, lun->block_bytes);
}

uint64_t plan_command_limit(const struct lun *lun, int op)
{
	uint32_t blocks = lun->max_transfer_blocks;

	if (op == OP_TRIM)
		blocks = lun->max_unmap_blocks == UINT32_MAX
				 ? 0
				 : lun->max_unmap_blocks;
	return (uint64_t)blocks * lun->block_bytes;
}

static int check_bs(const struct job_opts *o, const struct lun *lun, int op,
		    struct err *e)
{
	const char *key = o->nr_bssplit[op] ? "bssplit" : "bs";
	uint64_t limit = plan_command_limit(lun, op);
	uint32_t bs;
	char text[32];
	size_t i;
	int ret = 0;

	for (i = 0; !ret && (bs = nth_bs(o, op, i)); i++) {
		ret = check_multiple(key, bs, lun, e);
		if (!ret && limit && bs > limit)
			ret = err_set(
				e, -EINVAL,
				"%s=%u is more than the LUN takes in one %s "
				"command, %" PRIu64 " bytes (%s); give a "
				"smaller %s",
				key, bs, op_name((enum io_op)op), limit,
				units_bytes(text, sizeof(text), limit), key);
	}
	if (!ret && o->is_random)
		ret = check_multiple("blockalign", o->blockalign[op], lun, e);
	return ret;
}

static int check_amount(const char *key, const struct amount *a,
			const struct lun *lun, struct err *e)
{
	if (!a->set || a->is_percent)
		return 0;
	return check_multiple(key, a->bytes, lun, e);
}

static int check_abilities(const struct job_opts *o, const struct lun *lun,
			   struct err *e)
{
	if (!has_op(o, OP_WRITE) && !has_op(o, OP_TRIM))
		return 0;
	if (lun->is_read_only)
		return err_set(e, -EROFS,
			       "it writes, and the LUN is write protected; "
			       "only rw=read and rw=randread can run");
	if (has_op(o, OP_TRIM) && !lun->can_unmap)
		return err_set(e, -EOPNOTSUPP,
			       "it trims, and the LUN does not support UNMAP");
	return 0;
}

int plan_check_job(const struct job_opts *o, const struct lun *lun,
		   struct err *e)
{
	int op, ret = check_abilities(o, lun, e);

	for (op = 0; !ret && op < OP_DATA_COUNT; op++)
		if (has_op(o, op))
			ret = check_bs(o, lun, op, e);
	if (!ret)
		ret = check_multiple("the hole after the colon of rw",
				     (uint64_t)llabs(o->step_bytes), lun, e);
	if (!ret)
		ret = check_multiple("filesize", o->filesize, lun, e);
	if (!ret && o->filesize > lun_bytes(lun))
		ret = err_set(e, -ENOSPC,
			      "filesize=%" PRIu64 " is more than the LUN has "
			      "(%" PRIu64 " bytes)",
			      o->filesize, lun_bytes(lun));
	if (!ret)
		ret = check_amount("size", &o->size, lun, e);
	if (!ret)
		ret = check_amount("offset", &o->offset, lun, e);
	if (!ret)
		ret = check_amount("offset_increment", &o->offset_increment,
				   lun, e);
	return ret;
}
