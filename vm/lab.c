#include "vm/lab.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"
#include "vm/accel.h"
#include "vm/cache.h"
#include "vm/cpio.h"
#include "vm/scratch.h"

/* A build or a probe of another lunbench may be under way. */
#define CACHE_WAIT_NS (600 * NS_PER_SEC)
#define BOOT_DEADLINE_NS (120 * NS_PER_SEC)

enum { MEMORY_MIN_MIB = 256, DISKS_MAX = 24 };

/* Programs that the lab runs on the host, and their packages. */
static const char *const needs[][2] = {
	{"qemu-system-x86_64", "qemu-system-x86"},
	{"supermin", "supermin"},
	{"modprobe", "kmod"},
	{"tgtd", "tgt"},
	{"mdadm", "mdadm"},
	{"cryptsetup", "cryptsetup-bin"},
	{"ip", "iproute2"},
	{"cpio", "cpio"},
};

int lab_check_host(struct err *e)
{
	char missing[256] = "";
	struct utsname u;
	size_t n;

	if (!uname(&u) && strcmp(u.machine, "x86_64") != 0)
		return err_set(e, -ENOTSUP,
			       "the lab runs on x86_64 hosts, this is \"%s\"",
			       u.machine);
	if (!child_has_program("apt-get") || !child_has_program("dpkg-deb"))
		return err_set(e, -ENOTSUP,
			       "the lab is built from a Debian host's "
			       "packages; this host has no apt-get");
	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
		n = strlen(missing);
		if (!child_has_program(needs[i][0]))
			snprintf(missing + n, sizeof(missing) - n, " %s",
				 needs[i][1]);
	}
	if (!missing[0])
		return 0;
	return err_set(e, -ENOENT,
		       "the lab lacks programs on this host: apt-get install%s",
		       missing);
}

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

static int check_opts(const struct lab_opts *o, struct err *e)
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
	if (o->nr_disks > DISKS_MAX)
		return err_set(e, -EINVAL, "%zu disks: %d at most", o->nr_disks,
			       DISKS_MAX);
	return check_memory(o, e);
}

/* --- building --- */

int lab_build(struct lab_appliance *out, struct err *e)
{
	uint64_t begin = clock_now_ns();
	struct appliance a;
	struct cache c = {.lock_fd = -1};
	struct stat st;
	int err = lab_check_host(e);

	memset(out, 0, sizeof(*out));
	if (!err)
		err = cache_lock(&c, CACHE_WAIT_NS, e);
	if (!err)
		err = appliance_get(&a, &c, true, out->note, e);
	cache_unlock(&c);
	if (err)
		return err;
	snprintf(out->image, sizeof(out->image), "%s", a.image);
	snprintf(out->kernel, sizeof(out->kernel), "%s", a.kernel.release);
	out->hash = a.hash;
	out->bytes = stat(a.image, &st) ? 0 : st.st_size;
	out->took_ns = clock_now_ns() - begin;
	return 0;
}

/* --- one run --- */

struct run {
	const struct lab_opts *o;
	struct scratch scratch;
	struct cache cache;
	struct appliance appliance;
	enum guest_accel accel;
	char kernel[PATH_MAX], initrd[PATH_MAX];
	char disk[DISKS_MAX][PATH_MAX];
	const char *disks[DISKS_MAX + 1];
};

static void note(const struct lab_opts *o, const char *text)
{
	if (o->on_note && text[0])
		o->on_note(o->user, text);
}

static int choose_accel(struct run *run, struct err *e)
{
	char why[256] = "";
	int err;

	run->accel = GUEST_TCG;
	if (run->o->mips || run->o->accel == LAB_TCG)
		return 0;
	err = accel_choose(&run->accel, &run->appliance, &run->cache, why, e);
	if (!err && run->accel == GUEST_TCG && run->o->accel == LAB_KVM)
		return err_set(e, -ENODEV, "no guest runs under KVM here: %s",
			       why);
	return err;
}

/* What tells lunbench inside where it is, for its result. */
static void describe(const struct run *run, char *text, size_t size)
{
	char clock[64] = "real time";

	if (run->o->mips)
		snprintf(clock, sizeof(clock), "virtual time %u MIPS",
			 run->o->mips);
	snprintf(text, size, "LUNBENCH_LAB=%s, %s, %s",
		 run->accel == GUEST_KVM ? "kvm" : "tcg",
		 guest_cpu_model(run->accel), clock);
}

static int compose(struct run *run, struct err *e)
{
	static const char *const real[] = {"virtio_pci", "virtio_console",
					   "virtio_blk", NULL};
	static const char *const virtual[] = {"virtio_pci", "virtio_console",
					      NULL};
	const char *env[64];
	struct appliance_file *files;
	char where[128];
	struct appliance_extra x = {
		.nr_files = run->o->nr_files,
		.command = run->o->command,
		.env = env,
		.modules = run->o->mips ? virtual : real,
	};
	size_t n = 0;
	int err;

	describe(run, where, sizeof(where));
	env[n++] = where;
	for (size_t i = 0; run->o->env && run->o->env[i] && n < 63; i++)
		env[n++] = run->o->env[i];
	env[n] = NULL;
	files = calloc(x.nr_files + 1, sizeof(*files));
	if (!files)
		return err_set(e, -ENOMEM, "no memory for the guest's files");
	x.files = files;
	err = 0;
	for (size_t i = 0; i < x.nr_files && !err; i++) {
		char *name = NULL;

		files[i].from = run->o->files[i].from;
		if (asprintf(&name, "%s%s",
			     run->o->files[i].name[0] == '/' ? "" : "work/",
			     run->o->files[i].name) < 0)
			err = err_set(e, -ENOMEM, "no memory for its files");
		files[i].name = name;
	}
	if (!err)
		err = appliance_compose(&run->appliance, &x, run->initrd, e);
	for (size_t i = 0; i < x.nr_files; i++)
		free((char *)files[i].name);
	free(files);
	return err;
}

/* Sparse: what the guest writes is what they take. */
static int make_disks(struct run *run, struct err *e)
{
	char file[32];
	int fd, err = 0;

	for (size_t i = 0; i < run->o->nr_disks && !err; i++) {
		snprintf(file, sizeof(file), "disk%zu", i);
		scratch_path(&run->scratch, file, run->disk[i]);
		run->disks[i] = run->disk[i];
		fd = open(run->disk[i], O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
			  0600);
		if (fd < 0 || ftruncate(fd, run->o->disks_bytes[i]))
			err = err_set(e, -errno,
				      "cannot make the disk \"%s\": %s",
				      run->disk[i], strerror(errno));
		if (fd >= 0)
			close(fd);
	}
	return err;
}

/* All that the guest needs, in the scratch folder: from here on another
 * lunbench may renew the cache. */
static int prepare(struct run *run, struct err *e)
{
	const char *cp[] = {"cp",	 "--reflink=auto",
			    "--",	 run->appliance.kernel.image,
			    run->kernel, NULL};
	char said[512];
	int err = cache_lock(&run->cache, CACHE_WAIT_NS, e);

	if (!err)
		err = appliance_get(&run->appliance, &run->cache, false, said,
				    e);
	if (err)
		return err;
	note(run->o, said);
	err = choose_accel(run, e);
	if (!err)
		err = scratch_make(&run->scratch, e);
	if (err)
		return err;
	scratch_path(&run->scratch, "kernel", run->kernel);
	scratch_path(&run->scratch, "initrd", run->initrd);
	err = child_check(cp, NULL, 60 * NS_PER_SEC, NULL, e);
	if (!err)
		err = compose(run, e);
	if (!err)
		err = make_disks(run, e);
	return err;
}

static int run_guest(struct run *run, struct lab_result *r, struct err *e)
{
	const struct lab_opts *o = run->o;
	struct guest_opts g = {.folder = run->scratch.folder,
			       .kernel = run->kernel,
			       .initrd = run->initrd,
			       .accel = run->accel,
			       .mips = o->mips,
			       .cpus = o->cpus,
			       .memory_mib = o->memory_mib,
			       .disks = run->disks,
			       .boot_deadline_ns = BOOT_DEADLINE_NS,
			       .deadline_ns = o->deadline_ns,
			       .stop = o->stop,
			       .on_output = o->on_output,
			       .user = o->user};
	struct guest_result gr;
	int err = guest_run(&g, &gr, e);

	r->status = gr.status;
	r->boot_ns = gr.boot_ns;
	r->run_ns = gr.run_ns;
	snprintf(r->console, sizeof(r->console), "%s", gr.console);
	if (err)
		return err;
	err = file_make_dirs(o->out, 0777, e);
	if (!err)
		err = cpio_extract(gr.result, o->out, &r->nr_files, e);
	return err ? err_prefix(e, "cannot bring the guest's results back") : 0;
}

int lab_exec(const struct lab_opts *o, struct lab_result *r, struct err *e)
{
	uint64_t begin = clock_now_ns();
	struct run *run = calloc(1, sizeof(*run));
	int err;

	memset(r, 0, sizeof(*r));
	if (!run)
		return err_set(e, -ENOMEM, "no memory for the lab");
	run->o = o;
	run->cache.lock_fd = run->scratch.lock_fd = -1;
	err = lab_check_host(e);
	if (!err)
		err = check_opts(o, e);
	if (!err)
		err = prepare(run, e);
	cache_unlock(&run->cache);
	if (!err) {
		r->build_ns = clock_now_ns() - begin;
		snprintf(r->accel, sizeof(r->accel), "%s, %s",
			 run->accel == GUEST_KVM ? "kvm" : "tcg",
			 guest_cpu_model(run->accel));
		snprintf(r->kernel, sizeof(r->kernel), "%s",
			 run->appliance.kernel.release);
		err = run_guest(run, r, e);
	}
	scratch_remove(&run->scratch);
	free(run);
	return err;
}
