#ifndef TARGET_TGTADM_H
#define TARGET_TGTADM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/*
 * tgtd's management, through the tgtadm program. One struct names one tgtd: by
 * the folder of its private socket and its control port. tgtd takes orders only
 * from its own user and group.
 */
struct tgtadm {
	char folder[512];   /* TGT_IPC_SOCKET is FOLDER/sock */
	int control_port;   /* 0..32767 */
	uint64_t end_ns;    /* on clock_now_ns(); no call goes beyond it */
	char log_path[560]; /* where tgtd says why it refused */
};

/* -ENAMETOOLONG if the socket's path would not fit in 107 bytes. */
int tgtadm_init(struct tgtadm *t, const char *folder, int control_port,
		uint64_t end_ns, struct err *e);

/* "TGT_IPC_SOCKET=..." for tgtd's and tgtadm's environment. */
void tgtadm_socket_variable(const struct tgtadm *t, char *text, size_t size);

/* Arguments of a call. */
#define TGTADM_ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Runs `tgtadm -C PORT ARG...`; at most 28 arguments. 0 when tgtadm says so;
 * else the text has what it and tgtd's log say. -EBUSY: the target is still
 * active, try again. -ECONNREFUSED: nobody listens there. */
int tgtadm_call(const struct tgtadm *t, const char *const args[],
		struct err *e);

/* The same, with its output in *out, which the caller frees. */
int tgtadm_ask(const struct tgtadm *t, const char *const args[], char **out,
	       struct err *e);

/* Waits until tgtd answers, for as long as that process lives. -ECHILD with
 * tgtd's last words when it ends, -ETIMEDOUT. */
int tgtadm_wait(const struct tgtadm *t, pid_t pid, uint64_t start_time,
		struct err *e);

/* Makes an account without its password ever being in an argv: tgtadm gets
 * a placeholder of the same length and a socket of ours to talk to; we put
 * the password in its place and pass the request on to tgtd. So the request's
 * layout, which differs from version to version, stays tgtadm's business. */
int tgtadm_add_account(const struct tgtadm *t, const char *user,
		       const char *password, struct err *e);

/* "1.0.85"; "" if it does not say. */
void tgtadm_version(char *version, size_t size);

/* What `--mode target --op show` says of a LUN. */
struct tgtadm_lun {
	char type[32];	  /* "disk" */
	uint64_t size_mb; /* 10^6 bytes, rounded by tgt */
	uint32_t block_bytes;
	bool is_read_only, is_thin, is_online;
	char store[32]; /* "rdwr" */
	char path[1024];
};

/* False if LUN @lun of target @tid is not in @text. */
bool tgtadm_parse_lun(const char *text, unsigned int tid, unsigned int lun,
		      struct tgtadm_lun *l);

#endif
