#ifndef INITIATOR_TRANSPORT_H
#define INITIATOR_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "initiator/loop.h"
#include "initiator/negotiation.h"
#include "initiator/stages.h"
#include "initiator/url.h"
#include "workloads/lun.h"
#include "workloads/options.h"

/*
 * The seam between what is asked and who answers. One test holds every
 * transport to this contract (tests/unit/test_transport.c):
 *  1. All calls and events happen on the loop's thread.
 *  2. submit() == 0 means exactly one on_io, later, never from inside submit.
 *     submit() < 0: none, ever, for this call.
 *  3. The io and its buffer are borrowed until on_io returns.
 *  4. close may come in any state, also inside an event: every outstanding io
 *     gets on_io with -ECANCELED, then on_closed comes once, last. The conn
 *     frees itself after on_closed. close returns before any of these events
 *     and must not wait for the network (no logout round trip longer than
 *     the loop's next turns; give it up after 1 s).
 *  5. A transport never retries, reconnects, logs per I/O, or measures. Policy
 *     and measuring live in initiator/session.
 */

struct io_detail { /* what the target said, in SCSI terms; 0 where none */
	uint8_t scsi_status; /* SAM-5 5.3.1: 0x02 CHECK CONDITION, 0x08 BUSY,
				0x18 RESERVATION CONFLICT, 0x28 TASK SET FULL */
	uint8_t sense_key, asc, ascq;
	int32_t residual_bytes; /* > 0 underflow, < 0 overflow */
};

struct io {
	enum io_op op;
	uint64_t offset_bytes; /* multiple of the LUN's block; 0 for a flush */
	uint32_t length_bytes; /* 0 for a flush of everything */
	void *buf;	       /* borrowed; NULL for trim and flush */
	bool fua; /* of a write: on the medium before it is acknowledged */

	int result; /* 0, or -errno:
		       -EBUSY BUSY or TASK SET FULL   -EAGAIN unit attention,
		       not ready   -ENXIO no such LUN   -EROFS write protected
		       -ENODATA medium error   -EREMOTEIO any other refusal
		       -EBADMSG unexpected residual (short transfer)
		       -ECANCELED closed   -EIO / other: as the system said */
	struct io_detail detail;
	struct wire_times times; /* with the result, where the wire has a tap;
				    else first_ns is 0 */

	void *transport_data; /* private to the transport while outstanding */
	struct io *transport_next, *transport_prev;
};

struct pcap;
enum tristate { ASK_DEFAULT, ASK_NO, ASK_YES };

/* What the user may ask of an initiator; the same for all sessions. */
struct initiator_opts {
	char initiator_name[224]; /* "": unique, made per process and session:
				     iqn.2026-11.dev.lunbench:HOST-PID[-N] */
	enum tristate
		header_digest; /* YES: CRC32C; NO: None; DEFAULT: None,CRC32C */
	enum tristate data_digest; /* YES is refused where libiscsi lacks it */
	enum tristate immediate_data, initial_r2t;
	bool plain_wire; /* libiscsi's own socket calls: see initiator/wire.h */
	struct pcap *capture; /* borrowed; gets what the wires pass, or NULL */
	uint64_t connect_timeout_ns; /* connect and login together */
	uint64_t command_timeout_ns;
};

struct conn; /* opaque; each transport embeds it first in its own struct */

struct conn_events {
	/* Once after open() == 0, unless closed before: @lun on success, else
	 * NULL and @e. After a failure the owner calls close. */
	void (*on_open)(void *user, const struct lun *lun, const struct err *e);
	void (*on_io)(void *user, struct io *io);
	/* The connection is gone, once. Submit fails with -ENOTCONN from now
	 * on; the owner calls close, which returns what is outstanding. */
	void (*on_lost)(void *user, const struct err *e);
	void (*on_closed)(void *user);
};

struct conn_setup {
	struct loop *loop;		   /* borrowed, outlives the conn */
	const struct url *url;		   /* same */
	const struct initiator_opts *opts; /* same */
	const struct lun *known; /* a probe's answer: skip inquiry (but check
				    the size); or NULL */
	unsigned int number;	 /* of the session in this process, 0.. */
	unsigned int depth;	 /* most ios outstanding at once */
	unsigned int repeat;	 /* of the measurement, from 1; 0: of none */
	const struct conn_events *events;
	void *user;
};

enum transport_cap {
	CAN_WRITE = 1,
	CAN_TRIM = 2,
	CAN_FLUSH = 4,
	IS_VIRTUAL = 8, /* needs a virtual loop */
	IS_NETWORK = 16,
};

struct transport {
	const char *scheme;
	const char *summary; /* one line for --help */
	unsigned int caps;
	/* 0 and *c, or -errno at once for what needs no waiting (bad address).
	 */
	int (*open)(struct conn **c, const struct conn_setup *s, struct err *e);
	int (*submit)(struct conn *c, struct io *io);
	void (*kick)(struct conn *c); /* send what was submitted this turn */
	/* Of the outstanding ios, those that are kept back because the target
	 * takes no more at once now (MaxCmdSN, RFC 7143 4.2.2.1); after a kick.
	 * NULL: never any. */
	unsigned int (*held)(const struct conn *c);
	/* What passed on its wire since it was opened: true, and *counts. NULL:
	 * there is none. */
	bool (*counts)(const struct conn *c, struct wire_counts *counts);
	/* What its login settled; borrowed. NULL, or a NULL: unknown. */
	const struct negotiation *(*negotiation)(const struct conn *c);
	void (*close)(struct conn *c);
	/* Where an open stands: "connecting to 10.0.0.5:3260", "waiting for the
	 * login response of ...": for the text when its deadline passes. */
	const char *(*stage)(const struct conn *c);
	/* Facts for the result: emit("HeaderDigest", "None"), ... */
	void (*describe)(const struct conn *c,
			 void (*emit)(void *user, const char *key,
				      const char *value),
			 void *user);
};

struct conn {
	const struct transport *transport;
};

/* Each in the file of its name. A new one is one file, one line here and one
 * in the table of transport.c. */
extern const struct transport transport_iscsi, transport_block, transport_null,
	transport_sim, transport_fault;

/* The table: iscsi, block, null, sim, fault. NULL-terminated. */
extern const struct transport *const transports[];

/* NULL and a sentence that lists the known schemes. */
const struct transport *transport_find(const char *scheme, struct err *e);

/* The caps of what @url names: those of its transport; for fault: those of the
 * transport inside, which is what can refuse a plan or need a virtual clock.
 * 0 for an unknown scheme. */
unsigned int transport_caps(const struct url *url);

/* "CHECK CONDITION, MEDIUM ERROR, unrecovered read error (3/11/00)": what
 * failed about @io, from our own sense table (SPC-4 annex). */
char *transport_describe_detail(const struct io *io, char *buf, size_t size);

/* What a probe finds beside the LUN; each may be NULL. */
struct probe_events {
	/* as describe */
	void (*emit)(void *user, const char *key, const char *value);
	/* each key that the login was about */
	void (*on_key)(void *user, const struct negotiated *key);
	void *user;
};

/* Opens @url on a loop of its own, learns the LUN, closes; within
 * opts->connect_timeout_ns. @events or NULL. */
int transport_probe(const struct url *url, const struct initiator_opts *opts,
		    struct lun *lun, const struct probe_events *events,
		    struct err *e);

#endif
