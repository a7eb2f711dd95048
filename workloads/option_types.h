#ifndef WORKLOADS_OPTION_TYPES_H
#define WORKLOADS_OPTION_TYPES_H

#include "workloads/options.h"

/* How the values of the option table are read: one type, one parser. For
 * options.c only; everyone else calls option_set(). */

enum option_type {
	TYPE_NONE, /* not applicable, unsupported */
	TYPE_TEXT,
	TYPE_RW,	   /* ops, is_random, sequence, step_bytes */
	TYPE_SIZE_LIST,	   /* uint32_t[OP_DATA_COUNT], "a,b,c" */
	TYPE_RATE_LIST,	   /* uint64_t[OP_DATA_COUNT] */
	TYPE_PERCENT_LIST, /* unsigned int[OP_DATA_COUNT] */
	TYPE_UINT,	   /* unsigned int */
	TYPE_U64,
	TYPE_RANDSEED,
	TYPE_AMOUNT, /* struct amount */
	TYPE_TIME,   /* uint64_t ns, unit_ns without a unit */
	TYPE_BOOL,
	TYPE_RWMIXWRITE, /* 100 - value into rwmixread */
	TYPE_BSSPLIT,
	TYPE_DISTRIBUTION,
	TYPE_RATE_PROCESS,
	TYPE_PATTERN,
	TYPE_PERCENTILES,
	TYPE_CONTINUE_ON_ERROR,
	TYPE_KB_BASE,
	TYPE_CLIENTS, /* clients, steps, nr_steps */
	TYPE_REPEAT_ORDER,
	TYPE_UNTIL,
	TYPE_MISFIT,
	TYPE_VIEW,
	TYPE_DEPARTS, /* adds one */
};

struct option_input {
	struct job_opts *opts;
	const struct option_desc *desc;
	const char *value; /* not NULL */
	unsigned int kb_base;
	char *warning; /* "" until there is one */
	size_t warning_size;
};

/* Sets the field. The text in @e names the value, not the key. */
int option_parse(const struct option_input *in, struct err *e);

/* --- shared by the three files that read values --- */

enum { OPTION_TEXT_MAX = 4096 };

/* A number with an optional size suffix (fio takes them for counts too), within
 * the range of the option. */
int option_parse_ranged(const struct option_input *in, const char *text,
			uint64_t *out, struct err *e);

/*
 * Cuts "a,b,c" into one text for each op (HOWTO, "blocksize"): an empty part
 * leaves that op as it is (NULL), a value that no comma follows goes on for the
 * ops after it. @buf holds the parts.
 */
int option_cut_list(const char *value, char buf[OPTION_TEXT_MAX],
		    const char *part[OP_DATA_COUNT], struct err *e);

int option_parse_bssplit(const struct option_input *in, struct err *e);
int option_parse_distribution(const struct option_input *in, struct err *e);
int option_parse_pattern(const struct option_input *in, struct err *e);
int option_parse_percentiles(const struct option_input *in, struct err *e);

/* option_own.c: the keys that fio has not */
int option_parse_clients(const struct option_input *in, struct err *e);
int option_parse_repeat_order(const struct option_input *in, struct err *e);
int option_parse_until(const struct option_input *in, struct err *e);
int option_parse_misfit(const struct option_input *in, struct err *e);
int option_parse_view(const struct option_input *in, struct err *e);
int option_parse_departs(const struct option_input *in, struct err *e);

#endif
