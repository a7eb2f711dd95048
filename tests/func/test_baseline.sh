#!/bin/bash
# lunbench baseline, and reports that lean on it.
# shellcheck source=tests/func/target_lib.sh
. "$(dirname "$0")/target_lib.sh"

baseline() { "$LUNBENCH" baseline --runtime=0.3 "$@"; }

schema() {
	python3 -c 'import json, sys, jsonschema
jsonschema.validate(json.load(open(sys.argv[1])), json.load(open(sys.argv[2])))' \
		"$1" "$ROOT/docs/baseline.schema.json"
}

# A target that the test takes down itself; sets URL.
up() {
	T up "$@" >target.out
	URL=$(grep -oE 'iscsi://[^ ]+' target.out | head -n 1)
}

rows() { jq -c "[.baseline.rows[] | $1]" "$2"; }

# Under the bundled target all three are there, and nothing stays.
test_of_our_own() {
	fresh
	up --ram --size 64M
	expect 0 baseline "$URL" -o b.json
	for t in sockets "null LUN" device "tgtd, tuned" "/dev/shm/"; do has out "$t"; done
	schema b.json
	[ "$(rows .applies b.json)" = '[true,true,true]' ] || fail "$(cat b.json)"
	[ "$(rows '.ios_per_s > 0' b.json)" = '[true,true,true]' ] || fail "$(cat b.json)"
	jq -e '.baseline | .rw == "randread" and .block_bytes == 4096 and .iodepth == 32' b.json
	expect 0 baseline "$URL" --rw=write --bs=64k --iodepth=4 --output-format=json --quiet
	[ ! -s err ] || fail "not quiet: $(cat err)"
	mv out w.json
	schema w.json
	jq -e '.baseline.rows[2].bytes_per_s > 0' w.json
	T down --all
	nothing_left
}

# Writes never go to what its user gave.
test_of_a_users_file() {
	fresh
	truncate -s 16M given
	up --backing "$PWD/given"
	expect 0 baseline "$URL" --rw=randwrite
	tr -s " \n" " " <out >line
	has line "what lies below the target is not lunbench's own"
	cmp -n 16777216 given /dev/zero
	expect 0 baseline "$URL" -o b.json
	[ "$(rows .applies b.json)" = '[true,true,true]' ] || fail "$(cat b.json)"
	T down --all
	nothing_left
}

# Far away, and a null store: it says what does not apply.
test_says_what_applies() {
	fresh
	expect 0 baseline iscsi://192.0.2.1/iqn.x/1 -o b.json
	[ "$(rows .applies b.json)" = '[false,false,false]' ] || fail "$(cat b.json)"
	jq -r '.baseline.rows[].note' b.json >notes
	has notes "not the network to that target"
	has notes "neither that target nor the network to it"
	has notes "cannot be seen from here"
	schema b.json
	up --store null
	expect 0 baseline "$URL"
	has out "nothing lies below the null store"
	T down --all
	nothing_left
}

test_ctrl_c() {
	fresh
	"$LUNBENCH" baseline --runtime=20 iscsi://127.0.0.1:1/iqn.x/1 -o b.json >out 2>err &
	local pid=$!
	until grep -q sockets err; do sleep 0.05; done
	kill -INT $pid
	wait $pid || [ $? = 130 ]
	"$LUNBENCH" baseline --runtime=4 iscsi://127.0.0.1:1/iqn.x/1 -o b.json >out 2>err &
	pid=$!
	until grep -q 'null LUN' err && [ -n "$(tgtds)" ]; do sleep 0.05; done
	kill -INT $pid
	wait $pid || [ $? = 130 ]
	none b.json*
	nothing_left
}

test_bad_input() {
	fresh
	expect 2 baseline
	has err "no URL given"
	expect 2 baseline null:1G
	has err "a baseline is for an iSCSI LUN"
	for arg in --rw=trim --rw=none --bs=0 --bs=x --iodepth=0 --runtime=0 --runtime=x \
		--numjobs=2 extra; do
		refused "$LUNBENCH" baseline iscsi://127.0.0.1:1/iqn.x/1 "$arg"
	done
	expect 2 baseline iscsi://127.0.0.1:1/iqn.x/1 -o /not/there/b.json
	nothing_left
}

# spoil FILTER: a baseline of known figures, of which no two come near each other.
spoil() { jq ".baseline.rows[].bytes_per_s = 1e12 | $1" b.json >spoilt.json; }

test_report_leans_on_it() {
	fresh
	up --store null
	expect 0 baseline "$URL" --iodepth=1 -o b.json
	expect 0 "$LUNBENCH" run --quiet -o r.json --rw=randread --bs=4k --iodepth=1 \
		--time_based --runtime=0.5 "$URL"
	# The row's own figures decide first: take them away.
	jq '.lunbench.rows[0] |= (
		.cpu.workers[0] |= (.core_percent = 10 | .starved_percent = 0) |
		.beside.target.busiest_thread_starved_percent = 0 |
		.beside.target.busiest_thread_percent = 20 | .beside.host.used_percent = 30 |
		del(.wire))' r.json >calm.json
	local rate row='.baseline.rows[1].bytes_per_s'
	rate=$(jq '.lunbench.rows[0].ops.read.bytes_per_s' r.json)
	spoil .
	expect 0 "$LUNBENCH" report calm.json --baseline spoilt.json
	has out "limit   lunbench: depth"
	spoil "$row = $rate"
	expect 0 "$LUNBENCH" report calm.json --baseline spoilt.json
	has out "limit   lunbench: wire"
	expect 0 "$LUNBENCH" report calm.json --baseline spoilt.json --format junit
	has out "limit: lunbench: wire"
	expect 0 "$LUNBENCH" report calm.json --baseline spoilt.json --format html
	has out '<td class="text">wire</td>'
	spoil "$row = $rate | .baseline.rows[1].applies = false"
	expect 0 "$LUNBENCH" report calm.json --baseline spoilt.json
	lacks out "limit   lunbench: wire"
	spoil '.baseline.iodepth = 32'
	expect 0 "$LUNBENCH" report calm.json --baseline spoilt.json
	has err "depth 32, and no row is"
	for bad in r.json not-there; do
		expect 2 "$LUNBENCH" report calm.json --baseline $bad
	done
	head -c 50 b.json >cut.json
	expect 2 "$LUNBENCH" report calm.json --baseline cut.json
	has err "is no JSON"
}

run_tests
