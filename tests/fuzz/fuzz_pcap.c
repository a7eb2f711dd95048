#include "tests/unit/pcap_reader.h"

/* Any bytes as what a session passes, to a capture: it must be well-formed, and
 * as long as what passed. The input: a byte of how much is kept, then calls,
 * each a byte of its side (the highest bit) and length, and its bytes. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint32_t keeps[] = {0, 1, 256, PCAP_KEEP_MAX, PCAP_KEEP_ALL};

static void pass(struct pcap_stream *s, const uint8_t *data, size_t size,
		 size_t sums[2])
{
	while (size > 1) {
		size_t n = data[0] & 0x7f;
		int from = data[0] >> 7;
		uint8_t *copy;
		struct iovec v;

		data++;
		size--;
		n = n < size ? n + !n : size;
		copy = malloc(n);
		memcpy(copy, data, n);
		v = (struct iovec){copy, n};
		(from ? pcap_received : pcap_sent)(s, &v, n);
		free(copy);
		sums[from] += n;
		data += n;
		size -= n;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t sums[2] = {0};
	struct pcap_side side[2];
	struct pcap_stream *s;
	struct pcap *p;
	uint32_t keep;
	int fd;

	if (!size)
		return 0;
	keep = keeps[data[0] % (sizeof(keeps) / sizeof(keeps[0]))];
	fd = pcap_in_memory(&p, keep);
	s = pcap_stream_new(p, -1);
	pass(s, data + 1, size - 1, sums);
	pcap_stream_free(s);
	pcap_close(p);
	if (!pcap_read(fd, side))
		abort();
	for (int i = 0; i < 2; i++)
		if (side[i].n != sums[i] || side[i].captured > sums[i] ||
		    (keep == PCAP_KEEP_ALL && side[i].captured != sums[i]))
			abort();
	pcap_side_release(side);
	return 0;
}
