#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/journal.h"
#include "target/listen.h"
#include "target/state.h"
#include "target/tgt.h"
#include "target/tgtd.h"

static void copy(char *to, size_t size, const struct journal_text *t,
		 const char *key)
{
	const char *value = journal_get(t, key);

	snprintf(to, size, "%s", value ? value : "");
}

static uint64_t number(const struct journal_text *t, const char *key)
{
	const char *value = journal_get(t, key);

	return value ? strtoull(value, NULL, 10) : 0;
}

static void fill(struct tgt_status *st, const struct journal_text *t)
{
	const char *image = journal_get(t, "image"), *member;

	copy(st->url, sizeof(st->url), t, "up");
	copy(st->iqn, sizeof(st->iqn), t, "iqn");
	copy(st->store, sizeof(st->store), t, "store");
	copy(st->backing, sizeof(st->backing), t, "backing");
	copy(st->array, sizeof(st->array), t, "array");
	copy(st->members, sizeof(st->members), t, "members");
	st->nr_luns = st->array[0] ? number(t, "luns") : 1;
	copy(st->md, sizeof(st->md), t, "md");
	st->md[strcspn(st->md, " ")] = '\0';
	if (st->md[0])
		md_state_read(&st->md_state, st->md);
	while (st->nr_members < DISKS_MAX &&
	       (member = journal_get_nth(t, "member", st->nr_members)))
		snprintf(st->member[st->nr_members++], sizeof(st->member[0]),
			 "%s", member);
	copy(st->listen, sizeof(st->listen), t, "listen");
	copy(st->user, sizeof(st->user), t, "user");
	copy(st->tgt_version, sizeof(st->tgt_version), t, "version");
	st->size_bytes = number(t, "size");
	st->block_bytes = number(t, "block");
	st->port = number(t, "port");
	st->stock = journal_get(t, "stock");
	st->is_durable = !strcmp(st->store, "rdwr");
	st->write_cache = true; /* tgt's default, left as it is */
	st->backing_is_ours =
		st->array[0] || (image && !strcmp(image, st->backing));
}

/* What is wrong with it, if anything. */
static void judge(struct tgt_status *st, const struct state *s,
		  const struct tgtd *d, bool alive)
{
	struct listen_address a;
	struct err why = {0};

	st->is_running = alive && st->url[0];
	if (state_is_busy(s))
		snprintf(st->problem, sizeof(st->problem),
			 "another lunbench is at work on it");
	else if (!st->url[0])
		snprintf(st->problem, sizeof(st->problem),
			 "it never came up whole; run: lunbench target down "
			 "--name %s",
			 st->name);
	else if (!alive)
		snprintf(st->problem, sizeof(st->problem),
			 "its tgtd is gone; run: lunbench target down --name "
			 "%s",
			 st->name);
	else if (!listen_parse(&a, st->listen, &why) &&
		 listen_prove(d->pid, &a, st->port, &why))
		snprintf(st->problem, sizeof(st->problem), "%s", why.text);
}

int tgt_status(const char *name, struct tgt_status *st, struct err *e)
{
	struct journal_text t = {0};
	struct tgtd d = {0};
	struct state s;
	char path[600];
	int err;

	memset(st, 0, sizeof(*st));
	err = state_find(&s, &target_state, name, e);
	if (err == -ENOENT)
		return err_set(e, err, "no target \"%s\" is up", name);
	if (err)
		return err;
	snprintf(st->name, sizeof(st->name), "%s", name);
	state_path(&s, "journal", path, sizeof(path));
	err = journal_read(&t, path, e);
	if (err && err != -ENOENT)
		return err;
	fill(st, &t);
	tgtd_recall(&d, &s, &t, 0);
	st->pid = d.pid;
	st->control_port = d.pid ? d.adm.control_port : 0;
	judge(st, &s, &d, tgtd_is_alive(&d));
	journal_text_release(&t);
	return 0;
}

int tgt_list(char ***names, size_t *nr, struct err *e)
{
	return state_list(&target_state, names, nr, e);
}

static bool same_host(const char *host, const char *listen)
{
	struct listen_address a, b;

	if (listen_parse(&b, listen, NULL))
		return false;
	if (!strcasecmp(host, "localhost"))
		return b.is_loopback;
	return !listen_parse(&a, host, NULL) && !strcmp(a.host, b.host);
}

bool tgt_owns(const char *host, uint16_t port, const char *iqn,
	      struct tgt_status *st)
{
	bool found = false;
	char **names;
	size_t nr;

	tgt_list(&names, &nr, NULL);
	for (size_t i = 0; i < nr; i++) {
		found = found ||
			(!tgt_status(names[i], st, NULL) && st->is_running &&
			 st->port == port && !strcmp(st->iqn, iqn) &&
			 same_host(host, st->listen));
		free(names[i]);
	}
	free(names);
	if (!found)
		memset(st, 0, sizeof(*st));
	return found;
}
