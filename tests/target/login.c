#include "tests/target/login.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum way { WAY_MIN, WAY_MAX, WAY_OR, WAY_AND, WAY_SAY, WAY_SILENT };

/* RFC 7143 section 13. @ours: what the target wants where the script does not
 * say; NULL: it takes what is offered. */
static const struct {
	const char *name;
	enum way way;
	const char *ours;
} known[] = {
	{"AuthMethod", WAY_SAY, "None"},
	{"HeaderDigest", WAY_SAY, "None"},
	{"DataDigest", WAY_SAY, "None"},
	{"InitialR2T", WAY_OR, "No"},
	{"ImmediateData", WAY_AND, "Yes"},
	{"FirstBurstLength", WAY_MIN, "262144"},
	{"MaxBurstLength", WAY_MIN, "1048576"},
	{"MaxOutstandingR2T", WAY_MIN, "1"},
	{"MaxConnections", WAY_MIN, "1"},
	{"ErrorRecoveryLevel", WAY_MIN, "0"},
	{"DefaultTime2Wait", WAY_MAX, "0"},
	{"DefaultTime2Retain", WAY_MIN, "0"},
	{"DataPDUInOrder", WAY_OR, "Yes"},
	{"DataSequenceInOrder", WAY_OR, "Yes"},
	{"IFMarker", WAY_SAY, "No"},
	{"OFMarker", WAY_SAY, "No"},
	{"MaxRecvDataSegmentLength", WAY_SILENT, NULL},
	{"InitiatorName", WAY_SILENT, NULL},
	{"InitiatorAlias", WAY_SILENT, NULL},
	{"TargetName", WAY_SILENT, NULL},
	{"SessionType", WAY_SILENT, NULL},
};

void login_keys_init(struct login_keys *k)
{
	memset(k, 0, sizeof(*k));
	k->max_recv = 8192;
	k->max_burst = 262144;
}

static void choose(char *to, size_t size, enum way way, const char *offer,
		   const char *ours)
{
	unsigned long a = strtoul(offer, NULL, 0), b = strtoul(ours, NULL, 0);
	bool yes = !strcmp(offer, "Yes"), our_yes = !strcmp(ours, "Yes");

	switch (way) {
	case WAY_MIN:
		snprintf(to, size, "%lu", a < b ? a : b);
		return;
	case WAY_MAX:
		snprintf(to, size, "%lu", a > b ? a : b);
		return;
	case WAY_OR:
		snprintf(to, size, "%s", yes || our_yes ? "Yes" : "No");
		return;
	case WAY_AND:
		snprintf(to, size, "%s", yes && our_yes ? "Yes" : "No");
		return;
	default:
		snprintf(to, size, "%s", ours);
	}
}

/* 512 at least, as these keys are (13.12, 13.13). */
static uint32_t length(const char *text)
{
	unsigned long n = strtoul(text, NULL, 0);

	return n < 512 ? 512 : n;
}

/* "" where a key has no answer. */
static void answer_key(struct login_keys *k, const struct script *s,
		       const char *name, const char *offer, char *to,
		       size_t size)
{
	const char *ours = script_key(s, name);
	size_t i, n = sizeof(known) / sizeof(known[0]);

	*to = '\0';
	for (i = 0; i < n && strcmp(known[i].name, name) != 0; i++)
		;
	if (!strcmp(name, "MaxRecvDataSegmentLength"))
		k->max_recv = length(offer);
	if (!strcmp(name, "SessionType"))
		k->is_discovery = !strcmp(offer, "Discovery");
	if (i == n)
		snprintf(to, size, "%s", ours ? ours : "NotUnderstood");
	else if (known[i].way != WAY_SILENT)
		choose(to, size, known[i].way, offer,
		       ours ? ours : known[i].ours);
	if (!strcmp(name, "MaxBurstLength"))
		k->max_burst = length(to);
}

static size_t put(char *out, size_t at, size_t size, const char *name,
		  const char *value)
{
	int n = snprintf(out + at, size - at, "%s=%s", name, value);

	return at + n + 1 <= size ? at + n + 1 : at;
}

size_t login_answer(struct login_keys *k, const struct script *s,
		    const char *in, size_t in_bytes, char *out, size_t size)
{
	const char *end = in + in_bytes, *recv;
	char name[64], value[256];
	size_t n = 0;

	if (!k->has_said) {
		n = put(out, n, size, "TargetPortalGroupTag", "1");
		k->has_said = true;
	}
	while (in < end && *in) {
		const char *eq = strchr(in, '=');

		if (!eq)
			break;
		snprintf(name, sizeof(name), "%.*s", (int)(eq - in), in);
		answer_key(k, s, name, eq + 1, value, sizeof(value));
		if (*value)
			n = put(out, n, size, name, value);
		if (!strcmp(name, "MaxRecvDataSegmentLength")) {
			recv = script_key(s, name);
			n = put(out, n, size, name, recv ? recv : "262144");
		}
		in += strlen(in) + 1;
	}
	return n;
}
