#include "target/state.h"

#include <string.h>

static bool is_ours(const char *file)
{
	return !strcmp(file, "tgtd.log") || !strcmp(file, "image") ||
	       !strncmp(file, "key", 3) || !strncmp(file, "sock.", 5) ||
	       !strncmp(file, "relay.", 6);
}

const struct state_kind target_state = {"target", "", is_ours};
