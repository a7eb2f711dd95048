#!/bin/bash
# A member of a RAID5 fails under load and is replaced, in virtual time: the series has
# the dip, the rebuild and the return, and the events say when; each run the same.
. "$(dirname "$0")/../func/lib.sh"
export TEST_DEADLINE=400

bench() {
	cp "$ROOT/tests/lab/degraded.fio" .
	expect 0 "$LUNBENCH" lab exec --virtual-time --timeout 300 --out "$1" -- \
		lunbench bench degraded.fio --array raid5 --members 4x16M@hdd --sync-speed 2000K \
		--replace 9:2 --fail 6s:2
}

test_dip_rebuild_return() {
	bench one
	python3 "$ROOT/tests/lab/degraded.py" one/results/*.json >seen 2>&1 || fail "$(cat seen)"
	has out "member 2 (/dev/"
	has out "rebuild of member 2 is done after"
	grep -q '"sync_speed_min": "2000"' one/results/*.json
	# The reports read the same events.
	"$LUNBENCH" report one/results/*.json --format html -o page.html
	has page.html "rebuild of member 2 is done after"
	bench two
	drop='del(.timestamp, .timestamp_ms, .time, .lunbench.host)'
	jq -S "$drop" one/results/*.json >one.json
	jq -S "$drop" two/results/*.json >two.json
	cmp one.json two.json
}

# What cannot be done at its time is in the result, and in the exit status.
test_a_step_that_fails() {
	cp "$ROOT/tests/lab/degraded.fio" .
	expect 3 "$LUNBENCH" lab exec --virtual-time --timeout 300 --out late -- \
		lunbench bench degraded.fio --runtime=3 --array raid5 --members 3x16M@hdd \
		--fail 1:0 --fail 2:1
	has out "result: results/"
	has err '--fail: member 1 ('
	has err "the array would be lost"
	jq -e '.lunbench.events[] | select(.kind == "error") | .text | contains("would be lost")' \
		late/results/*.json >/dev/null
}

run_tests
