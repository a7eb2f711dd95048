#include "initiator/finding.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

/* A part of what was acknowledged is missing. */
static void describe_older(const struct finding *f, char *what, size_t size)
{
	const struct stamp *s = &f->found.stamp;

	if (f->found.is_torn_inside && f->found.other)
		snprintf(what, size,
			 "the block begins as generation %u and goes on as %u",
			 s->generation, f->found.other);
	else if (f->found.is_torn_inside)
		snprintf(what, size,
			 "a part of the block is generation %u, the rest is "
			 "zeros",
			 s->generation);
	else if (f->found.is_of_other_run)
		snprintf(what, size,
			 "what another run wrote is there, generation %u of "
			 "this one was acknowledged",
			 f->low);
	else
		snprintf(what, size,
			 "generation %u is there, %u was acknowledged",
			 s->generation, f->low);
}

static void describe_what(const struct finding *f, char *what, size_t size)
{
	const struct stamp *s = &f->found.stamp;

	switch (f->kind) {
	case STAMP_LOST:
	case STAMP_STALE:
	case STAMP_TORN:
		describe_older(f, what, size);
		break;
	case STAMP_MISDIRECTED:
		snprintf(what, size,
			 "what was written to LBA %" PRIu64
			 " (generation %u, client %u) is there",
			 s->lba, s->generation, s->client);
		break;
	case STAMP_ROTTEN:
		snprintf(what, size, "generation %u, damaged", s->generation);
		break;
	default:
		if (f->found.has_stamp)
			snprintf(what, size,
				 "a stamp of another run, or of a later time "
				 "than the journal knows, is there");
		else
			snprintf(what, size, "generation %u was acknowledged",
				 f->low);
	}
}

char *finding_describe(const struct finding *f, char *text, size_t size)
{
	char what[200];

	describe_what(f, what, sizeof(what));
	snprintf(text, size,
		 "LBA %" PRIu64 ": %s: %s; first wrong byte %u%s%s%s", f->lba,
		 stamp_kind_name(f->kind), what, f->found.first_wrong,
		 f->is_transient && f->kind != STAMP_STALE
			 ? "; right when read again"
			 : "",
		 f->is_overwritten ? "; written again before a second read"
				   : "",
		 f->has_pair && f->kind == STAMP_MISDIRECTED
			 ? "; it is missing there"
			 : "");
	if (f->has_pair && f->kind != STAMP_MISDIRECTED)
		snprintf(text + strlen(text), size - strlen(text),
			 "; it went to LBA %" PRIu64, f->pair_lba);
	return text;
}

static int save_as(const struct finding *f, const char *folder, const char *end,
		   const void *block, uint32_t block_bytes, char *name,
		   size_t size)
{
	char path[4096];

	snprintf(name, size, "%" PRIu64 "-%s.%s", f->lba,
		 stamp_kind_key(f->kind), end);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return file_write_atomic(path, block, block_bytes, NULL);
}

int finding_save(struct finding *f, const char *folder, uint64_t run,
		 const void *block, uint32_t block_bytes)
{
	struct stamp s = {.run = run,
			  .lba = f->lba,
			  .generation = f->low,
			  .client = f->found.stamp.client};
	char name[sizeof(f->file)];
	void *expected;
	int r;

	r = file_make_dirs(folder, 0777, NULL);
	if (!r)
		r = save_as(f, folder, "found", block, block_bytes, f->file,
			    sizeof(f->file));
	if (r) {
		f->file[0] = '\0';
		return r;
	}
	expected = s.generation ? malloc(block_bytes) : NULL;
	if (!expected)
		return 0;
	stamp_write(expected, block_bytes, &s);
	save_as(f, folder, "expected", expected, block_bytes, name,
		sizeof(name));
	free(expected);
	return 0;
}

void finding_pair(struct finding *a, struct finding *b)
{
	if (a->kind != STAMP_MISDIRECTED ||
	    (b->kind != STAMP_LOST && b->kind != STAMP_TORN) ||
	    a->found.stamp.lba != b->lba || a->found.stamp.generation != b->low)
		return;
	a->has_pair = b->has_pair = true;
	a->pair_lba = b->lba;
	b->pair_lba = a->lba;
}
