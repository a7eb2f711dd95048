#ifndef BASE_STATE_H
#define BASE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * Where things are written down that outlive the lunbench that made them: a
 * root folder ($LUNBENCH_STATE_DIR; else /run/lunbench for root,
 * $XDG_RUNTIME_DIR/lunbench, /tmp/lunbench-UID), and in it one folder a thing,
 * 0700, named after it, with a journal (journal.h) and whatever else its kind
 * keeps.
 *
 * Root prefers /run to XDG_RUNTIME_DIR: a log-out empties that one, and the
 * daemon that it described would be nobody's.
 *
 * The folder itself is the lock (flock): whoever makes or takes down the thing
 * holds it. It goes with its holder, whatever ends that.
 */

/* What kinds of things differ in: a const of the room that makes them. */
struct state_kind {
	const char *noun;  /* "target" */
	const char *below; /* a folder of the root with a leading "/", whose
			      name no thing can have; "": the root itself */
	bool (*is_ours)(const char *file); /* may be removed with the folder;
					      the journal goes without asking */
};

struct state {
	const struct state_kind *kind;
	char name[64];
	char folder[512];
	int lock_fd; /* owned; -1: not held */
};

/* -EINVAL with what a name may be: it becomes part of an IQN. */
int state_check_name(const struct state_kind *k, const char *name,
		     struct err *e);

/* Fills name and folder; makes nothing, locks nothing. -ENOENT: no such
 * folder. -EPERM: it is another user's (the text says whose). */
int state_find(struct state *s, const struct state_kind *k, const char *name,
	       struct err *e);

/* Locks the folder, made first if @make; waits for another holder at most
 * @deadline_ns (-EBUSY). */
int state_lock(struct state *s, const struct state_kind *k, const char *name,
	       bool make, uint64_t deadline_ns, struct err *e);
void state_unlock(struct state *s);

/* True while someone else holds the lock. */
bool state_is_busy(const struct state *s);

/* "FOLDER/FILE" */
void state_path(const struct state *s, const char *file, char *path,
		size_t size);

/* A number that tells this state folder from others, the same every time. */
uint64_t state_hash(const struct state *s);

/* Removes what is the kind's, the journal last; under the lock. */
int state_clear(struct state *s, struct err *e);

/* The same and the folder. -ENOTEMPTY: something else is in it. */
int state_remove(struct state *s, struct err *e);

/* Names of all folders of a kind, sorted. The caller frees names and list. */
int state_list(const struct state_kind *k, char ***names, size_t *nr,
	       struct err *e);

#endif
