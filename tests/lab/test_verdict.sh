#!/bin/bash
# What limits disks that serve one request at a time, 8 ms each, is known: so is
# what lunbench has to say of it. In one guest, in virtual time, where all is seen.
. "$(dirname "$0")/../func/lib.sh"
export TEST_DEADLINE=400

test_members() {
	cat >all.sh <<-'END'
		job() { # NAME ARRAY DEPTH
			lunbench bench --array $2 --members 4x64M@hdd --threads 64 --rw=randread \
				--bs=4k --iodepth=$3 --time_based --runtime=5 -o $1.json || exit
		}
		job deep raid0 64
		job shallow raid0 1
		job alone single 1
	END
	expect 0 "$LUNBENCH" lab exec --virtual-time --timeout 300 --add all.sh --out . -- sh all.sh
	for name in deep shallow alone; do
		python3 "$ROOT/tests/func/verdict_fits.py" $name.json
		python3 "$ROOT/tests/func/result_keys.py" schema $name.json \
			"$ROOT/docs/result.schema.json"
	done
	# Four disks that never idle; one request over four; one disk, one request.
	verdict deep "member disks" 4 0.9 1
	verdict shallow depth 4 0.2 0.3
	verdict alone "member disks" 1 0.9 1
}

# verdict NAME WHAT DISKS LEAST MOST: and each disk was busy for that share
verdict() {
	jq -e --arg what "$2" '.lunbench.rows[0] | .bottleneck.what == $what and
		(.beside.disks | length == '"$3"' and all(.busy_percent >= 100 * '"$4"' and
		.busy_percent <= 100 * '"$5"'))' "$1.json" ||
		fail "$1: $(jq -c '.lunbench.rows[0] | .bottleneck, .beside' "$1.json")"
}

run_tests
