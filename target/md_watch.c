#include "target/md_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "target/md_state.h"

static bool is_rebuild(const char *action)
{
	return !strcmp(action, "recover");
}

static bool is_idle(const char *action)
{
	return !action[0] || !strcmp(action, "idle") ||
	       !strcmp(action, "frozen");
}

static void look(const struct md_watch *w, struct md_look *l)
{
	bool is_any = false;

	memset(l, 0, sizeof(*l));
	for (size_t i = 0; i < w->nr; i++) {
		l->member[i] = md_member_state(w->device, w->member[i]);
		is_any |= l->member[i] == MD_REBUILDING;
	}
	md_attribute(w->device, "sync_action", l->action, sizeof(l->action));
	/* md also says so while it only looks whether there is something to
	 * rebuild. */
	if (is_rebuild(l->action) && !is_any)
		snprintf(l->action, sizeof(l->action), "idle");
}

/* md's word is given once for each reading of the file. */
static void take_word(struct md_watch *w)
{
	char text[512];

	if (w->mdstat < 0 || lseek(w->mdstat, 0, SEEK_SET))
		return;
	while (read(w->mdstat, text, sizeof(text)) > 0)
		;
}

void md_watch_open(struct md_watch *w, const char *device,
		   const char member[][128], size_t nr)
{
	memset(w, 0, sizeof(*w));
	snprintf(w->device, sizeof(w->device), "%s", device);
	w->nr = nr;
	memcpy(w->member, member, nr * sizeof(w->member[0]));
	w->mdstat = open("/proc/mdstat", O_RDONLY | O_CLOEXEC);
	take_word(w);
	look(w, &w->last);
}

void md_watch_close(struct md_watch *w)
{
	if (w->device[0] && w->mdstat >= 0)
		close(w->mdstat);
	memset(w, 0, sizeof(*w));
}

bool md_watch_has_news(struct md_watch *w)
{
	struct pollfd p = {.fd = w->mdstat, .events = POLLPRI};

	if (w->mdstat < 0 || poll(&p, 1, 0) <= 0 || !(p.revents & POLLPRI))
		return false;
	take_word(w);
	return true;
}

/* --- what changed --- */

struct telling {
	md_watch_tell *tell;
	void *user;
};

static void __attribute__((format(printf, 2, 3)))
say(const struct telling *t, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	t->tell(t->user, text);
}

/* "member 2", "members 1, 3": those that are, or were, rebuilt. */
static void list_rebuilt(const struct md_look *l, size_t nr, char *text,
			 size_t size)
{
	size_t n = 0, found = 0;

	for (size_t i = 0; i < nr; i++)
		found += l->member[i] == MD_REBUILDING;
	n = snprintf(text, size, "member%s", found == 1 ? "" : "s");
	found = 0;
	for (size_t i = 0; i < nr && n < size; i++)
		if (l->member[i] == MD_REBUILDING)
			n += snprintf(text + n, size - n, "%s%zu",
				      found++ ? ", " : " ", i);
}

static void see_members(const struct md_watch *w, const struct md_look *l,
			const struct telling *t)
{
	for (size_t i = 0; i < w->nr; i++) {
		enum md_member_state was = w->last.member[i], is = l->member[i];

		if (is == was)
			continue;
		if (is == MD_FAULTY)
			say(t, "member %zu (%s) failed", i, w->member[i]);
		else if (is == MD_AWAY && was != MD_FAULTY)
			say(t, "member %zu (%s) failed and was taken out", i,
			    w->member[i]);
		else if (is == MD_AWAY)
			say(t, "member %zu (%s) was taken out", i,
			    w->member[i]);
		else if (is == MD_REBUILDING)
			say(t, "member %zu (%s) is there as a blank disk", i,
			    w->member[i]);
		/* so fast that nothing of it was seen */
		else if (is_idle(l->action) && !is_rebuild(w->last.action))
			say(t, "member %zu (%s) is rebuilt", i, w->member[i]);
	}
}

/* The end of an action: well if what was rebuilt is in sync. */
static void see_end(const struct md_watch *w, const struct md_look *l,
		    uint64_t now_ns, const struct telling *t)
{
	char took[32], who[96] = "";
	bool is_well = true;

	units_time(took, sizeof(took), (double)(now_ns - w->action_ns));
	if (!is_rebuild(w->last.action)) {
		say(t, "%s ended after %s", w->last.action, took);
		return;
	}
	for (size_t i = 0; i < w->nr; i++)
		is_well &= w->last.member[i] != MD_REBUILDING ||
			   l->member[i] == MD_IN_SYNC;
	list_rebuilt(&w->last, w->nr, who, sizeof(who));
	say(t, "rebuild of %s %s after %s", who,
	    is_well ? "is done" : "was stopped", took);
}

static void see_start(const struct md_watch *w, const struct md_look *l,
		      const struct telling *t)
{
	char who[96];

	if (!is_rebuild(l->action)) {
		say(t, "%s starts", l->action);
		return;
	}
	list_rebuilt(l, w->nr, who, sizeof(who));
	say(t, "rebuild of %s starts", who);
}

void md_watch_see(struct md_watch *w, const struct md_look *l, uint64_t now_ns,
		  md_watch_tell *tell, void *user)
{
	const struct telling t = {tell, user};
	bool has_changed = strcmp(l->action, w->last.action);

	if (has_changed && !is_idle(w->last.action))
		see_end(w, l, now_ns, &t);
	see_members(w, l, &t);
	if (has_changed && !is_idle(l->action)) {
		see_start(w, l, &t);
		w->action_ns = now_ns;
	}
	w->last = *l;
}

void md_watch_look(struct md_watch *w, uint64_t now_ns, md_watch_tell *tell,
		   void *user)
{
	struct md_look l;

	look(w, &l);
	md_watch_see(w, &l, now_ns, tell, user);
}
