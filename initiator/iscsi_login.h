#ifndef INITIATOR_ISCSI_LOGIN_H
#define INITIATOR_ISCSI_LOGIN_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "initiator/iscsi_link.h"

/* The login phase of a link (RFC 7143 section 6): a context with what the user
 * asked for, what the target answered, and why it refused. */

enum login_state { LOGIN_PENDING, LOGIN_GOOD, LOGIN_REDIRECTED, LOGIN_FAILED };

enum { LOGIN_KEYS = 16 };

struct login {
	enum login_state state;
	struct err error; /* of LOGIN_FAILED */
	const struct link_setup *setup;
	const char *initiator_name;
	char keys[LOGIN_KEYS][24]; /* the target's answers, "" if none */
};

/* What this libiscsi cannot do is refused: -EOPNOTSUPP. */
int login_check(const struct initiator_opts *opts, struct err *e);

/* The user's name, or one that nobody else has. @name: 224 bytes. */
void login_name(char *name, const struct link_setup *s);

/* A fresh context; NULL without memory. @name and @s outlive it. */
struct iscsi_context *login_context(struct login *g, const char *name,
				    const struct link_setup *s);

/* Queues the first login PDU; the state leaves LOGIN_PENDING in a later
 * login_service(), which is iscsi_service() with an ear for the keys. */
int login_start(struct login *g, struct iscsi_context *ctx);
int login_service(struct login *g, struct iscsi_context *ctx, int revents);

/* Where LOGIN_REDIRECTED sends us; -EPROTO when that is no portal. */
int login_redirect(struct iscsi_context *ctx, char *host, size_t size,
		   uint16_t *port);

/* The number in the last parentheses of a text of libiscsi: a login status or
 * an errno; -1 if there is none. It has no other way to tell them. */
int login_number(const char *text);

void login_describe(const struct login *g,
		    void (*emit)(void *user, const char *key,
				 const char *value),
		    void *user);
void login_wipe(struct login *g);

#endif
