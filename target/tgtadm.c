#include "target/tgtadm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"
#include "target/relay.h"

enum { MAX_ARGS = 32 };

/* One call's longest; tgtd answers in milliseconds unless it is stopped. */
#define CALL_NS (5 * NS_PER_SEC)

int tgtadm_init(struct tgtadm *t, const char *folder, int control_port,
		uint64_t end_ns, struct err *e)
{
	char path[1024];
	size_t n, max = sizeof(((struct sockaddr_un *)0)->sun_path) - 1;

	memset(t, 0, sizeof(*t));
	/* "relay" is the longer of the two names that sockets get. */
	n = snprintf(path, sizeof(path), "%s/relay.%d", folder, control_port);
	if (n > max)
		return err_set(e, -ENAMETOOLONG,
			       "\"%s\" has %zu bytes, but the path of a socket "
			       "may have %zu: set LUNBENCH_STATE_DIR to a "
			       "shorter folder",
			       path, n, max);
	if (strchr(folder, '\n') || strchr(folder, ','))
		return err_set(e, -EINVAL,
			       "\"%s\": tgtadm cannot take a path with a comma "
			       "or a line break: set LUNBENCH_STATE_DIR to "
			       "another folder",
			       folder);
	snprintf(t->folder, sizeof(t->folder), "%s", folder);
	snprintf(t->log_path, sizeof(t->log_path), "%s/tgtd.log", folder);
	t->control_port = control_port;
	t->end_ns = end_ns;
	return 0;
}

void tgtadm_socket_variable(const struct tgtadm *t, char *text, size_t size)
{
	snprintf(text, size, "TGT_IPC_SOCKET=%s/sock", t->folder);
}

/* --- one call --- */

static uint64_t time_left(const struct tgtadm *t)
{
	uint64_t now = clock_now_ns();
	uint64_t left = now < t->end_ns ? t->end_ns - now : 0;

	return left < CALL_NS ? left : CALL_NS;
}

/* tgtd says most reasons only in its log: "invalid request" is all that tgtadm
 * says of a backing file that cannot be opened. */
static void last_words(const struct tgtadm *t, char *line, size_t size)
{
	char *log;
	size_t len;

	line[0] = '\0';
	if (file_read(t->log_path, 16 << 20, &log, &len, NULL))
		return;
	child_last_line(log, line, size);
	free(log);
}

static int say_refusal(const struct tgtadm *t, const struct child_result *r,
		       const char *what, struct err *e)
{
	char said[160], log[160];

	if (r->status == ECONNREFUSED || r->status == ENOENT)
		return err_set(e, -ECONNREFUSED,
			       "no tgtd answers on \"%s/sock.%d\"", t->folder,
			       t->control_port);
	if (strstr(r->err, "still active"))
		return err_set(e, -EBUSY, "%s: still active", what);
	child_last_line(r->err, said, sizeof(said));
	last_words(t, log, sizeof(log));
	return err_set(e, -EIO,
		       "tgtadm refused %s (status %d, \"%s\"); tgtd's log ends "
		       "with \"%s\"",
		       what, r->status, said, log);
}

/* "logicalunit new" out of the arguments, for an error's text. */
static void describe(const char *const argv[], char *what, size_t size)
{
	const char *mode = "", *op = "", *name = "";

	for (; argv[0] && argv[1]; argv++) {
		if (!strcmp(argv[0], "--mode"))
			mode = argv[1];
		else if (!strcmp(argv[0], "--op"))
			op = argv[1];
		else if (!strcmp(argv[0], "--name") ||
			 !strcmp(argv[0], "--params"))
			name = argv[1];
	}
	snprintf(what, size, "\"%s %s%s%s\"", mode, op, *name ? " " : "", name);
}

static int run(const struct tgtadm *t, const char *socket,
	       const char *const args[], char **out, struct err *e)
{
	const char *argv[MAX_ARGS] = {"tgtadm", "-C"}, *env[2] = {socket};
	struct child_result r;
	char port[16], what[128];
	size_t n = 2;
	int err;

	snprintf(port, sizeof(port), "%d", t->control_port);
	argv[n++] = port;
	while (n < MAX_ARGS - 1 && *args)
		argv[n++] = *args++;
	err = child_run(argv, env, time_left(t), &r, e);
	if (!err && r.status) {
		describe(argv, what, sizeof(what));
		err = say_refusal(t, &r, what, e);
	}
	if (!err && out) {
		*out = r.out;
		r.out = NULL;
	}
	child_result_release(&r);
	return err;
}

int tgtadm_ask(const struct tgtadm *t, const char *const args[], char **out,
	       struct err *e)
{
	char socket[600];

	if (out)
		*out = NULL;
	tgtadm_socket_variable(t, socket, sizeof(socket));
	return run(t, socket, args, out, e);
}

int tgtadm_call(const struct tgtadm *t, const char *const args[], struct err *e)
{
	return tgtadm_ask(t, args, NULL, e);
}

int tgtadm_wait(const struct tgtadm *t, pid_t pid, uint64_t start_time,
		struct err *e)
{
	struct err last = {0};
	char log[160];

	for (;;) {
		if (!tgtadm_call(t,
				 TGTADM_ARGS("--mode", "sys", "--op", "show"),
				 &last))
			return 0;
		/* The pause between two tries ends early if tgtd does. */
		if (child_wait(pid, start_time, 5 * NS_PER_MSEC)) {
			last_words(t, log, sizeof(log));
			return err_set(e, -ECHILD,
				       "tgtd ended while it started; %s%s%s",
				       log[0] ? "its log ends with \"" : "",
				       log[0] ? log
					      : "its log is empty: is there "
						"room in its state folder?",
				       log[0] ? "\"" : "");
		}
		if (clock_now_ns() >= t->end_ns)
			return err_set(e, -ETIMEDOUT,
				       "tgtd did not answer in time: %s",
				       last.text);
	}
}

void tgtadm_version(char *version, size_t size)
{
	const char *const argv[] = {"tgtadm", "--version", NULL};
	struct child_result r;

	child_run(argv, NULL, CALL_NS, &r, NULL);
	child_last_line(r.out, version, size);
	child_result_release(&r);
}

/* --- the account --- */

/* As long as the password, of one character that the user's name has not: so
 * it is found once in the request. */
static int make_placeholder(char *placeholder, size_t size, const char *user,
			    const char *password, struct err *e)
{
	int c = 'x';

	while (c > '-' && strchr(user, c))
		c--;
	if (c == '-')
		return err_set(e, -EINVAL, "\"%s\" is too odd a user name",
			       user);
	snprintf(placeholder, size, "%s", password);
	memset(placeholder, c, strlen(placeholder));
	return 0;
}

/* tgtadm, left to run while the relay serves it; what it says goes to @log. */
static int account_through(const struct tgtadm *t, int listener,
			   const char *user, const char *placeholder,
			   const char *password, const char *log, struct err *e)
{
	char port[16], variable[640], back[600];
	const char *const env[] = {variable, NULL};
	const char *const argv[] = {
		"tgtadm", "-C",		port,	     "--lld", "iscsi",
		"--mode", "account",	"--op",	     "new",   "--user",
		user,	  "--password", placeholder, NULL};
	uint64_t start_time;
	pid_t pid;
	int err;

	snprintf(port, sizeof(port), "%d", t->control_port);
	snprintf(variable, sizeof(variable), "TGT_IPC_SOCKET=%s/relay",
		 t->folder);
	snprintf(back, sizeof(back), "%s/sock.%d", t->folder, t->control_port);
	err = child_start(argv, env, log, true, NULL, NULL, &pid, e);
	if (err)
		return err;
	start_time = child_start_time(pid);
	err = relay_serve(listener, back, placeholder, password,
			  clock_now_ns() + time_left(t), e);
	/* On success it has its answer and ends by itself. */
	if (err || !child_wait(pid, start_time, time_left(t)))
		child_kill(pid, start_time, CALL_NS, NULL);
	return err;
}

int tgtadm_add_account(const struct tgtadm *t, const char *user,
		       const char *password, struct err *e)
{
	char front[600], log[600], placeholder[256], said[160], *text;
	size_t len;
	int err, listener;

	err = make_placeholder(placeholder, sizeof(placeholder), user, password,
			       e);
	if (err)
		return err;
	snprintf(front, sizeof(front), "%s/relay.%d", t->folder,
		 t->control_port);
	snprintf(log, sizeof(log), "%s/relay.log", t->folder);
	listener = relay_listen(front, e);
	if (listener < 0)
		return listener;
	err = account_through(t, listener, user, placeholder, password, log, e);
	close(listener);
	unlink(front);
	if (!err)
		err = file_read(log, 1 << 20, &text, &len, e);
	if (err)
		return err;
	child_last_line(text, said, sizeof(said));
	free(text);
	unlink(log);
	if (said[0]) /* it is silent when all is well */
		return err_set(e, -EIO, "tgtadm refused the account \"%s\": %s",
			       user, said);
	return 0;
}

/* --- reading what it shows --- */

static bool value_of(const char *line, const char *key, char *value,
		     size_t size)
{
	size_t n = strlen(key);

	line += strspn(line, " \t");
	if (strncmp(line, key, n))
		return false;
	line += n;
	snprintf(value, size, "%.*s", (int)strcspn(line, "\n"), line);
	return true;
}

static void parse_property(const char *line, struct tgtadm_lun *l)
{
	char value[1024];
	unsigned long long mb;

	if (value_of(line, "Type: ", l->type, sizeof(l->type)) ||
	    value_of(line, "Backing store type: ", l->store,
		     sizeof(l->store)) ||
	    value_of(line, "Backing store path: ", l->path, sizeof(l->path)))
		return;
	if (value_of(line, "Size: ", value, sizeof(value)) &&
	    sscanf(value, "%llu MB, Block size: %u", &mb, &l->block_bytes) == 2)
		l->size_mb = mb;
	else if (value_of(line, "Readonly: ", value, sizeof(value)))
		l->is_read_only = !strcmp(value, "Yes");
	else if (value_of(line, "Thin-provisioning: ", value, sizeof(value)))
		l->is_thin = !strcmp(value, "Yes");
	else if (value_of(line, "Online: ", value, sizeof(value)))
		l->is_online = !strcmp(value, "Yes");
}

bool tgtadm_parse_lun(const char *text, unsigned int tid, unsigned int lun,
		      struct tgtadm_lun *l)
{
	bool in_target = false, in_lun = false, found = false;
	const char *line;
	unsigned int n;

	memset(l, 0, sizeof(*l));
	for (line = text; line && *line;
	     line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		if (sscanf(line, "Target %u:", &n) == 1) {
			in_target = n == tid;
			in_lun = false;
		} else if (sscanf(line, " LUN: %u", &n) == 1) {
			in_lun = in_target && n == lun;
			found |= in_lun;
		} else if (in_lun && !strncmp(line, "    Account", 11)) {
			in_lun = false; /* the next paragraph */
		} else if (in_lun) {
			parse_property(line, l);
		}
	}
	return found;
}
