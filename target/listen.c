#include "target/listen.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"

enum { PROC_MAX_BYTES = 64 << 20, MAX_SOCKETS = 256 };

int listen_parse(struct listen_address *a, const char *text, struct err *e)
{
	bool is_any;

	memset(a, 0, sizeof(*a));
	if (inet_pton(AF_INET, text, &a->v4) == 1) {
		is_any = a->v4.s_addr == htonl(INADDR_ANY);
		a->is_loopback = ntohl(a->v4.s_addr) >> 24 == 127;
	} else if (inet_pton(AF_INET6, text, &a->v6) == 1) {
		a->is_v6 = true;
		is_any = IN6_IS_ADDR_UNSPECIFIED(&a->v6);
		a->is_loopback = IN6_IS_ADDR_LOOPBACK(&a->v6);
		if (IN6_IS_ADDR_V4MAPPED(&a->v6))
			return err_set(e, -EINVAL,
				       "\"%s\": write the IPv4 address itself",
				       text);
	} else {
		return err_set(e, -EINVAL,
			       "\"%s\" is not a numeric address to listen on: "
			       "give one of this machine, such as 127.0.0.1 or "
			       "::1",
			       text);
	}
	if (is_any)
		return err_set(e, -EINVAL,
			       "\"%s\" would listen on every interface: give "
			       "one address of this machine",
			       text);
	inet_ntop(a->is_v6 ? AF_INET6 : AF_INET, &a->v6, a->host,
		  sizeof(a->host));
	return 0;
}

void listen_format(const struct listen_address *a, uint16_t port, char *text,
		   size_t size)
{
	snprintf(text, size, a->is_v6 ? "[%s]:%u" : "%s:%u", a->host,
		 (unsigned int)port);
}

int listen_pick_port(const struct listen_address *a, uint16_t *port,
		     struct err *e)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} at = {0};
	socklen_t len = a->is_v6 ? sizeof(at.v6) : sizeof(at.v4);
	int family = a->is_v6 ? AF_INET6 : AF_INET, one = 1, err = 0;
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char text[80];

	if (fd < 0)
		return err_set(e, -errno, "no socket: %s", strerror(errno));
	at.any.sa_family = family;
	if (a->is_v6) {
		at.v6.sin6_addr = a->v6;
		at.v6.sin6_port = htons(*port);
	} else {
		at.v4.sin_addr = a->v4;
		at.v4.sin_port = htons(*port);
	}
	/* As tgtd does: a port in TIME_WAIT is free. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, &at.any, len) || listen(fd, 1) ||
	    getsockname(fd, &at.any, &len))
		err = -errno;
	close(fd);
	if (!err) {
		*port = ntohs(a->is_v6 ? at.v6.sin6_port : at.v4.sin_port);
		return 0;
	}
	listen_format(a, *port, text, sizeof(text));
	if (err == -EADDRINUSE)
		return err_set(e, err,
			       "cannot listen on %s: the port is taken; choose "
			       "another --port, or none for a free one",
			       text);
	return err_set(e, err, "cannot listen on %s: %s", text, strerror(-err));
}

/* --- the proof --- */

struct sockets {
	unsigned long inode[MAX_SOCKETS];
	size_t nr;
};

static int is_number(const struct dirent *entry)
{
	return entry->d_name[0] >= '0' && entry->d_name[0] <= '9';
}

/* The inodes of all sockets that @pid has open. */
static int find_sockets(pid_t pid, struct sockets *s, struct err *e)
{
	char folder[64], path[64 + 256], link[64];
	struct dirent **entry;
	unsigned long inode;
	ssize_t len;
	int n;

	s->nr = 0;
	snprintf(folder, sizeof(folder), "/proc/%d/fd", (int)pid);
	n = scandir(folder, &entry, is_number, alphasort);
	if (n < 0)
		return err_set(e, -errno, "cannot read \"%s\": %s", folder,
			       strerror(errno));
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry[i]->d_name);
		free(entry[i]);
		len = readlink(path, link, sizeof(link) - 1);
		link[len > 0 ? len : 0] = '\0';
		if (s->nr < MAX_SOCKETS &&
		    sscanf(link, "socket:[%lu]", &inode) == 1)
			s->inode[s->nr++] = inode;
	}
	free(entry);
	if (s->nr == MAX_SOCKETS)
		return err_set(e, -E2BIG,
			       "process %d has too many sockets to tell where "
			       "it listens",
			       (int)pid);
	return 0;
}

static bool has_inode(const struct sockets *s, unsigned long inode)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->inode[i] == inode)
			return true;
	return false;
}

/* One line of /proc/PID/net/tcp or tcp6. The address is printed as 32-bit
 * words in the machine's own byte order, so the words are copied back as they
 * are. True for a listening socket. */
static bool parse_line(const char *line, struct listen_address *a,
		       uint16_t *port, unsigned long *inode)
{
	unsigned int word[4] = {0}, p, state;
	char hex[33];

	if (sscanf(line,
		   " %*u: %32[0-9A-F]:%X %*[0-9A-F]:%*X %X %*X:%*X %*X:%*X "
		   "%*X %*u %*u %lu",
		   hex, &p, &state, inode) != 4 ||
	    state != 0x0a)
		return false;
	memset(a, 0, sizeof(*a));
	a->is_v6 = strlen(hex) == 32;
	for (int i = 0; i < (a->is_v6 ? 4 : 1); i++)
		if (sscanf(hex + 8 * i, "%8X", &word[i]) != 1)
			return false;
	memcpy(&a->v6, word, sizeof(word));
	inet_ntop(a->is_v6 ? AF_INET6 : AF_INET, &a->v6, a->host,
		  sizeof(a->host));
	*port = p;
	return true;
}

struct proof {
	const struct listen_address *want;
	uint16_t port;
	struct sockets sockets;
	unsigned int right, wrong;
	char seen[256];
};

static int look_into(struct proof *p, pid_t pid, const char *table,
		     struct err *e)
{
	char path[64], *text, *line, *next, where[80];
	struct listen_address a;
	unsigned long inode;
	uint16_t port;
	size_t len, n;
	int err;

	snprintf(path, sizeof(path), "/proc/%d/net/%s", (int)pid, table);
	err = file_read(path, PROC_MAX_BYTES, &text, &len, e);
	if (err == -ENOENT && !strcmp(table, "tcp6"))
		return 0; /* a kernel without IPv6 */
	if (err)
		return err;
	for (line = text; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (!parse_line(line, &a, &port, &inode) ||
		    !has_inode(&p->sockets, inode))
			continue;
		if (a.is_v6 == p->want->is_v6 && port == p->port &&
		    !strcmp(a.host, p->want->host))
			p->right++;
		else
			p->wrong++;
		listen_format(&a, port, where, sizeof(where));
		n = strlen(p->seen);
		snprintf(p->seen + n, sizeof(p->seen) - n, "%s%s",
			 n ? ", " : "", where);
	}
	free(text);
	return 0;
}

int listen_prove(pid_t pid, const struct listen_address *a, uint16_t port,
		 struct err *e)
{
	struct proof p = {.want = a, .port = port};
	char text[80];
	int err;

	err = find_sockets(pid, &p.sockets, e);
	if (!err)
		err = look_into(&p, pid, "tcp", e);
	if (!err)
		err = look_into(&p, pid, "tcp6", e);
	if (err || (p.right == 1 && !p.wrong))
		return err;
	listen_format(a, port, text, sizeof(text));
	return err_set(e, -EADDRINUSE,
		       "tgtd should listen on %s alone but listens on %s", text,
		       p.seen[0] ? p.seen : "nothing");
}

int listen_check_acl(const char *text, struct err *e)
{
	char address[64];
	struct in6_addr a;
	unsigned long bits, most;
	char *end;
	size_t n = strcspn(text, "/");

	if (!strcmp(text, "ALL"))
		return 0;
	snprintf(address, sizeof(address), "%.*s", (int)n, text);
	most = inet_pton(AF_INET, address, &a) == 1    ? 32
	       : inet_pton(AF_INET6, address, &a) == 1 ? 128
						       : 0;
	if (most && !text[n])
		return 0;
	if (most && text[n + 1] >= '0' && text[n + 1] <= '9') {
		bits = strtoul(text + n + 1, &end, 10);
		if (!*end && bits <= most)
			return 0;
	}
	return err_set(e, -EINVAL,
		       "\"%s\" is not an initiator's address: give a numeric "
		       "ADDRESS, ADDRESS/BITS, or ALL",
		       text);
}
