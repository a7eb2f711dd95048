#include "initiator/stages.h"

const char *wire_stage_name(enum wire_stage s)
{
	static const char *const names[WIRE_STAGES] = {
		[STAGE_QUEUED_HERE] = "queued_here",
		[STAGE_R2T_WAIT] = "r2t_wait",
		[STAGE_SENDING] = "sending",
		[STAGE_TARGET] = "target",
	};

	return names[s];
}

void wire_counts_add(struct wire_counts *to, const struct wire_counts *now,
		     const struct wire_counts *before)
{
	to->pdus_out += now->pdus_out - before->pdus_out;
	to->pdus_in += now->pdus_in - before->pdus_in;
	to->data_outs += now->data_outs - before->data_outs;
	to->r2ts += now->r2ts - before->r2ts;
	to->nops += now->nops - before->nops;
	to->digest_errors += now->digest_errors - before->digest_errors;
	to->window_stalls += now->window_stalls - before->window_stalls;
	to->window_shut_ns += now->window_shut_ns - before->window_shut_ns;
	if (now->window_commands > to->window_commands)
		to->window_commands = now->window_commands;
}
