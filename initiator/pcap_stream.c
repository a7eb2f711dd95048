#include "initiator/pcap_stream.h"

#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "initiator/pcap_pdu.h"

enum {
	HEADERS_MAX = sizeof(struct ip6_hdr) + sizeof(struct tcphdr),
	SEGMENT_MAX = PCAP_PACKET_MAX - HEADERS_MAX,
	SYN_OPTIONS = 8,
	WINDOW_SHIFT = 14, /* the most: no reader shall see a full window */
	/* Of PDUs that carry no data of commands, what is kept anyway: texts,
	 * sense, and the reasons of rejects. */
	KEEP_OTHER = 16 << 10,
};

enum side { OURS, THEIRS };

struct half { /* what one side sends */
	struct in6_addr address;
	uint16_t port;	/* as in the header */
	uint32_t first; /* sequence number */
	uint64_t bytes; /* that passed, and those of SYN and FIN */
	struct pcap_pdu pdu;
	uint8_t *kept; /* owned; of the PDU that passes */
	size_t nr_kept, cap_kept;
};

struct pcap_stream {
	struct pcap *pcap; /* borrowed */
	int fd;
	bool is_open, is_ended; /* its handshake is in the file; its FIN */
	bool is_v4;
	struct half half[2];
	struct pcap_login login;

	/* The packet that is being made; inside pcap_begin(). */
	uint64_t now_ns;
	uint8_t *packet;
	size_t headers;
};

struct pcap_stream *pcap_stream_new(struct pcap *p, int fd)
{
	struct pcap_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->pcap = p;
	s->fd = fd;
	for (int i = OURS; i <= THEIRS; i++)
		pcap_pdu_init(&s->half[i].pdu, &s->login);
	return s;
}

/* --- packets --- */

/* RFC 1071, two of its words at a time; @sum is of what comes before, which has
 * an even length. */
static uint64_t add_up(uint64_t sum, const uint8_t *at, size_t n)
{
	uint32_t words;
	size_t i;

	for (i = 0; i + 4 <= n; i += 4) {
		memcpy(&words, at + i, 4);
		sum += words;
	}
	words = 0;
	memcpy(&words, at + i, n - i);
	return sum + words;
}

static uint16_t checksum(uint64_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

/* Those of TCP's pseudo header: both versions' have the same words. */
static uint16_t tcp_checksum(const struct pcap_stream *s, size_t bytes)
{
	uint32_t rest[2] = {htonl(bytes), htonl(IPPROTO_TCP)};
	uint64_t sum = add_up(0, (uint8_t *)rest, sizeof(rest));

	for (int i = OURS; i <= THEIRS; i++)
		sum = add_up(sum, (uint8_t *)&s->half[i].address,
			     sizeof(s->half[i].address));
	return checksum(add_up(sum, s->packet + s->headers, bytes));
}

static void put_ip4(struct pcap_stream *s, enum side from, size_t bytes)
{
	struct iphdr ip = {
		.version = 4,
		.ihl = sizeof(ip) / 4,
		.tot_len = htons(sizeof(ip) + bytes),
		.frag_off = htons(IP_DF),
		.ttl = 64,
		.protocol = IPPROTO_TCP,
	};

	memcpy(&ip.saddr, &s->half[from].address, sizeof(ip.saddr));
	memcpy(&ip.daddr, &s->half[!from].address, sizeof(ip.daddr));
	ip.check = checksum(add_up(0, (uint8_t *)&ip, sizeof(ip)));
	memcpy(s->packet, &ip, sizeof(ip));
}

static void put_ip6(struct pcap_stream *s, enum side from, size_t bytes)
{
	struct ip6_hdr ip = {
		.ip6_flow = htonl(6u << 28),
		.ip6_plen = htons(bytes),
		.ip6_nxt = IPPROTO_TCP,
		.ip6_hlim = 64,
		.ip6_src = s->half[from].address,
		.ip6_dst = s->half[!from].address,
	};

	memcpy(s->packet, &ip, sizeof(ip));
}

/* Starts a packet: where its payload goes. */
static uint8_t *start(struct pcap_stream *s)
{
	s->packet = pcap_packet(s->pcap);
	s->headers = s->is_v4 ? sizeof(struct iphdr) : sizeof(struct ip6_hdr);
	return s->packet + s->headers + sizeof(struct tcphdr);
}

/* @captured of @bytes of payload are there; with SYN, options are. */
static void finish(struct pcap_stream *s, enum side from, uint8_t flags,
		   size_t captured, size_t bytes)
{
	struct half *h = &s->half[from], *peer = &s->half[!from];
	bool syn = flags & TH_SYN;
	size_t tcp_bytes = sizeof(struct tcphdr) + bytes;
	struct tcphdr tcp = {
		.th_sport = h->port,
		.th_dport = peer->port,
		.th_seq = htonl(h->first + h->bytes),
		.th_ack = flags & TH_ACK ? htonl(peer->first + peer->bytes) : 0,
		.th_off = (sizeof(tcp) + (syn ? SYN_OPTIONS : 0)) / 4,
		.th_flags = flags,
		.th_win = 0xffff,
	};

	(s->is_v4 ? put_ip4 : put_ip6)(s, from, tcp_bytes);
	memcpy(s->packet + s->headers, &tcp, sizeof(tcp));
	if (captured == bytes) { /* no reader checks what is cut */
		tcp.th_sum = tcp_checksum(s, tcp_bytes);
		memcpy(s->packet + s->headers, &tcp, sizeof(tcp));
	}
	pcap_packet_put(s->pcap, s->now_ns, s->headers + sizeof(tcp) + captured,
			s->headers + tcp_bytes);
	h->bytes += syn || flags & TH_FIN ? 1 : bytes;
}

static void put_empty(struct pcap_stream *s, enum side from, uint8_t flags)
{
	static const uint8_t options[SYN_OPTIONS] = {
		TCPOPT_MAXSEG,	    TCPOLEN_MAXSEG, SEGMENT_MAX >> 8,
		SEGMENT_MAX & 0xff, TCPOPT_NOP,	    TCPOPT_WINDOW,
		TCPOLEN_WINDOW,	    WINDOW_SHIFT};
	size_t n = flags & TH_SYN ? SYN_OPTIONS : 0;

	memcpy(start(s), options, n);
	finish(s, from, flags, n, n);
}

/* --- the connection --- */

static void take_address(struct half *h, bool *is_v4,
			 const struct sockaddr_storage *a)
{
	const struct sockaddr_in *v4 = (const void *)a;
	const struct sockaddr_in6 *v6 = (const void *)a;

	*is_v4 = a->ss_family != AF_INET6;
	if (!*is_v4) {
		h->address = v6->sin6_addr;
		h->port = v6->sin6_port;
	} else if (a->ss_family == AF_INET) {
		memcpy(&h->address, &v4->sin_addr, sizeof(v4->sin_addr));
		h->port = v4->sin_port;
	}
}

/* Numbers that differ from stream to stream: a port that is used again is then
 * seen to be. */
static void open_stream(struct pcap_stream *s)
{
	struct sockaddr_storage a[2] = {0};
	socklen_t size = sizeof(a[0]);
	uint32_t number = pcap_number(s->pcap);

	getsockname(s->fd, (struct sockaddr *)&a[OURS], &size);
	size = sizeof(a[0]);
	getpeername(s->fd, (struct sockaddr *)&a[THEIRS], &size);
	for (int i = OURS; i <= THEIRS; i++) {
		take_address(&s->half[i], &s->is_v4, &a[i]);
		s->half[i].first = (2 * number + i) * 0x9e3779b1u;
	}
	s->is_open = true;
	put_empty(s, OURS, TH_SYN);
	put_empty(s, THEIRS, TH_SYN | TH_ACK);
	put_empty(s, OURS, TH_ACK);
}

static void begin(struct pcap_stream *s)
{
	s->now_ns = pcap_begin(s->pcap);
	if (!s->is_open)
		open_stream(s);
}

static void end(struct pcap_stream *s)
{
	pcap_end(s->pcap, !s->login.is_over || s->is_ended);
}

/* --- where all data is kept: a packet is a call --- */

/* Copies, and blanks in the copy. */
static void copy_pdus(struct half *h, uint8_t *to, const uint8_t *from,
		      size_t n)
{
	enum pcap_part part;
	size_t run;

	memcpy(to, from, n);
	while (n) {
		run = pcap_pdu_next(&h->pdu, from, n, &part);
		if (part == PCAP_DATA)
			pcap_pdu_blank(&h->pdu, to, run);
		if (pcap_pdu_is_over(&h->pdu))
			pcap_pdu_end(&h->pdu);
		to += run;
		from += run;
		n -= run;
	}
}

static void put_call(struct pcap_stream *s, enum side from,
		     const struct iovec *v, size_t n)
{
	size_t at = 0, filled, part;
	uint8_t *to;

	while (n) {
		to = start(s);
		filled = 0;
		while (n && filled < SEGMENT_MAX) {
			part = v->iov_len - at;
			part = part < n ? part : n;
			if (part > SEGMENT_MAX - filled)
				part = SEGMENT_MAX - filled;
			if (part)
				copy_pdus(&s->half[from], to + filled,
					  (uint8_t *)v->iov_base + at, part);
			filled += part;
			n -= part;
			at += part;
			if (at == v->iov_len) {
				v++;
				at = 0;
			}
		}
		finish(s, from, TH_PUSH | TH_ACK, filled, filled);
	}
}

/* --- where data is cut: a packet is a PDU --- */

/* As many as there is memory for: all or none. */
static size_t keep(struct half *h, const uint8_t *from, size_t n)
{
	size_t want = h->nr_kept + n;
	uint8_t *more;

	if (want > h->cap_kept) {
		more = realloc(h->kept, want + PDU_HEADER);
		if (!more)
			return 0;
		h->kept = more;
		h->cap_kept = want + PDU_HEADER;
	}
	memcpy(h->kept + h->nr_kept, from, n);
	h->nr_kept = want;
	return n;
}

/* Bytes of the PDU that are kept. */
static size_t limit(const struct pcap_stream *s, const struct pcap_pdu *p)
{
	size_t data =
		pcap_pdu_is_scsi_data(p) ? pcap_keep(s->pcap) : KEEP_OTHER;

	if (p->has < PDU_HEADER)
		return PDU_HEADER;
	return p->data_bytes > data ? p->header_bytes + data : p->all_bytes;
}

/* @bytes of a PDU have passed, all or those before the connection's end. */
static void put_pdu(struct pcap_stream *s, enum side from, size_t bytes)
{
	struct half *h = &s->half[from];
	size_t kept = h->nr_kept, part;
	uint8_t *to;

	do {
		part = bytes < SEGMENT_MAX ? bytes : SEGMENT_MAX;
		to = start(s);
		if (kept)
			memcpy(to, h->kept, kept);
		finish(s, from, TH_PUSH | TH_ACK, kept, part);
		kept = 0;
		bytes -= part;
	} while (bytes);
	h->nr_kept = 0;
}

static void take_run(struct pcap_stream *s, struct half *h,
		     const uint8_t *bytes, size_t run, enum pcap_part part)
{
	size_t before = h->pdu.has - run, most = limit(s, &h->pdu), n = 0;

	if (before < most && h->nr_kept == before)
		n = keep(h, bytes, run < most - before ? run : most - before);
	if (part == PCAP_DATA && n)
		pcap_pdu_blank(&h->pdu, h->kept + before, n);
	if (part == PCAP_DATA && n < run)
		pcap_pdu_skip_text(&h->pdu);
}

static void put_pdus(struct pcap_stream *s, enum side from,
		     const struct iovec *v, size_t n)
{
	struct half *h = &s->half[from];
	enum pcap_part part;

	for (; n; v++) {
		size_t left = v->iov_len < n ? v->iov_len : n, run;
		const uint8_t *at = v->iov_base;

		n -= left;
		for (; left; left -= run, at += run) {
			run = pcap_pdu_next(&h->pdu, at, left, &part);
			take_run(s, h, at, run, part);
			if (!pcap_pdu_is_over(&h->pdu))
				continue;
			put_pdu(s, from, h->pdu.all_bytes);
			pcap_pdu_end(&h->pdu);
		}
	}
}

/* A PDU that never ended. */
static void put_rest(struct pcap_stream *s, enum side from)
{
	struct half *h = &s->half[from];

	if (h->nr_kept)
		put_pdu(s, from, h->pdu.has);
}

/* --- calls --- */

static void passed(struct pcap_stream *s, enum side from, const struct iovec *v,
		   size_t n)
{
	begin(s);
	if (pcap_keep(s->pcap) == PCAP_KEEP_ALL)
		put_call(s, from, v, n);
	else
		put_pdus(s, from, v, n);
	end(s);
}

void pcap_sent(struct pcap_stream *s, const struct iovec *v, size_t n)
{
	passed(s, OURS, v, n);
}

void pcap_received(struct pcap_stream *s, const struct iovec *v, size_t n)
{
	if (n) {
		passed(s, THEIRS, v, n);
	} else if (!s->is_ended) {
		begin(s);
		put_rest(s, THEIRS);
		put_empty(s, THEIRS, TH_FIN | TH_ACK);
		s->is_ended = true;
		end(s);
	}
}

void pcap_stream_free(struct pcap_stream *s)
{
	if (!s)
		return;
	if (s->is_open) {
		begin(s);
		put_rest(s, THEIRS);
		put_rest(s, OURS);
		put_empty(s, OURS, TH_FIN | TH_ACK);
		end(s);
	}
	free(s->half[OURS].kept);
	free(s->half[THEIRS].kept);
	free(s);
}
