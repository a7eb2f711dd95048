#include "commands/lab_options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"

enum { DEFAULT_MIPS = 500, DEFAULT_MEMORY_MIB = 1024 };

static int set_number(unsigned int *to, const char *option, const char *text,
		      uint64_t min, uint64_t max, struct err *e)
{
	uint64_t n;
	int err = units_parse_uint(text, min, max, &n, e);

	if (err)
		return err_prefix(e, "%s", option);
	*to = n;
	return 0;
}

static int set_bytes(uint64_t *to, const char *option, const char *text,
		     struct err *e)
{
	struct size_value v = {0};
	int err = units_parse_size(text, 1024, &v, e);

	if (err)
		return err_prefix(e, "%s", option);
	if (v.is_percent || !v.bytes)
		return err_set(e, -EINVAL,
			       "%s: \"%s\" is no size: write 1G or 512M",
			       option, text);
	*to = v.bytes;
	return 0;
}

static int set_memory(struct lab_options *x, const char *text)
{
	uint64_t bytes = 0;
	int err = set_bytes(&bytes, "--memory", text, &x->error);

	if (err)
		return err;
	if (bytes >> 20 > UINT_MAX)
		return err_set(&x->error, -EINVAL,
			       "--memory: \"%s\" is too much", text);
	x->lab.memory_mib = bytes >> 20;
	return 0;
}

/* "4x1G": four of them; "1G": one. May be given again. */
static int set_disks(struct lab_options *x, const char *text)
{
	const char *times = strchr(text, 'x');
	char count[16];
	uint64_t n = 1, bytes = 0;
	int err = 0;

	/* 0x10000 is a size. */
	if (times && strncmp(text, "0x", 2)) {
		snprintf(count, sizeof(count), "%.*s", (int)(times - text),
			 text);
		err = units_parse_uint(count, 1, LAB_DISKS_MAX, &n, &x->error);
		if (err)
			return err_prefix(&x->error, "--disks \"%s\"", text);
		text = times + 1;
	}
	if (set_bytes(&bytes, "--disks", text, NULL))
		return err_set(&x->error, -EINVAL,
			       "--disks: \"%s\" is no size: the guest's disks "
			       "are made for it, as in 4x1G, and are none of "
			       "this host's images or devices",
			       text);
	if (n + x->lab.nr_disks > LAB_DISKS_MAX)
		return err_set(&x->error, -EINVAL, "--disks: %d at most",
			       LAB_DISKS_MAX);
	if (bytes % 512)
		return err_set(&x->error, -EINVAL,
			       "--disks: \"%s\" is no multiple of 512 bytes",
			       text);
	while (n--)
		x->disks[x->lab.nr_disks++] = bytes;
	return 0;
}

static int set_accel(struct lab_options *x, const char *text)
{
	static const char *const name[] = {"auto", "tcg", "kvm"};

	for (int i = LAB_AUTO; i <= LAB_KVM; i++)
		if (!strcmp(text, name[i])) {
			x->lab.accel = i;
			return 0;
		}
	return err_set(&x->error, -EINVAL,
		       "--accel: \"%s\" is none of auto, kvm, tcg", text);
}

static int set_timeout(struct lab_options *x, const char *text)
{
	int err = units_parse_time(text, NS_PER_SEC, &x->lab.deadline_ns,
				   &x->error);

	if (err)
		return err_prefix(&x->error, "--timeout");
	if (!x->lab.deadline_ns)
		return err_set(&x->error, -EINVAL,
			       "--timeout: \"%s\" is no time: write 90 or 10m",
			       text);
	return 0;
}

void lab_options_init(struct lab_options *x)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	memset(x, 0, sizeof(*x));
	x->lab.cpus = cpus < 1 ? 1 : cpus > 8 ? 8 : cpus;
	x->lab.memory_mib = DEFAULT_MEMORY_MIB;
	x->lab.deadline_ns = 3600 * NS_PER_SEC;
	x->lab.disks_bytes = x->disks;
}

int lab_option_set(struct lab_options *x, int key, const char *text)
{
	switch (key) {
	case LAB_CPUS:
		return set_number(&x->lab.cpus, "--cpus", text, 1, 64,
				  &x->error);
	case LAB_MEMORY:
		return set_memory(x, text);
	case LAB_VIRTUAL_TIME:
		x->lab.mips = DEFAULT_MIPS;
		if (!text)
			return 0;
		return set_number(&x->lab.mips, "--virtual-time", text, 1, 1000,
				  &x->error);
	case LAB_DISKS:
		return set_disks(x, text);
	case LAB_TIMEOUT:
		return set_timeout(x, text);
	case LAB_ACCEL:
		return set_accel(x, text);
	default:
		return -ENOSYS;
	}
}
