#include "initiator/retry.h"

#include <errno.h>

#include "base/clock.h"

/*
 * What is retried, and how long after the refusal: first_ns, then twice that,
 * and so on up to max_ns; until the command time-out since its first
 * submission has passed, then it is an error. Each retry is counted by cause,
 * and the latency of the I/O contains all of them, because that is what a
 * user of the LUN would have waited. Everything else (reservation conflict,
 * medium error, no such LUN, write protection, ...) is an error at once:
 * asking again would not change the answer.
 *
 * BUSY and TASK SET FULL ask for patience (SAM-5 5.3.1). A unit attention only
 * tells of an event, and the next try succeeds, unless the target is mad.
 */
static const struct retry_rule {
	uint64_t first_ns, max_ns;
} retry_rules[RETRY_CAUSES] = {
	[RETRY_BUSY] = {10 * NS_PER_MSEC, 100 * NS_PER_MSEC},
	[RETRY_TASK_SET_FULL] = {10 * NS_PER_MSEC, 100 * NS_PER_MSEC},
	[RETRY_UNIT_ATTENTION] = {0, 100 * NS_PER_MSEC},
	[RETRY_NOT_READY] = {100 * NS_PER_MSEC, 100 * NS_PER_MSEC},
	/* Its pace is that of opening again: see session.c. */
	[RETRY_CONNECTION_LOST] = {0, 0},
};

enum {
	SCSI_TASK_SET_FULL = 0x28,
	SENSE_NOT_READY = 2,
	SENSE_UNIT_ATTENTION = 6,
};

enum retry_cause retry_cause_of(const struct io *io)
{
	if (io->result == -EBUSY)
		return io->detail.scsi_status == SCSI_TASK_SET_FULL
			       ? RETRY_TASK_SET_FULL
			       : RETRY_BUSY;
	if (io->result == -EAGAIN &&
	    io->detail.sense_key == SENSE_UNIT_ATTENTION)
		return RETRY_UNIT_ATTENTION;
	if (io->result == -EAGAIN && io->detail.sense_key == SENSE_NOT_READY)
		return RETRY_NOT_READY;
	return RETRY_CAUSES;
}

uint64_t retry_delay_ns(enum retry_cause cause, unsigned int attempts)
{
	const struct retry_rule *rule = &retry_rules[cause];
	uint64_t ns = rule->first_ns;

	if (!ns && attempts) {
		ns = 10 * NS_PER_MSEC;
		attempts--;
	}
	while (attempts-- && ns < rule->max_ns)
		ns *= 2;
	return ns < rule->max_ns ? ns : rule->max_ns;
}
