#include "initiator/iscsi_loss.h"

#include <errno.h>
#include <iscsi/iscsi.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "initiator/wire.h"

int loss_take_error(int fd)
{
	int code = 0;
	socklen_t size = sizeof(code);

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size))
		return errno;
	return code;
}

/* "Error when writing to socket :104": libiscsi took the error off the socket
 * and keeps it in a sentence. 0 for other sentences. */
static int told_socket_error(struct iscsi_context *ctx)
{
	const char *text = iscsi_get_error(ctx);
	const char *colon = strrchr(text, ':');
	int code;

	if (!colon || !strstr(text, "socket") ||
	    sscanf(colon + 1, "%d", &code) != 1)
		return 0;
	return code;
}

/* What the socket has to say: an errno, or -1 when the peer closed it, or 0
 * for nothing. */
static int socket_reason(const struct loss *l)
{
	char byte;
	ssize_t n;

	if (l->socket_error)
		return l->socket_error;
	n = recv(l->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
	if (n < 0 && errno != EAGAIN)
		return errno;
	if (n == 0 || l->hang_up)
		return -1;
	return told_socket_error(l->ctx);
}

/* Of a header: data digests are not libiscsi 1.19's. */
static bool is_digest_error(struct iscsi_context *ctx)
{
	return strstr(iscsi_get_error(ctx), "checksum verification failed");
}

/* libiscsi does not say why it gave up, and its error text may be an old one:
 * ask the socket first. */
void loss_explain(const struct loss *l, struct err *e)
{
	const char *when = l->in_login ? " during login" : "";
	const char *complaint = wire_complaint(l->wire);
	int code = socket_reason(l);

	if (is_digest_error(l->ctx))
		wire_digest_error(l->wire);
	if (complaint)
		err_set(e, -EPROTO,
			"lost the connection to %s%s: protocol error: %s",
			l->where, when, complaint);
	else if (!l->in_login && !iscsi_is_logged_in(l->ctx))
		err_set(e, -ECONNRESET,
			"lost the connection to %s: the target asked for a "
			"logout",
			l->where);
	else if (code > 0)
		err_set(e, -code, "lost the connection to %s%s: %s", l->where,
			when, strerror(code));
	else if (code < 0)
		err_set(e, -ECONNRESET,
			"lost the connection to %s%s: the target closed it",
			l->where, when);
	else if (l->in_login)
		err_set(e, -EPROTO,
			"%s does not speak iSCSI: its login response makes no "
			"sense",
			l->where);
	else
		err_set(e, -EPROTO,
			"lost the connection to %s: protocol error: %s",
			l->where, iscsi_get_error(l->ctx));
}

void loss_explain_connect(const char *where, int code, struct err *e)
{
	switch (code) {
	case ECONNREFUSED:
		err_set(e, -code,
			"connection refused by %s: is the target up, and is "
			"that its port?",
			where);
		break;
	case ETIMEDOUT:
		err_set(e, -code, "no answer to connect from %s", where);
		break;
	case EHOSTUNREACH:
	case ENETUNREACH:
		err_set(e, -code, "no route to %s", where);
		break;
	default:
		err_set(e, -code, "connecting to %s: %s", where,
			strerror(code));
	}
}
