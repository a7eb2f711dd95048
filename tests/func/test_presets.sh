#!/bin/bash
# The shipped jobs: on any LUN, quickly, as what they stand for; sweeps, repeats
# and the rules that end them.
# shellcheck source=tests/func/lib.sh
. "$(dirname "$0")/lib.sh"

shipped() { # the jobs; what bench alone runs is a set of them
	"$LUNBENCH" workloads | awk '$2 != "lunbench" {print $1}'
}

sim() { # SIZE [MORE]
	echo "sim:servers=4,service=1ms,size=$1${2:+,$2}"
}

# It fits, scales or leaves out, and says what.
test_every_preset_fits_every_lun() {
	local name size block
	for name in $(shipped); do
		for size in 64M 1G 3T; do
			for block in 512 4096; do
				expect 0 "$LUNBENCH" plan "$name" "$(sim $size block=$block)"
				[ ! -s err ] || fail "$name on $size: $(cat err)"
				mv out "$name.$size.$block"
			done
		done
	done
	for name in atto atto-4; do
		has $name.64M.4096 '0.5K-write: left out: bs=512 is not a multiple'
		has $name.64M.4096 '  4K-read'
		! grep -q 'left out' $name.3T.512 || fail "$name leaves out on 512"
	done
	has copy-large.1G.512 'up: size=2 GiB became 1 GiB: the LUN has no more'
	has copy-large.3T.512 'on the first 2 GiB'
	has copy-small.1G.4096 'bs=2 KiB became 4 KiB: the LUN takes whole blocks'
	has netbench.64M.512 'workspace=20 MiB: 1088 KiB for each of 60 clients'
	has netbench.3T.4096 'on the first 1200 MiB, 20 MiB for each client'
	has cdm.64M.512 'size=1 GiB became 64 MiB'
	has pts.3T.512 'until 6 TiB are done'
}

# Sixteen steps, three times: no 48 blocks.
test_a_sweep_is_printed_once() {
	expect 0 "$LUNBENCH" plan netbench --repeats=3 "$(sim 3T)"
	has out '16 steps, 3 times each, about 16 min in all'
	has out '1, 4, 8 ... 60 clients in turn'
	[ "$(wc -l <out)" -lt 40 ] || fail "$(wc -l <out) lines"
	expect 0 "$LUNBENCH" plan netbench --clients=1,2,7 "$(sim 3T)"
	has out '3 steps, about 1 min in all'
	has out 'on the first 140 MiB'
	# The job that prepares is not asked.
	[ "$(grep -c 'clients in turn' out)" = 1 ]
	has out '  prepare'
	expect 0 "$LUNBENCH" plan netbench --no-prepare "$(sim 3T)"
	! grep -q prepare out || fail "$(cat out)"
}

test_every_preset_runs() {
	local name
	for name in $(shipped); do
		expect 0 "$LUNBENCH" run "$name" --quick "$(sim 64M)" -o r.json
		has err 'is no measurement'
		jq -e '.lunbench.quick and .lunbench.run.end == "complete" and
			all(.lunbench.rows[]; .has_run)' r.json >/dev/null ||
			fail "$name: $(jq -c '.lunbench.run' r.json)"
	done
}

test_what_a_preset_stands_for() {
	local name
	expect 0 "$LUNBENCH" workloads
	has out 'by amount: 2 GiB x 6'
	has out '5 min 20 s + 1200 MiB'
	for name in $(shipped); do
		expect 0 "$LUNBENCH" workloads "$name"
		has out 'The job file is'
		[ "$name" = basic ] || [ "$name" = smoke ] ||
			has out 'How it departs from what it stands for'
	done
	expect 0 "$LUNBENCH" workloads netbench
	head -1 out | grep -q '^A file server' || fail "$(head -1 out)"
	# All that is listed can be asked for.
	[ "$("$LUNBENCH" workloads | wc -l)" -gt "$(shipped | wc -l)" ]
	expect 0 "$LUNBENCH" workloads nas-review
	has out 'tests   atto,cdm,copy-large,copy-medium,copy-small'
	has out 'To run it: lunbench bench nas-review'
	expect 2 "$LUNBENCH" workloads netbnech
	has err 'the shipped jobs are: atto, atto-4, basic'
}

# The same tests as an ordinary fio job: nothing about the preset is special.
test_cdm_is_an_ordinary_job() {
	# What is asked: of each test the region, and what its I/Os are like.
	# shellcheck disable=SC2016  # jq's variables
	local asked='.lunbench.plan.clients as $c | . as $d |
		.lunbench.rows | to_entries[] |
		select((.value.repeat // 1) == 1 and .value.name != "prepare") | .key as $k |
		($d."global options" + $d.jobs[$k]."job options") as $o |
		"\(.value.name) \($o.rw) \($o.bs) \(.value.total_depth) \($o.norandommap) " +
		"\([$c[] | select(.row == $k) | .offset_bytes, .length_bytes])"'
	# What came: how many of what size, and how long each took.
	# shellcheck disable=SC2016
	local came='. as $d | .lunbench.rows | to_entries[] |
		select((.value.repeat // 1) == 1 and .value.name != "prepare") |
		"\(.value.name) \(.value.ops | map_values([.ios, .bytes, .latency.mean_ns]))"'
	"$LUNBENCH" run "$ROOT/tests/bench/cdm.fio" "$(sim 1G)" --runtime=5 -o plain.json >out 2>err ||
		fail "$(cat err)"
	expect 0 "$LUNBENCH" run cdm "$(sim 1G)" -o cdm.json
	local what
	for what in "$asked" "$came"; do
		jq -r "$what" plain.json | sort >want
		jq -r "$what" cdm.json | sort >got
		[ "$(wc -l <want)" = 8 ] || fail "$(cat want)"
		diff want got
	done
	# Five runs of each of eight tests, and the file that is written first.
	jq -e '.jobs | length == 41' cdm.json >/dev/null
	jq -e '[.lunbench.rows[] | select(.name == "rnd4k-q1t1-write") |
		.repeat] == [1, 2, 3, 4, 5]' cdm.json >/dev/null
}

test_until_ends_the_passes() {
	cat >job.fio <<-'END'
		[fill]
		rw=write
		bs=1m
		#lunbench: prepare
		[a]
		stonewall
		rw=randread
		iodepth=4
		runtime=1
		time_based
		#lunbench: clients=1,2
	END
	expect 0 "$LUNBENCH" run job.fio --until-ci 2% "$(sim 16M)" -o r.json
	has out 'up to 61 measurements'
	jq -e '.lunbench.repeats == {until: "ci:2%", passes: 3, reached: true}' \
		r.json >/dev/null || fail "$(jq -c .lunbench.repeats r.json)"
	jq -e '(.jobs | length) == 7 and (.lunbench.plan.rows | length) == 7 and
		(.lunbench.plan.groups | length) == 7' r.json >/dev/null
	expect 0 "$LUNBENCH" run job.fio --until=steady "$(sim 16M)" -o r.json
	jq -e '.lunbench.repeats == {until: "steady", passes: 5, reached: true}' \
		r.json >/dev/null || fail "$(jq -c .lunbench.repeats r.json)"
	# What varies too much is repeated as often as asked.
	expect 0 "$LUNBENCH" run --rw=randread --runtime=50ms --time_based \
		--until=ci:0.0001 --repeats=4 null:64M -o r.json
	jq -e '.lunbench.repeats == {until: "ci:0.0001%", passes: 4, reached: false}' \
		r.json >/dev/null || fail "$(jq -c .lunbench.repeats r.json)"
}

# A stop keeps the passes that began; no empty rows for the others.
test_interrupted_between_passes() {
	local pid
	"$LUNBENCH" run --rw=randread --runtime=300ms --time_based --until=ci:0.0001 \
		--repeats=30 null:64M -o r.json >out 2>err &
	pid=$!
	sleep 1
	kill -INT $pid
	wait $pid && fail "it was not interrupted"
	jq -e '.lunbench.run.end == "interrupted" and
		(.jobs | length) == .lunbench.repeats.passes and
		.lunbench.repeats.passes < 30 and
		.lunbench.repeats.reached == false' r.json >/dev/null ||
		fail "$(jq -c '.lunbench.repeats, (.jobs | length)' r.json)"
}

test_plan_tells_of_overwrite() {
	truncate -s 16M disk
	expect 0 "$LUNBENCH" plan --rw=write block:disk
	has out 'run will want --overwrite'
	expect 0 "$LUNBENCH" plan --rw=read block:disk
	! grep -q overwrite out || fail "$(cat out)"
}

refuses() { # TEXT KEYS...
	local text=$1
	shift
	expect 2 "$LUNBENCH" plan --rw=read "$@" "$(sim 64M)"
	has err "$text"
	[ "$(wc -l <err)" = 1 ] || fail "$(cat err)"
}

test_bad_keys() {
	refuses '"clients=0": 0 is outside 1..65536' --clients=0
	refuses 'the range 4-1 goes down; write the smaller number first' --clients=4-1
	refuses '4 clients are in it twice' --clients=1,4,4
	refuses '2 comes after 4; the steps must ascend' --clients=4,2
	refuses 'it has more than 256 steps; take a larger stride' --clients=1-10000
	refuses '"" is no number of clients' --clients=1,,2
	refuses '"8k" is no number of clients' --clients=8k
	refuses '"repeats=0": 0 is outside 1..1000' --repeats=0
	refuses '"foo" is neither ci:PERCENT, such as ci:2%, nor steady' --until=foo
	refuses '"x" is not a percentage such as 2%' --until-ci x
	refuses '0 % is no width to wait for' --until-ci 0
	refuses 'needs repeat_order=interleaved' --until=steady --repeat_order=together
	refuses '"pie" is none of none|bars|cdm|copy' --view=pie
	refuses '"shrug" is none of error|skip|adapt' --misfit=shrug
	refuses '"x" is none of interleaved|together' --repeat_order=x
	refuses 'is more than the LUN has (67108864 bytes); give a smaller one' \
		--workspace=40m --clients=4
	refuses 'less than one I/O of 32 MiB' --workspace=40m --clients=4 --bs=32m \
		--misfit=adapt
	refuses 'all jobs only prepare' --prepare --no-prepare
	refuses 'only one rule can end the repeats' --until-ci 2% --until=steady
	refuses 'only one rule can end the repeats' --until=ci:3% --until-ci 2%
}

# Sixty clients have no room there, and fewer have.
test_netbench_on_a_small_lun() {
	expect 2 "$LUNBENCH" plan netbench "$(sim 1M)"
	has err 'there is room for 16: give clients=N or a list with no more'
	expect 0 "$LUNBENCH" plan netbench --clients=1,4-16:4 "$(sim 1M)"
	has out 'workspace=20 MiB: 64 KiB for each of 16 clients'
}

test_workspace_that_is_too_large() {
	expect 0 "$LUNBENCH" plan --workspace=20m --clients=4 --misfit=adapt "$(sim 64M)"
	has out 'workspace=20 MiB: 16 MiB for each of 4 clients'
}

# Who is sent the table must see that the files were fewer.
test_what_was_adapted_is_in_the_table() {
	expect 0 "$LUNBENCH" run copy-medium --quick --quiet "$(sim 64M)" -o r.json
	tr '\n' ' ' <out >flat
	has flat 'note    up: io_size=2000 MiB became 64 MiB: the LUN has no more'
	expect 0 "$LUNBENCH" run atto --quick --quiet "$(sim 64M block=4096)" -o r.json
	[ "$(grep -c '^note .*left out' out)" = 6 ] || fail "$(cat out)"
	# Many are not the whole table.
	for i in $(seq 20); do printf '[j%d]\nstonewall\nbs=1k\n' "$i"; done >job.fio
	printf '[j]\nstonewall\nrw=read\n' >>job.fio
	expect 0 "$LUNBENCH" run job.fio --misfit=skip --quiet --number_ios=5 \
		"$(sim 64M block=4096)" -o r.json
	has out 'note    and 12 more, in lunbench.plan.notes of the result'
}

test_rules_in_comments() {
	local line
	printf '%s\n' '[a]' 'rw=read' '#lunbench: cleints=4' >job.fio
	expect 2 "$LUNBENCH" plan job.fio null:64M
	has err 'job.fio:3: unknown key "cleints"; did you mean "clients"?'
	printf '%s\n' '[a]' 'rw=read' ';lunbench: repeats=0' >job.fio
	expect 2 "$LUNBENCH" plan job.fio null:64M
	has err 'job.fio:3: "repeats=0": 0 is outside 1..1000'
	printf '%s\n' '[a]' '#lunbench:' >job.fio
	expect 2 "$LUNBENCH" plan job.fio null:64M
	has err 'job.fio:2: there is no key after "lunbench:"'
	printf '%s\n' '#lunbench: clients=2' '[a]' >job.fio
	expect 2 "$LUNBENCH" plan job.fio null:64M
	has err 'job.fio:1: "clients" stands before the first section'
	# What was meant for us is not passed over for a blank or a capital.
	for line in '# lunbench: clients=4' '#Lunbench:clients=4' '## lunbench : repeats=3'; do
		printf '%s\n' '[a]' 'rw=read' "$line" >job.fio
		expect 2 "$LUNBENCH" plan job.fio null:64M
		has err 'job.fio:3: a setting for lunbench begins with "#lunbench:", without blanks and in small letters'
	done
	printf '%s\n' '[a]' '# lunbench: is a program' '#lunbench:clients=2' \
		'#lunbench: departs=of a # and a ; too' >job.fio
	expect 0 "$LUNBENCH" plan job.fio null:64M
	has out '2 clients'
	has out 'of a # and a ; too'
	expect 0 fio --parse-only job.fio --size=1m
}

run_tests
