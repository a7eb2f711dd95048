#!/bin/bash
# Sweeps, repeats and views, from the job to the tables, on simulated servers:
# with k servers of the service time S a closed load of N has the throughput
# min(N, k) / S and the response time max(1, N / k) * S.
# shellcheck source=tests/func/lib.sh
. "$(dirname "$0")/lib.sh"

SIM=sim:servers=8,service=1ms,size=1G
SCHEMA=$ROOT/docs/result.schema.json

# Tables keep within 80 columns; warnings and names of files are lines of prose.
fits() {
	if grep -vE '^(warning|result|URL|==)' "$1" | grep -nE '.{81}'; then
		fail "$1 is wider than 80 columns"
	fi
}

sweep_job() {
	cat >load.fio <<-'END'
		[load]
		rw=randrw
		rwmixread=76
		bs=64k
		runtime=1
		time_based
		#lunbench: clients=1,4,8,12,16,32
		#lunbench: departs=it is much shorter than the original, and has neither a file system nor a network
	END
}

test_sweep() {
	sweep_job
	expect 0 "$LUNBENCH" run load.fio "$SIM" --quiet -o r.json
	fits out
	grep -qE '^ +8 +524.* knee, peak$' out
	has out 'departs it is much shorter than the original'
	tr '\n' ' ' <out >flat
	has flat 'Knee at 8 clients: the smallest load within 5 % of the peak, 524'
	has flat 'No interval: that takes two repeats of each step.'
	has flat 'Throughput rises to 8 clients, is flat to 32.'
	has flat 'Response time at 32 clients: 3.99 times that at 1.'
	# Nothing of the steps is in a table of rows.
	[ "$(grep -c '^clients' out)" = 1 ]
	if grep -q 'CPU/IO' out; then fail "CPU time on a virtual clock"; fi
	python3 "$ROOT/tests/func/result_keys.py" schema r.json "$SCHEMA"
	jq -e '.lunbench | (.rows | length == 6 and all(.step_clients and
			(has("repeat") | not)))
		and (has("summary") | not) and (has("repeats") | not)
		and (.departs | length == 1)
		and (.sweeps | length == 1)
		and (.sweeps[0] | .job == "load" and .op == "all"
			and [.points[].clients] == [1,4,8,12,16,32]
			and .knee == {clients: 8, low: null, high: null}
			and .peak.clients == 8
			and [.phases[] | [.phase, .from, .to]]
				== [["rising",1,8],["flat",8,32]]
			and (.response_ratio.ratio | . > 3.9 and . < 4.1)
			and all(.points[]; .littles_law > 0.95 and .littles_law < 1.05
				and .fairness > 0.99 and .p99_ns >= .mean_ns * 0.99)
			and (.points[0].mbit_s | . > 520 and . < 528))' r.json
}

# A flat phase goes on to the last step within 5 %; what is not flat in it is
# said.
test_a_dip_in_a_flat_phase() {
	local at
	sweep_job
	expect 0 "$LUNBENCH" run load.fio "$SIM" --quiet -o r.json
	for at in 12 99; do
		jq --argjson at $at '(.lunbench.rows[] | select(.step_clients == $at)
			| .ops[] | .bytes_per_s) *= 0.8' r.json >dip.json
		expect 0 "$LUNBENCH" report dip.json
		tr '\n' ' ' <out >flat.$at
	done
	has flat.12 'rises to 8 clients, is flat to 32 (but lower at 12).'
	has flat.99 'rises to 8 clients, is flat to 32.'
}

test_repeats_of_a_sweep() {
	sweep_job
	expect 0 "$LUNBENCH" run load.fio "$SIM" --repeats=3 --quiet -o r.json
	fits out
	tr '\n' ' ' <out >flat
	has flat 'Knee at 8 clients (no other at 95 %)'
	has out ' +- '
	python3 "$ROOT/tests/func/result_keys.py" schema r.json "$SCHEMA"
	jq -e '.lunbench | ([.rows[].repeat] | sort | unique == [1,2,3])
		and .repeats == {passes: 3, until: null, reached: null}
		and (.sweeps[0] | .knee == {clients: 8, low: 8, high: 8}
			and all(.points[]; .n == 3 and .mb_s_ci95 != null))
		and (.summary | length == 12 and all(.n == 3 and .step_clients))' r.json
	# Best, mean and median are those of the rows.
	jq -e '[.lunbench.rows[] | select(.step_clients == 12).ops.read.ios_per_s] as $x
		| .lunbench.summary[] | select(.step_clients == 12 and .op == "read").iops
		| .best == ($x | max) and .median == ($x | sort[1])
		and ((.mean - ($x | add / 3)) | fabs) < 1e-6 * .mean' r.json
}

# The steps and repeats of a job are one warning, not one each.
test_one_warning_a_job() {
	sweep_job
	sed -i 's/^runtime=1/runtime=500ms/' load.fio
	expect 0 "$LUNBENCH" run load.fio "$SIM" --repeats=2 --quiet -o r.json
	[ "$(grep -c 'under 1 s' out)" = 1 ]
	has out '(11 more of this job like it)'
	[ "$(jq '[.lunbench.checks[] | select(.check == "duration")] | length' r.json)" = 12 ]
}

test_repeats() {
	expect 0 "$LUNBENCH" run --name=x --rw=randread --bs=4k --iodepth=4 --runtime=1 \
		--time_based --repeats=3 --quiet -o r.json "$SIM"
	fits out
	[ "$(grep -c '^x ' out)" = 1 ]
	grep -qE '^x +read +4 +3 +16.4 +0.0% +16.4 +16.4 +4000' out
	expect 0 "$LUNBENCH" report r.json --format csv
	[ "$(wc -l <out)" = 4 ]
}

# Why repeats ended when they did; that they were not enough is a warning.
# A repeat that Ctrl-C cuts short is in the file, and in no mean.
test_a_repeat_cut_short() {
	"$LUNBENCH" run --rw=read --bs=4k --runtime=1 --time_based --repeats=9 null:64M \
		--quiet -o r.json >out 2>err &
	local pid=$!
	sleep 3.5
	kill -INT $pid
	local status=0
	wait $pid || status=$?
	[ $status = 130 ] || fail "status $status, not interrupted: $(cat err)"
	python3 -m jsonschema -i r.json "$SCHEMA" >schema 2>&1 || fail "$(cat schema)"
	jq -e '.lunbench | [.rows[] | select(.has_run)] as $ran
		| [$ran[] | .cut_short == true] as $cut
		| ($cut | length) >= 2 and ($cut | index(true)) == ($cut | length) - 1
		and .summary[0].n == ($cut | length) - 1' r.json >/dev/null ||
		fail "$(jq -c '.lunbench | [.rows[] | [.has_run, .cut_short]], .summary' r.json)"
}

test_until() {
	expect 0 "$LUNBENCH" run --name=x --rw=randread --bs=4k --runtime=1 --time_based \
		--until=steady --quiet -o r.json "$SIM"
	has out 'Ended after 5 passes: every row fulfils until=steady.'
	jq -e '.lunbench | .repeats == {passes: 5, until: "steady", reached: true}
		and (.checks | any(.check == "until" and .ok))' r.json
	expect 0 "$LUNBENCH" run --name=x --rw=randread --bs=4k --runtime=100ms --time_based \
		--until=ci:0.0001% --repeats=3 --quiet -o r.json null:1G
	has out 'until=ci:0.0001% was not reached: after 3 repeats'
	tr '\n' ' ' <out >flat
	has flat 'not every row fulfils until=ci:0.0001%.'
	fits out
	python3 "$ROOT/tests/func/result_keys.py" schema r.json "$SCHEMA"
	expect 0 "$LUNBENCH" report r.json --format junit
	has out 'the most repeats were not enough for until'
}

# As today: no key, no line that a job without these rules did not have.
test_nothing_new() {
	expect 0 "$LUNBENCH" run --name=x --rw=randread --bs=4k --number_ios=99 \
		--quiet -o r.json "$SIM"
	has out 'name op   block QD MB/s'
	jq -e '[paths | map(tostring) | join(".")] | any(test(
		"repeat|step_clients|view|departs|quick|sweeps|summary")) | not' r.json
}

test_cdm_view() {
	local rw
	cat >cdm.fio <<-'END'
		[global]
		runtime=1
		time_based
		#lunbench: view=cdm
		#lunbench: repeats=3
	END
	for rw in read write; do
		cat >>cdm.fio <<-END
			[seq-$rw]
			stonewall
			rw=$rw
			bs=1m
			iodepth=8
			[rnd-$rw]
			stonewall
			rw=rand$rw
			bs=4k
			iodepth=32
			#lunbench: clients=2
		END
	done
	printf '[mix]\nstonewall\nrw=randrw\nrwmixread=70\nbs=4k\niodepth=32\n' >>cdm.fio
	expect 0 "$LUNBENCH" run cdm.fio "$SIM" --quiet -o r.json
	fits out
	grep -qE '^SEQ1M Q8T1 +8389 +8389 \+-[0-9]+ +8389 +8389 \+-[0-9]+ +- +-$' out
	grep -qE '^RND4K Q32T2 +32.8 .* 32.8 ' out
	grep -qE '^RND4K Q32T1 +- +- +- +- +32.8 +32.8 \+-0.0$' out
	grep -qE '^RND4K Q32T2 +8000 +(7.9|8.0).ms +8000 +(7.9|8.0).ms +- +-$' out
	grep -qE '^RND4K Q32T1 +- +- +- +- +8000 +(3.9|4.0).ms$' out
	# Of mixes alone there are no columns for what is not there.
	{ sed -n '/^.global/,/repeats=3/p' cdm.fio; tail -6 cdm.fio; } >mix.fio
	expect 0 "$LUNBENCH" run mix.fio "$SIM" --quiet -o mix.json
	grep -qE '^test +mix best +mean$' out
	grep -qE '^RND4K Q32T1 +8000 +(3.9|4.0).ms$' out
	python3 "$ROOT/tests/func/result_keys.py" schema r.json "$SCHEMA"
}

test_copy_view() {
	cat >copy-large.fio <<-'END'
		[global]
		size=64m
		bs=1m
		iodepth=8
		#lunbench: view=copy
		#lunbench: repeats=3
		[up]
		rw=write
		[down]
		stonewall
		rw=read
	END
	expect 0 "$LUNBENCH" run copy-large.fio "$SIM" --quiet -o r.json
	fits out
	grep -qE '^copy-large +3 +8389 +0.00 +8389 +0.00$' out
}

test_bars_view() {
	local bs
	printf '[global]\nsize=16m\niodepth=4\n#lunbench: view=bars\n' >atto.fio
	for bs in 512 4k 64k 1m; do
		printf '[w%s]\nstonewall\nrw=write\nbs=%s\n[r%s]\nstonewall\nrw=read\nbs=%s\n' \
			$bs $bs $bs $bs >>atto.fio
	done
	expect 0 "$LUNBENCH" run atto.fio "$SIM" --quiet -o r.json
	fits out
	grep -qE '^ +512 +2.05 +2.05$' out
	grep -qE '^ +1M +4194  #+ +4194  #+$' out
	# Longer for more, and the longest are equal.
	[ "$(grep '^ *1M' out | grep -oE '#+' | sort -u | wc -l)" = 1 ]
	[ "$(grep '^ *64K' out | grep -oE '#+' | head -1 | wc -c)" -lt \
		"$(grep '^ *1M' out | grep -oE '#+' | head -1 | wc -c)" ]
}

# A second figure of one place has a line of its own; what a view has no column
# for is a row.
test_view_loses_nothing() {
	printf '[global]\nsize=16m\n#lunbench: view=bars\n' >bars.fio
	printf '[%s]\nstonewall\nrw=%s\nbs=%s\niodepth=%s\n' a write 64k 1 b write 64k 4 \
		c read 64k 4 t trim 64k 1 >>bars.fio
	expect 0 "$LUNBENCH" run bars.fio "$SIM" --quiet -o r.json
	fits out
	[ "$(grep -cE '^ +64K ' out)" = 2 ]
	grep -qE '^ +64K +65.5  #+ +262.1  #+$' out
	grep -qE '^ +64K +262.1  #+ +-$' out
	grep -qE '^t +trim +64KiB' out
}

# One histogram of a sweep with repeats can be had.
test_one_of_many() {
	sweep_job
	expect 0 "$LUNBENCH" run load.fio "$SIM" --repeats=2 --quiet -o r.json
	expect 2 "$LUNBENCH" report r.json --format hgrm --job load --op read
	has err 'load 4 clients read (repeat 1)'
	has err '--clients, --repeat'
	expect 0 "$LUNBENCH" report r.json --format hgrm --op read --clients 4 --repeat 2
	has out 'Total count'
	expect 0 "$LUNBENCH" report r.json --format csv --clients=32
	[ "$(wc -l <out)" = 5 ]
	expect 2 "$LUNBENCH" report r.json --format csv --clients=33 --op read
	has err 'has no I/O of the op read in a step of 33 clients'
	expect 2 "$LUNBENCH" report r.json --format csv --repeat=0
	has err --repeat
}

run_tests
