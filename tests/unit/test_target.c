#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/journal.h"
#include "target/listen.h"
#include "target/state.h"
#include "target/tgt.h"
#include "target/tgtadm.h"
#include "tests/unit/unit.h"

static char folder[64];

static void enter(void)
{
	snprintf(folder, sizeof(folder), "/tmp/lunbench-target.XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	setenv("LUNBENCH_STATE_DIR", folder, 1);
}

static void leave(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	CU_ASSERT_EQUAL(system(command), 0);
}

/* --- journal --- */

static void write_text(const char *path, const char *text)
{
	CU_ASSERT_EQUAL(file_write_atomic(path, text, strlen(text), NULL), 0);
}

static void test_journal(void)
{
	struct journal_text t;
	struct err e = {0};
	struct journal j;
	char path[128];

	enter();
	snprintf(path, sizeof(path), "%s/journal", folder);
	CU_ASSERT_EQUAL(journal_read(&t, path, &e), -ENOENT);
	CU_ASSERT_EQUAL_FATAL(journal_create(&j, path, &e), 0);
	CU_ASSERT_EQUAL(journal_write(&j, &e, "port", "%d", 1), 0);
	CU_ASSERT_EQUAL(journal_write(&j, &e, "ports", "%d", 2), 0);
	CU_ASSERT_EQUAL(journal_write(&j, &e, "port", "%s", "a b"), 0);
	CU_ASSERT_EQUAL(journal_write(&j, &e, "path", "a\nup now"), -EINVAL);
	journal_close(&j);
	journal_close(&j);
	CU_ASSERT_EQUAL(journal_create(&j, path, &e), -EEXIST);
	CU_ASSERT_EQUAL_FATAL(journal_read(&t, path, &e), 0);
	CU_ASSERT_STRING_EQUAL(journal_get(&t, "port"), "a b");
	CU_ASSERT_STRING_EQUAL(journal_get_nth(&t, "port", 0), "1");
	CU_ASSERT_PTR_NULL(journal_get_nth(&t, "port", 2));
	CU_ASSERT_PTR_NULL(journal_get(&t, "por"));
	CU_ASSERT_PTR_NULL(journal_get(&t, "up"));
	journal_text_release(&t);
	leave();
}

/* A line that a kill cut was never acted on. */
static void test_cut_journal(void)
{
	struct journal_text t;
	struct err e = {0};
	char path[128];

	enter();
	snprintf(path, sizeof(path), "%s/journal", folder);
	write_text(path, "image /a\nimage /b");
	CU_ASSERT_EQUAL_FATAL(journal_read(&t, path, &e), 0);
	CU_ASSERT_STRING_EQUAL(journal_get(&t, "image"), "/a");
	journal_text_release(&t);
	write_text(path, "image");
	CU_ASSERT_EQUAL_FATAL(journal_read(&t, path, &e), 0);
	CU_ASSERT_PTR_NULL(journal_get(&t, "image"));
	journal_text_release(&t);
	write_text(path, "");
	CU_ASSERT_EQUAL_FATAL(journal_read(&t, path, &e), 0);
	CU_ASSERT_PTR_NULL(journal_get(&t, ""));
	journal_text_release(&t);
	leave();
}

/* --- state --- */

static void test_names(void)
{
	static const char *const bad[] = {"",  ".",   "..",  "-x",  "a/b",
					  "A", "a_b", "a b", "a\n", "\xe4"};
	struct err e = {0};
	char long_name[65];

	CU_ASSERT_EQUAL(state_check_name(&target_state, "default", &e), 0);
	CU_ASSERT_EQUAL(state_check_name(&target_state, "0.a-9", &e), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CU_ASSERT_EQUAL(state_check_name(&target_state, bad[i], &e),
				-EINVAL);
	memset(long_name, 'x', sizeof(long_name));
	long_name[64] = '\0';
	CU_ASSERT_EQUAL(state_check_name(&target_state, long_name, &e),
			-EINVAL);
	CU_ASSERT_EQUAL(state_check_name(&target_state, long_name + 1, &e), 0);
}

static void test_lock(void)
{
	struct state a, b;
	struct err e = {0};
	char path[700];

	enter();
	CU_ASSERT_EQUAL(state_lock(&a, &target_state, "x", false, 0, &e),
			-ENOENT);
	CU_ASSERT_EQUAL_FATAL(state_lock(&a, &target_state, "x", true, 0, &e),
			      0);
	CU_ASSERT_EQUAL(state_lock(&b, &target_state, "x", true, 20000000, &e),
			-EBUSY);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "another lunbench"));
	CU_ASSERT_TRUE(state_is_busy(&a));
	CU_ASSERT_EQUAL(state_lock(&b, &target_state, "y", true, 0, &e), 0);
	CU_ASSERT_NOT_EQUAL(state_hash(&a), state_hash(&b));
	CU_ASSERT_EQUAL(state_remove(&b, &e), 0);
	state_unlock(&b);
	/* What we did not make stays, and is said. */
	state_path(&a, "theirs", path, sizeof(path));
	write_text(path, "");
	CU_ASSERT_EQUAL(state_remove(&a, &e), -ENOTEMPTY);
	unlink(path);
	CU_ASSERT_EQUAL(state_remove(&a, &e), 0);
	state_unlock(&a);
	CU_ASSERT_FALSE(state_is_busy(&a));
	leave();
}

static void test_open_to_others(void)
{
	struct state s;
	struct err e = {0};
	char path[128];

	enter();
	snprintf(path, sizeof(path), "%s/x", folder);
	CU_ASSERT_EQUAL(mkdir(path, 0700) || chmod(path, 0777), 0);
	CU_ASSERT_EQUAL(state_lock(&s, &target_state, "x", true, 0, &e),
			-EPERM);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "chmod 700"));
	leave();
}

static void test_list(void)
{
	struct tgt_status st;
	struct err e = {0};
	char **names, path[128];
	size_t nr;

	enter();
	CU_ASSERT_EQUAL(tgt_list(&names, &nr, &e), 0);
	CU_ASSERT_EQUAL(nr, 0);
	free(names);
	for (const char *const *n =
		     (const char *const[]){"b", "a", "Not-one", NULL};
	     *n; n++) {
		snprintf(path, sizeof(path), "%s/%s", folder, *n);
		CU_ASSERT_EQUAL(mkdir(path, 0700), 0);
	}
	snprintf(path, sizeof(path), "%s/file", folder);
	write_text(path, "");
	CU_ASSERT_EQUAL(tgt_list(&names, &nr, &e), 0);
	CU_ASSERT_EQUAL_FATAL(nr, 2);
	CU_ASSERT_STRING_EQUAL(names[0], "a");
	CU_ASSERT_STRING_EQUAL(names[1], "b");
	CU_ASSERT_EQUAL(tgt_status("a", &st, &e), 0);
	CU_ASSERT_FALSE(st.is_running);
	CU_ASSERT_PTR_NOT_NULL(strstr(st.problem, "target down --name a"));
	CU_ASSERT_FALSE(tgt_owns("127.0.0.1", 0, "", &st));
	CU_ASSERT_EQUAL(tgt_down("a", &e), 0);
	CU_ASSERT_EQUAL(tgt_down("a", &e), -ENOENT);
	for (size_t i = 0; i < nr; i++)
		free(names[i]);
	free(names);
	leave();
}

/* --- addresses --- */

static void test_addresses(void)
{
	static const char *const bad[] = {"",
					  "localhost",
					  "0.0.0.0",
					  "::",
					  "::ffff:127.0.0.1",
					  "1.2.3",
					  "127.0.0.1:1",
					  "[::1]",
					  "fe80::1%lo"};
	struct listen_address a;
	struct err e = {0};
	char text[80];

	CU_ASSERT_EQUAL(listen_parse(&a, "127.1.2.3", &e), 0);
	CU_ASSERT_TRUE(a.is_loopback && !a.is_v6);
	CU_ASSERT_EQUAL(listen_parse(&a, "192.0.2.1", &e), 0);
	CU_ASSERT_FALSE(a.is_loopback);
	CU_ASSERT_EQUAL(listen_parse(&a, "0:0::0:1", &e), 0);
	CU_ASSERT_TRUE(a.is_loopback && a.is_v6);
	CU_ASSERT_STRING_EQUAL(a.host, "::1");
	listen_format(&a, 3260, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "[::1]:3260");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CU_ASSERT_EQUAL(listen_parse(&a, bad[i], &e), -EINVAL);
}

static void test_acl(void)
{
	static const char *const good[] = {"ALL",	 "10.0.0.1",
					   "10.0.0.0/8", "0.0.0.0/0",
					   "fd00::/8",	 "::1/128"};
	static const char *const bad[] = {
		"",	     "all",	    "10.0.0.0/33",
		"10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8x",
		"::1/129",   "host",	    "1.2.3/8"};
	struct err e = {0};

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		CU_ASSERT_EQUAL(listen_check_acl(good[i], &e), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CU_ASSERT_EQUAL(listen_check_acl(bad[i], &e), -EINVAL);
}

/* We ourselves listen: once right, once elsewhere too, once not at all. */
static void test_proof(void)
{
	struct sockaddr_in in = {.sin_family = AF_INET,
				 .sin_addr = {htonl(INADDR_LOOPBACK)}};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
	int fd = socket(AF_INET, SOCK_STREAM, 0), any;
	socklen_t len = sizeof(in);
	struct listen_address a;
	struct err e = {0};
	uint16_t port;

	CU_ASSERT_EQUAL(listen_parse(&a, "127.0.0.1", &e), 0);
	CU_ASSERT_EQUAL(bind(fd, (struct sockaddr *)&in, len), 0);
	getsockname(fd, (struct sockaddr *)&in, &len);
	port = ntohs(in.sin_port);
	CU_ASSERT_EQUAL(listen_prove(getpid(), &a, port, &e), -EADDRINUSE);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "listens on nothing"));
	CU_ASSERT_EQUAL(listen(fd, 1), 0);
	CU_ASSERT_EQUAL(listen_prove(getpid(), &a, port, &e), 0);
	CU_ASSERT_EQUAL(listen_prove(getpid(), &a, port + 1, &e), -EADDRINUSE);
	CU_ASSERT_EQUAL(listen_pick_port(&a, &port, &e), -EADDRINUSE);
	any = socket(AF_INET6, SOCK_STREAM, 0);
	if (any >= 0 && !bind(any, (struct sockaddr *)&in6, sizeof(in6)) &&
	    !listen(any, 1)) {
		CU_ASSERT_EQUAL(listen_prove(getpid(), &a, port, &e),
				-EADDRINUSE);
		CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "[::]:"));
	}
	close(any);
	close(fd);
	port = 0;
	CU_ASSERT_EQUAL(listen_pick_port(&a, &port, &e), 0);
	CU_ASSERT_NOT_EQUAL(port, 0);
}

/* --- tgtadm's answers --- */

static const char shown[] = "Target 1: iqn.x:a\n"
			    "    System information:\n"
			    "        Driver: iscsi\n"
			    "    LUN information:\n"
			    "        LUN: 0\n"
			    "            Type: controller\n"
			    "            Size: 0 MB, Block size: 1\n"
			    "        LUN: 1\n"
			    "            Type: disk\n"
			    "            Size: 105 MB, Block size: 4096\n"
			    "            Online: Yes\n"
			    "            Readonly: No\n"
			    "            Thin-provisioning: Yes\n"
			    "            Backing store type: rdwr\n"
			    "            Backing store path: /a b/LUN: 7\n"
			    "    Account information:\n"
			    "            Type: nonsense\n"
			    "Target 2: iqn.x:b\n"
			    "        LUN: 1\n"
			    "            Type: tape\n"
			    "            Readonly: Yes\n";

static void test_parse_lun(void)
{
	struct tgtadm_lun l;

	CU_ASSERT_TRUE(tgtadm_parse_lun(shown, 1, 1, &l));
	CU_ASSERT_STRING_EQUAL(l.type, "disk");
	CU_ASSERT_EQUAL(l.size_mb, 105);
	CU_ASSERT_EQUAL(l.block_bytes, 4096);
	CU_ASSERT_TRUE(l.is_online && l.is_thin && !l.is_read_only);
	CU_ASSERT_STRING_EQUAL(l.store, "rdwr");
	CU_ASSERT_STRING_EQUAL(l.path, "/a b/LUN: 7");
	CU_ASSERT_TRUE(tgtadm_parse_lun(shown, 2, 1, &l));
	CU_ASSERT_STRING_EQUAL(l.type, "tape");
	CU_ASSERT_TRUE(l.is_read_only);
	CU_ASSERT_FALSE(tgtadm_parse_lun(shown, 1, 7, &l));
	CU_ASSERT_FALSE(tgtadm_parse_lun(shown, 3, 1, &l));
	CU_ASSERT_FALSE(tgtadm_parse_lun("", 1, 1, &l));
}

static void test_socket_length(void)
{
	struct tgtadm t;
	struct err e = {0};
	char path[200];

	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[107 - strlen("/relay.12345")] = '\0';
	CU_ASSERT_EQUAL(tgtadm_init(&t, path, 12345, 0, &e), 0);
	strcat(path, "x");
	CU_ASSERT_EQUAL(tgtadm_init(&t, path, 12345, 0, &e), -ENAMETOOLONG);
	CU_ASSERT_PTR_NOT_NULL(strstr(e.text, "has 108 bytes"));
	CU_ASSERT_EQUAL(tgtadm_init(&t, "/a,b", 1, 0, &e), -EINVAL);
}

UNIT_TESTS("target", {"journal", test_journal},
	   {"a journal that was cut", test_cut_journal}, {"names", test_names},
	   {"the lock", test_lock},
	   {"a folder open to others", test_open_to_others},
	   {"list and status of what is dead", test_list},
	   {"addresses to listen on", test_addresses},
	   {"initiators' addresses", test_acl}, {"the proof", test_proof},
	   {"what tgtadm shows", test_parse_lun},
	   {"length of the socket's path", test_socket_length})
