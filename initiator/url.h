#ifndef INITIATOR_URL_H
#define INITIATOR_URL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/*
 * What to measure, by name:
 *   iscsi://[user[%password]@]host[:port]/target-iqn/lun   (libiscsi's form;
 *       IPv6 hosts in brackets; options after `?`)
 *   block:PATH or a plain path      a local block device or file
 *   null:SIZE                       completes at once
 *   sim:servers=K,service=TIME,size=SIZE[,dist=fixed|exp]  virtual clock
 *   fault:SPEC,...:URL              another transport with faults
 * Everything is parsed and range-checked here, before libiscsi (which truncates
 * ports and LUNs silently) sees it. LUN 0..16383; port 1..65535.
 */
struct url {
	char scheme[16];
	char display[1024]; /* for people and files: without secrets */

	/* iscsi */
	char host[256];
	uint16_t port;	  /* 3260 where not given */
	char target[224]; /* IQN, at most 223 bytes (RFC 7143 4.2.7.1) */
	uint32_t lun;	  /* 0..16383 */
	bool has_lun;	  /* false: a portal or target only (discover) */
	char user[256], password[256];		     /* CHAP */
	char target_user[256], target_password[256]; /* mutual CHAP */

	/* block: the path; null, sim, fault: the part after the scheme */
	char rest[1024];
};

/*
 * Parses @text; CHAP names and secrets not in it come from the environment
 * (LIBISCSI_CHAP_USERNAME, _PASSWORD, _TARGET_USERNAME, _TARGET_PASSWORD), or
 * from the file named by LUNBENCH_CHAP_FILE (lines key=value: user, password,
 * target_user, target_password; the trailing newline is not part of the value).
 * %XX in user and password is not decoded, as in libiscsi. Errors name the part
 * and its value, never a secret. Secrets over 255 bytes are refused; under 12
 * bytes @warning (may be NULL; 256 bytes) says what RFC 7143 wants; the same
 * secret both ways is refused.
 * @need_lun false accepts iscsi://host[:port][/target].
 */
int url_parse(struct url *u, const char *text, bool need_lun, char *warning,
	      struct err *e);

/* Overwrites the secrets. */
void url_wipe(struct url *u);

#endif
