#ifndef VM_NET_H
#define VM_NET_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/*
 * How the host's initiator reaches a guest that stays, and nobody else does.
 *
 * tap: a network card of the host's with two addresses (a /30) that only this
 * host knows, with the offloads that make it fast. Root. It goes when QEMU
 * does, whatever ended that; only its fence stays.
 * user: QEMU's own network stack behind a port of 127.0.0.1. Needs nothing.
 */
enum net_kind { NET_AUTO, NET_TAP, NET_USER };

#define NET_TAP_NAME "lunlab"
#define NET_USER_GUEST "10.0.2.15"
enum { NET_GUEST_PORT = 3260 }; /* the guest has no other user of it */

struct net {
	enum net_kind kind; /* never NET_AUTO */
	uint16_t port;	    /* where the host connects to */
	char device[16];    /* the tap; "" */
	char connect[16];   /* the address that the host connects to */
	char guest[16];	    /* the guest's address, and */
	char peer[16];	    /* who comes there, as it sees it */
	unsigned int bits;  /* of the guest's net */
	unsigned int mtu;
};

/* "auto", "tap", "user"; -EINVAL. */
int net_parse_kind(enum net_kind *kind, const char *text, struct err *e);
const char *net_kind_name(enum net_kind kind);

/* Chooses the kind, by proof, and for user networking the port: @port, or a
 * free one if it is 0. @why (256 bytes): why not tap. */
int net_choose(struct net *n, enum net_kind asked, uint16_t port, char *why,
	       struct err *e);

/* After QEMU's start: finds its tap, and addresses that are free. */
int net_find_tap(struct net *n, pid_t qemu, struct err *e);

/* The host's side of a tap gets its address, and a fence: a route that makes
 * the guest's net unreachable. It comes to bear when the tap is gone with its
 * guest: without it an initiator would look for the guest's address by way of
 * the default route, and might find a stranger's target. net_take_down_host()
 * removes it, where it is there. */
int net_set_up_host(const struct net *n, struct err *e);
void net_take_down_host(const struct net *n);

#endif
