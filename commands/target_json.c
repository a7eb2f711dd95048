#include "commands/target_json.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* One table for both ways: a key, and where its value lies. */
enum type {
	TEXT,	  /* always there */
	OPTIONAL, /* a text that is left out where it is "" */
	BOOL,
	INT, /* int, unsigned int */
	UINT16,
	UINT64,
};

#define AT(member)                           \
	offsetof(struct tgt_status, member), \
		sizeof(((struct tgt_status *)0)->member)

static const struct field {
	const char *key;
	enum type type;
	size_t at, size;
} fields[] = {
	{"name", TEXT, AT(name)},
	{"url", TEXT, AT(url)},
	{"iqn", TEXT, AT(iqn)},
	{"store", TEXT, AT(store)},
	{"durable", BOOL, AT(is_durable)},
	{"write_cache", BOOL, AT(write_cache)},
	{"size_bytes", UINT64, AT(size_bytes)},
	{"block_bytes", INT, AT(block_bytes)},
	{"backing", TEXT, AT(backing)},
	{"backing_is_ours", BOOL, AT(backing_is_ours)},
	{"listen", TEXT, AT(listen)},
	{"port", UINT16, AT(port)},
	{"chap_user", OPTIONAL, AT(user)},
	{"pid", INT, AT(pid)},
	{"control_port", INT, AT(control_port)},
	{"running", BOOL, AT(is_running)},
	{"stock", BOOL, AT(stock)},
	{"tgt_version", TEXT, AT(tgt_version)},
	{"problem", TEXT, AT(problem)},
	{"array", OPTIONAL, AT(array)},
	{"members", OPTIONAL, AT(members)},
	{"luns", INT, AT(nr_luns)},
	{"md", OPTIONAL, AT(md)},
	{"md_state", OPTIONAL, AT(md_state.state)},
	{"md_degraded", OPTIONAL, AT(md_state.degraded)},
	{"md_action", OPTIONAL, AT(md_state.action)},
	{"md_progress", OPTIONAL, AT(md_state.progress)},
	{"md_chunk", OPTIONAL, AT(md_state.chunk)},
	{"md_layout", OPTIONAL, AT(md_state.layout)},
	{"md_stripe_cache", OPTIONAL, AT(md_state.stripe_cache)},
	{"md_sync_speed_min", OPTIONAL, AT(md_state.sync_speed_min)},
};

enum { NR_FIELDS = sizeof(fields) / sizeof(fields[0]) };

static json_t *get(const struct tgt_status *t, const struct field *f)
{
	const char *at = (const char *)t + f->at;

	switch (f->type) {
	case TEXT:
	case OPTIONAL:
		return json_string(at);
	case BOOL:
		return json_boolean(*(const bool *)at);
	case INT:
		return json_integer(*(const int *)at);
	case UINT16:
		return json_integer(*(const uint16_t *)at);
	case UINT64:
		return json_integer(*(const uint64_t *)at);
	}
	return NULL;
}

json_t *target_to_json(const struct tgt_status *t)
{
	json_t *j = json_object();
	const struct field *f;

	for (f = fields; j && f < fields + NR_FIELDS; f++) {
		if (f->type == OPTIONAL && !((const char *)t)[f->at])
			continue;
		if (json_object_set_new(j, f->key, get(t, f))) {
			json_decref(j);
			return NULL;
		}
	}
	return j;
}

static void set(struct tgt_status *t, const struct field *f, const json_t *v)
{
	char *at = (char *)t + f->at;

	switch (f->type) {
	case TEXT:
	case OPTIONAL:
		if (json_string_value(v))
			snprintf(at, f->size, "%s", json_string_value(v));
		err_make_printable(at);
		break;
	case BOOL:
		*(bool *)at = json_is_true(v);
		break;
	case INT:
		*(int *)at = json_integer_value(v);
		break;
	case UINT16:
		*(uint16_t *)at = json_integer_value(v);
		break;
	case UINT64:
		*(uint64_t *)at = json_integer_value(v);
		break;
	}
}

int target_from_json(struct tgt_status *t, const json_t *j, struct err *e)
{
	memset(t, 0, sizeof(*t));
	for (const struct field *f = fields; f < fields + NR_FIELDS; f++)
		set(t, f, json_object_get(j, f->key));
	if (t->iqn[0] && t->size_bytes && t->block_bytes)
		return 0;
	return err_set(e, -EBADMSG, "that is no target's status");
}
