#!/bin/bash
# The numbers of a result against what the target really did, and against
# faults of known size. Counts and lower bounds only: the machine may be busy.
# shellcheck source=tests/func/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/func/rawtgt.sh
. "$(dirname "$0")/rawtgt.sh"

run() {
	expect 0 "$LUNBENCH" run -o result.json "$@"
}

# is FILTER VALUE: what jq finds in the result.
is() {
	local got
	got=$(jq -c "$1" result.json)
	[ "$got" = "$2" ] || fail "$1 is $got, not $2"
}

holds() {
	jq -e "$1" result.json >/dev/null || fail "not so: $1"
}

# MaxCmdSN: the depth that was asked for is not the one that was had.
test_command_window() {
	raw_up
	raw_param MaxQueueCmd 1
	raw_lun 1 64M
	run --rw=randread --bs=4k --iodepth=32 --number_ios=2000 "$URL"
	holds '.lunbench.rows[0].command_window | .held_sends > 0 and .held_mean > 0'
	is '.jobs[0].iodepth_level["32"] > 90' true
	has out "command window (MaxCmdSN) was shut"
	raw_param MaxQueueCmd 128
	run --rw=randread --bs=4k --iodepth=32 --number_ios=2000 "$URL"
	is '.lunbench.rows[0].command_window | .held_sends, .held_mean' $'0\n0'
}

run_tests
