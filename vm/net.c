#include "vm/net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"

#define IP_NS (20 * NS_PER_SEC)

/* No segments to cut, where both sides take them whole. */
enum { TAP_MTU = 65520, USER_MTU = 1500, TAP_BITS = 30, USER_BITS = 24 };

static const char *const kinds[] = {"auto", "tap", "user"};

int net_parse_kind(enum net_kind *kind, const char *text, struct err *e)
{
	for (int i = NET_AUTO; i <= NET_USER; i++)
		if (!strcmp(text, kinds[i])) {
			*kind = i;
			return 0;
		}
	return err_set(e, -EINVAL, "\"%s\" is none of auto, tap, user", text);
}

const char *net_kind_name(enum net_kind kind)
{
	return kinds[kind];
}

/* --- choosing --- */

/* 0 if we may make a tap: by making one, which goes when it is closed. */
static int prove_tap(void)
{
	struct ifreq r = {.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR};
	int err = 0, fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	snprintf(r.ifr_name, sizeof(r.ifr_name), NET_TAP_NAME "%%d");
	if (ioctl(fd, TUNSETIFF, &r))
		err = -errno;
	close(fd);
	return err;
}

/* QEMU binds it a little later; it then says so if another was faster. */
static int pick_port(uint16_t *port, struct err *e)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_port = htons(*port),
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
	int err = 0;

	/* As QEMU does: connections of an earlier lab that linger do not
	 * matter. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) ||
	    listen(fd, 1) || getsockname(fd, (struct sockaddr *)&a, &len))
		err = err_set(e, -errno, "cannot listen on 127.0.0.1:%u: %s",
			      *port, strerror(errno));
	if (fd >= 0)
		close(fd);
	*port = ntohs(a.sin_port);
	return err;
}

static void fill_user(struct net *n)
{
	n->kind = NET_USER;
	n->bits = USER_BITS;
	n->mtu = USER_MTU;
	snprintf(n->connect, sizeof(n->connect), "127.0.0.1");
	snprintf(n->guest, sizeof(n->guest), NET_USER_GUEST);
	/* Where QEMU's stack says that all comes from. */
	snprintf(n->peer, sizeof(n->peer), "10.0.2.2");
}

int net_choose(struct net *n, enum net_kind asked, uint16_t port, char *why,
	       struct err *e)
{
	int tap = 0;

	memset(n, 0, sizeof(*n));
	why[0] = '\0';
	/* A port is asked for where there is one to choose. */
	if (asked == NET_TAP && port)
		return err_set(e, -EINVAL,
			       "--port %u: a tap has an address of its own, "
			       "and port %d there; --port goes with --net user",
			       port, NET_GUEST_PORT);
	if (asked != NET_USER && !port)
		tap = prove_tap();
	if (tap)
		snprintf(why, 256, "no tap device (/dev/net/tun: %s)",
			 strerror(-tap));
	if (tap && asked == NET_TAP)
		return err_set(e, tap,
			       "cannot make a tap device: /dev/net/tun: %s; "
			       "be root, or take --net user",
			       strerror(-tap));
	if (asked == NET_USER || port || tap) {
		fill_user(n);
		n->port = port;
		return pick_port(&n->port, e);
	}
	n->kind = NET_TAP;
	n->bits = TAP_BITS;
	n->mtu = TAP_MTU;
	n->port = NET_GUEST_PORT;
	return 0;
}

/* --- the tap --- */

/* "iff:	lunlab0" is what the kernel shows of the descriptor. */
static int find_device(char device[16], pid_t qemu)
{
	char pattern[64], *text, *at;
	int err = -ENOENT;
	size_t len;
	glob_t g;

	snprintf(pattern, sizeof(pattern), "/proc/%d/fdinfo/*", (int)qemu);
	if (glob(pattern, 0, NULL, &g))
		return -ENOENT;
	for (size_t i = 0; i < g.gl_pathc && err; i++) {
		if (file_read(g.gl_pathv[i], 65536, &text, &len, NULL))
			continue;
		at = strstr(text, "iff:\t" NET_TAP_NAME);
		if (at && sscanf(at, "iff:\t%15[a-z0-9]", device) == 1)
			err = 0;
		free(text);
	}
	globfree(&g);
	return err;
}

/* True if a route of this host, the default one aside, leads into
 * @net/TAP_BITS. */
static bool is_taken(uint32_t net)
{
	unsigned int to, mask;
	char *text, *line;
	bool taken = false;
	size_t len;

	if (file_read("/proc/net/route", 1 << 20, &text, &len, NULL))
		return false;
	for (line = strchr(text, '\n'); line; line = strchr(line + 1, '\n'))
		/* Iface Destination Gateway Flags RefCnt Use Metric Mask */
		if (sscanf(line, "%*s %x %*s %*s %*s %*s %*s %x", &to, &mask) ==
			    2 &&
		    mask) {
			mask = ntohl(mask) & (0xffffffffu << (32 - TAP_BITS));
			taken = taken || (ntohl(to) & mask) == (net & mask);
		}
	free(text);
	return taken;
}

static void format(char text[16], uint32_t address)
{
	struct in_addr a = {htonl(address)};

	inet_ntop(AF_INET, &a, text, 16);
}

int net_find_tap(struct net *n, pid_t qemu, struct err *e)
{
	/* Private ones that few use. Which /30 of them is the device's number,
	 * so that two labs cannot choose the same. */
	static const uint32_t bases[] = {0x0ad5c000, 0xac1dd500, 0xc0a8d500};
	unsigned int number;
	uint32_t net;

	if (find_device(n->device, qemu))
		return err_set(e, -ENODEV, "QEMU has no tap device");
	number = atoi(n->device + strlen(NET_TAP_NAME));
	for (size_t i = 0; number < 64 && i < 3; i++) {
		net = bases[i] + 4 * number;
		if (is_taken(net))
			continue;
		format(n->peer, net + 1);
		format(n->guest, net + 2);
		format(n->connect, net + 2);
		return 0;
	}
	return err_set(e, -EADDRNOTAVAIL,
		       "\"%s\": no address is free for it: this host has "
		       "routes into 10.213.192.0, 172.29.213.0 and "
		       "192.168.213.0; take --net user",
		       n->device);
}

/* "10.213.192.0/30" of the tap's address. */
static void net_of(const struct net *n, char text[32])
{
	struct in_addr a = {0};
	char address[16];

	inet_pton(AF_INET, n->peer, &a);
	format(address, ntohl(a.s_addr) & (0xffffffffu << (32 - n->bits)));
	snprintf(text, 32, "%s/%u", address, n->bits);
}

static int change_fence(const struct net *n, const char *verb, struct err *e)
{
	char text[32];
	/* Any other route to there is better. */
	const char *argv[] = {"ip", "route",  verb,	    "unreachable",
			      text, "metric", "4000000000", NULL};

	net_of(n, text);
	return child_check(argv, NULL, IP_NS, NULL, e);
}

int net_set_up_host(const struct net *n, struct err *e)
{
	char address[32], mtu[16];
	const char *quiet[] = {"ip",	  "link",	 "set",	 "dev",
			       n->device, "addrgenmode", "none", NULL};
	const char *add[] = {"ip",  "addr",    "add", address,
			     "dev", n->device, NULL};
	const char *up[] = {"ip",  "link", "set", "dev", n->device,
			    "mtu", mtu,	   "up",  NULL};
	int err;

	snprintf(address, sizeof(address), "%s/%u", n->peer, n->bits);
	snprintf(mtu, sizeof(mtu), "%u", n->mtu);
	/* No address of IPv6 of its own making; a kernel without it has none.
	 */
	child_check(quiet, NULL, IP_NS, NULL, NULL);
	err = change_fence(n, "add", e);
	if (!err)
		err = child_check(add, NULL, IP_NS, NULL, e);
	if (!err)
		err = child_check(up, NULL, IP_NS, NULL, e);
	return err ? err_prefix(e, "cannot set up \"%s\"", n->device) : 0;
}

void net_take_down_host(const struct net *n)
{
	if (n->kind == NET_TAP && n->peer[0])
		change_fence(n, "del", NULL);
}
