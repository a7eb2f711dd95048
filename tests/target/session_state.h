#ifndef TESTS_TARGET_SESSION_STATE_H
#define TESTS_TARGET_SESSION_STATE_H

#include "tests/target/login.h"
#include "tests/target/out.h"
#include "tests/target/scsi.h"
#include "tests/target/session.h"

/* What the three files of a session share: session.c (its socket), pdu.c (what
 * each PDU brings about) and reply.c (what is sent). */

enum {
	HEADER = 48,
	IN_BYTES = 256 << 10,
	TEXT_BYTES = 16 << 10,
	/* A data segment that large goes straight to its place; then little
	 * more than it is read at once. */
	LARGE = 16 << 10,
	LITTLE = 1024,
	TASKS = 4096,
	/* Room for that many is there before a PDU is begun. */
	PDUS_A_READ = 500,
	PDUS_AT_ONCE = PDUS_A_READ + 100,
	NONE = UINT32_MAX,
};

/* Opcodes, RFC 7143 section 11.2.1.2. */
enum {
	NOP_OUT = 0x00,
	COMMAND = 0x01,
	TASK_MANAGEMENT = 0x02,
	LOGIN = 0x03,
	TEXT = 0x04,
	DATA_OUT = 0x05,
	LOGOUT = 0x06,
	NOP_IN = 0x20,
	RESPONSE = 0x21,
	TASK_RESPONSE = 0x22,
	LOGIN_RESPONSE = 0x23,
	TEXT_RESPONSE = 0x24,
	DATA_IN = 0x25,
	LOGOUT_RESPONSE = 0x26,
	R2T = 0x31,
	ASYNC = 0x32,
};

struct task { /* a write that waits for data; its index is its TTT */
	uint32_t itt, want, got, r2t_left, r2t_sn, next_free;
	bool is_taken, is_stalled;
	uint8_t *to;	  /* NULL: nowhere */
	uint8_t *scratch; /* owned: of a write that goes wrong; or NULL */
	enum act act;	  /* how */
	uint64_t delay_ns;
	struct answer answer;
};

struct session {
	struct target *t;
	int fd;
	bool is_full, is_over; /* past the login; to close when all is sent */
	bool cut;	       /* the next answer is cut short */
	bool wants_ping;       /* after the next answer */
	unsigned int wants_event; /* so does an Async Message; 0: none */
	uint64_t shut_until_ns;	  /* the window; 0: it is open */
	size_t nr_asked;	  /* R2Ts, for their sizes */
	struct kept *kept;	  /* owned: what was read and is no store */
	bool tells_zero;	  /* the next GOOD: a residual of no bytes */
	bool is_short;		  /* the next read: half of it, and no word */
	uint32_t events;
	uint32_t stat_sn, cmd_sn; /* cmd_sn: ExpCmdSN */
	uint32_t outstanding;	  /* commands without an answer */
	struct login_keys keys;

	uint8_t *in; /* owned */
	size_t in_first, in_end, in_limit;
	uint8_t header[HEADER];	  /* of the PDU whose data comes */
	uint8_t *data;		  /* where it goes; NULL: nowhere */
	uint32_t data_left, skip; /* bytes of it, and of the padding */
	bool in_data;
	uint8_t text[TEXT_BYTES]; /* of login, text and NOP */

	struct task *tasks; /* owned */
	uint32_t nr_tasks, free_task;
	struct task *current; /* that the data belongs to */
	struct out out;
};

struct kept { /* data behind it, until the session ends */
	struct kept *next;
	uint8_t *data; /* owned */
};

struct later {
	struct later *next;
	bool opens; /* no answer: the window is open again */
	uint64_t at_ns;
	struct session *s;
	uint32_t itt, want;
	struct answer answer;
};

/* --- pdu.c --- */

/* A header is in s->header: says where its data goes. Then, with that data in,
 * the rest. 0 or -errno: the connection is to be closed. */
int pdu_begin(struct session *s);
int pdu_finish(struct session *s);

/* --- reply.c --- */

uint8_t *reply_header(struct session *s, uint8_t opcode, uint8_t flags,
		      uint32_t itt, bool with_status);
/* Copied, and padded. */
void reply_data(struct session *s, uint8_t *header, const void *data, size_t n);
/* To a SCSI command that wants @want bytes, now or after @delay_ns. */
void reply_answer(struct session *s, uint32_t itt, const struct answer *a,
		  uint32_t want, uint64_t delay_ns);
/* The window is shut; a NOP-In opens it then. */
void reply_shut(struct session *s, uint64_t for_ns);
void reply_open(struct session *s);
void reply_forget(struct session *s); /* what is due later */

#endif
