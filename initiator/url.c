#include "initiator/url.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "initiator/chap.h"

enum {
	DEFAULT_PORT = 3260, /* RFC 7143 section 13.2 */
	LUN_MAX = 16383,     /* flat addressing has 14 bits (SAM-5 4.7.7.2) */
	NAME_MAX_BYTES = 223,
};

/* What may be shown of a piece that did not parse: when somebody forgot the
 * '@' or wrote one into a password, a secret can stand where we look for a
 * host. */
static const char *showable(const char *piece, char *buf, size_t size)
{
	const char *at = strrchr(piece, '@');
	char *percent;

	snprintf(buf, size, "%s", at ? at + 1 : piece);
	percent = strchr(buf, '%');
	if (percent)
		snprintf(percent, size - (percent - buf), "%%...");
	return buf;
}

/* Copies [from, to); false when it does not fit. */
static bool copy_range(char *dst, size_t size, const char *from, const char *to)
{
	size_t n = to - from;

	if (n >= size)
		return false;
	memcpy(dst, from, n);
	dst[n] = '\0';
	return true;
}

/* Decimal digits only; @max + 1 for anything else. */
static uint32_t parse_number(const char *text, uint32_t max)
{
	uint64_t n = 0;

	if (!*text)
		return max + 1;
	for (; *text; text++) {
		if (!isdigit((unsigned char)*text))
			return max + 1;
		n = n * 10 + (*text - '0');
		if (n > max)
			return max + 1;
	}
	return n;
}

static bool is_host_name(const char *host)
{
	for (const char *p = host; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr(".-_", *p))
			return false;
	return *host && strlen(host) < 254;
}

static bool is_ipv6(const char *host)
{
	char address[INET6_ADDRSTRLEN];
	struct in6_addr parsed;
	const char *scope = strchr(host, '%'); /* fe80::1%eth0 */

	if (!scope)
		scope = host + strlen(host);
	return copy_range(address, sizeof(address), host, scope) &&
	       inet_pton(AF_INET6, address, &parsed) == 1;
}

static int parse_port(struct url *u, const char *text, struct err *e)
{
	char shown[64];
	uint32_t port = parse_number(text, UINT16_MAX);

	if (port < 1 || port > UINT16_MAX)
		return err_set(e, -EINVAL,
			       "port \"%s\" in the URL must be 1 to 65535",
			       showable(text, shown, sizeof(shown)));
	u->port = port;
	return 0;
}

/* host[:port] or [ipv6][:port] */
static int parse_portal(struct url *u, const char *portal, struct err *e)
{
	const char *end, *port = NULL;
	char shown[128];

	if (*portal == '[') {
		end = strchr(portal, ']');
		if (!end ||
		    !copy_range(u->host, sizeof(u->host), portal + 1, end) ||
		    !is_ipv6(u->host) || (end[1] && end[1] != ':'))
			return err_set(e, -EINVAL,
				       "host \"%s\" in the URL is not an IPv6 "
				       "address in brackets, as in [::1]:3260",
				       showable(portal, shown, sizeof(shown)));
		if (end[1])
			port = end + 2;
	} else {
		end = portal + strcspn(portal, ":");
		if (!copy_range(u->host, sizeof(u->host), portal, end))
			u->host[0] = '\0';
		if (is_ipv6(portal))
			return err_set(e, -EINVAL,
				       "IPv6 address \"%s\" in the URL needs "
				       "brackets: [%s]",
				       portal, portal);
		if (end == portal)
			return err_set(e, -EINVAL,
				       "the URL names no host: "
				       "iscsi://host[:port]/target/lun");
		if (!is_host_name(u->host))
			return err_set(e, -EINVAL,
				       "host \"%s\" in the URL is neither a "
				       "name nor an address",
				       showable(portal, shown, sizeof(shown)));
		if (*end)
			port = end + 1;
	}
	u->port = DEFAULT_PORT;
	return port ? parse_port(u, port, e) : 0;
}

/* libiscsi decodes %XX in the target's name, and only there. */
static int decode_target(struct url *u, const char *from, const char *to,
			 struct err *e)
{
	char shown[128];
	size_t n = 0;

	for (; from < to; from++) {
		unsigned int c = (unsigned char)*from;

		if (c == '%' &&
		    (to - from < 3 || sscanf(from + 1, "%2x", &c) != 1 ||
		     !isxdigit((unsigned char)from[2])))
			return err_set(e, -EINVAL,
				       "target in the URL has a %% that is not "
				       "followed by two hex digits");
		if (*from == '%')
			from += 2;
		if (c <= ' ' || c == 0x7f)
			return err_set(e, -EINVAL,
				       "target in the URL has a blank or "
				       "control character (0x%02x)",
				       c);
		if (n >= NAME_MAX_BYTES)
			return err_set(
				e, -EINVAL,
				"target \"%.32s...\" in the URL is over "
				"%d bytes (RFC 7143 4.2.7.1)",
				showable(u->target, shown, sizeof(shown)),
				NAME_MAX_BYTES);
		u->target[n++] = c;
		u->target[n] = '\0';
	}
	return 0;
}

static int parse_lun(struct url *u, const char *text, struct err *e)
{
	char shown[64];
	uint32_t lun = parse_number(text, LUN_MAX);

	if (lun > LUN_MAX)
		return err_set(e, -EINVAL,
			       "LUN \"%s\" in the URL must be a number from 0 "
			       "to %d",
			       showable(text, shown, sizeof(shown)), LUN_MAX);
	u->lun = lun;
	u->has_lun = true;
	return 0;
}

/* One key=value after the '?'. */
static int parse_option(struct url *u, char *key, struct err *e)
{
	char *value = strchr(key, '='), *to;

	if (value)
		*value++ = '\0';
	if (strcmp(key, "target_user") == 0)
		to = u->target_user;
	else if (strcmp(key, "target_password") == 0)
		to = u->target_password;
	else
		return err_set(
			e, -EINVAL,
			"unknown option \"%.32s\" after the ? of the URL "
			"(known: target_user, target_password; digests "
			"have options of their own)",
			key);
	if (!value || !*value)
		return err_set(e, -EINVAL, "option \"%s\" of the URL is empty",
			       key);
	if (strlen(value) > CHAP_SECRET_MAX)
		return err_set(e, -EINVAL,
			       "option \"%s\" of the URL has %zu bytes; %d at "
			       "most",
			       key, strlen(value), CHAP_SECRET_MAX);
	strcpy(to, value);
	return 0;
}

static int parse_options(struct url *u, char *options, struct err *e)
{
	char *save, *key = strtok_r(options, "&", &save);
	int ret = 0;

	for (; key && !ret; key = strtok_r(NULL, "&", &save))
		ret = parse_option(u, key, e);
	return ret;
}

/* host[:port][/target[/lun]][?options]; @text is taken apart. */
static int parse_place(struct url *u, char *text, bool need_lun, struct err *e)
{
	char *options = strchr(text, '?'), *target, *lun = NULL;
	int ret;

	if (options)
		*options++ = '\0';
	target = strchr(text, '/');
	if (target)
		*target++ = '\0';
	ret = parse_portal(u, text, e);
	if (ret)
		return ret;
	if (!target || !*target) {
		if (need_lun)
			return err_set(e, -EINVAL,
				       "the URL names no target: "
				       "iscsi://host[:port]/target/lun "
				       "(`lunbench discover` lists them)");
		return options ? parse_options(u, options, e) : 0;
	}
	lun = strchr(target, '/');
	ret = decode_target(u, target, lun ? lun : target + strlen(target), e);
	if (ret)
		return ret;
	if (!u->target[0])
		return err_set(e, -EINVAL, "the target in the URL is empty");
	if (lun && (need_lun || lun[1]))
		ret = parse_lun(u, lun + 1, e);
	else if (need_lun)
		ret = err_set(e, -EINVAL,
			      "the URL names no LUN: add /NUMBER after the "
			      "target \"%s\"",
			      u->target);
	if (ret || !options)
		return ret;
	return parse_options(u, options, e);
}

/* user[%password] or user[:password], before the '@' */
static int parse_user(struct url *u, const char *from, const char *to,
		      struct err *e)
{
	const char *sep = memchr(from, '%', to - from);

	if (!sep)
		sep = memchr(from, ':', to - from);
	if (!sep)
		sep = to;
	if (!copy_range(u->user, sizeof(u->user), from, sep))
		return err_set(e, -EINVAL,
			       "the user name in the URL has %zu bytes; %d at "
			       "most",
			       (size_t)(sep - from), CHAP_SECRET_MAX);
	if (sep < to &&
	    !copy_range(u->password, sizeof(u->password), sep + 1, to))
		return err_set(e, -EINVAL,
			       "the password in the URL has %zu bytes; %d at "
			       "most",
			       (size_t)(to - sep - 1), CHAP_SECRET_MAX);
	return 0;
}

/* A '%' or '@' before the first '/' (and outside brackets) means that a user
 * part is there; a host can have neither. */
static bool has_user(const char *text)
{
	size_t n = strcspn(text, "/");

	if (*text == '[')
		return false;
	return memchr(text, '@', n) || memchr(text, '%', n);
}

/*
 * The user part ends at the first '@' that leaves a sound place; so a password
 * may hold '@' and '/', and a target's name may hold '@'. When none does, the
 * reason is that of the first '@' with a sound host behind it.
 */
static int parse_iscsi(struct url *u, const char *text, bool need_lun,
		       struct err *e)
{
	char copy[2048];
	struct err why = {0};
	const char *at;
	struct url place;
	bool has_host = false;
	int ret = -EINVAL;

	if (strlen(text) >= sizeof(copy))
		return err_set(e, -EINVAL, "the URL is over %zu bytes",
			       sizeof(copy) - 1);
	if (!has_user(text)) {
		strcpy(copy, text);
		return parse_place(u, copy, need_lun, e);
	}
	err_set(&why, -EINVAL, "the URL has a user part but no @host after it");
	for (at = strchr(text, '@'); at; at = strchr(at + 1, '@')) {
		struct err this;

		place = *u;
		strcpy(copy, at + 1);
		ret = parse_place(&place, copy, need_lun, &this);
		if (!ret)
			break;
		if (!has_host && (place.port || !strchr(at + 1, '@')))
			why = this;
		has_host = has_host || place.port;
	}
	if (!ret)
		ret = parse_user(&place, text, at, &why);
	if (ret)
		err_set(e, ret, "%s", why.text);
	else
		*u = place;
	explicit_bzero(copy, sizeof(copy));
	explicit_bzero(&place, sizeof(place));
	return ret;
}

/* --- the other schemes --- */

static void set_display(struct url *u)
{
	bool brackets = strchr(u->host, ':');
	char port[8] = "", lun[16] = "";

	if (u->port != DEFAULT_PORT)
		snprintf(port, sizeof(port), ":%u", u->port);
	if (u->has_lun)
		snprintf(lun, sizeof(lun), "/%u", u->lun);
	snprintf(u->display, sizeof(u->display), "iscsi://%s%s%s%s%s%s%s",
		 brackets ? "[" : "", u->host, brackets ? "]" : "", port,
		 u->target[0] ? "/" : "", u->target, lun);
}

/* fault:SPEC:URL shows the inner URL's own display: it may hold a secret. */
static int parse_fault(struct url *u, bool need_lun, char *warning,
		       struct err *e)
{
	const char *inner_text = strchr(u->rest, ':');
	struct url inner;
	int ret;

	if (!inner_text)
		return err_set(e, -EINVAL,
			       "\"fault:\" wants fault:SPEC,...:URL, with the "
			       "URL of the transport to put faults into");
	ret = url_parse(&inner, inner_text + 1, need_lun, warning, e);
	if (ret)
		return err_prefix(e, "the URL inside \"fault:\"");
	snprintf(u->display, sizeof(u->display), "fault:%.*s:%s",
		 (int)(inner_text - u->rest), u->rest, inner.display);
	url_wipe(&inner);
	return 0;
}

static int parse_other(struct url *u, const char *rest, bool need_lun,
		       char *warning, struct err *e)
{
	bool is_block = strcmp(u->scheme, "block") == 0;

	if (is_block && strncmp(rest, "//", 2) == 0)
		rest += 2;
	if (!*rest)
		return err_set(e, -EINVAL, "nothing after \"%s:\"", u->scheme);
	if (strlen(rest) >= sizeof(u->rest))
		return err_set(e, -EINVAL,
			       "\"%s:\" is followed by over %zu "
			       "bytes",
			       u->scheme, sizeof(u->rest) - 1);
	strcpy(u->rest, rest);
	if (strcmp(u->scheme, "fault") == 0)
		return parse_fault(u, need_lun, warning, e);
	snprintf(u->display, sizeof(u->display), "%s:%s", u->scheme, rest);
	return 0;
}

/* Length of a leading scheme ("iscsi"), 0 when @text does not start with one.
 */
static size_t scheme_length(const char *text)
{
	size_t n = 0;

	if (!isalpha((unsigned char)*text))
		return 0;
	while (isalnum((unsigned char)text[n]) ||
	       (n && strchr("+.-", text[n]) && text[n]))
		n++;
	return text[n] == ':' ? n : 0;
}

int url_parse(struct url *u, const char *text, bool need_lun, char *warning,
	      struct err *e)
{
	size_t n = scheme_length(text);
	const char *rest = text + n + 1;
	int ret;

	memset(u, 0, sizeof(*u));
	if (warning)
		warning[0] = '\0';
	if (!*text)
		return err_set(e, -EINVAL, "the URL is empty");
	if (!need_lun && !strstr(text, "://")) {
		n = strlen("iscsi"); /* `lunbench discover 10.0.0.5` */
		rest = text;
		strcpy(u->scheme, "iscsi");
	} else if (!n) {
		strcpy(u->scheme, "block"); /* a plain path */
		rest = text;
	} else if (n >= sizeof(u->scheme)) {
		return err_set(e, -EINVAL, "unknown scheme \"%.*s\"",
			       (int)(n < 40 ? n : 40), text);
	} else {
		copy_range(u->scheme, sizeof(u->scheme), text, text + n);
	}
	if (strcmp(u->scheme, "iscsi") != 0)
		return parse_other(u, rest, need_lun, warning, e);
	if (rest != text && strncmp(rest, "//", 2) != 0)
		return err_set(e, -EINVAL,
			       "after \"iscsi:\" must come //host[:port]/"
			       "target/lun");
	ret = parse_iscsi(u, rest == text ? rest : rest + 2, need_lun, e);
	if (!ret)
		ret = chap_complete(u, warning, e);
	if (!ret)
		set_display(u);
	else
		url_wipe(u);
	return ret;
}

void url_wipe(struct url *u)
{
	explicit_bzero(u->user, sizeof(u->user));
	explicit_bzero(u->password, sizeof(u->password));
	explicit_bzero(u->target_user, sizeof(u->target_user));
	explicit_bzero(u->target_password, sizeof(u->target_password));
	if (strcmp(u->scheme, "fault") == 0)
		explicit_bzero(u->rest, sizeof(u->rest));
}
