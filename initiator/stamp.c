#include "initiator/stamp.h"

#include <endian.h>
#include <string.h>

#include "base/crc32c.h"

enum {
	AT_MAGIC = 0,
	AT_RUN = 8,
	AT_LBA = 16,
	AT_GENERATION = 24,
	AT_CLIENT = 28,
	AT_CHECKSUM = 32,
	AT_LENGTH = 36,
	WORD = 8,
};

static const char magic[8] = {'l', 'u', 'n', 's', 't', 'a', 'm', 'p'};

/* --- names --- */

static const struct {
	const char *name, *key, *promise;
} names[STAMP_KINDS] = {
	[STAMP_OK] = {"right", "ok", ""},
	[STAMP_UNWRITTEN] = {"not written", "unwritten", ""},
	[STAMP_TRIMMED] = {"trimmed", "trimmed", ""},
	[STAMP_ROTTEN] = {"bit rot", "bit_rot",
			  "what is read is what was written, bit for bit"},
	[STAMP_LOST] = {"lost write", "lost_write",
			"a write that was acknowledged has happened"},
	[STAMP_STALE] = {"stale read", "stale_read",
			 "a read gives what was acknowledged before it"},
	[STAMP_MISDIRECTED] = {"misdirected write", "misdirected_write",
			       "a write changes its own blocks and no others"},
	[STAMP_TORN] = {"torn write", "torn_write",
			"a write that was acknowledged has happened as a "
			"whole"},
	[STAMP_ZEROED] = {"zeroed", "zeroed",
			  "a block that was written does not become zeros"},
	[STAMP_FOREIGN] = {"foreign data", "foreign_data",
			   "a block holds only what was written to it"},
};

const char *stamp_kind_name(enum stamp_kind k)
{
	return names[k].name;
}

const char *stamp_kind_key(enum stamp_kind k)
{
	return names[k].key;
}

const char *stamp_kind_promise(enum stamp_kind k)
{
	return names[k].promise;
}

/* --- bytes --- */

static uint64_t get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

static uint32_t get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static void put64(uint8_t *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof(v));
}

static void put32(uint8_t *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof(v));
}

/*
 * Words: mix(key + place), with mix() a permutation of 64 bits (the last steps
 * of splitmix64) and key = base(run, LBA) + generation. So a word, its place
 * and its LBA give the generation back.
 */
#define MIX_1 0xbf58476d1ce4e5b9ULL
#define MIX_2 0x94d049bb133111ebULL
/* Their inverses modulo 2^64. */
#define UNMIX_1 0x96de1b173f119089ULL
#define UNMIX_2 0x319642b2d24d8ec3ULL
#define PLACE_STEP 0x9e3779b97f4a7c15ULL
#define LBA_STEP 0xd1342543de82ef95ULL

static uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * MIX_1;
	z = (z ^ z >> 27) * MIX_2;
	return z ^ z >> 31;
}

static uint64_t unmix(uint64_t z)
{
	z = (z ^ z >> 31 ^ z >> 62) * UNMIX_2;
	z = (z ^ z >> 27 ^ z >> 54) * UNMIX_1;
	return z ^ z >> 30 ^ z >> 60;
}

static uint64_t base_of(uint64_t run, uint64_t lba)
{
	return mix(run) + lba * LBA_STEP;
}

static uint32_t checksum(const uint8_t *block, uint32_t block_bytes)
{
	static const uint8_t none[4];
	uint32_t crc = crc32c(block, AT_CHECKSUM);

	crc = crc32c_more(crc, none, sizeof(none));
	return crc32c_more(crc, block + AT_LENGTH, block_bytes - AT_LENGTH);
}

void stamp_write(void *block, uint32_t block_bytes, const struct stamp *s)
{
	uint64_t key = base_of(s->run, s->lba) + s->generation;
	uint8_t *p = block;
	uint32_t at;

	memcpy(p + AT_MAGIC, magic, sizeof(magic));
	put64(p + AT_RUN, s->run);
	put64(p + AT_LBA, s->lba);
	put32(p + AT_GENERATION, s->generation);
	put32(p + AT_CLIENT, s->client);
	put32(p + AT_LENGTH, block_bytes);
	for (at = STAMP_HEADER_BYTES; at + WORD <= block_bytes; at += WORD)
		put64(p + at, mix(key + at * PLACE_STEP));
	put32(p + AT_CHECKSUM, checksum(p, block_bytes));
}

/* --- classifying --- */

static bool read_stamp(struct stamp *s, const uint8_t *p)
{
	s->run = get64(p + AT_RUN);
	s->lba = get64(p + AT_LBA);
	s->generation = get32(p + AT_GENERATION);
	s->client = get32(p + AT_CLIENT);
	return memcmp(p + AT_MAGIC, magic, sizeof(magic)) == 0;
}

static bool is_zero(const uint8_t *p, uint32_t n)
{
	return !p[0] && memcmp(p, p + 1, n - 1) == 0;
}

/* The first byte that is not as the block of @s, but for the client, which
 * nobody can know, and the checksum over it. */
static uint32_t first_difference(const uint8_t *p, uint32_t block_bytes,
				 const struct stamp *s)
{
	uint64_t key = base_of(s->run, s->lba) + s->generation;
	uint8_t word[WORD], head[STAMP_HEADER_BYTES];
	uint32_t at, i;

	memcpy(head, p, sizeof(head));
	memcpy(head + AT_MAGIC, magic, sizeof(magic));
	put64(head + AT_RUN, s->run);
	put64(head + AT_LBA, s->lba);
	put32(head + AT_GENERATION, s->generation);
	put32(head + AT_LENGTH, block_bytes);
	for (i = 0; i < sizeof(head); i++)
		if (p[i] != head[i])
			return i;
	for (at = STAMP_HEADER_BYTES; at + WORD <= block_bytes; at += WORD) {
		put64(word, mix(key + at * PLACE_STEP));
		for (i = 0; i < WORD; i++)
			if (p[at + i] != word[i])
				return at + i;
	}
	return block_bytes;
}

/* Is the header that of a whole block of its generation? Then the rest was cut
 * off behind it, and no bit flipped in it. */
static bool is_header_of_another(const struct stamp *s, const uint8_t *p,
				 uint32_t block_bytes)
{
	uint64_t key = base_of(s->run, s->lba) + s->generation;
	uint8_t head[STAMP_HEADER_BYTES], word[WORD];
	uint32_t crc, at;

	memcpy(head, p, sizeof(head));
	put32(head + AT_CHECKSUM, 0);
	crc = crc32c(head, sizeof(head));
	for (at = STAMP_HEADER_BYTES; at + WORD <= block_bytes; at += WORD) {
		put64(word, mix(key + at * PLACE_STEP));
		crc = crc32c_more(crc, word, sizeof(word));
	}
	return crc == get32(p + AT_CHECKSUM);
}

/* Of what generations the words of a damaged block are. */
struct words {
	uint32_t first, last; /* generations of the first and last word
				 that is of any; 0 none */
	uint32_t nr_of_any, nr_zero, nr_other;
	uint32_t nr_first;	       /* words of @first */
	uint32_t nr_changes;	       /* where the generation changes */
	uint32_t zero_tail, zero_head; /* words of zeros at the ends */
};

static void look_at_words(struct words *w, const struct stamp_want *want,
			  const uint8_t *p, uint32_t block_bytes)
{
	uint64_t base = base_of(want->run, want->lba), g, word;
	bool is_head = true;
	uint32_t at;

	memset(w, 0, sizeof(*w));
	for (at = STAMP_HEADER_BYTES; at + WORD <= block_bytes; at += WORD) {
		word = get64(p + at);
		w->zero_tail = word ? 0 : w->zero_tail + 1;
		is_head = is_head && !word;
		w->zero_head += is_head;
		g = unmix(word) - at * PLACE_STEP - base;
		if (g && g <= want->high) {
			if (!w->nr_of_any)
				w->first = g;
			else if (g != w->last)
				w->nr_changes++;
			w->last = g;
			w->nr_of_any++;
			w->nr_first += g == w->first;
		} else if (!word) {
			w->nr_zero++;
		} else {
			w->nr_other++;
		}
	}
}

/* No whole stamp is there. */
static void classify_damaged(struct stamp_found *f,
			     const struct stamp_want *want, const uint8_t *p,
			     uint32_t block_bytes)
{
	struct stamp own = {.run = want->run, .lba = want->lba};
	uint32_t header_generation = f->stamp.generation;
	bool has_header = f->stamp.run == want->run &&
			  f->stamp.lba == want->lba && header_generation &&
			  header_generation <= want->high;
	struct words w;

	look_at_words(&w, want, p, block_bytes);
	own.generation = w.nr_of_any ? w.first : header_generation;
	if (!w.nr_of_any && !has_header) {
		f->kind = STAMP_FOREIGN;
		return;
	}
	f->kind = STAMP_ROTTEN;
	if (w.nr_changes == 1 && !w.nr_other && !w.nr_zero) {
		f->kind = STAMP_TORN;
		f->other = w.last;
	} else if (!w.nr_changes && !w.nr_other && w.nr_zero &&
		   w.nr_zero == w.zero_tail + w.zero_head &&
		   (!w.zero_tail || !w.zero_head)) {
		f->kind = STAMP_TORN;
	} else if (!w.nr_changes && !w.nr_other && !w.nr_zero && has_header &&
		   header_generation != w.first &&
		   is_header_of_another(&f->stamp, p, block_bytes)) {
		/* cut behind the header */
		f->kind = STAMP_TORN;
		f->other = w.first;
		own.generation = header_generation;
	}
	f->is_torn_inside = f->kind == STAMP_TORN;
	f->stamp.generation = own.generation;
	f->first_wrong = first_difference(p, block_bytes, &own);
	if (f->first_wrong == block_bytes) /* what nobody can know */
		f->first_wrong = AT_CLIENT;
}

static void classify_whole(struct stamp_found *f, const struct stamp_want *want)
{
	const struct stamp *s = &f->stamp;

	f->is_of_other_run = s->run != want->run;
	if (f->is_of_other_run && s->lba == want->lba)
		f->kind = STAMP_LOST; /* what an earlier run wrote is there */
	else if (f->is_of_other_run || !s->generation)
		f->kind = STAMP_FOREIGN;
	else if (s->lba != want->lba)
		f->kind = STAMP_MISDIRECTED;
	else if (s->generation > want->high)
		f->kind = STAMP_FOREIGN; /* the journal is older than the LUN */
	else if (s->generation < want->low)
		f->kind = STAMP_LOST;
	else
		f->kind = STAMP_OK;
}

void stamp_classify(struct stamp_found *f, const struct stamp_want *want,
		    const void *block, uint32_t block_bytes)
{
	struct stamp right = {
		.run = want->run, .lba = want->lba, .generation = want->high};
	const uint8_t *p = block;
	bool has_magic;

	memset(f, 0, sizeof(*f));
	has_magic = read_stamp(&f->stamp, p);
	f->has_stamp = has_magic && get32(p + AT_LENGTH) == block_bytes &&
		       get32(p + AT_CHECKSUM) == checksum(p, block_bytes);
	f->first_wrong = block_bytes;
	if (f->has_stamp)
		classify_whole(f, want);
	else if (is_zero(p, block_bytes))
		f->kind = STAMP_ZEROED;
	if (f->kind != STAMP_OK || !f->has_stamp)
		f->first_wrong = first_difference(p, block_bytes, &right);
	if (!f->has_stamp && f->kind != STAMP_ZEROED)
		classify_damaged(f, want, p, block_bytes);
	/* Where nothing was promised, only what cannot have been there before
	 * is wrong: a block that this run meant for another LBA. */
	if (f->kind == STAMP_OK || f->kind == STAMP_MISDIRECTED)
		return;
	if (want->may_be_trimmed)
		f->kind = STAMP_TRIMMED;
	else if (!want->low &&
		 (f->kind == STAMP_ZEROED || f->kind == STAMP_FOREIGN ||
		  f->kind == STAMP_LOST))
		f->kind = STAMP_UNWRITTEN;
}
