#!/bin/bash
# Reported problems: portals, names and digests. The table of all cases is in
# cases_lib.sh.
# shellcheck source=tests/func/cases_lib.sh
. "$(dirname "$0")/cases_lib.sh"

# Case 10: the address that one came in by, whatever the target says of itself.
test_two_addresses() {
	raw_up
	raw_lun 1 8M
	T --mode portal --op new --param "portal=127.0.0.2:$PORT"
	expect 0 "$LUNBENCH" discover "127.0.0.2:$PORT"
	has out "127.0.0.2:$PORT,1"
	has out "8 MiB"
	expect 0 "$LUNBENCH" run --rw=read --quiet -o r.json "iscsi://127.0.0.2:$PORT/$IQN/1"
}

# Case 28: what is odd is taken as written, or refused by name.
test_odd_urls() {
	raw_up
	raw_lun 1 8M
	# upper case is another name (tgt), and is sent as it is written
	T --mode target --op new --tid 2 -T "${IQN/test/TEST}"
	T --mode target --op bind --tid 2 -I ALL
	raw_lun 2 8M
	T --mode logicalunit --op new --tid 2 --lun 7 -b "$PWD/l2.img"
	expect 0 "$LUNBENCH" run --rw=read --quiet -o r.json \
		"iscsi://127.0.0.1:$PORT/${IQN/test/TEST}/7"
	expect 3 "$LUNBENCH" run --rw=read --quiet -o r.json "iscsi://127.0.0.1:$PORT/$IQN/7"
	local url
	URL=${URL%/*}/1
	for url in "$URL?unknown=1" "$URL/2" "$URL#x" "${URL/:$PORT/:}" "iscsi://[127.0.0.1/$IQN/1" \
		"iscsi://127.0.0.1:0/$IQN/1" "iscsi://127.0.0.1:$PORT//1" "${URL%/1}/ 1"; do
		expect 2 "$LUNBENCH" run --rw=read --size=1m "$url"
		[ "$(wc -l <err)" = 1 ] || fail "$url: $(cat err)"
	done
}

# Case 30: a name and an ISID of its own for each session.
test_names_of_its_own() {
	raw_up
	raw_lun 1 64M
	start --clients=4 --runtime=3 "$URL"
	local first=$RUN
	start --clients=4 --runtime=2 -o other.json "$URL"
	until [ "$(T --mode conn --op show --tid 1 | grep -c 'Initiator: ')" -ge 8 ]; do
		kill -0 $RUN $first
		sleep 0.05
	done
	T --mode conn --op show --tid 1 | awk '/Initiator: / {print $2}' >names
	[ "$(sort -u names | wc -l)" = "$(wc -l <names)" ] || fail "$(sort names)"
	ends 0
	RUN=$first
	ends 0
}

# Control characters of a target's reach no terminal, and nothing is left out.
test_names_that_steer_a_terminal() {
	scripted names
	expect 0 "$LUNBENCH" discover "127.0.0.1:$PORT"
	has out 'iqn.x:a?[31m??b'
	! grep -q "$(printf '\033')" out
	expect 0 "$LUNBENCH" discover "127.0.0.1:$PORT" --output-format=json
	jq -e '[.targets[].name] == ["iqn.x:a?[31m??b", "iqn.2026-11.lb:scripted"]' out >/dev/null
}

# Whatever listens there: one sentence, in time.
test_no_target_at_all() {
	local mode before
	for mode in garbage banner short huge slow; do
		scripted $mode-login
		before=$(date +%s)
		expect 3 "$LUNBENCH" run --rw=read --timeout=1 -o r.json \
			"iscsi://me%notasecret12@${URL#iscsi://}"
		[ "$(wc -l <err)" = 1 ] || fail "$mode: $(cat err)"
		has err "127.0.0.1:$PORT"
		[ "$(grep -c notasecret12 err)" = 0 ] || fail "a secret"
		expect 3 "$LUNBENCH" discover --timeout=1 "127.0.0.1:$PORT" --output-format=json
		[ ! -s out ] || fail "$mode: $(cat out)"
		[ "$(wc -l <err)" = 1 ] || fail "$mode: $(cat err)"
		[ $(($(date +%s) - before)) -le 6 ] || fail "$mode: over the deadline"
	done
}

# Case 50: a bit that flips in a header ends the session, and the run goes on.
test_header_digest() {
	raw_up
	raw_lun 1 8M
	local real=$PORT
	setpriv --pdeathsig KILL python3 - "$real" >port <<-'PYTHON' &
		import socket, sys, threading
		def pump(a, b, flip):
		    n = 0
		    while data := a.recv(65536):
		        n += len(data)
		        # once, in the middle of things, in a Data-In header's residual
		        if flip and sessions == 2 and n > 500000:
		            data = data[:-1] + bytes([data[-1] ^ 1]) if len(data) < 100 else \
		                data[:44] + bytes([data[44] ^ 1]) + data[45:]
		            flip = False
		        b.sendall(data)
		    b.shutdown(socket.SHUT_WR)
		sessions = 0
		s = socket.create_server(("127.0.0.1", 0))
		print(s.getsockname()[1], flush=True)
		while True:
		    a = s.accept()[0]
		    sessions += 1
		    b = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
		    threading.Thread(target=pump, args=(a, b, False), daemon=True).start()
		    threading.Thread(target=pump, args=(b, a, True), daemon=True).start()
	PYTHON
	until [ -s port ]; do sleep 0.02; done
	raw_param HeaderDigest CRC32C
	expect 0 "$LUNBENCH" run --rw=randread --bs=512 --norandommap --runtime=2 --time_based \
		--header-digest=yes --quiet -o r.json "iscsi://127.0.0.1:$(cat port)/$IQN/1"
	has err "checksum"
	holds '.lunbench.rows[0].outages.disconnects == 1 and .jobs[0].total_err == 0'
	holds '.lunbench.session.HeaderDigest == "CRC32C"'
}

run_tests
