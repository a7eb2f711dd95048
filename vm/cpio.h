#ifndef VM_CPIO_H
#define VM_CPIO_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/err.h"

/*
 * Archives in the "newc" form of cpio: what the kernel unpacks into its first
 * root (Documentation/driver-api/early-userspace/buffer-format), and how a
 * guest's results come back. Several one after another are one root, the last
 * one wins.
 *
 * The same files give the same bytes on any machine: every time is 0, the owner
 * is root, inode numbers count from 1, folders are walked by name.
 */
struct cpio {
	FILE *file;	  /* owned */
	const char *path; /* borrowed */
	uint32_t inode;
};

/* Opens @path for a new archive, or to append one. */
int cpio_create(struct cpio *c, const char *path, struct err *e);
int cpio_append(struct cpio *c, const char *path, struct err *e);

/* @name is the place in the root, with or without a leading "/"; folders on
 * the way to it are made (cpio_add_folders() alone makes them for a @name that
 * ends in "/"). A symbolic link there is followed when it is unpacked. */
int cpio_add_folders(struct cpio *c, const char *name, struct err *e);
int cpio_add_data(struct cpio *c, const char *name, mode_t mode,
		  const void *data, size_t len, struct err *e);
int cpio_add_file(struct cpio *c, const char *name, const char *from,
		  struct err *e);
int cpio_add_link(struct cpio *c, const char *name, const char *to,
		  struct err *e);

/* All that is below the folder @from, at the root. Devices, sockets and what
 * we may not read are left out. */
int cpio_add_tree(struct cpio *c, const char *from, struct err *e);

/* Ends the archive. 0 only if all of it was written. Releases @c in any case.
 */
int cpio_finish(struct cpio *c, struct err *e);

/* Unpacks folders and plain files of @path below @folder, owned by us; links
 * and what would land outside are refused. @nr: files made. -EBADMSG: cut
 * short, or no such archive. */
int cpio_extract(const char *path, const char *folder, size_t *nr,
		 struct err *e);

#endif
