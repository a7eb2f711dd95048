#include "target/tgt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/journal.h"
#include "target/listen.h"
#include "target/provision.h"
#include "target/state.h"
#include "target/store.h"
#include "target/tgtd.h"

#define DOWN_NS (20 * NS_PER_SEC)

void tgt_opts_init(struct tgt_opts *o)
{
	memset(o, 0, sizeof(*o));
	snprintf(o->name, sizeof(o->name), "default");
	snprintf(o->listen, sizeof(o->listen), "127.0.0.1");
	o->block_bytes = 512;
	o->deadline_ns = 60 * NS_PER_SEC;
}

/* --- what may be asked --- */

static int check_size(const struct tgt_opts *o, struct err *e)
{
	if (o->block_bytes != 512 && o->block_bytes != 4096)
		return err_set(e, -EINVAL, "block size %u: it is 512 or 4096",
			       o->block_bytes);
	if (o->size_bytes % o->block_bytes)
		return err_set(e, -EINVAL,
			       "size %llu is not a multiple of the block size "
			       "%u",
			       (unsigned long long)o->size_bytes,
			       o->block_bytes);
	if (o->store == STORE_NULL && o->size_bytes > STORE_NULL_MAX_BYTES)
		return err_set(e, -EINVAL,
			       "size %llu: tgt's null store has 1 TiB at most",
			       (unsigned long long)o->size_bytes);
	return 0;
}

static int check_array(const struct tgt_opts *o, struct err *e)
{
	if (!o->array.kind[0])
		return 0;
	if (o->backing[0] || o->ram || o->size_bytes || o->store == STORE_NULL)
		return err_set(e, -EINVAL,
			       "%s: an array has its members' size and place, "
			       "and no other backing or null store",
			       o->array.kind);
	return array_check(&o->array, e);
}

static int check_store(const struct tgt_opts *o, struct err *e)
{
	if (o->backing[0] && (o->ram || o->store == STORE_NULL))
		return err_set(e, -EINVAL,
			       "\"%s\": a backing goes neither with RAM nor "
			       "with the null store",
			       o->backing);
	if (o->ram && o->store == STORE_NULL)
		return err_set(e, -EINVAL,
			       "the null store keeps nothing, in RAM neither");
	if (o->io_threads && o->store != STORE_RDWR)
		return err_set(e, -EINVAL,
			       "I/O threads are the rdwr store's; %s has none",
			       store_name(o->store));
	if (o->io_threads > 256)
		return err_set(e, -EINVAL, "%u I/O threads: use at most 256",
			       o->io_threads);
	return 0;
}

static int check_account(const struct tgt_opts *o, struct err *e)
{
	size_t n = strlen(o->password);

	if (!o->user[0] && !n)
		return 0;
	if (!o->user[0] || strpbrk(o->user, ",\n"))
		return err_set(e, -EINVAL,
			       "\"%s\" cannot be a CHAP user: it must not be "
			       "empty or have a comma in it",
			       o->user);
	/* RFC 7143 9.2.1 wants 96 bits; tgt has a limit of its own above. */
	if (n < 12 || n > 255 || strchr(o->password, '\n'))
		return err_set(e, -EINVAL,
			       "the CHAP secret of \"%s\" has %zu bytes: use "
			       "12 to 255, without a line break",
			       o->user, n);
	return 0;
}

static int check_opts(const struct tgt_opts *o, struct listen_address *a,
		      struct err *e)
{
	int err = state_check_name(&target_state, o->name, e);

	if (!err)
		err = check_size(o, e);
	if (!err)
		err = check_store(o, e);
	if (!err)
		err = check_array(o, e);
	if (!err)
		err = check_account(o, e);
	if (!err)
		err = listen_parse(a, o->listen, e);
	if (!err && o->initiator_address[0])
		err = listen_check_acl(o->initiator_address, e);
	if (err)
		return err;
	if (!a->is_loopback && !o->initiator_address[0])
		return err_set(e, -EINVAL,
			       "\"%s\" can be reached from other machines: say "
			       "with --allow ADDRESS which initiator may come",
			       o->listen);
	if (child_has_program("tgtd") && child_has_program("tgtadm"))
		return 0;
	return err_set(e, -ENOENT,
		       "tgtd is not installed; apt-get install tgt");
}

/* --- down --- */

/* Undoes what the journal says. The folder stays, empty, under our lock. */
static int undo(struct state *s, struct err *e)
{
	struct journal_text t = {0};
	char path[600];
	struct tgtd d;
	int err;

	state_path(s, "journal", path, sizeof(path));
	err = journal_read(&t, path, e);
	if (err == -ENOENT) /* killed before its first line */
		return state_clear(s, e);
	if (err)
		return err;
	if (tgtd_recall(&d, s, &t, clock_now_ns() + DOWN_NS))
		err = tgtd_stop(&d, true, e);
	if (!err)
		err = store_remove(&t, journal_get(&t, "up"), e);
	if (!err)
		err = state_clear(s, e);
	journal_text_release(&t);
	return err;
}

int tgt_down(const char *name, struct err *e)
{
	struct state s;
	int err = state_lock(&s, &target_state, name, false, DOWN_NS, e);

	if (err == -ENOENT)
		return err_set(e, err, "no target \"%s\" is up", name);
	if (err)
		return err;
	err = undo(&s, e);
	if (!err)
		err = state_remove(&s, e);
	state_unlock(&s);
	return err;
}

/* --- up --- */

/* -EEXIST if it is up; else what is left of an earlier one is cleaned away. */
static int make_way(struct state *s, char *note, struct err *e)
{
	struct journal_text t = {0};
	const char *url;
	char path[600];
	struct tgtd d;
	int err;

	state_path(s, "journal", path, sizeof(path));
	err = journal_read(&t, path, e);
	if (err == -ENOENT)
		return 0;
	if (err)
		return err;
	url = journal_get(&t, "up");
	if (url && tgtd_recall(&d, s, &t, 0) && tgtd_is_alive(&d))
		err = err_set(e, -EEXIST,
			      "target \"%s\" is up already at %s: take it down "
			      "with: lunbench target down --name %s",
			      s->name, url, s->name);
	journal_text_release(&t);
	if (err)
		return err;
	snprintf(note, 256, "cleaned up what a \"%s\" that died had left",
		 s->name);
	return undo(s, e);
}

/* Two targets on one file would measure each other's data. */
static int check_shared(const struct tgt_opts *o, struct err *e)
{
	char **names, real[4096];
	struct tgt_status other;
	size_t nr;
	int err;

	if (!o->backing[0] || !realpath(o->backing, real))
		return 0;
	err = tgt_list(&names, &nr, e);
	for (size_t i = 0; i < nr; i++) {
		if (!err && strcmp(names[i], o->name) &&
		    !tgt_status(names[i], &other, NULL) &&
		    !strcmp(other.backing, real))
			err = err_set(e, -EBUSY,
				      "\"%s\" is the backing of target \"%s\"",
				      o->backing, names[i]);
		free(names[i]);
	}
	free(names);
	return err;
}

static int write_opts(struct journal *j, const struct tgt_opts *o,
		      const struct listen_address *a, const char *iqn,
		      struct err *e)
{
	char version[64];
	int err;

	tgtadm_version(version, sizeof(version));
	err = journal_write(j, e, "iqn", "%s", iqn);
	if (!err)
		err = journal_write(j, e, "store", "%s", store_name(o->store));
	if (!err)
		err = journal_write(j, e, "block", "%u", o->block_bytes);
	if (!err)
		err = journal_write(j, e, "listen", "%s", a->host);
	if (!err)
		err = journal_write(j, e, "version", "%s", version);
	if (!err && o->stock)
		err = journal_write(j, e, "stock", "yes");
	if (!err && o->user[0])
		err = journal_write(j, e, "user", "%s", o->user);
	return err;
}

static int make(struct state *s, const struct tgt_opts *o,
		const struct listen_address *a, uint64_t end_ns, char *note,
		struct err *e)
{
	char path[600], iqn[224], where[80];
	struct store st = {0};
	struct journal j;
	struct tgtd d = {0};
	struct tgtd_settings set = {o->port, o->io_threads, !o->stock};
	int err;

	snprintf(iqn, sizeof(iqn), "iqn.2026-11.dev.lunbench:%s", s->name);
	state_path(s, "journal", path, sizeof(path));
	err = journal_create(&j, path, e);
	if (err)
		return err;
	err = write_opts(&j, o, a, iqn, e);
	if (!err)
		err = store_prepare(&st, o, s, &j, &end_ns, note, e);
	if (!err)
		err = tgtd_start(&d, s, a, &set, &j, end_ns, e);
	if (!err)
		err = provision(&d.adm, o, &st, iqn, state_hash(s), e);
	if (!err)
		err = journal_write(&j, e, "size", "%llu",
				    (unsigned long long)st.size_bytes);
	if (!err) {
		listen_format(a, d.port, where, sizeof(where));
		err = journal_write(&j, e, "up", "iscsi://%s/%s/1", where, iqn);
	}
	journal_close(&j);
	return err;
}

static int up_locked(struct state *s, const struct tgt_opts *o,
		     const struct listen_address *a, uint64_t end_ns,
		     char *note, struct err *e)
{
	struct tgtadm fits;
	int err = make_way(s, note, e);

	if (err == -EEXIST)
		return err;
	if (!err)
		err = tgtadm_init(&fits, s->folder, tgtd_control_port(s),
				  end_ns, e);
	if (!err)
		err = check_shared(o, e);
	if (!err)
		err = make(s, o, a, end_ns, note, e);
	/* On failure nothing stays; the first reason is the one to tell. */
	if (err && !undo(s, NULL))
		state_remove(s, NULL);
	return err;
}

int tgt_up(const struct tgt_opts *o, struct tgt_status *status, char *note,
	   struct err *e)
{
	uint64_t end_ns = clock_now_ns() + o->deadline_ns;
	char unused[256];
	struct listen_address a;
	struct state s;
	int err;

	note = note ? note : unused;
	note[0] = '\0';
	memset(status, 0, sizeof(*status));
	err = check_opts(o, &a, e);
	if (!err)
		err = state_lock(&s, &target_state, o->name, true,
				 o->deadline_ns, e);
	if (err)
		return err;
	err = up_locked(&s, o, &a, end_ns, note, e);
	state_unlock(&s);
	return err ? err : tgt_status(o->name, status, e);
}
