#ifndef INITIATOR_IO_LIST_H
#define INITIATOR_IO_LIST_H

#include <errno.h>

#include "initiator/transport.h"

/* A queue of ios that a transport holds, through the fields of struct io that
 * are the transport's while it is outstanding. For transports only. */
struct io_list {
	struct io *head, *tail;
	size_t nr;
};

static inline void io_list_push(struct io_list *l, struct io *io)
{
	io->transport_next = NULL;
	io->transport_prev = l->tail;
	if (l->tail)
		l->tail->transport_next = io;
	else
		l->head = io;
	l->tail = io;
	l->nr++;
}

static inline void io_list_remove(struct io_list *l, struct io *io)
{
	if (io->transport_prev)
		io->transport_prev->transport_next = io->transport_next;
	else
		l->head = io->transport_next;
	if (io->transport_next)
		io->transport_next->transport_prev = io->transport_prev;
	else
		l->tail = io->transport_prev;
	l->nr--;
}

/* The oldest, or NULL. */
static inline struct io *io_list_pop(struct io_list *l)
{
	struct io *io = l->head;

	if (io)
		io_list_remove(l, io);
	return io;
}

/* Gives all back to their owner as cancelled: a transport's close. */
static inline void io_list_cancel(struct io_list *l,
				  const struct conn_events *events, void *user)
{
	struct io *io;

	while ((io = io_list_pop(l))) {
		io->result = -ECANCELED;
		events->on_io(user, io);
	}
}

#endif
