#ifndef TARGET_TGT_H
#define TARGET_TGT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "target/array.h"
#include "target/md_state.h"

/*
 * The bundled target: a private tgtd, one per name, with its own control
 * port, IPC socket and TCP port, on loopback, as whoever runs lunbench (root
 * or not). Everything made is written to a journal before it is made, so
 * that tgt_down() cleans up after a kill -9 of anything at any step.
 *
 * State lives in one folder a target (state.h): below $LUNBENCH_STATE_DIR, or
 * /run/lunbench for root, or $XDG_RUNTIME_DIR/lunbench, or /tmp/lunbench-UID.
 *
 * Codes: -EINVAL, -ENAMETOOLONG, -ENOTEMPTY (a signature on the backing) are
 * the caller's to mend; everything else is the machine's.
 */

enum tgt_store { STORE_RDWR, STORE_AIO, STORE_NULL };

struct tgt_opts {
	char name[64]; /* "default" */
	enum tgt_store store;
	uint64_t size_bytes;  /* 0: 1 GiB, or that of an existing backing */
	uint32_t block_bytes; /* 512 or 4096 */
	char backing[1024]; /* "": an image made and removed by us in the state
			       folder (RAM-backed where that is tmpfs; in
			       /var/tmp if it does not fit there); else a file
			       or device the user named: never removed, refused
			       if in use, or signed without overwrite; a file
			       that is not there is made if size_bytes is set */
	struct array_opts array; /* kind "": none of it */
	bool ram;		 /* image on /dev/shm */
	bool overwrite;
	bool stock;		    /* tgt's own defaults, for comparison */
	char listen[64];	    /* "127.0.0.1" */
	uint16_t port;		    /* 0: a free one */
	char initiator_address[64]; /* ACL; "": loopback only; must be given
				       to listen elsewhere */
	unsigned int io_threads;    /* rdwr only; 0: tgt's 16 */
	/* CHAP, from the environment or a file; "" none */
	char user[256], password[256];
	uint64_t deadline_ns; /* how long the whole start may take, without the
				 first sync of an array */
};

struct tgt_status {
	char name[64];
	char url[512];
	char iqn[224];
	char store[8];
	bool is_durable;  /* rdwr: flush and FUA are honoured; aio, null: no */
	bool write_cache; /* WCE: a write may be in memory until a flush */
	/* What a user may use. The null store's LUN is 1 TiB whatever is asked:
	 * bound the region to this. */
	uint64_t size_bytes;
	uint32_t block_bytes;
	char backing[1024];   /* "none" for the null store */
	bool backing_is_ours; /* goes with the target */
	/* "" for none; LUNs 1 to nr_luns are there, more than one for jbod */
	char array[32], members[1024];
	unsigned int nr_luns;
	char md[64]; /* "/dev/md100"; "" if there is none */
	struct md_state md_state;
	char member[DISKS_MAX][128]; /* devices, of an array */
	size_t nr_members;
	char listen[64]; /* numeric, no brackets */
	uint16_t port;
	char user[256]; /* CHAP; "" none. The secret is kept nowhere */
	int pid;
	int control_port;
	bool is_running; /* and complete: the LUN is there */
	bool stock;
	char problem[256]; /* "" or what is wrong ("tgtd is gone; run ...") */
	char tgt_version[64];
};

void tgt_opts_init(struct tgt_opts *o);

/* Starts it, proves that it listens where asked and nowhere else, and
 * fills @s. -EEXIST: that name is up (text says how to take it down); stale
 * state of a dead one is cleaned first and said in @note (256 bytes). On
 * failure nothing is left. */
int tgt_up(const struct tgt_opts *o, struct tgt_status *s, char *note,
	   struct err *e);

/* Takes it down in order: targets, daemon, SIGKILL to its own pid, files.
 * Nothing there: -ENOENT. Idempotent after a crash. */
int tgt_down(const char *name, struct err *e);

int tgt_status(const char *name, struct tgt_status *s, struct err *e);

/* Makes a member of its array faulty (-EINVAL where the array would be lost
 * with it), or takes a faulty one out and has md rebuild it as a blank disk; a
 * replacement that was killed on the way goes on. @member: its number from 0,
 * or its device. Journal, in the replacement each before its step: "fail PATH",
 * "remove PATH", "blank PATH", "add PATH": nothing to undo. */
int tgt_fail(const char *name, const char *member, struct err *e);
int tgt_replace(const char *name, const char *member, struct err *e);

/* Names of all that have state, up or stale. The caller frees names and list.
 */
int tgt_list(char ***names, size_t *nr, struct err *e);

/* True if @portal_host:port/@iqn is the LUN of a running bundled target of
 * ours: then a run may write without --overwrite. Also its usable size. */
bool tgt_owns(const char *host, uint16_t port, const char *iqn,
	      struct tgt_status *s);

#endif
