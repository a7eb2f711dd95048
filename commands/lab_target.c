#include "commands/lab_target.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "commands/target_json.h"

/* An emulated processor under load takes its time. */
#define ASK_NS (60 * NS_PER_SEC)

void lab_target_url(const struct net *n, const char *iqn, char url[512])
{
	snprintf(url, 512, "iscsi://%s:%u/%s/1", n->connect, n->port, iqn);
}

int lab_target_parse(struct tgt_status *t, const struct net *n,
		     const char *said, struct err *e)
{
	json_t *j = json_loads(said, 0, NULL), *list, *one;
	int err;

	list = json_object_get(j, "targets");
	one = list ? json_array_get(list, 0) : j;
	err = target_from_json(t, one, e);
	json_decref(j);
	if (!err)
		lab_target_url(n, t->iqn, t->url);
	return err;
}

/* What to do about it is said for the guest; here one ends the lab. */
static void advise(struct tgt_status *t, const char *lab)
{
	char *run = strstr(t->problem, "; run: ");

	if (run)
		snprintf(run, t->problem + sizeof(t->problem) - run,
			 "; run: lunbench lab down --name %s", lab);
}

int lab_target_ask(const struct stay_status *s, struct tgt_status *t,
		   struct err *e)
{
	static const char *const command[] = {
		"lunbench", "target",	       "status", "--name",
		"default",  "--output-format", "json",	 NULL};
	char *said = NULL;
	int err = stay_ask(s, command, NULL, ASK_NS, &said, e);

	/* One with a problem has a status of its own, and says what it is. */
	if (said && said[0] && !lab_target_parse(t, &s->net, said, NULL)) {
		err = 0;
		advise(t, s->name);
	} else if (!err) {
		err = err_set(e, -EBADMSG,
			      "lab \"%s\": its target says nothing", s->name);
	}
	free(said);
	return err;
}

static bool is_at(const struct stay_status *s, const char *host, uint16_t port)
{
	if (!s->is_running || s->net.port != port)
		return false;
	return !strcmp(s->net.connect, host) ||
	       (s->net.kind == NET_USER && !strcmp(host, "localhost"));
}

bool lab_target_owns(const char *host, uint16_t port, const char *iqn,
		     struct tgt_status *t, char *where)
{
	struct stay_status s;
	bool found = false;
	char **names;
	size_t nr;

	stay_list(&names, &nr, NULL);
	for (size_t i = 0; i < nr; i++) {
		found = found ||
			(!stay_status(names[i], &s, NULL) &&
			 is_at(&s, host, port) &&
			 !lab_target_ask(&s, t, NULL) && !strcmp(t->iqn, iqn));
		free(names[i]);
	}
	free(names);
	if (found)
		snprintf(where, 128, "%s, real time, %s", s.accel,
			 net_kind_name(s.net.kind));
	else
		memset(t, 0, sizeof(*t));
	return found;
}
