#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/journal.h"
#include "target/md_member.h"
#include "target/state.h"
#include "target/tgt.h"

/* Members of a target that is up: fail, replace. See tgt.h. */

#define LOCK_NS (20 * NS_PER_SEC)

struct members {
	char md[64]; /* "" if there is none */
	char path[DISKS_MAX][128];
	size_t nr;
};

static void read_members(const struct journal_text *t, struct members *m)
{
	const char *value = journal_get(t, "md");

	memset(m, 0, sizeof(*m));
	if (value)
		snprintf(m->md, sizeof(m->md), "%.*s", (int)strcspn(value, " "),
			 value);
	while (m->nr < DISKS_MAX &&
	       (value = journal_get_nth(t, "member", m->nr)))
		snprintf(m->path[m->nr++], sizeof(m->path[0]), "%s", value);
}

static int find_member(const struct members *m, const char *member,
		       size_t *index, struct err *e)
{
	char number[24];

	for (size_t n = 0; n < m->nr; n++) {
		snprintf(number, sizeof(number), "%zu", n);
		if (!strcmp(member, number) || !strcmp(member, m->path[n])) {
			*index = n;
			return 0;
		}
	}
	return err_set(e, -EINVAL,
		       "\"%s\" is no member: give a number from 0 to %zu, or "
		       "a device of the array",
		       member, m->nr ? m->nr - 1 : 0);
}

static int fail(struct members *m, size_t i, struct journal *j, struct err *e)
{
	int err = journal_write(j, e, "fail", "%s", m->path[i]);

	return err ? err : md_fail(m->md, m->path, m->nr, i, e);
}

/* Each step can be taken again: a replacement that was killed goes on. */
static int replace(struct members *m, size_t i, struct journal *j,
		   struct err *e)
{
	int err = journal_write(j, e, "remove", "%s", m->path[i]);

	if (!err)
		err = md_remove(m->md, m->path[i], e);
	if (!err)
		err = journal_write(j, e, "blank", "%s", m->path[i]);
	if (!err)
		err = md_blank(m->path[i], e);
	if (!err)
		err = journal_write(j, e, "add", "%s", m->path[i]);
	return err ? err : md_add(m->md, m->path[i], e);
}

static int change_locked(const struct state *s, const char *member,
			 int (*change)(struct members *m, size_t i,
				       struct journal *j, struct err *e),
			 struct err *e)
{
	struct journal_text t = {0};
	struct members m;
	struct journal j;
	char path[600];
	size_t i = 0;
	int err;

	state_path(s, "journal", path, sizeof(path));
	err = journal_read(&t, path, e);
	read_members(&t, &m);
	journal_text_release(&t);
	if (err && err != -ENOENT)
		return err;
	if (!m.md[0])
		return err_set(e, -EINVAL,
			       "target \"%s\" lies on no array with members",
			       s->name);
	err = find_member(&m, member, &i, e);
	if (!err)
		err = journal_open(&j, path, e);
	if (err)
		return err;
	err = change(&m, i, &j, e);
	journal_close(&j);
	return err;
}

static int change_member(const char *name, const char *member,
			 int (*change)(struct members *m, size_t i,
				       struct journal *j, struct err *e),
			 struct err *e)
{
	struct state s;
	int err = state_lock(&s, &target_state, name, false, LOCK_NS, e);

	if (err == -ENOENT)
		return err_set(e, err, "no target \"%s\" is up", name);
	if (err)
		return err;
	err = change_locked(&s, member, change, e);
	state_unlock(&s);
	return err;
}

int tgt_fail(const char *name, const char *member, struct err *e)
{
	return change_member(name, member, fail, e);
}

int tgt_replace(const char *name, const char *member, struct err *e)
{
	return change_member(name, member, replace, e);
}
