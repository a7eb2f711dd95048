#include "report/check_words.h"

#include <stdio.h>
#include <string.h>

#include "report/text.h"

/* Takes value and limit, both times @scale. */
struct words {
	const char *check, *format;
	double scale;
};

static const struct words words[] = {
	{"complete", "the run did not come to its end", 1},
	{"until", "the most repeats were not enough for until", 1},
	{"has_run", "never ran", 1},
	{"errors", "I/Os that failed: %.0f", 1},
	{"outages", "sessions that were lost: %.0f", 1},
	{"retries", "commands that had to be repeated: %.0f", 1},
	{"littles_law", "Little's law is off by %.1f %%, more than %.0f %%",
	 100},
	{"late", "p99 from due is %.3g times that from submitted, more than %g",
	 1},
	{"fairness",
	 "clients were served unequally: Jain's index %.3f, under "
	 "%.2f",
	 1},
	{"duration", "measured for %.3g s only, under %g s", 1},
	{"samples", "I/Os measured: %.0f, under %.0f", 1},
	{"series", "completions that are missing from the series: %.0f", 1},
	{"command_window",
	 "the target's command window was shut at %.0f %% of the sends, more "
	 "than %.0f %%",
	 100},
	{"initiator_cpu",
	 "lunbench kept its workers %.0f %% busy, over %.0f "
	 "%%",
	 100},
	{"real_storage", "no storage lies behind the target", 1},
	{"durable_store", "the store is not durable", 1},
	{"integrity", "blocks that break a promise: %.0f", 1},
	{"own_machine", "target and lunbench share one machine", 1},
};

char *check_say(const json_t *check, char *buf, size_t size)
{
	double value = number_of(check, "value");
	double limit = number_of(check, "limit");
	const struct words *w;

	for (w = words; w < words + sizeof(words) / sizeof(words[0]); w++) {
		if (strcmp(text_of(check, "check"), w->check) != 0)
			continue;
		snprintf(buf, size, w->format, w->scale * value,
			 w->scale * limit);
		return buf;
	}
	snprintf(buf, size, "value %.10g, limit %.10g", value, limit);
	return buf;
}
