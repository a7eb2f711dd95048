#!/bin/bash
# Targets that cannot be measured: status 3 (2 where the plan forbids it), one
# sentence that names the target and the reason, within the deadline.
# shellcheck source=tests/func/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/func/rawtgt.sh
. "$(dirname "$0")/rawtgt.sh"

# refused STATUS TEXT... -- URL [OPTION...]: a read of it, and nothing written.
refused() {
	local status=$1 texts=() t
	shift
	while [ "$1" != -- ]; do
		texts+=("$1")
		shift
	done
	shift
	expect "$status" "$LUNBENCH" run --rw=read --bs=4k --size=1m -o refused.json "$@"
	[ ! -s out ] || fail "stdout: $(cat out)"
	[ "$(wc -l <err)" = 1 ] || fail "not one line: $(cat err)"
	for t in "${texts[@]}"; do has err "$t"; done
	[ ! -e refused.json ] || fail "a result of nothing"
}

# within SECONDS: since SECONDS was set to 0.
within() {
	[ "$SECONDS" -le "$1" ] || fail "took $SECONDS s, wanted at most $1"
}

test_unknown_host() {
	refused 3 nosuch.invalid -- iscsi://nosuch.invalid/iqn.2026-11.x:y/1
}

test_closed_port() {
	local port
	port=$(free_port)
	SECONDS=0
	refused 3 "127.0.0.1:$port" refused -- "iscsi://127.0.0.1:$port/iqn.2026-11.x:y/1"
	within 1
}

test_black_hole() {
	listener hole
	SECONDS=0
	refused 3 "127.0.0.1:$PORT" -- "iscsi://127.0.0.1:$PORT/iqn.2026-11.x:y/1" --timeout=3
	within 4
	[ "$SECONDS" -ge 2 ] || fail "gave up after $SECONDS s of 3"
	cp err hole
	listener swallow
	SECONDS=0
	refused 3 "127.0.0.1:$PORT" login -- "iscsi://127.0.0.1:$PORT/iqn.2026-11.x:y/1" --timeout=3
	within 4
	! cmp -s err hole || fail "a black hole and a silent portal have one text"
}

test_names_and_numbers() {
	raw_up
	raw_lun 1 8M
	refused 3 iqn.2026-11.nosuch -- "iscsi://127.0.0.1:$PORT/iqn.2026-11.nosuch:x/1"
	refused 3 '/7' -- "iscsi://127.0.0.1:$PORT/$IQN/7"
	refused 3 '/0' 0x0c -- "iscsi://127.0.0.1:$PORT/$IQN/0"
}

test_any_address_of_a_name() {
	raw_up
	raw_lun 1 8M
	# localhost may give ::1 first, where nobody listens
	expect 0 "$LUNBENCH" run --rw=read --bs=64k --quiet -o r.json \
		"iscsi://localhost:$PORT/$IQN/1"
}

test_chap() {
	raw_up
	raw_lun 1 8M
	T --mode account --op new --user alice --password secret12secret
	T --mode account --op bind --tid 1 --user alice
	refused 3 -- "$URL"
	refused 3 alice -- "iscsi://alice%wrong12wrong12@${URL#iscsi://}"
	! grep -q wrong12 err || fail "a secret on stderr"
	# too short for RFC 7143: said, and tried
	expect 3 "$LUNBENCH" run --rw=read --size=1m "iscsi://alice%short@${URL#iscsi://}"
	has err 12
	! grep -q short@ err || fail "a secret on stderr"
}

test_zero_size() {
	raw_up
	raw_lun 1 0
	expect 2 "$LUNBENCH" run --rw=read "$URL" || expect 3 "$LUNBENCH" run --rw=read "$URL"
	has err block
}

test_tiny() {
	raw_up
	raw_lun 1 512
	raw_lun 2 100000
	expect 2 "$LUNBENCH" run --rw=read --bs=4k "iscsi://127.0.0.1:$PORT/$IQN/1"
	expect 0 "$LUNBENCH" run --rw=read --bs=512 --quiet -o r.json \
		"iscsi://127.0.0.1:$PORT/$IQN/1"
	jq -e '.jobs[0].read.total_ios == 1' r.json >/dev/null
	expect 0 "$LUNBENCH" run --rw=read --bs=512 --quiet -o r.json \
		"iscsi://127.0.0.1:$PORT/$IQN/2"
	jq -e '.jobs[0].read.total_ios == 195' r.json >/dev/null
}

run_tests
