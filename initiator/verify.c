#include "initiator/verify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In verify_io.lows: a write or trim was under way, or a trim had been, when
 * the read was sent. */
#define UNSURE 0x80000000u

enum { TRIES_MAX = 8, NOTES_MAX = 10, SAVED_MAX = 100 };

struct pending { /* a block that was wrong once */
	struct pending *next;
	struct finding f;
	bool has_raced;
	unsigned int tries;
	uint8_t *block; /* as it was found; behind this */
};

struct verify {
	struct verify_setup setup;
	uint64_t run;
	uint32_t block_bytes;
	uint64_t nr_writes;
	struct verify_totals totals;
	struct finding *findings; /* owned; setup.keep */
	size_t nr_findings;
	unsigned int nr_notes;
	bool has_note;
	char note[320];
};

int verify_new(struct verify **out, const struct verify_setup *s, struct err *e)
{
	struct verify *v = calloc(1, sizeof(*v));

	if (!v)
		return err_set(e, -ENOMEM, "no memory to verify");
	v->setup = *s;
	v->run = genmap_shape(s->map)->run;
	v->block_bytes = genmap_shape(s->map)->block_bytes;
	v->findings = calloc(s->keep + 1, sizeof(*v->findings));
	if (!v->findings) {
		verify_free(v);
		return err_set(e, -ENOMEM, "no memory for %zu findings",
			       s->keep);
	}
	*out = v;
	return 0;
}

void verify_free(struct verify *v)
{
	if (!v)
		return;
	free(v->findings);
	free(v);
}

static bool is_covered(const struct verify *v, const struct io *io)
{
	return io->length_bytes &&
	       genmap_covers(v->setup.map, io->offset_bytes / v->block_bytes,
			     io->length_bytes / v->block_bytes);
}

bool verify_may_send(const struct verify *v, enum io_op op,
		     uint64_t offset_bytes, uint32_t length_bytes)
{
	uint64_t lba = offset_bytes / v->block_bytes;
	uint64_t blocks = length_bytes / v->block_bytes;

	return (op != OP_WRITE && op != OP_TRIM) ||
	       !genmap_covers(v->setup.map, lba, blocks) ||
	       genmap_is_free(v->setup.map, lba, blocks);
}

/* --- before --- */

static void begin_write(struct verify *v, struct verify_io *vio, struct io *io)
{
	uint64_t lba = io->offset_bytes / v->block_bytes;
	uint64_t blocks = io->length_bytes / v->block_bytes, i;
	struct stamp s = {.run = v->run, .client = vio->client};

	vio->generation =
		genmap_begin(v->setup.map, lba, blocks, io->op == OP_TRIM);
	if (io->op == OP_TRIM) {
		v->totals.trims++;
		return;
	}
	v->totals.writes++;
	s.generation = vio->generation;
	for (i = 0; i < blocks; i++) {
		s.lba = lba + i;
		stamp_write((uint8_t *)io->buf + i * v->block_bytes,
			    v->block_bytes, &s);
	}
	io->fua =
		v->setup.fua_every && ++v->nr_writes % v->setup.fua_every == 0;
	v->totals.fua_writes += io->fua;
}

static void begin_read(const struct verify *v, struct verify_io *vio,
		       const struct io *io)
{
	uint64_t lba = io->offset_bytes / v->block_bytes;
	uint32_t blocks = io->length_bytes / v->block_bytes, i;
	struct genmap_block b;

	for (i = 0; i < blocks; i++) {
		b = genmap_get(v->setup.map, lba + i);
		vio->lows[i] =
			b.low | (b.is_busy || b.may_be_trimmed ? UNSURE : 0);
	}
}

void verify_begin(struct verify *v, struct verify_io *vio, struct io *io)
{
	vio->generation = 0;
	vio->is_second = false;
	vio->offset_bytes = io->offset_bytes;
	vio->length_bytes = io->length_bytes;
	io->fua = false;
	if (!is_covered(v, io))
		return;
	if (io->op == OP_READ) {
		v->totals.reads++;
		begin_read(v, vio, io);
	} else {
		begin_write(v, vio, io);
	}
}

/* --- findings --- */

static void save(struct verify *v, const struct pending *p, struct finding *f)
{
	if (!v->setup.folder || v->totals.nr_saved == SAVED_MAX)
		return;
	if (!finding_save(f, v->setup.folder, v->run, p->block, v->block_bytes))
		v->totals.nr_saved++;
}

/* It counts. */
static void settle(struct verify *v, struct pending *p)
{
	struct finding *f = &p->f;
	struct genmap_block b = genmap_get(v->setup.map, f->lba);

	v->totals.blocks[f->kind]++;
	if (!f->is_transient && b.low == f->low && b.high == f->high)
		genmap_mark_bad(v->setup.map, f->lba);
	save(v, p, f);
	if (v->nr_findings < v->setup.keep)
		v->findings[v->nr_findings++] = *f;
	if (v->nr_notes++ >= NOTES_MAX)
		return;
	finding_describe(f, v->note, sizeof(v->note));
	if (v->nr_notes == NOTES_MAX)
		snprintf(v->note + strlen(v->note),
			 sizeof(v->note) - strlen(v->note),
			 " (more are counted, not told here)");
	v->has_note = true;
}

const char *verify_take_note(struct verify *v)
{
	if (!v->has_note)
		return NULL;
	v->has_note = false;
	return v->note;
}

/* --- reads --- */

/* How block @i of the read that is done looks. True: a write met it. */
static bool look(const struct verify *v, const struct verify_io *vio,
		 const struct io *io, uint32_t i, struct stamp_found *found,
		 struct genmap_block *b)
{
	uint64_t lba = io->offset_bytes / v->block_bytes + i;
	struct stamp_want want = {.run = v->run, .lba = lba};

	*b = genmap_get(v->setup.map, lba);
	want.low = vio->lows[i] & ~UNSURE;
	want.high = b->high;
	want.may_be_trimmed = b->may_be_trimmed;
	stamp_classify(found, &want,
		       (uint8_t *)io->buf + (size_t)i * v->block_bytes,
		       v->block_bytes);
	return (vio->lows[i] & UNSURE) || b->is_busy || b->low != want.low;
}

static void add_pending(struct verify *v, struct verify_io *vio,
			const struct pending *p, const void *block)
{
	struct pending *copy = malloc(sizeof(*copy) + v->block_bytes);

	if (!copy) { /* it still counts */
		v->totals.blocks[p->f.kind]++;
		return;
	}
	*copy = *p;
	copy->block = (uint8_t *)(copy + 1);
	memcpy(copy->block, block, v->block_bytes);
	copy->next = vio->pending;
	vio->pending = copy;
}

static void take_first(struct verify *v, struct verify_io *vio,
		       const struct io *io)
{
	uint32_t blocks = io->length_bytes / v->block_bytes, i;
	uint64_t lba = io->offset_bytes / v->block_bytes;
	struct genmap_block b;

	/* Backwards, so that the list is in order. */
	for (i = blocks; i-- > 0;) {
		struct pending p = {.f = {.lba = lba + i}};

		p.has_raced = look(v, vio, io, i, &p.f.found, &b);
		p.f.kind = p.f.found.kind;
		if (!stamp_is_broken(p.f.kind)) {
			v->totals.blocks[p.f.kind]++;
		} else if (b.is_bad) {
			v->totals.seen_again++;
		} else {
			p.f.low = vio->lows[i] & ~UNSURE;
			p.f.high = b.high;
			add_pending(v, vio, &p,
				    (uint8_t *)io->buf +
					    (size_t)i * v->block_bytes);
		}
	}
}

/* A block of the command whose write @f lost: is the write there? */
static bool has_neighbour(const struct verify *v, const struct verify_io *vio,
			  const struct io *io, const struct finding *f)
{
	uint32_t blocks = io->length_bytes / v->block_bytes, i;
	struct stamp_found found;
	struct genmap_block b;

	for (i = 0; i < blocks; i++) {
		look(v, vio, io, i, &found, &b);
		if (found.kind == STAMP_OK && b.low == f->low &&
		    found.stamp.generation == f->low)
			return true;
	}
	return false;
}

enum outcome { IS_SETTLED, IS_DROPPED, WANTS_ANOTHER };

/* What the second read says of @p. */
static enum outcome judge(struct verify *v, const struct verify_io *vio,
			  const struct io *io, struct pending *p)
{
	uint32_t i = p->f.lba - io->offset_bytes / v->block_bytes;
	struct stamp_found again;
	struct genmap_block b;
	bool has_raced = look(v, vio, io, i, &again, &b);

	if (!stamp_is_broken(again.kind)) {
		if (p->has_raced)
			return IS_DROPPED;
		if (b.low != p->f.low || b.high != p->f.high)
			p->f.is_overwritten = true;
		else
			p->f.is_transient = true;
		if (p->f.is_transient && p->f.kind == STAMP_LOST)
			p->f.kind = STAMP_STALE;
		return IS_SETTLED;
	}
	if (p->has_raced && has_raced)
		return ++p->tries < TRIES_MAX ? WANTS_ANOTHER : IS_DROPPED;
	if (p->has_raced) { /* no excuse any more */
		p->f.found = again;
		p->f.kind = again.kind;
		p->f.low = b.low;
		p->f.high = b.high;
		memcpy(p->block,
		       (uint8_t *)io->buf + (size_t)i * v->block_bytes,
		       v->block_bytes);
	}
	if (p->f.kind == STAMP_LOST && has_neighbour(v, vio, io, &p->f))
		p->f.kind = STAMP_TORN;
	return IS_SETTLED;
}

static void take_second(struct verify *v, struct verify_io *vio,
			const struct io *io)
{
	uint64_t first = io->offset_bytes / v->block_bytes;
	uint64_t end = first + io->length_bytes / v->block_bytes;
	struct pending **link = &vio->pending, *p;
	enum outcome o;

	while ((p = *link)) {
		if (p->f.lba < first || p->f.lba >= end) {
			link = &p->next;
			continue;
		}
		o = judge(v, vio, io, p);
		if (o == WANTS_ANOTHER) {
			link = &p->next;
			continue;
		}
		if (o == IS_SETTLED)
			settle(v, p);
		else
			v->totals.raced++;
		*link = p->next;
		free(p);
	}
}

/* From the first to the last block of the command that @f lacks, as far as they
 * were not written over (there may be others between them) and fit the buffer.
 */
static void find_command(const struct verify *v, const struct verify_io *vio,
			 const struct finding *f, uint64_t *first,
			 uint64_t *end)
{
	const struct genmap *m = v->setup.map;
	const struct genmap_shape *s = genmap_shape(m);
	uint64_t most = vio->max_blocks, low = f->lba, high = f->lba + 1, lba;

	for (lba = f->lba; lba > s->first_lba && f->lba - lba + 1 < most;)
		if (genmap_get(m, --lba).low == f->low)
			low = lba;
	for (lba = f->lba + 1; lba < s->first_lba + s->blocks; lba++) {
		if (lba - low >= most)
			break;
		if (genmap_get(m, lba).low == f->low)
			high = lba + 1;
	}
	*first = low;
	*end = high;
}

static bool ask_again(struct verify *v, struct verify_io *vio, struct io *io)
{
	uint64_t first, end;

	if (!vio->pending) {
		io->offset_bytes = vio->offset_bytes;
		io->length_bytes = vio->length_bytes;
		return false;
	}
	find_command(v, vio, &vio->pending->f, &first, &end);
	io->offset_bytes = first * v->block_bytes;
	io->length_bytes = (end - first) * v->block_bytes;
	vio->is_second = true;
	v->totals.second_reads++;
	begin_read(v, vio, io);
	return true;
}

bool verify_end(struct verify *v, struct verify_io *vio, struct io *io)
{
	if (!is_covered(v, io))
		return false;
	if (io->op == OP_READ) {
		if (vio->is_second)
			take_second(v, vio, io);
		else
			take_first(v, vio, io);
		return ask_again(v, vio, io);
	}
	if (vio->generation)
		genmap_end(v->setup.map, io->offset_bytes / v->block_bytes,
			   io->length_bytes / v->block_bytes, vio->generation,
			   io->op == OP_TRIM, true);
	vio->generation = 0;
	return false;
}

/* Of a second read: what it was to tell stays as it was seen first. */
void verify_failed(struct verify *v, struct verify_io *vio, struct io *io)
{
	struct pending *p;

	while ((p = vio->pending)) {
		vio->pending = p->next;
		if (!p->has_raced)
			settle(v, p);
		free(p);
	}
	if (vio->generation) {
		genmap_end(v->setup.map, io->offset_bytes / v->block_bytes,
			   io->length_bytes / v->block_bytes, vio->generation,
			   io->op == OP_TRIM, false);
		v->totals.failed_writes++;
	}
	vio->generation = 0;
	io->offset_bytes = vio->offset_bytes;
	io->length_bytes = vio->length_bytes;
}

/* --- totals --- */

void verify_totals(const struct verify *v, struct verify_totals *t)
{
	*t = v->totals;
}

uint64_t verify_broken(const struct verify_totals *t)
{
	uint64_t n = 0;
	int k;

	for (k = 0; k < STAMP_KINDS; k++)
		if (stamp_is_broken(k))
			n += t->blocks[k];
	return n;
}

const struct finding *verify_findings(struct verify *v, size_t *nr)
{
	size_t i, j;

	for (i = 0; i < v->nr_findings; i++)
		for (j = 0; j < v->nr_findings; j++)
			finding_pair(&v->findings[i], &v->findings[j]);
	*nr = v->nr_findings;
	return v->findings;
}
