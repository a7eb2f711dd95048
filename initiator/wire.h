#ifndef INITIATOR_WIRE_H
#define INITIATOR_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/*
 * A session's socket calls, in batches. libiscsi makes one or more calls a PDU;
 * wire.c takes recv, send, readv and writev over by defining them in the
 * program, where the dynamic linker finds them before the C library's.
 *
 * They act on a wire only for its descriptor and only in the thread that is
 * between wire_enter() and wire_leave(), which is around a call of
 * iscsi_service(). Every other call, of any thread or library, goes straight
 * to the kernel. So there is no table of descriptors, nothing to lock, and
 * nothing that could outlive a closed or reused one.
 *
 * Out: what is sent is queued, and leaves in one call by wire_flush(), or when
 * the queue is full. Payloads from WIRE_REF_MIN bytes on are not copied: they
 * are borrowed until wire_holds() says no, though send and writev have said
 * that they are gone. In: one receive brings what there is; small PDUs are
 * copied from it, the rest of a large data segment goes straight to its place.
 *
 * The headers that pass are kept account of (initiator/ledger.h). A PDU that
 * fits no command ends the session, before libiscsi acts on it: its receive
 * fails with EPROTO.
 *
 * All of it on the thread that made the wire.
 */
enum { WIRE_REF_MIN = 1024 };

struct negotiation;
struct pcap;
struct wire;
struct wire_counts;
struct wire_times;

/* @fd is a connected or connecting stream socket, borrowed. NULL: no memory. */
struct wire *wire_new(int fd);
/* Drops what it holds. NULL is fine. Before the descriptor is closed. */
void wire_free(struct wire *w);

/* What passes from now on is written to @p, too, which outlives the wire. 0 or
 * -ENOMEM. */
int wire_capture(struct wire *w, struct pcap *p);

/* Gives what wire_leave() wants. @w NULL: no wire in here. */
struct wire *wire_enter(struct wire *w);
void wire_leave(struct wire *before);

/* The same in two steps, for one who sends for many: what to send, if there is
 * something, and what came of it (bytes, or -errno), with wire_flush()'s
 * answer. Nothing else of the wire in between. */
bool wire_message(const struct wire *w, struct msghdr *m);
int wire_sent(struct wire *w, ssize_t result);
/* Sends all that is queued: 0, -EAGAIN when the socket takes no more now, or
 * -errno: then the connection is lost. */
int wire_flush(struct wire *w);

/* Of all these @w may be NULL. */
/* Bytes received and not read: no event of the socket will come for them. */
size_t wire_input(const struct wire *w);
bool wire_has_output(const struct wire *w);
/* Is some of @buf borrowed? */
bool wire_holds(const struct wire *w, const void *buf, size_t bytes);

/* Why a receive failed with EPROTO; NULL: none did. */
const char *wire_complaint(const struct wire *w);
/* Of a command, by its initiator task tag: bytes of data that came, and those
 * that libiscsi has not sent, to the wire at least; -1: unknown. */
int64_t wire_data_in(const struct wire *w, uint32_t itt);
int64_t wire_data_left(const struct wire *w, uint32_t itt);

/* --- what passed: initiator/tap.h; @w may be NULL --- */

/* Of a command, by its tag, until its callback returns; false: unknown. */
bool wire_times(const struct wire *w, uint32_t itt, struct wire_times *t);
/* After a flush: does the target's window keep commands back? */
void wire_settled(struct wire *w, bool are_held);
/* libiscsi found one, which ends the session. */
void wire_digest_error(struct wire *w);
/* False: unknown. */
bool wire_counts(const struct wire *w, struct wire_counts *c);
/* Borrowed; NULL: unknown. */
const struct negotiation *wire_negotiation(const struct wire *w);

#endif
