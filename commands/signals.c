#include "commands/signals.h"

#include <stddef.h>
#include <unistd.h>

#include "commands/commands.h"

volatile sig_atomic_t signals_seen;
static volatile sig_atomic_t end_at_once;

static void on_signal(int number)
{
	(void)number;
	if (end_at_once)
		_exit(STATUS_INTERRUPTED);
	signals_seen = signals_seen + 1;
}

void signals_init(void)
{
	struct sigaction count = {.sa_handler = on_signal};
	struct sigaction ignore = {.sa_handler = SIG_IGN}, old;

	/* No SA_RESTART: a blocking wait shall notice. */
	sigemptyset(&count.sa_mask);
	sigaction(SIGINT, &count, NULL);
	sigaction(SIGTERM, &count, NULL);
	/* Under nohup it stays ignored. */
	sigaction(SIGHUP, NULL, &old);
	if (old.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &count, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
}

void signals_end_at_once(bool at_once)
{
	/* In this order: a signal between the two lines is not lost. */
	end_at_once = at_once;
	if (at_once && signals_seen)
		_exit(STATUS_INTERRUPTED);
}
