#ifndef TESTS_UNIT_PCAP_READER_H
#define TESTS_UNIT_PCAP_READER_H

#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "initiator/pcap_stream.h"

/* A strict reader of a capture with one stream that has no addresses (its
 * descriptor is -1, so they are 0.0.0.0): for whatever bytes that stream got,
 * this must find nothing odd. */
struct pcap_side {	/* what one side sent */
	uint8_t *bytes; /* owned; 0 where they were cut */
	size_t n, captured, packets;
	uint32_t next; /* sequence number */
	bool has_fin;
};

/* A capture in memory: its descriptor. */
static inline int pcap_in_memory(struct pcap **p, uint32_t keep)
{
	int fd = memfd_create("capture", 0);
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || pcap_open(p, path, keep, NULL))
		abort();
	return fd;
}

static inline uint32_t pcap_word(const uint8_t *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

/* Our SYN, their SYN, then as the sequence number says: 0, 1, or -1. */
static inline int pcap_side_of(struct pcap_side side[2],
			       const struct tcphdr *tcp)
{
	uint32_t seq = ntohl(tcp->th_seq);

	if (tcp->th_flags & TH_SYN) {
		int from = tcp->th_flags & TH_ACK ? 1 : 0;

		if (side[from].packets || (from && !side[0].packets))
			return -1;
		side[from].next = seq;
		return from;
	}
	for (int i = 0; i < 2; i++)
		if (side[i].packets && side[i].next == seq)
			return i;
	return -1;
}

static inline bool pcap_read_packet(struct pcap_side side[2], const uint8_t *at,
				    size_t captured, size_t length)
{
	enum { HEADERS = sizeof(struct iphdr) + sizeof(struct tcphdr) };
	struct iphdr ip;
	struct tcphdr tcp;
	struct pcap_side *s;
	size_t head;
	int from;

	if (captured < HEADERS || captured > length)
		return false;
	memcpy(&ip, at, sizeof(ip));
	memcpy(&tcp, at + sizeof(ip), sizeof(tcp));
	from = pcap_side_of(side, &tcp);
	head = sizeof(ip) + 4 * tcp.th_off;
	if (from < 0 || ip.version != 4 || ntohs(ip.tot_len) != length ||
	    captured < head || side[from].has_fin ||
	    (tcp.th_flags & TH_ACK && ntohl(tcp.th_ack) != side[!from].next))
		return false;
	s = &side[from];
	s->packets++;
	s->has_fin = tcp.th_flags & TH_FIN;
	s->next += length - head + !!(tcp.th_flags & (TH_SYN | TH_FIN));
	s->bytes = realloc(s->bytes, s->n + length - head + 1);
	memset(s->bytes + s->n, 0, length - head);
	memcpy(s->bytes + s->n, at + head, captured - head);
	s->n += length - head;
	s->captured += captured - head;
	return true;
}

/* All of @fd, which it closes; false: something is odd. */
static inline bool pcap_read(int fd, struct pcap_side side[2])
{
	off_t all = lseek(fd, 0, SEEK_END);
	uint8_t *file = malloc(all + 1);
	bool ok = pread(fd, file, all, 0) == all;
	off_t at = 0;
	uint32_t n;

	memset(side, 0, 2 * sizeof(*side));
	for (; ok && at < all; at += n) {
		const uint8_t *b = file + at;

		n = at + 12 <= all ? pcap_word(b + 4) : 0;
		ok = n >= 12 && n % 4 == 0 && at + n <= all &&
		     pcap_word(b + n - 4) == n;
		if (ok && pcap_word(b) == 6)
			ok = n >= 32 && pcap_word(b + 20) <= n - 32 &&
			     pcap_read_packet(side, b + 28, pcap_word(b + 20),
					      pcap_word(b + 24));
	}
	free(file);
	close(fd);
	return ok;
}

static inline void pcap_side_release(struct pcap_side side[2])
{
	free(side[0].bytes);
	free(side[1].bytes);
}

#endif
