#include "initiator/negotiation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How two values make one: RFC 7143 section 13, key by key. */
enum rule { CHOSEN, DECLARED, LESS, MORE, EITHER, BOTH };

static const struct {
	const char *name, *unsaid; /* the default */
	enum rule rule;
} keys[NEGOTIATED_KEYS] = {
	{"AuthMethod", "None", CHOSEN},
	{"HeaderDigest", "None", CHOSEN},
	{"DataDigest", "None", CHOSEN},
	{"InitialR2T", "Yes", EITHER},
	{"ImmediateData", "Yes", BOTH},
	{"MaxRecvDataSegmentLength", "8192", DECLARED},
	{"FirstBurstLength", "65536", LESS},
	{"MaxBurstLength", "262144", LESS},
	{"MaxOutstandingR2T", "1", LESS},
	{"MaxConnections", "1", LESS},
	{"ErrorRecoveryLevel", "0", LESS},
	{"DataPDUInOrder", "Yes", EITHER},
	{"DataSequenceInOrder", "Yes", EITHER},
	{"DefaultTime2Wait", "2", MORE},
	{"DefaultTime2Retain", "20", LESS},
	{"TargetPortalGroupTag", "", DECLARED},
	{"TargetAlias", "", DECLARED},
};

/* One "key=value". A side that says a key again means the last. */
static void keep(struct negotiation *n, enum side side, const char *text)
{
	size_t length = strcspn(text, "=");

	for (size_t i = 0; text[length] && i < NEGOTIATED_KEYS; i++)
		if (strlen(keys[i].name) == length &&
		    !memcmp(keys[i].name, text, length))
			snprintf(n->value[i][side], NEGOTIATED_VALUE, "%s",
				 text + length + 1);
}

void negotiation_add(struct negotiation *n, enum side side, const void *text,
		     size_t bytes)
{
	char *part = n->part[side];
	size_t *have = &n->part_bytes[side];

	for (const char *c = text; bytes--; c++) {
		if (*c) {
			/* Longer ones are CHAP's; their end is not wanted. */
			if (*have < sizeof(n->part[side]) - 1)
				part[(*have)++] = *c;
			continue;
		}
		part[*have] = '\0';
		keep(n, side, part);
		explicit_bzero(part, *have);
		*have = 0;
	}
}

static const char *lesser(const char *a, const char *b)
{
	return strtoul(a, NULL, 0) < strtoul(b, NULL, 0) ? a : b;
}

static const char *result_of(size_t i, const char *offered,
			     const char *answered)
{
	if (!strcmp(answered, "Irrelevant"))
		return answered;
	if (!*answered || !strcmp(answered, "Reject") ||
	    !strcmp(answered, "NotUnderstood"))
		return keys[i].unsaid;
	if (!*offered)
		return answered;
	switch (keys[i].rule) {
	case LESS:
		return lesser(offered, answered);
	case MORE:
		return lesser(offered, answered) == offered ? answered
							    : offered;
	case EITHER:
		return strcmp(offered, "Yes") ? answered : offered;
	case BOTH:
		return strcmp(offered, "Yes") ? offered : answered;
	default:
		return answered;
	}
}

void negotiation_tell(const struct negotiation *n,
		      void (*on_key)(void *user, const struct negotiated *key),
		      void *user)
{
	for (size_t i = 0; i < NEGOTIATED_KEYS; i++) {
		struct negotiated key = {.key = keys[i].name,
					 .offered = n->value[i][SIDE_INITIATOR],
					 .answered = n->value[i][SIDE_TARGET]};

		if (!*key.offered && !*key.answered)
			continue;
		key.result = result_of(i, key.offered, key.answered);
		on_key(user, &key);
	}
}
