#include "workloads/plan_region.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "workloads/pace.h"

int plan_add_note(const struct job_plan *j, const char *fmt, ...)
{
	struct plan *p = j->p;
	char text[400], *note;
	char **grown;
	va_list ap;
	size_t i;

	if (j->is_quiet)
		return 0;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	grown = reallocarray(p->notes, p->nr_notes + 1, sizeof(*grown));
	if (!grown)
		return err_set(j->e, -ENOMEM, "out of memory");
	p->notes = grown;
	if (asprintf(&note, "%.80s: %s", j->o->name, text) < 0)
		return err_set(j->e, -ENOMEM, "out of memory");
	for (i = 0; i < p->nr_notes; i++) {
		if (strcmp(grown[i], note) != 0)
			continue;
		free(note);
		return 0;
	}
	grown[p->nr_notes++] = note;
	return 0;
}

static bool is_fit_less(const struct job_plan *j)
{
	return j->o->fit_bytes && j->o->fit_bytes < lun_bytes(&j->p->lun);
}

uint64_t plan_room(const struct job_plan *j)
{
	uint64_t bytes =
		is_fit_less(j) ? j->o->fit_bytes : lun_bytes(&j->p->lun);

	return bytes - bytes % j->p->lun.block_bytes;
}

const char *plan_why_cut(const struct job_plan *j)
{
	return is_fit_less(j) ? "fit allows no more" : "the LUN has no more";
}

static uint64_t percent_of(uint64_t bytes, double percent)
{
	return (uint64_t)((long double)bytes * (long double)percent / 100);
}

/* a * b, or UINT64_MAX - 1 where that is too small for it: an amount must not
 * become "without end" (UINT64_MAX) by accident. */
static uint64_t multiply(uint64_t a, uint64_t b)
{
	uint64_t n;

	return __builtin_mul_overflow(a, b, &n) || n == UINT64_MAX
		       ? UINT64_MAX - 1
		       : n;
}

/* --- regions --- */

/* What a job that may change has of the LUN where it names no bytes. */
static bool is_bounded_by_fit(const struct job_plan *j)
{
	const struct job_opts *o = j->o;

	return is_fit_less(j) && o->misfit != MISFIT_ERROR &&
	       (!o->size.set || o->size.is_percent);
}

/* As fio takes a device with a filesize: only that much of it is there. */
static uint64_t extent_bytes(const struct job_plan *j)
{
	if (j->o->filesize)
		return j->o->filesize;
	return is_bounded_by_fit(j) ? plan_room(j) : lun_bytes(&j->p->lun);
}

static int note_fit(const struct job_plan *j)
{
	char text[32];

	if (!is_bounded_by_fit(j) || j->o->filesize || j->o->workspace_bytes)
		return 0;
	return plan_add_note(j, "as if the LUN had %s: fit allows no more",
			     units_bytes(text, sizeof(text), plan_room(j)));
}

static const char *extent_name(const struct job_plan *j)
{
	return j->o->filesize ? "filesize" : "the LUN";
}

/* An offset: bytes are multiples of the LUN's block (checked before), percents
 * are rounded down to whole I/Os. */
static uint64_t resolve_offset(const struct job_plan *j, const struct amount *a)
{
	uint64_t n;

	if (!a->is_percent)
		return a->bytes;
	n = percent_of(extent_bytes(j), a->percent);
	return n - n % j->unit;
}

static int clone_offset(const struct job_plan *j, unsigned int clone,
			uint64_t *offset)
{
	uint64_t size = extent_bytes(j), step;

	if (__builtin_mul_overflow(resolve_offset(j, &j->o->offset_increment),
				   (uint64_t)clone, &step) ||
	    __builtin_add_overflow(resolve_offset(j, &j->o->offset), step,
				   offset))
		*offset = UINT64_MAX;
	if (*offset < size)
		return 0;
	if (clone)
		return err_set(j->e, -ENOSPC,
			       "clone %u of numjobs=%u starts past the end of "
			       "%s (%" PRIu64 " bytes); reduce "
			       "offset_increment or numjobs",
			       clone, j->o->numjobs, extent_name(j), size);
	return err_set(j->e, -ENOSPC,
		       "offset=%" PRIu64 " is past the end of %s "
		       "(%" PRIu64 " bytes)",
		       *offset, extent_name(j), size);
}

static int clone_length(const struct job_plan *j, unsigned int clone,
			uint64_t offset, uint64_t *length)
{
	const struct amount *a = &j->o->size;
	uint64_t whole = extent_bytes(j), left = whole - offset;

	if (j->o->workspace_bytes) {
		*length = j->o->clients * j->o->workspace_bytes;
		return 0;
	}
	/* Next to a filesize, size is an amount: see client_amount(). */
	if (!a->set || j->o->filesize) {
		*length = left;
		return 0;
	}
	if (!a->is_percent) {
		*length = a->bytes;
		if (*length <= left)
			return 0;
		if (offset)
			return err_set(j->e, -ENOSPC,
				       "size=%" PRIu64 " at offset %" PRIu64
				       " ends past the end of the LUN "
				       "(%" PRIu64 " bytes); at most %" PRIu64
				       " are left there",
				       a->bytes, offset, whole, left);
		return err_set(j->e, -ENOSPC,
			       "size=%" PRIu64 " is more than the LUN has "
			       "(%" PRIu64 " bytes)",
			       a->bytes, whole);
	}
	*length = percent_of(whole, a->percent);
	if (*length <= left)
		return 0;
	*length = left;
	return clone ? 0
		     : plan_add_note(
			       j,
			       "size=%g%% reaches past the end of the LUN; "
			       "cut off there",
			       a->percent);
}

int plan_clone_region(const struct job_plan *j, unsigned int clone,
		      uint64_t *offset, uint64_t *length)
{
	char bs[32], text[32];
	uint64_t rest;
	int ret = clone_offset(j, clone, offset);

	if (!ret)
		ret = clone_length(j, clone, *offset, length);
	if (!ret)
		ret = note_fit(j);
	if (ret)
		return ret;
	rest = *length % j->unit;
	if (*length < j->unit)
		return err_set(j->e, -ENOSPC,
			       "its region of %s is smaller than one I/O of "
			       "%s; give a larger size or a smaller bs",
			       units_bytes(text, sizeof(text), *length),
			       units_bytes(bs, sizeof(bs), j->unit));
	*length -= rest;
	if (rest && j->o->size.set && !clone)
		return plan_add_note(j,
				     "size rounded down to %" PRIu64
				     " bytes, a multiple of %s",
				     *length,
				     units_bytes(bs, sizeof(bs), j->unit));
	return 0;
}

/* --- amounts --- */

/* The bytes that one way through @length takes where rw=read:N leaves N bytes
 * out after each I/O; exact for one direction and one size. In a mix the
 * direction that is sooner at the end ends it, as in fio. */
static uint64_t one_way_bytes(const struct job_opts *o, uint64_t length)
{
	double share[OP_DATA_COUNT] = {1, 1, 1}, ios = 0, mean = 0, n;
	uint64_t step = o->step_bytes, bs, places, last, room;
	int op;

	if ((o->ops & (o->ops - 1)) != 0) {
		share[OP_READ] = o->rwmixread / 100.0;
		share[OP_WRITE] = 1 - share[OP_READ];
	}
	for (op = 0; op < OP_DATA_COUNT; op++) {
		if (!(o->ops & OP_BIT(op)) || share[op] <= 0)
			continue;
		bs = pace_mean_bytes(o, op);
		places = (length + step + bs - 1) / (bs + step);
		if (share[op] >= 1 && !o->nr_bssplit[op]) {
			last = (places - 1) * (bs + step);
			room = length - last;
			return (places - 1) * bs + (bs < room ? bs : room);
		}
		n = places / share[op];
		ios = ios && ios < n ? ios : n;
		mean += share[op] * bs;
	}
	return ios * mean;
}

bool plan_has_holes(const struct job_opts *o)
{
	return !o->is_random && o->step_bytes > 0;
}

/* What io_size, or next to a filesize size, asks of each client; else each goes
 * over its slice once, and what rounding left between the slices is nobody's.
 */
static uint64_t client_amount(const struct job_plan *j, uint64_t length,
			      uint64_t slice)
{
	const struct job_opts *o = j->o;
	uint64_t size = length;

	if (o->filesize && o->size.set)
		size = o->size.is_percent
			       ? percent_of(extent_bytes(j), o->size.percent)
			       : o->size.bytes;
	if (o->io_size.set && o->io_size.is_percent)
		return percent_of(size, o->io_size.percent) / o->clients;
	if (o->io_size.set)
		return o->io_size.bytes / o->clients;
	if (size < length)
		slice = size / o->clients;
	return plan_has_holes(o) && slice ? one_way_bytes(o, slice) : slice;
}

int plan_set_amounts(const struct job_plan *j, uint64_t length,
		     struct plan_client *c)
{
	const struct job_opts *o = j->o;

	c->io_bytes = UINT64_MAX;
	c->number_ios = UINT64_MAX;
	if (o->time_based)
		return 0;
	c->io_bytes = client_amount(j, length, c->length_bytes);
	if (c->io_bytes < j->p->lun.block_bytes)
		return err_set(j->e, -EINVAL,
			       "%s leaves %" PRIu64 " bytes for each of its %u "
			       "clients, less than one block of %u bytes; give "
			       "more",
			       o->io_size.set ? "io_size" : "size", c->io_bytes,
			       o->clients, j->p->lun.block_bytes);
	c->io_bytes = multiply(c->io_bytes, o->loops);
	if (!o->number_ios)
		return 0;
	if (o->number_ios < o->clients)
		return err_set(j->e, -EINVAL,
			       "number_ios=%" PRIu64
			       " is less than one I/O for each of its %u "
			       "clients",
			       o->number_ios, o->clients);
	c->number_ios = o->number_ios / o->clients +
			(c->number < o->number_ios % o->clients);
	c->number_ios = multiply(c->number_ios, o->loops);
	return 0;
}

double plan_mean_bytes(const struct job_opts *o)
{
	double reads = o->rwmixread / 100.0;

	if ((o->ops & OP_BIT(OP_READ)) && (o->ops & OP_BIT(OP_WRITE)))
		return reads * pace_mean_bytes(o, OP_READ) +
		       (1 - reads) * pace_mean_bytes(o, OP_WRITE);
	return pace_mean_bytes(o, o->ops & OP_BIT(OP_READ)    ? OP_READ
				  : o->ops & OP_BIT(OP_WRITE) ? OP_WRITE
							      : OP_TRIM);
}

/* --- all clones --- */

int plan_slice(const struct job_plan *j, unsigned int clone, uint64_t length,
	       uint64_t *slice)
{
	unsigned int n = j->o->clients;
	char bs[32], text[32];

	*slice = length / n / j->unit * j->unit;
	if (!*slice)
		return err_set(j->e, -ENOSPC,
			       "its region of %s is too small for clients=%u "
			       "with I/Os of %s; give a larger size or fewer "
			       "clients",
			       units_bytes(text, sizeof(text), length), n,
			       units_bytes(bs, sizeof(bs), j->unit));
	if (*slice * n == length || clone)
		return 0;
	return plan_add_note(j,
			     "the last %" PRIu64
			     " bytes are left out: %u equal slices of %s",
			     length - *slice * n, n,
			     units_bytes(text, sizeof(text), *slice));
}

int plan_check_regions(const struct job_plan *j, uint64_t *from, uint64_t *to)
{
	struct job_plan quiet = *j;
	struct plan_client c = {0};
	uint64_t offset, length;
	unsigned int clone;
	int ret = 0;

	quiet.is_quiet = true;
	for (clone = 0; !ret && clone < j->o->numjobs; clone++) {
		ret = plan_clone_region(&quiet, clone, &offset, &length);
		if (!ret)
			ret = plan_slice(&quiet, clone, length,
					 &c.length_bytes);
		if (!ret)
			ret = plan_set_amounts(&quiet, length, &c);
		if (!ret && offset < *from)
			*from = offset;
		if (!ret && offset + length > *to)
			*to = offset + length;
	}
	return ret;
}
