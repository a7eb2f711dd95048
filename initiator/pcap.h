#ifndef INITIATOR_PCAP_H
#define INITIATOR_PCAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * A capture: a pcapng file (draft-ietf-opsawg-pcapng) of IP packets, with times
 * of the wall clock in nanoseconds, which Wireshark and tshark read. The
 * packets are made up around what passes a session's socket calls
 * (initiator/pcap_stream.h); sessions and threads share one file.
 *
 * Whole blocks are written, so that the file can be read at any time and after
 * any end: when a buffer is full, a second after the last time, and at once
 * during a login. Where it cannot be written any more it ends, at a whole
 * packet, and the run goes on.
 */
struct pcap;

enum {
	PCAP_KEEP_DEFAULT = 256,
	PCAP_KEEP_MAX = 32 << 10,
	PCAP_PACKET_MAX = 65535, /* what an IPv4 packet's length can say */
};
#define PCAP_KEEP_ALL UINT32_MAX

/* Makes or replaces the file at @path, which must be a plain one or a character
 * device. @keep: of the data of a SCSI PDU, the bytes that are kept; up to
 * PCAP_KEEP_MAX, or PCAP_KEEP_ALL. */
int pcap_open(struct pcap **p, const char *path, uint32_t keep, struct err *e);

/* Writes what there is. -errno and @e if the capture ended early, now or
 * before. Any thread. */
int pcap_flush(struct pcap *p, struct err *e);

/* After its last stream. NULL is fine. */
void pcap_close(struct pcap *p);

const char *pcap_path(const struct pcap *p);
uint32_t pcap_keep(const struct pcap *p);

/* --- for its streams --- */

/* Around the packets of one call. Gives their time; times in the file never
 * step back but with the clock. */
uint64_t pcap_begin(struct pcap *p);
void pcap_end(struct pcap *p, bool at_once);

/* A number of its own for each stream of the file. Inside. */
unsigned int pcap_number(struct pcap *p);

/* Where the next packet goes, up to PCAP_PACKET_MAX bytes; then, that it is
 * there: @captured bytes of a packet of @length. Inside. */
uint8_t *pcap_packet(struct pcap *p);
void pcap_packet_put(struct pcap *p, uint64_t at_ns, size_t captured,
		     size_t length);

#endif
