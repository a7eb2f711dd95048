#include "initiator/genmap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "lunbench map 1\n"
/* In the file's own byte order: it is not for another machine. */
#define HEADER_BYTES 4096u
#define TRIM_BIT 0x80000000u
#define GENERATION_MAX 0x7fffffffu

enum flag { FLAG_BUSY = 1, FLAG_BAD = 2 };

struct header {
	char magic[16];
	struct genmap_shape shape;
	uint32_t last; /* generation that was given out */
};

struct entry {
	uint32_t low;
	uint32_t high; /* and TRIM_BIT: a trim is among what may be there */
};

struct genmap {
	int fd;	   /* owned; -1: in memory */
	void *map; /* owned; mapped, or without a file from calloc() */
	size_t map_bytes;
	struct header *header; /* in map */
	struct entry *entries; /* in map */
	uint8_t *flags;	       /* owned */
};

_Static_assert(sizeof(struct header) <= HEADER_BYTES, "the header grew");

uint64_t genmap_bytes(uint64_t blocks)
{
	return HEADER_BYTES + blocks * sizeof(struct entry);
}

void genmap_close(struct genmap *m)
{
	if (!m)
		return;
	free(m->flags);
	if (m->fd < 0)
		free(m->map);
	else if (m->map)
		munmap(m->map, m->map_bytes);
	if (m->fd >= 0)
		close(m->fd);
	free(m);
}

/* Maps the file (or memory), then makes what is only in memory. */
static int map_all(struct genmap *m, uint64_t blocks, struct err *e)
{
	m->map_bytes = genmap_bytes(blocks);
	if (m->fd >= 0)
		m->map = mmap(NULL, m->map_bytes, PROT_READ | PROT_WRITE,
			      MAP_SHARED, m->fd, 0);
	else
		m->map = calloc(1, m->map_bytes);
	if (m->map == MAP_FAILED)
		m->map = NULL;
	if (!m->map)
		return err_set(e, -ENOMEM,
			       "no memory for a map of %llu blocks; give a "
			       "smaller --size",
			       (unsigned long long)blocks);
	m->header = m->map;
	m->entries = (void *)((char *)m->map + HEADER_BYTES);
	m->flags = calloc(blocks, sizeof(*m->flags));
	if (!m->flags)
		return err_set(e, -ENOMEM,
			       "no memory for a map of %llu blocks; give a "
			       "smaller --size",
			       (unsigned long long)blocks);
	return 0;
}

static int take_lock(struct genmap *m, const char *path, struct err *e)
{
	if (!flock(m->fd, LOCK_EX | LOCK_NB))
		return 0;
	return err_set(e, -EBUSY,
		       "journal \"%s\": another lunbench writes it; wait for "
		       "its end",
		       path);
}

/* posix_fallocate: a full disk later would be a SIGBUS. */
static int make_file(struct genmap *m, const char *path, bool replace,
		     uint64_t bytes, struct err *e)
{
	int flags = O_RDWR | O_CREAT | O_CLOEXEC, code;

	m->fd = open(path, replace ? flags : flags | O_EXCL, 0666);
	if (m->fd < 0) {
		code = -errno;
		return err_set(e, code,
			       "cannot make the journal \"%s\": %s; name "
			       "another with --journal",
			       path, strerror(-code));
	}
	code = take_lock(m, path, e);
	if (code)
		return code;
	if (ftruncate(m->fd, 0))
		code = -errno;
	if (!code)
		code = -posix_fallocate(m->fd, 0, bytes);
	if (code)
		err_set(e, code,
			"the journal \"%s\" needs %llu MiB: %s; name another "
			"place with --journal, or give a smaller --size",
			path, (unsigned long long)(bytes >> 20),
			strerror(-code));
	return code;
}

int genmap_create(struct genmap **out, const char *path, bool replace,
		  const struct genmap_shape *shape, struct err *e)
{
	struct genmap *m = calloc(1, sizeof(*m));
	int code = 0;

	if (!m)
		return err_set(e, -ENOMEM, "no memory for a map");
	m->fd = -1;
	if (path)
		code = make_file(m, path, replace, genmap_bytes(shape->blocks),
				 e);
	if (!code)
		code = map_all(m, shape->blocks, e);
	if (code) {
		genmap_close(m);
		return code;
	}
	m->header->shape = *shape;
	memcpy(m->header->magic, MAGIC, sizeof(MAGIC));
	*out = m;
	return 0;
}

static bool is_whole(const struct header *h, uint64_t file_bytes)
{
	const struct genmap_shape *s = &h->shape;

	return memcmp(h->magic, MAGIC, sizeof(MAGIC)) == 0 && s->blocks &&
	       s->blocks < UINT64_MAX / 16 && s->block_bytes >= 512 &&
	       file_bytes == genmap_bytes(s->blocks) &&
	       s->lun_blocks >= s->blocks &&
	       s->first_lba <= s->lun_blocks - s->blocks &&
	       memchr(s->identity, '\0', sizeof(s->identity));
}

static int open_file(struct genmap *m, const char *path, uint64_t *blocks,
		     struct err *e)
{
	struct header h;
	struct stat st;
	int code;

	m->fd = open(path, O_RDWR | O_CLOEXEC);
	if (m->fd < 0) {
		code = -errno;
		return err_set(e, code, "cannot open the journal \"%s\": %s",
			       path, strerror(-code));
	}
	code = take_lock(m, path, e);
	if (code)
		return code;
	if (fstat(m->fd, &st) ||
	    pread(m->fd, &h, sizeof(h), 0) != (ssize_t)sizeof(h) ||
	    !is_whole(&h, st.st_size))
		return err_set(e, -EINVAL,
			       "\"%s\" is no journal of lunbench check, or is "
			       "cut off",
			       path);
	*blocks = h.shape.blocks;
	return 0;
}

int genmap_open(struct genmap **out, const char *path, struct err *e)
{
	struct genmap *m = calloc(1, sizeof(*m));
	uint64_t blocks;
	int code;

	if (!m)
		return err_set(e, -ENOMEM, "no memory for a map");
	m->fd = -1;
	code = open_file(m, path, &blocks, e);
	if (!code)
		code = map_all(m, blocks, e);
	if (code) {
		genmap_close(m);
		return code;
	}
	*out = m;
	return 0;
}

const struct genmap_shape *genmap_shape(const struct genmap *m)
{
	return &m->header->shape;
}

int genmap_sync(struct genmap *m)
{
	return m->fd >= 0 && msync(m->map, m->map_bytes, MS_SYNC) ? -errno : 0;
}

bool genmap_covers(const struct genmap *m, uint64_t lba, uint64_t blocks)
{
	const struct genmap_shape *s = &m->header->shape;

	return lba >= s->first_lba && blocks <= s->blocks &&
	       lba - s->first_lba <= s->blocks - blocks;
}

bool genmap_is_free(const struct genmap *m, uint64_t lba, uint64_t blocks)
{
	const uint8_t *f = m->flags + (lba - m->header->shape.first_lba);

	while (blocks--)
		if (*f++ & FLAG_BUSY)
			return false;
	return true;
}

uint32_t genmap_begin(struct genmap *m, uint64_t lba, uint64_t blocks,
		      bool is_trim)
{
	size_t i = lba - m->header->shape.first_lba;
	uint32_t generation;

	if (m->header->last == GENERATION_MAX)
		return 0;
	generation = ++m->header->last;
	for (; blocks--; i++) {
		m->flags[i] = FLAG_BUSY;
		m->entries[i].high = generation |
				     (m->entries[i].high & TRIM_BIT) |
				     (is_trim ? TRIM_BIT : 0);
	}
	return generation;
}

/* A write that was acknowledged ends what trims before it may have left. */
void genmap_end(struct genmap *m, uint64_t lba, uint64_t blocks,
		uint32_t generation, bool is_trim, bool is_done)
{
	size_t i = lba - m->header->shape.first_lba;

	for (; blocks--; i++) {
		m->flags[i] &= ~FLAG_BUSY;
		if (!is_done)
			continue;
		m->entries[i].low = generation;
		if (!is_trim)
			m->entries[i].high &= ~TRIM_BIT;
	}
}

struct genmap_block genmap_get(const struct genmap *m, uint64_t lba)
{
	size_t i = lba - m->header->shape.first_lba;
	const struct entry *e = &m->entries[i];

	return (struct genmap_block){
		.low = e->low,
		.high = e->high & ~TRIM_BIT,
		.may_be_trimmed = e->high & TRIM_BIT,
		.is_busy = m->flags[i] & FLAG_BUSY,
		.is_bad = m->flags[i] & FLAG_BAD,
	};
}

void genmap_mark_bad(struct genmap *m, uint64_t lba)
{
	m->flags[lba - m->header->shape.first_lba] |= FLAG_BAD;
}

void genmap_count(const struct genmap *m, struct genmap_counts *c)
{
	const struct entry *e = m->entries;
	uint64_t n = m->header->shape.blocks;

	memset(c, 0, sizeof(*c));
	for (; n--; e++) {
		if (!e->high)
			c->unwritten++;
		else if (e->high & TRIM_BIT)
			c->trimmed++;
		else if (e->low == e->high)
			c->written++;
		else
			c->unknown++;
	}
}
