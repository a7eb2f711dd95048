#!/bin/bash
# What a run says limited it, on real cases. Two busy cores decide which verdict
# comes; the tests ask that it fits its figures (verdict_fits.py).
# shellcheck source=tests/func/lib.sh
. "$(dirname "$0")/lib.sh"

# A neighbour may have all CPUs, any time: then that is the verdict.
CPU=("target cpu" "initiator cpu" "host cpu")

fits() { python3 "$ROOT/tests/func/verdict_fits.py" "$@"; }

# job OUT ARG...: half a second of it.
job() {
	local out=$1
	shift
	expect 0 "$LUNBENCH" run --quiet --output-format=json --time_based --runtime=0.5 "$@"
	mv out "$out"
	python3 "$ROOT/tests/func/result_keys.py" schema "$out" "$ROOT/docs/result.schema.json"
}

test_null_store() {
	target_up --store null
	job r.json --rw=randread --bs=4k --iodepth=32 "$URL"
	fits r.json "${CPU[@]}" depth
	jq -e '.lunbench.rows[0].beside | .disks == [] and .target.threads >= 1 and
		.target.busiest_thread_percent > 0 and .host.cpus > 0' r.json
	jq -e '.lunbench.rows[0].cpu.workers | length == 1 and .[0].core_percent > 0' r.json
	job one.json --rw=randread --bs=4k --iodepth=1 --workers=1 "$URL"
	fits one.json "${CPU[@]}" depth
	"$LUNBENCH" report one.json >text
	has text 'limit   lunbench: '
}

# Two workers, each with its share; a rate that is kept.
test_workers_and_pace() {
	target_up --store null
	job r.json --rw=randread --bs=4k --iodepth=2 --clients=2 --workers=2 "$URL"
	jq -e '[.lunbench.rows[0].cpu.workers[].worker] == [0, 1]' r.json
	fits r.json
	job paced.json --rw=randread --bs=4k --iodepth=32 --rate_iops=200 "$URL"
	fits paced.json pace
}

# A window that is smaller than the depth. Without the target's CPU in sight.
test_window() {
	instant size=64M window=4 'rule read delay=2ms'
	job r.json --rw=randread --bs=4k --iodepth=32 "$URL"
	fits r.json "${CPU[@]}" window
	has r.json "command window was shut at"
	jq -e '.lunbench.rows[0] | .beside.host and (.beside.target | not)' r.json
	job plain.json --wire=plain --rw=randread --bs=4k --iodepth=32 "$URL"
	fits plain.json "${CPU[@]}" window
	instant size=64M 'rule read delay=2ms'
	job r.json --rw=randread --bs=4k --iodepth=4 "$URL"
	fits r.json "${CPU[@]}" target none
	job plain.json --wire=plain --rw=randread --bs=4k --iodepth=4 "$URL"
	fits plain.json "${CPU[@]}" none
}

# tgt as it comes asks for every write's data.
test_r2t() {
	target_up --store null --stock
	job r.json --rw=write --bs=256k --iodepth=8 "$URL"
	fits r.json "${CPU[@]}" r2t depth wire
}

test_sim() {
	local sim=sim:servers=4,service=2ms,size=1G
	job few.json --rw=randread --bs=4k --iodepth=2 $sim
	fits few.json depth
	has few.json "its 4 servers were 50 % busy"
	job many.json --rw=randread --bs=4k --iodepth=16 $sim
	fits many.json target
	job late.json --rw=randread --bs=4k --iodepth=4 --rate_iops=9000 $sim
	fits late.json target
	job idle.json --rw=randread --bs=4k --iodepth=16 --rate_iops=500 $sim
	fits idle.json pace
}

test_local() {
	job null.json --rw=randread --bs=4k --iodepth=32 null:1G
	fits null.json "${CPU[@]}"
	truncate -s 16M /dev/shm/lunbench-verdict.$$
	job shm.json --rw=randread --bs=4k --iodepth=4 block:/dev/shm/lunbench-verdict.$$
	rm /dev/shm/lunbench-verdict.$$
	fits shm.json
	jq -e '.lunbench.rows[0].beside.disks == []' shm.json
}

# Too short to see a CPU's share: nothing is said of it.
test_too_short() {
	target_up --store null
	expect 0 "$LUNBENCH" run --quiet --output-format=json --rw=randread --bs=4k \
		--number_ios=20 "$URL"
	fits out
	jq -e '.lunbench.rows[0].beside.host | not' out
}

# Rows that never ran, and a run that was stopped.
test_interrupted() {
	target_up --store null
	"$LUNBENCH" run --quiet -o r.json --rw=randread --bs=4k --iodepth=4 --time_based \
		--runtime=30 "$URL" >out 2>&1 &
	local pid=$!
	sleep 1
	kill -INT $pid
	wait $pid || [ $? = 130 ]
	fits r.json
	jq -e '.lunbench.rows[0].beside.target.threads' r.json
}

run_tests
