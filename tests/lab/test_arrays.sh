#!/bin/bash
# target up --array in a guest: every kind, every step killed, every refusal.
. "$(dirname "$0")/../func/lib.sh"
export TEST_DEADLINE=600

# in_guest FUNCTION [ARGUMENT]...: of guest_arrays.sh.
in_guest() {
	cp "$ROOT/tests/lab/guest_arrays.sh" .
	rm -f ext4.img
	mke2fs -qF -t ext4 -L backup ext4.img 2M
	expect 0 "$LUNBENCH" lab exec --memory 2G --disks 3x32M --disks 48M --add ext4.img -- \
		bash guest_arrays.sh "$@" || fail "$(tail -n 5 out err)"
	has out fine
}
test_kinds() { in_guest kinds; }
test_killed_at_every_step_ram() { in_guest steps raid1+crypt 2x32M@ram; }
test_killed_at_every_step_images() { in_guest steps raid1+crypt 2x32M; }
test_killed_at_every_step_jbod() { in_guest steps jbod+crypt 3x32M@ram; }
test_killed_at_every_step_given() { in_guest steps raid1+crypt /dev/vda,/dev/vdb; }
test_killed_at_every_step_of_a_replacement() { in_guest member_steps 3x16M@ram; }
test_killed_at_every_step_of_a_given_replacement() { in_guest member_steps /dev/vda,/dev/vdb,/dev/vdc; }
test_degraded() { in_guest degraded; }
test_members() { in_guest members; }
test_values() { in_guest values; }
test_first_sync() { in_guest first_sync; }
test_refusals() { in_guest refusals; }

run_tests
