#include "commands/lab_show.h"

#include <stdio.h>

#include "base/units.h"
#include "commands/target_json.h"
#include "commands/target_text.h"

static void print_guest(const struct stay_status *s)
{
	char size[32];

	printf("  guest     %s, kernel %s; %u processor%s, %s; QEMU is process "
	       "%d\n",
	       s->accel, s->kernel, s->cpus, s->cpus == 1 ? "" : "s",
	       units_bytes(size, sizeof(size), (uint64_t)s->memory_mib << 20),
	       (int)s->pid);
	if (s->net.kind == NET_TAP)
		printf("  net       tap %s: %s here, %s there\n", s->net.device,
		       s->net.peer, s->net.guest);
	else if (s->net.connect[0])
		printf("  net       user: %s:%u here\n", s->net.connect,
		       s->net.port);
}

json_t *lab_show_json(const struct stay_status *s, const struct tgt_status *t)
{
	return json_pack(
		"{s:s, s:s, s:b, s:s, s:s, s:i, s:s, s:s, s:i, s:i, s:s, s:s, "
		"s:s, s:s, s:i, s:s, s:o*}",
		"name", s->name, "url", s->up, "running", s->is_running,
		"problem", s->problem, "console", s->console, "pid",
		(int)s->pid, "accel", s->accel, "kernel", s->kernel, "cpus",
		(int)s->cpus, "memory_mib", (int)s->memory_mib, "net",
		s->net.connect[0] ? net_kind_name(s->net.kind) : "", "device",
		s->net.device, "host_address", s->net.peer, "guest_address",
		s->net.guest, "port", (int)s->net.port, "folder", s->folder,
		"target", t ? target_to_json(t) : NULL);
}

void lab_show_print(const struct stay_status *s, const struct tgt_status *t)
{
	struct tgt_status named = *t;

	/* In its own machine it has another. */
	snprintf(named.name, sizeof(named.name), "%s", s->name);
	target_print(&named);
	print_guest(s);
}
