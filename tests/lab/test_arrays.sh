#!/bin/bash
# target up --array in a guest: every kind, every step killed, every refusal.
. "$(dirname "$0")/../func/lib.sh"
export TEST_DEADLINE=600

in_guest() {
	cp "$ROOT/tests/lab/guest_arrays.sh" .
	expect 0 "$LUNBENCH" lab exec --memory 2G --disks 3x32M --disks 48M -- \
		bash guest_arrays.sh "$1" || fail "$(tail -n 5 out err)"
	has out fine
}
test_kinds() { in_guest kinds; }
test_killed_at_every_step() { in_guest steps; }
test_degraded() { in_guest degraded; }
test_refusals() { in_guest refusals; }

run_tests
