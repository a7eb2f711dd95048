#include "vm/outfit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"
#include "vm/accel.h"

/* A build or a probe of another lunbench may be under way. */
#define CACHE_WAIT_NS (600 * NS_PER_SEC)

enum { MEMORY_MIN_MIB = 256 };

static int check_memory(const struct lab_opts *o, struct err *e)
{
	unsigned long long kib = 0;
	char *text, *at;
	size_t len;

	if (o->memory_mib < MEMORY_MIN_MIB)
		return err_set(
			e, -EINVAL,
			"a guest needs %d MiB of memory at least, not %u",
			MEMORY_MIN_MIB, o->memory_mib);
	if (file_read("/proc/meminfo", 1 << 20, &text, &len, NULL))
		return 0;
	at = strstr(text, "MemAvailable:");
	if (at)
		sscanf(at, "MemAvailable: %llu", &kib);
	free(text);
	if (!kib || kib / 1024 > o->memory_mib)
		return 0;
	return err_set(e, -ENOMEM,
		       "a guest of %u MiB does not fit: this host has %llu MiB "
		       "of memory free; give less with --memory",
		       o->memory_mib, kib / 1024);
}

int outfit_check(const struct lab_opts *o, struct err *e)
{
	if (o->mips && guest_mips_shift(o->mips) < 0)
		return err_set(e, -EINVAL,
			       "%u MIPS: virtual time has processors of 1000, "
			       "500, 250, 125, 62, 31, 15, 7, 3 or 1 MIPS",
			       o->mips);
	if (o->mips && o->nr_disks)
		return err_set(e, -EINVAL,
			       "disks of the host would let its time into "
			       "virtual time: take RAM disks in the guest");
	if (o->mips && o->accel == LAB_KVM)
		return err_set(e, -EINVAL, "KVM has no virtual time");
	if (o->nr_disks > OUTFIT_DISKS_MAX)
		return err_set(e, -EINVAL, "%zu disks: %d at most", o->nr_disks,
			       OUTFIT_DISKS_MAX);
	return check_memory(o, e);
}

/* --- making it --- */

struct making {
	const struct lab_opts *o;
	struct outfit *out;
	struct cache cache;
	bool has_net;
};

static void note(const struct lab_opts *o, const char *text)
{
	if (o->on_note && text[0])
		o->on_note(o->user, text);
}

static int choose_accel(struct making *m, struct err *e)
{
	char why[256] = "";
	int err;

	m->out->accel = GUEST_TCG;
	if (m->o->mips || m->o->accel == LAB_TCG)
		return 0;
	err = accel_choose(&m->out->accel, &m->out->appliance, &m->cache, why,
			   e);
	if (!err && m->out->accel == GUEST_TCG && m->o->accel == LAB_KVM)
		return err_set(e, -ENODEV, "no guest runs under KVM here: %s",
			       why);
	return err;
}

/* What tells lunbench inside where it is, for its result. */
static void describe_clock(const struct making *m, char *text, size_t size)
{
	char clock[64] = "real time", accel[64];

	if (m->o->mips)
		snprintf(clock, sizeof(clock), "virtual time %u MIPS",
			 m->o->mips);
	outfit_describe(m->out, accel, sizeof(accel));
	snprintf(text, size, "LUNBENCH_LAB=%s, %s", accel, clock);
}

static int compose(struct making *m, struct err *e)
{
	static const char *const real[] = {"virtio_pci", "virtio_console",
					   "virtio_blk", NULL};
	static const char *const net[] = {"virtio_pci", "virtio_console",
					  "virtio_blk", "virtio_net", NULL};
	static const char *const virtual[] = {"virtio_pci", "virtio_console",
					      NULL};
	const char *env[64];
	struct appliance_file *files;
	char where[128];
	struct appliance_extra x = {
		.nr_files = m->o->nr_files,
		.command = m->o->command,
		.env = env,
		.modules = m->o->mips	? virtual
			   : m->has_net ? net
					: real,
	};
	size_t n = 0;
	int err;

	describe_clock(m, where, sizeof(where));
	env[n++] = where;
	for (size_t i = 0; m->o->env && m->o->env[i] && n < 63; i++)
		env[n++] = m->o->env[i];
	env[n] = NULL;
	files = calloc(x.nr_files + 1, sizeof(*files));
	if (!files)
		return err_set(e, -ENOMEM, "no memory for the guest's files");
	x.files = files;
	err = 0;
	for (size_t i = 0; i < x.nr_files && !err; i++) {
		char *name = NULL;

		files[i].from = m->o->files[i].from;
		if (asprintf(&name, "%s%s",
			     m->o->files[i].name[0] == '/' ? "" : "work/",
			     m->o->files[i].name) < 0)
			err = err_set(e, -ENOMEM, "no memory for its files");
		files[i].name = name;
	}
	if (!err)
		err = appliance_compose(&m->out->appliance, &x, m->out->initrd,
					e);
	for (size_t i = 0; i < x.nr_files; i++)
		free((char *)files[i].name);
	free(files);
	return err;
}

/* Sparse: what the guest writes is what they take. */
static int make_disks(struct making *m, struct err *e)
{
	char file[32];
	int fd, err = 0;

	for (size_t i = 0; i < m->o->nr_disks && !err; i++) {
		snprintf(file, sizeof(file), "disk%zu", i);
		scratch_path(&m->out->scratch, file, m->out->disk[i]);
		m->out->disks[i] = m->out->disk[i];
		fd = open(m->out->disk[i],
			  O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0 || ftruncate(fd, m->o->disks_bytes[i]))
			err = err_set(e, -errno,
				      "cannot make the disk \"%s\": %s",
				      m->out->disk[i], strerror(errno));
		if (fd >= 0)
			close(fd);
	}
	return err;
}

static int make(struct making *m, struct err *e)
{
	const char *cp[] = {"cp",	    "--reflink=auto",
			    "--",	    m->out->appliance.kernel.image,
			    m->out->kernel, NULL};
	char said[512];
	int err = cache_lock(&m->cache, CACHE_WAIT_NS, e);

	if (!err)
		err = appliance_get(&m->out->appliance, &m->cache, false, said,
				    e);
	if (err)
		return err;
	note(m->o, said);
	err = choose_accel(m, e);
	if (!err)
		err = scratch_make(&m->out->scratch, e);
	if (err)
		return err;
	scratch_path(&m->out->scratch, "kernel", m->out->kernel);
	scratch_path(&m->out->scratch, "initrd", m->out->initrd);
	err = child_check(cp, NULL, 60 * NS_PER_SEC, NULL, e);
	if (!err)
		err = compose(m, e);
	if (!err)
		err = make_disks(m, e);
	return err;
}

int outfit_make(struct outfit *out, const struct lab_opts *o, bool has_net,
		struct err *e)
{
	struct making m = {.o = o,
			   .out = out,
			   .cache = {.lock_fd = -1},
			   .has_net = has_net};
	int err = make(&m, e);

	cache_unlock(&m.cache);
	return err;
}

void outfit_release(struct outfit *out)
{
	scratch_remove(&out->scratch);
}

void outfit_describe(const struct outfit *out, char *text, size_t size)
{
	snprintf(text, size, "%s, %s", out->accel == GUEST_KVM ? "kvm" : "tcg",
		 guest_cpu_model(out->accel));
}
