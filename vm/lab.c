#include "vm/lab.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"
#include "vm/cache.h"
#include "vm/cpio.h"
#include "vm/outfit.h"

/* A build or a probe of another lunbench may be under way. */
#define CACHE_WAIT_NS (600 * NS_PER_SEC)

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

#define SCRATCH_MIN_BYTES (1000 * 1000)

static int run_guest(const struct outfit *out, const struct lab_opts *o,
		     struct lab_result *r, struct err *e)
{
	struct guest_opts g = {.folder = out->scratch.folder,
			       .kernel = out->kernel,
			       .initrd = out->initrd,
			       .accel = out->accel,
			       .mips = o->mips,
			       .cpus = o->cpus,
			       .memory_mib = o->memory_mib,
			       .disks = out->disks,
			       .boot_deadline_ns = LAB_BOOT_NS,
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
	/* QEMU drops without a word what it cannot write. */
	if (err == -EBADMSG)
		cache_check_room(out->scratch.folder, SCRATCH_MIN_BYTES,
				 "a guest's results take more than", "TMPDIR",
				 e);
	return err ? err_prefix(e, "cannot bring the guest's results back") : 0;
}

int lab_exec(const struct lab_opts *o, struct lab_result *r, struct err *e)
{
	uint64_t begin = clock_now_ns();
	struct outfit *out = calloc(1, sizeof(*out));
	int err;

	memset(r, 0, sizeof(*r));
	if (!out)
		return err_set(e, -ENOMEM, "no memory for the lab");
	out->scratch.lock_fd = -1;
	err = lab_check_host(e);
	if (!err)
		err = outfit_check(o, e);
	if (!err)
		err = outfit_make(out, o, false, e);
	if (!err) {
		r->build_ns = clock_now_ns() - begin;
		outfit_describe(out, r->accel, sizeof(r->accel));
		snprintf(r->kernel, sizeof(r->kernel), "%s",
			 out->appliance.kernel.release);
		err = run_guest(out, o, r, e);
	}
	outfit_release(out);
	free(out);
	return err;
}
