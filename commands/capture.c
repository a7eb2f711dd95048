#include "commands/capture.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "commands/commands.h"
#include "initiator/pcap.h"

enum { KEY_PCAP = 0x3000, KEY_SNAPLEN };

const struct argp_option capture_options[] = {
	{"pcap", KEY_PCAP, "FILE", 0,
	 "write what the sessions send and receive to FILE, a capture for "
	 "Wireshark and tshark (secrets are blanked; it slows the run)",
	 0},
	{"pcap-snaplen", KEY_SNAPLEN, "N|all", 0,
	 "of each PDU's data, keep N bytes (default 256)", 0},
	{0},
};

static error_t parse_snaplen(struct request *r, const char *text)
{
	struct err e = {0};
	uint64_t n;

	r->has_snaplen = true;
	if (!strcmp(text, "all")) {
		r->pcap_keep = PCAP_KEEP_ALL;
		return 0;
	}
	if (units_parse_uint(text, 0, PCAP_KEEP_MAX, &n, &e)) {
		err_prefix(&e, "--pcap-snaplen (or all)");
		say_err(&e, STATUS_USAGE);
		return EINVAL;
	}
	r->pcap_keep = n;
	return 0;
}

error_t capture_parse(int key, char *arg, struct request *r)
{
	switch (key) {
	case KEY_PCAP:
		r->pcap_file = arg;
		if (*arg)
			return 0;
		say("--pcap: \"\" names no place for the capture");
		return EINVAL;
	case KEY_SNAPLEN:
		return parse_snaplen(r, arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* NULL: it can be captured. */
static const char *obstacle(const struct request *r)
{
	if (!r->pcap_file)
		return "--pcap-snaplen goes with --pcap";
	if (r->has_url && !(transport_caps(&r->url) & IS_NETWORK))
		return "--pcap: only iSCSI sessions can be captured";
	if (r->run.initiator.plain_wire)
		return "--pcap goes with --wire=batch: with plain, libiscsi "
		       "makes the socket calls and lunbench does not see them";
	if (r->file && !strcmp(r->file, r->pcap_file))
		return "--pcap and -o name the same file";
	return NULL;
}

int capture_open(struct request *r)
{
	struct err e = {0};
	const char *why;

	if (!r->pcap_file && !r->has_snaplen)
		return STATUS_OK;
	why = obstacle(r);
	if (why) {
		say("%s", why);
		return STATUS_USAGE;
	}
	if (pcap_open(&r->run.initiator.capture, r->pcap_file,
		      r->has_snaplen ? r->pcap_keep : PCAP_KEEP_DEFAULT, &e))
		return say_err(&e, STATUS_USAGE);
	return STATUS_OK;
}

void capture_note(const struct request *r, char *text, size_t size)
{
	struct pcap *p = r->run.initiator.capture;
	struct err e = {0};

	text[0] = '\0';
	if (!p)
		return;
	if (pcap_flush(p, &e))
		snprintf(text, size, "%s; what was measured is whole", e.text);
	else
		snprintf(text, size,
			 "captured to \"%s\", which slows the run: its figures "
			 "are not those without a capture",
			 pcap_path(p));
}

int capture_end(const struct request *r, int status)
{
	struct err e = {0};

	if (!r->run.initiator.capture ||
	    !pcap_flush(r->run.initiator.capture, &e))
		return status;
	say_err(&e, STATUS_TARGET);
	return status ? status : STATUS_TARGET;
}
