#include "vm/kernel.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"

/* Depends on the kernel of the day. */
#define KERNEL_META "linux-image-cloud-amd64"
#define CACHE_PREFIX "kernel-"

/* The package and what is in it. */
#define ROOM_BYTES (250ULL * 1000 * 1000)

enum { ASK_SECONDS = 60, DOWNLOAD_SECONDS = 600, UNPACK_SECONDS = 120 };

/* The value behind "KEY" at the start of a line. */
static int find_line(const char *text, const char *key, char *value,
		     size_t size)
{
	const char *at = text;
	size_t n = strlen(key);

	for (; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
		if (!strncmp(at, key, n)) {
			snprintf(value, size, "%.*s",
				 (int)strcspn(at + n, "\n"), at + n);
			return 0;
		}
	return -ENOENT;
}

/* "linux-image-6.1.0-57-cloud-amd64" and its version, from apt's lists: the
 * only thing that the package of the day depends on. */
static int resolve(char name[128], char version[128], struct err *e)
{
	const char *show[] = {"apt-cache", "show", "--no-all-versions",
			      KERNEL_META, NULL};
	char *text = NULL, depends[300];
	int err = child_check(show, NULL, ASK_SECONDS * NS_PER_SEC, &text, e);

	if (!err && (find_line(text, "Depends: ", depends, sizeof(depends)) ||
		     sscanf(depends, "%127s (= %127[^)])", name, version) != 2))
		err = err_set(e, -ENOENT, "it names no kernel");
	free(text);
	if (err)
		return err_prefix(
			e,
			"no kernel for the lab: apt's lists lack \"%s\" "
			"(run: apt-get update)",
			KERNEL_META);
	return 0;
}

static int fill(struct kernel *k, const char *folder, struct err *e)
{
	char pattern[PATH_MAX + 32];
	glob_t g;
	int err;

	snprintf(k->package, sizeof(k->package), "%s",
		 strrchr(folder, '/') + 1 + strlen(CACHE_PREFIX));
	snprintf(k->root, sizeof(k->root), "%s", folder);
	snprintf(pattern, sizeof(pattern), "%s/boot/vmlinuz-*", folder);
	err = glob(pattern, 0, NULL, &g);
	if (err)
		return err_set(e, -ENOENT,
			       "\"%s\" has no kernel in it: remove it", folder);
	snprintf(k->image, sizeof(k->image), "%s", g.gl_pathv[0]);
	globfree(&g);
	snprintf(k->release, sizeof(k->release), "%s",
		 strrchr(k->image, '/') + strlen("/vmlinuz-"));
	return 0;
}

/* apt-get download writes where it stands. */
static int download(const char *name, const char *folder, char deb[PATH_MAX],
		    struct err *e)
{
	/* Its sandbox user may not write in our folder; it would warn. */
	const char *sh[] = {"sh",
			    "-c",
			    "cd \"$1\" && exec apt-get -q -o "
			    "APT::Sandbox::User=root download \"$2\"",
			    "sh",
			    folder,
			    name,
			    NULL};
	char pattern[PATH_MAX + 16];
	glob_t g;
	int err = child_check(sh, NULL, DOWNLOAD_SECONDS * NS_PER_SEC, NULL, e);

	if (err)
		return err_prefix(e, "cannot download the lab's kernel \"%s\"",
				  name);
	snprintf(pattern, sizeof(pattern), "%s/*.deb", folder);
	err = glob(pattern, 0, NULL, &g);
	if (err)
		return err_set(e, -ENOENT,
			       "apt-get downloaded \"%s\", but no .deb came",
			       name);
	snprintf(deb, PATH_MAX, "%s", g.gl_pathv[0]);
	globfree(&g);
	return 0;
}

static int unpack(const char *deb, const char *folder, struct err *e)
{
	const char *dpkg[] = {"dpkg-deb", "-x", deb, folder, NULL};
	struct kernel k;
	int err = child_check(dpkg, NULL, UNPACK_SECONDS * NS_PER_SEC, NULL, e);
	const char *depmod[] = {"depmod", "-b", folder, k.release, NULL};

	unlink(deb);
	if (!err)
		err = fill(&k, folder, e);
	if (!err)
		err = child_check(depmod, NULL, UNPACK_SECONDS * NS_PER_SEC,
				  NULL, e);
	return err;
}

static int fetch(struct cache *c, const char *name, const char *folder,
		 char *note, struct err *e)
{
	char temporary[PATH_MAX + 8], deb[PATH_MAX];
	int err;

	snprintf(temporary, sizeof(temporary), "%s.tmp", folder);
	cache_remove_tree(temporary);
	err = cache_check_room(c->folder, ROOM_BYTES, "the lab's kernel takes",
			       "XDG_CACHE_HOME", e);
	if (!err)
		err = file_make_dirs(temporary, 0755, e);
	if (!err)
		err = download(name, temporary, deb, e);
	if (!err)
		err = unpack(deb, temporary, e);
	if (!err && rename(temporary, folder))
		err = err_set(e, -errno, "cannot make \"%s\": %s", folder,
			      strerror(errno));
	if (err) {
		cache_remove_tree(temporary);
		return err;
	}
	cache_remove_others(c, CACHE_PREFIX, folder);
	snprintf(note, 256, "downloaded the kernel %s", name);
	return 0;
}

int kernel_get(struct kernel *k, struct cache *c, int look_for_newer,
	       char *note, struct err *e)
{
	char name[128], version[128], file[300], folder[PATH_MAX];
	int err;

	note[0] = '\0';
	if (!look_for_newer && !cache_find_last(c, CACHE_PREFIX, folder))
		return fill(k, folder, e);
	err = resolve(name, version, e);
	if (err && !cache_find_last(c, CACHE_PREFIX, folder)) {
		snprintf(note, 256,
			 "apt names no newer kernel; the one in the "
			 "cache serves");
		return fill(k, folder, e);
	}
	if (err)
		return err;
	snprintf(file, sizeof(file), CACHE_PREFIX "%s_%s", name, version);
	cache_path(c, file, folder);
	if (access(folder, F_OK))
		err = fetch(c, name, folder, note, e);
	return err ? err : fill(k, folder, e);
}
