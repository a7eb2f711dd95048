#include "initiator/iscsi_login.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <iscsi/iscsi.h>
#include <iscsi/scsi-lowlevel.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* RFC 7143 section 13: what the target answers that is worth keeping. */
static const char *const key_names[LOGIN_KEYS] = {
	"HeaderDigest",
	"DataDigest",
	"InitialR2T",
	"ImmediateData",
	"MaxRecvDataSegmentLength",
	"FirstBurstLength",
	"MaxBurstLength",
	"MaxOutstandingR2T",
	"MaxConnections",
	"ErrorRecoveryLevel",
	"DataPDUInOrder",
	"DataSequenceInOrder",
	"DefaultTime2Wait",
	"DefaultTime2Retain",
	"TargetPortalGroupTag",
	"TargetAlias",
};

/* libiscsi 1.20.1 has it; earlier ones declare DataDigest=None always. */
typedef int set_data_digest_fn(struct iscsi_context *ctx, int digest);

static set_data_digest_fn *data_digest_setter(void)
{
	return (set_data_digest_fn *)dlsym(RTLD_DEFAULT,
					   "iscsi_set_data_digest");
}

int login_check(const struct initiator_opts *opts, struct err *e)
{
	if (opts->data_digest == ASK_YES && !data_digest_setter())
		return err_set(e, -EOPNOTSUPP,
			       "data digest: this libiscsi cannot do data "
			       "digests; 1.20.1 or newer can");
	return 0;
}

/* The host's name as far as an iSCSI name may have it (RFC 7143 4.2.7.2). */
static void host_part(char *out, size_t size)
{
	char host[256] = "";
	size_t n = 0;

	gethostname(host, sizeof(host) - 1);
	for (const char *p = host; *p && n + 1 < size; p++)
		if (isalnum((unsigned char)*p) || *p == '.' || *p == '-')
			out[n++] = tolower((unsigned char)*p);
	out[n] = '\0';
}

void login_name(char *name, const struct link_setup *s)
{
	char host[64];

	if (s->opts->initiator_name[0]) {
		snprintf(name, 224, "%s", s->opts->initiator_name);
		return;
	}
	host_part(host, sizeof(host));
	snprintf(name, 224, "iqn.2026-11.dev.lunbench:%s-%d-%u", host,
		 (int)getpid(), s->number);
}

static void set_digests(struct iscsi_context *ctx,
			const struct initiator_opts *o)
{
	static const enum iscsi_header_digest digest[] = {
		[ASK_DEFAULT] = ISCSI_HEADER_DIGEST_NONE_CRC32C,
		[ASK_NO] = ISCSI_HEADER_DIGEST_NONE,
		[ASK_YES] = ISCSI_HEADER_DIGEST_CRC32C,
	};
	set_data_digest_fn *set_data_digest;

	iscsi_set_header_digest(ctx, digest[o->header_digest]);
	set_data_digest = data_digest_setter();
	if (set_data_digest && o->data_digest != ASK_DEFAULT)
		set_data_digest(ctx, digest[o->data_digest]);
}

static void set_chap(struct iscsi_context *ctx, const struct url *u,
		     bool is_discovery)
{
	if (!u->user[0])
		return;
	iscsi_set_initiator_username_pwd(ctx, u->user, u->password);
	/* Targets have no account of their own for discovery: there libiscsi
	 * would fail for want of an answer. */
	if (u->target_user[0] && !is_discovery)
		iscsi_set_target_username_pwd(ctx, u->target_user,
					      u->target_password);
}

/* A random ISID each time: with the same name and ISID a second session would
 * throw out the first (RFC 7143 section 6.3.5). */
static void set_isid(struct iscsi_context *ctx, unsigned int number)
{
	uint32_t random = 0;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		random = (uint32_t)getpid() << 8 ^ (uintptr_t)ctx;
	iscsi_set_isid_random(ctx, random & 0xffffff, number & 0xffff);
}

struct iscsi_context *login_context(struct login *g, const char *name,
				    const struct link_setup *s)
{
	struct iscsi_context *ctx = iscsi_create_context(name);

	if (!ctx)
		return NULL;
	memset(g, 0, sizeof(*g));
	g->setup = s;
	g->initiator_name = name;
	iscsi_set_noautoreconnect(ctx, 1);
	iscsi_set_session_type(ctx, s->target ? ISCSI_SESSION_NORMAL
					      : ISCSI_SESSION_DISCOVERY);
	if (s->target)
		iscsi_set_targetname(ctx, s->target);
	set_digests(ctx, s->opts);
	if (s->opts->immediate_data != ASK_DEFAULT)
		iscsi_set_immediate_data(ctx,
					 s->opts->immediate_data == ASK_YES
						 ? ISCSI_IMMEDIATE_DATA_YES
						 : ISCSI_IMMEDIATE_DATA_NO);
	if (s->opts->initial_r2t != ASK_DEFAULT)
		iscsi_set_initial_r2t(ctx, s->opts->initial_r2t == ASK_YES
						   ? ISCSI_INITIAL_R2T_YES
						   : ISCSI_INITIAL_R2T_NO);
	set_chap(ctx, s->url, !s->target);
	set_isid(ctx, s->number);
	return ctx;
}

/* --- the target's answers --- */

/* libiscsi keeps the negotiated keys to itself, but logs each at level 6. Its
 * log function has no user pointer and its buffer is static, so one login at a
 * time speaks, and only during login. */
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static struct login *log_listener; /* under log_lock */
enum { LOG_LEVEL = 6 };

static void on_log(int level, const char *message)
{
	static const char prefix[] = "TargetLoginReply: ";
	const char *value;
	size_t n;

	(void)level;
	if (strncmp(message, prefix, sizeof(prefix) - 1) != 0)
		return;
	message += sizeof(prefix) - 1;
	value = strchr(message, '=');
	if (!value)
		return;
	n = value++ - message;
	for (size_t i = 0; i < LOGIN_KEYS; i++)
		if (strlen(key_names[i]) == n &&
		    memcmp(key_names[i], message, n) == 0)
			/* " [TARGET]" is appended by the log */
			snprintf(log_listener->keys[i],
				 sizeof(log_listener->keys[i]), "%.*s",
				 (int)strcspn(value, " "), value);
}

int login_service(struct login *g, struct iscsi_context *ctx, int revents)
{
	bool listen = !getenv("LIBISCSI_DEBUG"); /* that log is the user's */
	int ret;

	if (!listen)
		return iscsi_service(ctx, revents);
	pthread_mutex_lock(&log_lock);
	log_listener = g;
	iscsi_set_log_level(ctx, LOG_LEVEL);
	iscsi_set_log_fn(ctx, on_log);
	ret = iscsi_service(ctx, revents);
	iscsi_set_log_fn(ctx, NULL);
	iscsi_set_log_level(ctx, 0);
	log_listener = NULL;
	pthread_mutex_unlock(&log_lock);
	return ret;
}

void login_describe(const struct login *g,
		    void (*emit)(void *user, const char *key,
				 const char *value),
		    void *user)
{
	for (size_t i = 0; i < LOGIN_KEYS; i++)
		if (g->keys[i][0])
			emit(user, key_names[i], g->keys[i]);
}

/* --- why not --- */

int login_number(const char *text)
{
	const char *p = strrchr(text, '(');
	int n;

	return p && sscanf(p, "(%d)", &n) == 1 ? n : -1;
}

/* RFC 7143 section 11.13.5. */
static int explain_status(struct login *g, int status, const char *address)
{
	const struct url *u = g->setup->url;
	struct err *e = &g->error;

	switch (status) {
	case 0x0102:
		return err_set(e, -ENOENT,
			       "the target has moved for good to \"%s\": use "
			       "that portal",
			       address);
	case 0x0201:
		if (!u->user[0])
			return err_set(
				e, -EACCES,
				"authentication failed: the target wants "
				"CHAP; give user and password");
		return err_set(e, -EACCES,
			       "authentication failed: the target does not "
			       "accept user \"%s\" with that password%s",
			       u->user,
			       u->target_user[0] ? ", or has no outgoing "
						   "account for mutual CHAP"
						 : "");
	case 0x0202:
		return err_set(e, -EACCES,
			       "authorization failed: the target does not let "
			       "in initiator \"%s\"",
			       g->initiator_name);
	case 0x0203:
		return err_set(e, -ENOENT,
			       "target not found: \"%s\" (another name, or its "
			       "access list lacks initiator \"%s\" or this "
			       "host's address)",
			       g->setup->target ? g->setup->target
						: "discovery",
			       g->initiator_name);
	case 0x0204:
		return err_set(e, -ENOENT, "target removed: \"%s\"",
			       g->setup->target ? g->setup->target
						: "discovery");
	case 0x0206:
		return err_set(e, -EBUSY,
			       "the target has too many connections already");
	case 0x0301:
		return err_set(e, -EBUSY,
			       "the target is up but not ready to serve yet");
	case 0x0302:
		return err_set(e, -EBUSY, "the target is out of resources");
	}
	return err_set(e, -EPROTO,
		       "login refused with status 0x%04x (RFC 7143 11.13.5)",
		       status);
}

/* Mutual CHAP fails on our side; libiscsi has only sentences for it. */
static void explain(struct login *g, struct iscsi_context *ctx)
{
	const struct url *u = g->setup->url;
	const char *text = iscsi_get_error(ctx);
	struct err *e = &g->error;
	int status = login_number(text);

	if (strstr(text, "Invalid CHAP_R"))
		err_set(e, -EACCES,
			"mutual authentication failed: the target did not "
			"prove that it knows the secret of target user \"%s\"",
			u->target_user);
	else if (strstr(text, "Wrong CHAP targetname received: "))
		err_set(e, -EACCES,
			"mutual authentication failed: the target names "
			"itself \"%s\", not \"%s\"",
			strchr(text, ':') + 2, u->target_user);
	else if (strstr(text, "did not return CHAP_"))
		err_set(e, -EACCES,
			"mutual authentication failed: the target did not "
			"authenticate itself; it has no outgoing account for "
			"us");
	else if (status > 0)
		explain_status(g, status, iscsi_get_target_address(ctx));
	else
		err_set(e, -EPROTO, "login failed: %s", text);
}

/* The places in key_names. */
enum { KEY_HEADER_DIGEST, KEY_DATA_DIGEST };

/* Some targets (tgt) answer None to an offer of CRC32C alone, and libiscsi
 * goes on without. */
static bool has_digest(struct login *g, enum tristate asked, int key)
{
	if (asked != ASK_YES || !g->keys[key][0] ||
	    strcmp(g->keys[key], "CRC32C") == 0)
		return true;
	err_set(&g->error, -EPROTO,
		"the target answers %s=%s, and CRC32C was asked for",
		key_names[key], g->keys[key]);
	return false;
}

static void on_login(struct iscsi_context *ctx, int status, void *data,
		     void *user)
{
	struct login *g = user;
	const struct initiator_opts *o = g->setup->opts;

	(void)data;
	if (status == SCSI_STATUS_GOOD) {
		g->state = LOGIN_GOOD;
		if (!has_digest(g, o->header_digest, KEY_HEADER_DIGEST) ||
		    !has_digest(g, o->data_digest, KEY_DATA_DIGEST))
			g->state = LOGIN_FAILED;
	} else if (status == SCSI_STATUS_REDIRECT) {
		g->state = LOGIN_REDIRECTED;
	} else {
		g->state = LOGIN_FAILED;
		explain(g, ctx);
	}
}

int login_start(struct login *g, struct iscsi_context *ctx)
{
	return iscsi_login_async(ctx, on_login, g);
}

/* "host:port,tag", "[ipv6]:port,tag", the last two optional */
int login_redirect(struct iscsi_context *ctx, char *host, size_t size,
		   uint16_t *port)
{
	char text[300], *p = text, *end;
	unsigned int number = 3260;

	snprintf(text, sizeof(text), "%s", iscsi_get_target_address(ctx));
	text[strcspn(text, ",")] = '\0';
	if (*p == '[') {
		end = strchr(++p, ']');
		if (!end)
			return -EPROTO;
		*end++ = '\0';
	} else {
		end = p + strcspn(p, ":");
	}
	if (*end == ':') {
		*end++ = '\0';
		if (sscanf(end, "%u", &number) != 1 || !number ||
		    number > UINT16_MAX)
			return -EPROTO;
	}
	if (!*p || strlen(p) >= size)
		return -EPROTO;
	strcpy(host, p);
	*port = number;
	return 0;
}

void login_wipe(struct login *g)
{
	explicit_bzero(g->keys, sizeof(g->keys));
}
