#include "report/beside.h"

void beside_put(struct put *p, json_t *row, const struct beside *b)
{
	json_t *o, *one;
	size_t i;

	if (!b || (!b->has_host && !b->has_target && !b->has_disks))
		return;
	o = put_object(p, row, "beside");
	if (b->has_host) {
		one = put_object(p, o, "host");
		put_int(p, one, "cpus", b->cpus);
		put_real(p, one, "used_percent", 100 * b->used);
		put_real(p, one, "steal_percent", 100 * b->steal);
	}
	if (b->has_target) {
		one = put_object(p, o, "target");
		put_int(p, one, "threads", b->threads);
		put_real(p, one, "busiest_thread_percent", 100 * b->busiest);
		put_real(p, one, "busiest_thread_starved_percent",
			 100 * b->starved);
		put_real(p, one, "all_threads_percent", 100 * b->all);
	}
	if (!b->has_disks)
		return;
	o = put_array(p, o, "disks");
	for (i = 0; i < b->nr_disks; i++) {
		one = put_object(p, o, NULL);
		put_text(p, one, "name", b->disk[i].name);
		put_real(p, one, "busy_percent", 100 * b->disk[i].busy);
		put_real(p, one, "queue_mean", b->disk[i].queue);
	}
}
