#ifndef INITIATOR_PCAP_STREAM_H
#define INITIATOR_PCAP_STREAM_H

#include <stddef.h>
#include <sys/uio.h>

#include "initiator/pcap.h"

/*
 * One connection in a capture: a TCP stream, made up around the bytes that its
 * socket calls passed. Addresses and ports are the socket's; sequence and
 * acknowledgement numbers count what passed; the handshake is there when the
 * first bytes are, the end when the peer or we close it. Segments are not those
 * of the network: retransmissions and the like are not seen.
 *
 * Where all data is kept, a packet is what one call passed (in parts of what an
 * IP length can say), and so shows splits and batches. Where it is cut, a
 * packet is one PDU, at the time when its last byte passed: readers find
 * no PDU that begins behind a cut. Lengths are always those of the whole.
 *
 * On the thread of the session.
 */
struct pcap_stream;

/* @fd is a stream socket, borrowed: it is asked for its addresses when the
 * first bytes come. NULL: no memory. */
struct pcap_stream *pcap_stream_new(struct pcap *p, int fd);
/* We close it. NULL is fine. */
void pcap_stream_free(struct pcap_stream *s);

/* The kernel has taken the first @n > 0 bytes of @v. */
void pcap_sent(struct pcap_stream *s, const struct iovec *v, size_t n);
/* It gave @n bytes to @v; 0: the peer has closed the connection. */
void pcap_received(struct pcap_stream *s, const struct iovec *v, size_t n);

#endif
