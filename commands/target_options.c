#include "commands/target_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "commands/commands.h"

static int set_store(enum tgt_store *to, const char *value, struct err *e)
{
	static const char *const name[] = {"rdwr", "aio", "null"};

	for (int i = STORE_RDWR; i <= STORE_NULL; i++)
		if (!strcmp(value, name[i])) {
			*to = i;
			return 0;
		}
	return err_set(e, -EINVAL, "--store: \"%s\" is not rdwr, aio or null",
		       value);
}

static int set_size(uint64_t *to, const char *value, struct err *e)
{
	struct size_value size;
	int err = units_parse_size(value, 1024, &size, e);

	if (err)
		return err_prefix(e, "--size");
	if (size.is_percent || !size.bytes)
		return err_set(e, -EINVAL,
			       "--size: \"%s\" is no size: write 1G or 512M",
			       value);
	if (size.kib_trap)
		say("--size %s is %llu bytes, as fio reads it; %.*s is the "
		    "power of 1024",
		    value, (unsigned long long)size.bytes,
		    (int)strcspn(value, "iI"), value);
	*to = size.bytes;
	return 0;
}

static int set_block(uint32_t *to, const char *value, struct err *e)
{
	uint64_t n = 0;
	int err = units_parse_uint(value, 512, 4096, &n, e);

	if (err)
		return err_prefix(e, "--block");
	if (n != 512 && n != 4096)
		return err_set(e, -EINVAL,
			       "--block: \"%s\" is neither 512 nor 4096",
			       value);
	*to = n;
	return 0;
}

static int set_text(char *to, size_t size, const char *option,
		    const char *value, struct err *e)
{
	if (strlen(value) >= size)
		return err_set(e, -EINVAL, "%s: \"%.40s...\" is too long",
			       option, value);
	snprintf(to, size, "%s", value);
	return 0;
}

static int set_chunk(uint64_t *to, const char *value, struct err *e)
{
	struct size_value size = {0};
	int err = units_parse_size(value, 1024, &size, e);

	if (err)
		return err_prefix(e, "--chunk");
	if (size.is_percent || size.bytes < 4096 ||
	    (size.bytes & (size.bytes - 1)))
		return err_set(e, -EINVAL,
			       "--chunk: \"%s\" is no power of two from 4K on",
			       value);
	*to = size.bytes;
	return 0;
}

static int set_sync_speed(unsigned int *to, const char *value, struct err *e)
{
	struct size_value size = {0};
	int err = units_parse_size(value, 1024, &size, e);

	if (err)
		return err_prefix(e, "--sync-speed");
	if (size.is_percent || size.bytes < 1024 ||
	    size.bytes > (uint64_t)200000 << 10)
		return err_set(e, -EINVAL,
			       "--sync-speed: \"%s\" is none of 1K to 200000K "
			       "a second",
			       value);
	*to = size.bytes >> 10;
	return 0;
}

/* A plain single LUN is the target's image, unless members are named. */
void target_options_complete(struct array_opts *o)
{
	if (!strcmp(o->kind, "single") && !o->members[0])
		o->kind[0] = '\0';
	else if (!o->kind[0] && o->members[0])
		snprintf(o->kind, sizeof(o->kind), "single");
}

int target_option_set(struct tgt_opts *o, int key, const char *value,
		      struct err *e)
{
	uint64_t n = 0;

	switch (key) {
	case TARGET_STORE:
		return set_store(&o->store, value, e);
	case TARGET_SIZE:
		return set_size(&o->size_bytes, value, e);
	case TARGET_BLOCK:
		return set_block(&o->block_bytes, value, e);
	case TARGET_RAM:
		o->ram = true;
		return 0;
	case TARGET_STOCK:
		o->stock = true;
		return 0;
	case TARGET_ARRAY:
		return set_text(o->array.kind, sizeof(o->array.kind), "--array",
				value, e);
	case TARGET_MEMBERS:
		return set_text(o->array.members, sizeof(o->array.members),
				"--members", value, e);
	case TARGET_LAYOUT:
		return set_text(o->array.layout, sizeof(o->array.layout),
				"--layout", value, e);
	case TARGET_CHUNK:
		return set_chunk(&o->array.chunk_bytes, value, e);
	case TARGET_THREADS:
		if (units_parse_uint(value, 1, 256, &n, e))
			return err_prefix(e, "--threads");
		o->io_threads = n;
		return 0;
	case TARGET_SYNC_SPEED:
		return set_sync_speed(&o->array.sync_kib, value, e);
	case TARGET_STRIPE_CACHE:
		if (units_parse_uint(value, 0, UINT32_MAX, &n, e))
			return err_prefix(e, "--stripe-cache");
		if (!n)
			return err_set(e, -EINVAL,
				       "--stripe-cache: 0 pages; md takes 17 "
				       "to 32768");
		o->array.stripe_cache = n;
		return 0;
	default:
		return -ENOSYS;
	}
}
