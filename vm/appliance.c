#include "vm/appliance.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"
#include "vm/cpio.h"

enum { SUPERMIN_SECONDS = 300, ASK_SECONDS = 60 };

#define CACHE_PREFIX "appliance-"

/* lunbench with its libraries, the kernel, and what a guest says. */
#define EXTRA_BYTES (40ULL * 1000 * 1000)

/* As a folder tree and as an image. */
#define ROOM_BYTES (250ULL * 1000 * 1000)

/* The recipe: what is named here, and what those depend on. */
static const char *const packages[] = {
	"bash",	      "bsdutils", "coreutils", "cpio", "cryptsetup-bin",
	"findutils",  "grep",	  "iproute2",  "kmod", "mawk",
	"mdadm",      "mount",	  "procps",    "sed",  "tgt",
	"util-linux", NULL,
};

/* Much of what comes with them serves nobody here, and each MiB costs the
 * guest 10 ms at its start. tgt and mdadm bring perl and udev in. */
static const char excluded[] = "-/usr/share/doc/*\n"
			       "-/usr/share/man/*\n"
			       "-/usr/share/info/*\n"
			       "-/usr/share/locale/*\n"
			       "-/usr/share/lintian/*\n"
			       "-/usr/share/bash-completion/*\n"
			       "-/usr/share/zoneinfo*\n"
			       "-/usr/share/perl*\n"
			       "-/usr/lib/*/perl*\n"
			       "-/usr/bin/perl*\n"
			       "-/usr/lib/*/gconv/*\n"
			       "-/usr/lib/udev/*\n"
			       "-/lib/udev/*\n"
			       "-/usr/bin/udevadm\n"
			       "-/boot/*\n";

/* With what they depend on. modprobe and the kernel's own calls find them. */
static const char *const modules[] = {
	"virtio_pci",  "virtio_blk", "virtio_net", "virtio_console", "md_mod",
	"linear",      "raid0",	     "raid1",	   "raid10",	     "raid456",
	"dm_mod",      "dm_crypt",   "xts",	   "null_blk",	     "loop",
	"aesni_intel", NULL,
};

static const char *const module_indexes[] = {
	"modules.dep",	       "modules.dep.bin",
	"modules.alias",       "modules.alias.bin",
	"modules.softdep",     "modules.symbols",
	"modules.symbols.bin", "modules.builtin",
	"modules.builtin.bin", "modules.builtin.alias.bin",
	"modules.order",       NULL,
};

/* vm/init, as it was when lunbench was built. */
__asm__(".section .rodata\n"
	"vm_init_start: .incbin \"vm/init\"\n"
	".byte 0\n"
	".previous\n");
extern const char vm_init_start[];

/* --- building --- */

/* The installed packages and their versions: another one, another image. */
static int hash_host(uint64_t *hash, struct err *e)
{
	const char *argv[] = {"dpkg-query", "-W", NULL};
	char *text;
	int err = child_check(argv, NULL, ASK_SECONDS * NS_PER_SEC, &text, e);

	if (err)
		return err_prefix(e, "the lab needs a Debian host");
	*hash = cache_hash_text(*hash, text);
	free(text);
	return 0;
}

static uint64_t hash_recipe(const struct kernel *k)
{
	uint64_t hash = cache_hash_text(CACHE_HASH_START, k->package);

	for (const char *const *p = packages; *p; p++)
		hash = cache_hash_text(hash, *p);
	for (const char *const *m = modules; *m; m++)
		hash = cache_hash_text(hash, *m);
	return cache_hash_text(hash, excluded);
}

static int write_excluded(const char *folder, struct err *e)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/excludefiles", folder);
	return file_write_atomic(path, excluded, strlen(excluded), e);
}

/* The packages as a folder tree. */
static int gather(const struct kernel *k, const char *prep, const char *root,
		  struct err *e)
{
	const char *prepare[32] = {"supermin", "--prepare", "--use-installed"};
	const char *build[] = {"supermin", "--build", "--format", "chroot",
			       prep,	   "-o",      root,	  NULL};
	char image[PATH_MAX + 32], tree[PATH_MAX + 300];
	const char *env[] = {image, tree, NULL};
	size_t n = 3;
	int err;

	for (const char *const *p = packages; *p; p++)
		prepare[n++] = *p;
	prepare[n++] = "-o";
	prepare[n++] = prep;
	snprintf(image, sizeof(image), "SUPERMIN_KERNEL=%s", k->image);
	snprintf(tree, sizeof(tree), "SUPERMIN_MODULES=%s/lib/modules/%s",
		 k->root, k->release);
	err = child_check(prepare, env, SUPERMIN_SECONDS * NS_PER_SEC, NULL, e);
	if (!err)
		err = write_excluded(prep, e);
	if (!err)
		err = child_check(build, env, SUPERMIN_SECONDS * NS_PER_SEC,
				  NULL, e);
	return err;
}

static int add_module_file(struct cpio *c, const struct kernel *k,
			   const char *from, struct err *e)
{
	char name[PATH_MAX];

	/* usr/lib: in the root, /lib is a link to it. */
	snprintf(name, sizeof(name), "usr%s", from + strlen(k->root));
	return cpio_add_file(c, name, from, e);
}

/* "insmod PATH " and "builtin NAME" lines, from modprobe. */
static int add_listed(struct cpio *c, const struct kernel *k, char *list,
		      struct err *e)
{
	char *line, *save = NULL;
	int err = 0;

	for (line = strtok_r(list, "\n", &save); line && !err;
	     line = strtok_r(NULL, "\n", &save)) {
		if (strncmp(line, "insmod ", strlen("insmod ")))
			continue;
		line += strlen("insmod ");
		line[strcspn(line, " ")] = '\0';
		if (strncmp(line, k->root, strlen(k->root)))
			continue;
		err = add_module_file(c, k, line, e);
	}
	return err;
}

static int add_modules(struct cpio *c, const struct kernel *k, struct err *e)
{
	const char *argv[32] = {"modprobe", "-d", k->root, "-S",
				k->release, "-a", "-D"};
	char path[PATH_MAX + 300], *list = NULL;
	size_t n = 7;
	int err;

	for (const char *const *m = modules; *m; m++)
		argv[n++] = *m;
	err = child_check(argv, NULL, ASK_SECONDS * NS_PER_SEC, &list, e);
	if (!err)
		err = add_listed(c, k, list, e);
	free(list);
	for (const char *const *i = module_indexes; *i && !err; i++) {
		snprintf(path, sizeof(path), "%s/lib/modules/%s/%s", k->root,
			 k->release, *i);
		if (!access(path, R_OK))
			err = add_module_file(c, k, path, e);
	}
	return err;
}

static int pack(const struct kernel *k, const char *root, const char *path,
		struct err *e)
{
	struct cpio c;
	int err = cpio_create(&c, path, e), end;

	if (err)
		return err;
	err = cpio_add_tree(&c, root, e);
	if (!err)
		err = add_modules(&c, k, e);
	end = cpio_finish(&c, err ? NULL : e);
	return err ? err : end;
}

static int build(struct appliance *a, struct cache *c, struct err *e)
{
	char work[PATH_MAX], prep[PATH_MAX + 8], root[PATH_MAX + 8];
	char image[PATH_MAX + 8];
	int err;

	cache_path(c, CACHE_PREFIX "work.tmp", work);
	snprintf(prep, sizeof(prep), "%s/prep", work);
	snprintf(root, sizeof(root), "%s/root", work);
	snprintf(image, sizeof(image), "%s/image", work);
	cache_remove_tree(work);
	err = cache_check_room(c->folder, ROOM_BYTES, "the lab's root takes",
			       "XDG_CACHE_HOME", e);
	if (!err)
		err = file_make_dirs(work, 0755, e);
	if (!err)
		err = gather(&a->kernel, prep, root, e);
	if (!err)
		err = pack(&a->kernel, root, image, e);
	if (!err && rename(image, a->image))
		err = err_set(e, -errno, "cannot make \"%s\": %s", a->image,
			      strerror(errno));
	cache_remove_tree(work);
	if (err)
		return err_prefix(e, "cannot build the lab's appliance");
	cache_remove_others(c, CACHE_PREFIX, a->image);
	return 0;
}

int appliance_get(struct appliance *a, struct cache *c, bool look_for_newer,
		  char *note, struct err *e)
{
	uint64_t begin = clock_now_ns(), hash;
	char name[64], said[256];
	int err;

	note[0] = '\0';
	err = kernel_get(&a->kernel, c, look_for_newer, said, e);
	if (err)
		return err;
	hash = hash_recipe(&a->kernel);
	err = hash_host(&hash, e);
	if (err)
		return err;
	a->hash = hash;
	snprintf(name, sizeof(name), CACHE_PREFIX "%016llx.cpio", a->hash);
	cache_path(c, name, a->image);
	if (access(a->image, R_OK)) {
		err = build(a, c, e);
		snprintf(note, 512, "%s%sbuilt the appliance in %.1f s", said,
			 said[0] ? ", " : "", (clock_now_ns() - begin) / 1e9);
	} else {
		snprintf(note, 512, "%s", said);
	}
	return err;
}

/* --- what is appended --- */

/* The libraries of this very process: what lunbench needs in the guest. */
static int add_library(struct dl_phdr_info *info, size_t size, void *list)
{
	const char *(*next)[64] = list;
	size_t n = 0;

	(void)size;
	while ((*next)[n])
		n++;
	if (info->dlpi_name[0] == '/' && n < 63)
		(*next)[n] = info->dlpi_name;
	return 0;
}

static int add_libraries(struct cpio *c, struct err *e)
{
	const char *list[64] = {NULL};
	char folder[PATH_MAX], real[PATH_MAX], name[2 * PATH_MAX];
	int err = 0;

	dl_iterate_phdr(add_library, &list);
	for (size_t i = 0; list[i] && !err; i++) {
		/* Where links on the way end: /lib is one in the guest. */
		snprintf(folder, sizeof(folder), "%s", list[i]);
		if (!realpath(dirname(folder), real))
			return err_set(e, -errno, "cannot follow \"%s\": %s",
				       list[i], strerror(errno));
		snprintf(name, sizeof(name), "%s%s", real,
			 strrchr(list[i], '/'));
		err = cpio_add_file(c, name, list[i], e);
	}
	return err;
}

/* A word as the shell takes it back. */
static void quote(FILE *f, const char *word)
{
	fputc('\'', f);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", f);
		else
			fputc(*word, f);
	fputc('\'', f);
}

/* Lines of a shell script, one a word list. */
static int add_script(struct cpio *c, const char *name, const char *verb,
		      const char *const *words, bool one_line, struct err *e)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int err;

	if (!f)
		return err_set(e, -ENOMEM, "no memory for \"%s\"", name);
	if (one_line)
		fputs(verb, f);
	for (; words && *words; words++) {
		fputs(one_line ? " " : verb, f);
		quote(f, *words);
		if (!one_line)
			fputc('\n', f);
	}
	if (one_line)
		fputc('\n', f);
	err = fclose(f) ? err_set(e, -ENOMEM, "no memory for \"%s\"", name)
			: cpio_add_data(c, name, 0755, text, len, e);
	free(text);
	return err;
}

static int add_extra(struct cpio *c, const struct appliance_extra *x,
		     struct err *e)
{
	int err = cpio_add_data(c, "init", 0755, vm_init_start,
				strlen(vm_init_start), e);

	if (!err)
		err = add_libraries(c, e);
	if (!err)
		err = cpio_add_file(c, "lab/lunbench", "/proc/self/exe", e);
	if (!err)
		err = cpio_add_link(c, "usr/bin/lunbench", "/lab/lunbench", e);
	if (!err)
		err = add_script(c, "lab/run", "exec", x->command, true, e);
	if (!err)
		err = add_script(c, "lab/env", "export ", x->env, false, e);
	if (!err)
		err = add_script(c, "lab/modules", "modprobe -a", x->modules,
				 true, e);
	if (!err)
		err = cpio_add_folders(c, "work/", e);
	for (size_t i = 0; i < x->nr_files && !err; i++)
		err = cpio_add_file(c, x->files[i].name, x->files[i].from, e);
	return err;
}

/* The image, lunbench with its libraries, the kernel. */
static int check_room(const struct appliance *a, const char *path,
		      struct err *e)
{
	char folder[PATH_MAX];
	struct stat st;

	snprintf(folder, sizeof(folder), "%s", path);
	if (stat(a->image, &st))
		return err_set(e, -errno, "cannot look at \"%s\": %s", a->image,
			       strerror(errno));
	return cache_check_room(dirname(folder), st.st_size + EXTRA_BYTES,
				"a guest's root takes", "TMPDIR", e);
}

int appliance_compose(const struct appliance *a,
		      const struct appliance_extra *x, const char *path,
		      struct err *e)
{
	const char *cp[] = {"cp", "--reflink=auto", "--", a->image, path, NULL};
	struct cpio c;
	int err = check_room(a, path, e), end;

	if (!err)
		err = child_check(cp, NULL, ASK_SECONDS * NS_PER_SEC, NULL, e);
	if (!err)
		err = cpio_append(&c, path, e);
	if (err)
		return err;
	err = add_extra(&c, x, e);
	end = cpio_finish(&c, err ? NULL : e);
	return err ? err : end;
}
