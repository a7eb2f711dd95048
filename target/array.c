#include "target/array.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/units.h"
#include "target/crypt.h"
#include "target/md.h"
#include "target/room.h"

#define CALL_NS (120 * NS_PER_SEC)

struct kind {
	const char *name;
	const char *level; /* mdadm's; NULL: no md */
	size_t least, most;
	bool is_redundant; /* md syncs it first, unless told not to */
	bool uses_all;	   /* of members of different size */
	bool has_chunk, has_stripe_cache;
	/* mdadm's names, each in blanks; "copies" for raid10's; "": none */
	const char *layouts;
};

#define PARITY                                                              \
	" left-asymmetric right-asymmetric left-symmetric right-symmetric " \
	"parity-first parity-last la ra ls rs "

/* A new kind: a line here, one in docs/lunbench.1. */
static const struct kind kinds[] = {
	{"single", NULL, 1, 1, false, true, false, false, ""},
	{"jbod", NULL, 1, DISKS_MAX, false, true, false, false, ""},
	{"span", "linear", 2, DISKS_MAX, false, true, false, false, ""},
	{"raid0", "0", 2, DISKS_MAX, false, true, true, false, ""},
	{"raid1", "1", 2, DISKS_MAX, true, false, false, false, ""},
	{"raid5", "5", 3, DISKS_MAX, true, false, true, true, PARITY},
	{"raid6", "6", 4, DISKS_MAX, true, false, true, true, PARITY},
	{"raid10", "10", 2, DISKS_MAX, true, false, true, false, "copies"},
};

enum { NR_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* "raid5+crypt" */
static const struct kind *find_kind(const char *text, bool *crypt)
{
	size_t len = strcspn(text, "+");

	*crypt = !strcmp(text + len, "+crypt");
	if (text[len] && !*crypt)
		return NULL;
	for (size_t i = 0; i < NR_KINDS; i++)
		if (strlen(kinds[i].name) == len &&
		    !strncmp(kinds[i].name, text, len))
			return &kinds[i];
	return NULL;
}

/* --- what is asked --- */

static int unknown_kind(const char *kind, struct err *e)
{
	char names[128] = "";
	size_t n = 0;

	for (size_t i = 0; i < NR_KINDS; i++)
		n += snprintf(names + n, sizeof(names) - n, "%s%s",
			      n ? ", " : "", kinds[i].name);
	return err_set(e, -EINVAL,
		       "\"%s\" is no array; there are: %s, each also as "
		       "KIND+crypt",
		       kind, names);
}

/* raid10's "n2", "f2", "o3": a letter and the copies of each chunk. */
static bool is_copies(const char *layout, size_t nr)
{
	unsigned long copies;
	char *end;

	if (!strchr("nfo", layout[0]) || !isdigit((unsigned char)layout[1]))
		return false;
	copies = strtoul(layout + 1, &end, 10);
	return !*end && copies >= 1 && copies <= nr;
}

static int check_layout(const struct kind *k, const char *layout, size_t nr,
			struct err *e)
{
	char word[64];

	if (!layout[0])
		return 0;
	if (!k->layouts[0])
		return err_set(e, -EINVAL, "%s has no layout", k->name);
	if (!strcmp(k->layouts, "copies")) {
		if (is_copies(layout, nr))
			return 0;
		return err_set(e, -EINVAL,
			       "\"%s\" is no layout of %s over %zu members: "
			       "write n2, f2 or o2, with the number of copies",
			       layout, k->name, nr);
	}
	snprintf(word, sizeof(word), " %s ", layout);
	if (!strchr(layout, ' ') && strstr(k->layouts, word))
		return 0;
	return err_set(e, -EINVAL, "\"%s\" is no layout of %s; there are:%.*s",
		       layout, k->name, (int)strlen(k->layouts) - 1,
		       k->layouts);
}

/* @size_bytes: of the smallest member. */
static int check_chunk(const struct kind *k, const struct array_opts *o,
		       uint64_t size_bytes, struct err *e)
{
	uint64_t chunk = o->chunk_bytes;
	char c[32], m[32];

	if (!chunk)
		return 0;
	if (!k->has_chunk)
		return err_set(e, -EINVAL, "%s has no chunk", k->name);
	if (chunk < 4096 || (chunk & (chunk - 1)))
		return err_set(e, -EINVAL,
			       "a chunk of %llu bytes: it is a power of two "
			       "from 4K on",
			       (unsigned long long)chunk);
	if (chunk <= size_bytes)
		return 0;
	return err_set(e, -EINVAL,
		       "a chunk of %s is larger than a member of %s",
		       units_bytes(c, sizeof(c), chunk),
		       units_bytes(m, sizeof(m), size_bytes));
}

static int check_md_values(const struct kind *k, const struct array_opts *o,
			   struct err *e)
{
	if (o->stripe_cache && !k->has_stripe_cache)
		return err_set(e, -EINVAL, "%s has no stripe cache", k->name);
	if (o->stripe_cache &&
	    (o->stripe_cache < 17 || o->stripe_cache > 32768))
		return err_set(e, -EINVAL,
			       "a stripe cache of %u pages: md takes 17 to "
			       "32768",
			       o->stripe_cache);
	if (o->sync_kib && !k->is_redundant)
		return err_set(e, -EINVAL,
			       "%s has no redundancy: nothing of it is ever "
			       "synced",
			       k->name);
	return 0;
}

int array_check(const struct array_opts *o, struct err *e)
{
	const struct kind *k;
	uint64_t size = 0;
	size_t nr = 0;
	bool crypt;
	int err;

	k = find_kind(o->kind, &crypt);
	if (!k)
		return unknown_kind(o->kind, e);
	if (!o->members[0])
		return err_set(
			e, -EINVAL,
			"%s: say of what with --members, as in 4x256M@hdd",
			o->kind);
	err = disks_parse(o->members, &nr, &size, e);
	if (err)
		return err;
	if (nr < k->least)
		return err_set(e, -EINVAL,
			       "%s needs %zu members or more, \"%s\" gives %zu",
			       k->name, k->least, o->members, nr);
	err = check_layout(k, o->layout, nr, e);
	if (!err)
		err = check_chunk(k, o, size, e);
	return err ? err : check_md_values(k, o, e);
}

/* What mdadm's superblock, its room before the data, and the last, broken chunk
 * take of a member at most (super1.c of mdadm 4.2: a 512th where the member is
 * small, never more than 128 MiB). */
static uint64_t lost_bytes(const struct array_opts *o, uint64_t member)
{
	uint64_t head = member / 512, chunk = o->chunk_bytes;

	if (head > 128 << 20)
		head = 128 << 20;
	return head + (2 << 20) + (chunk ? chunk : 512 << 10);
}

/* Members of @k that hold data, of @nr. */
static double data_members(const struct kind *k, const struct array_opts *o,
			   size_t nr)
{
	int copies = o->layout[0] ? atoi(o->layout + 1) : 2;

	if (!strcmp(k->name, "raid1") || !strcmp(k->name, "jbod") || nr == 1)
		return 1;
	if (!strcmp(k->name, "raid5"))
		return nr - 1;
	if (!strcmp(k->name, "raid6"))
		return nr - 2;
	if (!strcmp(k->name, "raid10"))
		return (double)nr / (copies > 0 ? copies : 2);
	return strcmp(k->name, "single") ? nr : 1;
}

uint64_t array_least_bytes(const struct array_opts *o)
{
	const uint64_t luks = 16 << 20, whole = 4 << 20;
	uint64_t size = 0, lost, bytes;
	const struct kind *k;
	size_t nr = 0;
	bool crypt;

	if (array_check(o, NULL) || disks_parse(o->members, &nr, &size, NULL) ||
	    size == UINT64_MAX)
		return 0;
	k = find_kind(o->kind, &crypt);
	lost = k->level ? lost_bytes(o, size) : 0;
	if (size <= lost)
		return 0;
	bytes = (uint64_t)((size - lost) * data_members(k, o, nr));
	if (crypt)
		bytes = bytes > luks ? bytes - luks : 0;
	return bytes - bytes % whole;
}

int array_check_member(const struct array_opts *o, const char *member,
		       struct err *e)
{
	const struct kind *k;
	uint64_t n = 0, size;
	size_t nr = 0;
	bool crypt;
	int err;

	k = find_kind(o->kind, &crypt);
	if (!k || !k->is_redundant)
		return err_set(e, -EINVAL,
			       "no member of %s can fail: it has no redundancy",
			       k ? k->name : "an image");
	err = disks_parse(o->members, &nr, &size, e);
	if (err)
		return err;
	if (member[0] == '/' || !units_parse_uint(member, 0, nr - 1, &n, NULL))
		return 0;
	return err_set(e, -EINVAL,
		       "\"%s\" is no member of \"%s\": give a number from 0 to "
		       "%zu, or a device",
		       member, o->members, nr - 1);
}

/* --- what the disks say --- */

static uint64_t smallest(const struct disks *d)
{
	uint64_t size = d->disk[0].size_bytes;

	for (size_t i = 1; i < d->nr; i++)
		if (d->disk[i].size_bytes < size)
			size = d->disk[i].size_bytes;
	return size;
}

/* What mdadm does with members of different size, said. */
static void note_sizes(struct array *a, const struct kind *k,
		       const struct disks *d)
{
	uint64_t least = smallest(d), unused = 0;
	char each[32], lost[32];

	for (size_t i = 0; i < d->nr; i++)
		unused += d->disk[i].size_bytes - least;
	if (!unused || !k->level || !strcmp(k->level, "linear"))
		return;
	units_bytes(each, sizeof(each), least);
	units_bytes(lost, sizeof(lost), unused);
	if (k->uses_all)
		snprintf(a->note, sizeof(a->note),
			 "members of different size: the last %s of %s lie on "
			 "fewer of them, and are slower",
			 lost, k->name);
	else
		snprintf(a->note, sizeof(a->note),
			 "members of different size: %s takes %s of each, %s "
			 "are not used",
			 k->name, each, lost);
}

static int check_stripe_cache(const struct array_opts *o, const struct disks *d,
			      struct err *e)
{
	uint64_t need = (uint64_t)o->stripe_cache * d->nr * 4096;
	uint64_t memory = room_memory();
	char a[32], b[32];

	if (need <= memory)
		return 0;
	return err_set(e, -ENOMEM,
		       "a stripe cache of %u pages for %zu members takes %s of "
		       "memory, and there are %s",
		       o->stripe_cache, d->nr, units_bytes(a, sizeof(a), need),
		       units_bytes(b, sizeof(b), memory));
}

/* --- all of it --- */

static int make_md(struct array *a, const struct kind *k,
		   const struct array_opts *o, const struct disks *d,
		   const struct state *s, struct journal *j, uint64_t *end_ns,
		   struct err *e)
{
	const struct md_opts md = {
		.level = k->level,
		.is_redundant = k->is_redundant,
		.chunk_bytes = o->chunk_bytes,
		.layout = o->layout,
		.stripe_cache = o->stripe_cache,
		.sync_kib = o->sync_kib,
		.on_sync = o->on_sync,
		.user = o->on_sync_user,
	};
	int err = check_chunk(k, o, smallest(d), e);

	if (!err)
		err = check_stripe_cache(o, d, e);
	if (err)
		return err;
	a->nr_luns = 1;
	return md_make(&a->lun[0], &md, d, s, j, end_ns, e);
}

int array_prepare(struct array *a, const struct array_opts *o, bool overwrite,
		  const struct state *s, struct journal *j, uint64_t *end_ns,
		  struct err *e)
{
	const struct kind *k;
	struct disks d;
	bool crypt;
	int err = array_check(o, e);

	memset(a, 0, sizeof(*a));
	if (err)
		return err;
	k = find_kind(o->kind, &crypt);
	if (k->level)
		err = md_load(e);
	if (!err && crypt)
		err = crypt_check(e);
	if (!err)
		err = disks_prepare(&d, o->members, k->most, overwrite, s, j,
				    *end_ns, e);
	if (err)
		return err;
	note_sizes(a, k, &d);
	if (k->level) {
		err = make_md(a, k, o, &d, s, j, end_ns, e);
	} else {
		a->nr_luns = d.nr;
		memcpy(a->lun, d.disk, sizeof(a->lun));
	}
	for (size_t i = 0; i < a->nr_luns && crypt && !err; i++)
		err = crypt_make(&a->lun[i], i, s, j, e);
	return err;
}

/* What we wrote on devices that are not ours. */
static int wipe(const char *device, struct err *e)
{
	const char *argv[] = {"wipefs", "--all", "--quiet", device, NULL};

	return access(device, F_OK) ? 0
				    : child_check(argv, NULL, CALL_NS, NULL, e);
}

int array_remove(const struct journal_text *t, struct err *e)
{
	const char *value;
	int err = 0;

	for (size_t n = 0; !err && (value = journal_get_nth(t, "crypt", n));
	     n++)
		err = crypt_close(value, e);
	for (size_t n = 0; !err && (value = journal_get_nth(t, "md", n)); n++)
		err = md_stop(value, e);
	for (size_t n = 0; !err && (value = journal_get_nth(t, "wipe", n)); n++)
		err = wipe(value, e);
	return err ? err : disks_remove(t, e);
}
