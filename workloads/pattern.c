#include "workloads/pattern.h"

#include <errno.h>
#include <stdlib.h>

#include "base/rng.h"
#include "workloads/pace.h"
#include "workloads/sampler.h"

/* Sub-streams of STREAM_PATTERN: what one draws does not move another. */
enum { SEED_MIX, SEED_SIZE, SEED_CHANCE, SEED_PLACE };

/* One direction's place in the region; offsets from the region's start. */
struct track {
	uint32_t smallest;	/* of its requests' lengths */
	uint32_t align;		/* of its random offsets */
	uint64_t end;		/* of its last request */
	bool started;		/* there is a last request */
	struct sampler *places; /* owned here or by an earlier track */
	struct sampler own;
};

struct pattern {
	const struct job_opts *opts; /* borrowed */
	uint64_t start_bytes, length_bytes;
	uint32_t block_bytes;
	uint64_t left_bytes, left_ios;

	struct rng mix, size, chance;
	double due[OP_DATA_COUNT]; /* linear rates make the mix: next time */
	double read_share;	   /* Poisson rates make the mix; else < 0 */
	bool by_due;

	unsigned int until_draw; /* I/Os until rw=randread:N draws */
	struct track track[OP_DATA_COUNT];

	uint64_t writes;
	bool flush_due, finished;
};

static uint32_t smallest_length(const struct job_opts *o, enum io_op op)
{
	uint32_t smallest = o->nr_bssplit[op] ? UINT32_MAX : o->bs[op];
	size_t i;

	for (i = 0; i < o->nr_bssplit[op]; i++)
		if (o->bssplit[op][i].bytes < smallest)
			smallest = o->bssplit[op][i].bytes;
	return smallest;
}

/* Blocks, or places that lie so far apart that nothing of one reaches into the
 * next, be it several I/Os in a row: each can be had once a pass. */
static bool are_apart(const struct job_opts *o, enum io_op op,
		      const struct track *t)
{
	uint64_t largest = o->nr_bssplit[op] ? 0 : o->bs[op];
	size_t i;

	if (t->align == t->smallest)
		return true;
	for (i = 0; i < o->nr_bssplit[op]; i++)
		if (o->bssplit[op][i].bytes > largest)
			largest = o->bssplit[op][i].bytes;
	return o->percentage_random[op] >= 100 &&
	       largest * (o->sequence ? o->sequence : 1) <= t->align;
}

static void track_init(struct pattern *p, enum io_op op, uint64_t seed)
{
	const struct job_opts *o = p->opts;
	struct track *t = &p->track[op], *before;
	uint64_t n = 1;

	t->smallest = smallest_length(o, op);
	t->align = o->blockalign[op] ? o->blockalign[op] : t->smallest;
	if (p->length_bytes > t->smallest)
		n = (p->length_bytes - t->smallest) / t->align + 1;
	t->places = &t->own;
	sampler_init(&t->own, &o->distribution, n,
		     !o->norandommap && are_apart(o, op, t), seed);
	/* Directions that draw from the same places draw from one stream: each
	 * block is then either read or written in a pass, as in fio. */
	for (before = p->track; before < t; before++)
		if (before->places && before->align == t->align &&
		    before->places->n == n)
			t->places = before->places;
}

/* Both directions have a rate: then the rates make the mix, or the slower one
 * would hold up the other for ever. */
static void mix_init(struct pattern *p)
{
	const struct job_opts *o = p->opts;
	double read_ns = pace_cost_ns(o, OP_READ, pace_mean_bytes(o, OP_READ));
	double write_ns =
		pace_cost_ns(o, OP_WRITE, pace_mean_bytes(o, OP_WRITE));

	p->read_share = -1;
	if (read_ns <= 0 || write_ns <= 0 || !o->rwmixread ||
	    o->rwmixread >= 100)
		return;
	if (o->rate_process == RATE_POISSON)
		p->read_share = write_ns / (read_ns + write_ns);
	else
		p->by_due = true;
}

static int check_multiple(const char *key, int64_t value, uint32_t block,
			  struct err *e)
{
	if (value % (int64_t)block == 0)
		return 0;
	return err_set(e, -EINVAL,
		       "\"%s\" of %lld bytes is not a multiple of the LUN's "
		       "block of %u bytes; choose one",
		       key, (long long)value, block);
}

int pattern_new(struct pattern **out, const struct plan *plan,
		const struct plan_client *client, struct err *e)
{
	const struct job_opts *o = client->opts;
	uint64_t seed = rng_derive(client->seed, STREAM_PATTERN);
	uint32_t block = plan->lun.block_bytes;
	struct pattern *p;
	unsigned int op;
	int rc;

	rc = check_multiple("rw", o->step_bytes, block, e);
	for (op = 0; !rc && op < OP_DATA_COUNT; op++)
		if (o->ops & OP_BIT(op))
			rc = check_multiple("blockalign", o->blockalign[op],
					    block, e);
	if (rc)
		return rc;
	p = calloc(1, sizeof(*p));
	if (!p)
		return err_set(e, -ENOMEM, "no memory for a client's pattern");
	p->opts = o;
	p->start_bytes = client->offset_bytes;
	p->length_bytes = client->length_bytes;
	p->block_bytes = block;
	p->left_bytes = client->io_bytes;
	p->left_ios = client->number_ios;
	p->until_draw = 1;
	rng_init(&p->mix, rng_derive(seed, SEED_MIX));
	rng_init(&p->size, rng_derive(seed, SEED_SIZE));
	rng_init(&p->chance, rng_derive(seed, SEED_CHANCE));
	mix_init(p);
	for (op = 0; op < OP_DATA_COUNT; op++)
		if (o->ops & OP_BIT(op))
			track_init(p, op, rng_derive(seed, SEED_PLACE + op));
	*out = p;
	return 0;
}

void pattern_free(struct pattern *p)
{
	free(p);
}

static enum io_op next_op(struct pattern *p)
{
	const struct job_opts *o = p->opts;
	bool read;

	if ((o->ops & (o->ops - 1)) == 0) /* only one */
		return __builtin_ctz(o->ops);
	if (p->by_due)
		read = p->due[OP_READ] <= p->due[OP_WRITE];
	else if (p->read_share >= 0)
		read = rng_double(&p->mix) < p->read_share;
	else
		read = rng_below(&p->mix, 100) < o->rwmixread;
	return read ? OP_READ : OP_WRITE;
}

/* rw=read, write, trim, rw, with or without a step, up or down. */
static uint64_t sequential_offset(const struct pattern *p,
				  const struct track *t)
{
	int64_t step = p->opts->step_bytes;
	uint64_t top = p->length_bytes > t->smallest
			       ? p->length_bytes - t->smallest
			       : 0;

	if (step < 0) {
		uint64_t down = -(uint64_t)step;

		return t->started && t->end >= down ? t->end - down : top;
	}
	if (!t->started || t->end >= p->length_bytes ||
	    (uint64_t)step >= p->length_bytes - t->end)
		return 0;
	return t->end + step;
}

static bool is_draw(struct pattern *p, enum io_op op)
{
	unsigned int percent = p->opts->percentage_random[op];

	if (--p->until_draw)
		return false;
	p->until_draw = p->opts->sequence ? p->opts->sequence : 1;
	return percent >= 100 || rng_below(&p->chance, 100) < percent;
}

static uint64_t next_offset(struct pattern *p, enum io_op op)
{
	struct track *t = &p->track[op];

	if (!p->opts->is_random)
		return sequential_offset(p, t);
	/* A request in sequence that would not fit is a draw, too. */
	if (!is_draw(p, op) && t->end < p->length_bytes &&
	    p->length_bytes - t->end >= t->smallest)
		return t->end;
	return sampler_next(t->places) * t->align;
}

static uint32_t split_length(struct pattern *p, enum io_op op, uint64_t room)
{
	const struct bs_share *s = p->opts->bssplit[op];
	const struct bs_share *end = s + p->opts->nr_bssplit[op], *i;
	double total = 0, left;
	uint32_t fits = 0;

	for (i = s; i < end; i++)
		total += i->percent;
	left = rng_double(&p->size) * total;
	for (i = s; i < end - 1 && left >= i->percent; i++)
		left -= i->percent;
	if (i->bytes <= room)
		return i->bytes;
	for (i = s; i < end; i++)
		if (i->bytes <= room && i->bytes > fits)
			fits = i->bytes;
	return fits ? fits : (uint32_t)room;
}

/* @room: bytes to the region's end, a multiple of the block, not 0. */
static uint32_t next_length(struct pattern *p, enum io_op op, uint64_t room)
{
	uint32_t length;

	if (p->opts->nr_bssplit[op])
		length = split_length(p, op, room);
	else
		length = p->opts->bs[op] < room ? p->opts->bs[op] : room;
	if (length > p->left_bytes)
		length = p->left_bytes - p->left_bytes % p->block_bytes;
	return length;
}

static void note_write(struct pattern *p)
{
	const struct job_opts *o = p->opts;

	p->writes++;
	p->flush_due = (o->fsync && p->writes % o->fsync == 0) ||
		       (o->fdatasync && p->writes % o->fdatasync == 0);
}

static bool is_amount_done(const struct pattern *p)
{
	return p->left_bytes < p->block_bytes || !p->left_ios;
}

bool pattern_finish(struct pattern *p, struct request *r)
{
	if (p->finished)
		return false;
	p->finished = true;
	if (!p->opts->end_fsync || !p->writes)
		return false;
	*r = (struct request){.op = OP_FLUSH, .drain_first = true};
	return true;
}

bool pattern_next(struct pattern *p, struct request *r)
{
	struct track *t;
	uint64_t offset;

	if (p->finished)
		return false;
	/* The flush of end_fsync stands for one that is due then. */
	if (p->flush_due && !(is_amount_done(p) && p->opts->end_fsync)) {
		p->flush_due = false;
		*r = (struct request){.op = OP_FLUSH};
		return true;
	}
	if (is_amount_done(p))
		return pattern_finish(p, r);

	r->op = next_op(p);
	r->drain_first = false;
	t = &p->track[r->op];
	offset = next_offset(p, r->op);
	r->offset_bytes = p->start_bytes + offset;
	r->length_bytes = next_length(p, r->op, p->length_bytes - offset);
	t->end = offset + r->length_bytes;
	t->started = true;
	p->left_bytes -= r->length_bytes;
	p->left_ios--;
	if (p->by_due)
		p->due[r->op] += pace_cost_ns(p->opts, r->op, r->length_bytes);
	if (r->op == OP_WRITE)
		note_write(p);
	return true;
}
