#ifndef INITIATOR_FAULT_DATA_H
#define INITIATOR_FAULT_DATA_H

#include "initiator/fault.h"
#include "initiator/transport.h"

/*
 * Writes of the fault transport that go wrong and are acknowledged all the
 * same: each is done by an I/O of our own, a shadow, with other data, another
 * address, or not at all. The loop's thread.
 */
struct fault_data; /* opaque */

struct fault_data_setup {
	const struct transport *inside;
	const struct lun *lun;	   /* borrowed; known once open */
	struct conn *const *inner; /* borrowed; set before a submit */
	void (*on_done)(void *user, struct io *outer); /* its result is set */
	void *user;
	unsigned int depth;
	uint64_t seed;
};

struct fault_data *fault_data_new(const struct fault_data_setup *s);
/* Nothing of it is outstanding. NULL is fine. */
void fault_data_free(struct fault_data *d);

/* A write of one block cannot be torn or swapped. */
bool fault_data_fits(const struct fault_data *d, enum fault_kind kind,
		     const struct io *io);

/* 0, and on_done follows, not from inside; -errno: nothing will. FAULT_LOST is
 * the caller's. */
int fault_data_submit(struct fault_data *d, enum fault_kind kind,
		      struct io *io);

/* @io came from inside. True: it was a shadow. A read may get what was there
 * before a FAULT_STALE. */
bool fault_data_done(struct fault_data *d, struct io *io);

#endif
