#!/bin/bash
# `lunbench run` on a bundled target: the result file, the table, stdout and
# stderr, the exit status, and what it refuses.
# shellcheck source=tests/func/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/func/rawtgt.sh
. "$(dirname "$0")/rawtgt.sh"

short=(--runtime=1 --time_based --quiet)

test_result_and_table() {
	target_up --store null --size 64M
	expect 0 "$LUNBENCH" run --rw=randread --bs=4k --iodepth=8 --runtime=1 --time_based \
		-o result.json "$URL"
	has out IOPS
	has out result.json
	jq -e '.jobs[0].read.iops > 100 and .jobs[0]."job options".bs == "4k"' result.json >/dev/null
	jq -e '.lunbench.url | startswith("iscsi://")' result.json >/dev/null
}

test_out_names_the_file() {
	expect 0 "$LUNBENCH" run smoke --runtime=100ms --out results/deep --quiet null:1G
	local file
	file=$(find results/deep -name 'smoke-*Z.json')
	[ -n "$file" ] || fail "no result: $(find .)"
	has out "$file"
	expect 0 "$LUNBENCH" run smoke --runtime=100ms --out results/deep --quiet null:1G
	[ "$(find results/deep -name 'smoke-*.json' | wc -l)" = 2 ] ||
		fail "the second result took the place of the first"
}

test_json_on_a_pure_stdout() {
	expect 0 "$LUNBENCH" run --rw=read --bs=4k --size=1m --output-format=json null:1G
	jq -e -s 'length == 1 and .[0].jobs[0].read.total_ios == 256' out >/dev/null
	[ -s err ] || fail "the plan should be on stderr"
	[ "$(find . -name '*.json')" = "" ] || fail "a file nobody asked for"
	# an error is not JSON: nothing on stdout
	expect 2 "$LUNBENCH" run --rw=read --bs=1000 --output-format=json null:1G
	[ ! -s out ] || fail "stdout: $(cat out)"
}

test_quiet() {
	expect 0 "$LUNBENCH" run --rw=read --bs=4k --size=1m --quiet -o r.json null:1G
	[ ! -s err ] || fail "stderr: $(cat err)"
}

test_fio_job_file_unchanged() {
	cat >job.fio <<-'JOB'
		; a job as people keep it for local disks
		[global]
		ioengine=libaio
		direct=1
		filename=/dev/sdX
		size=32m
		runtime=1
		time_based=1
		group_reporting

		[random-read]   # as a database would
		rw=randread
		bs=4k
		iodepth=16
		numjobs=2

		[sequential-read]
		stonewall
		rw=read
		bs=128k
		iodepth=4
	JOB
	target_up --store null --size 64M
	expect 0 "$LUNBENCH" run job.fio --quiet -o result.json "$URL"
	jq -e '[.jobs[].jobname] == ["random-read", "sequential-read"]' result.json >/dev/null
	jq -e 'all(.jobs[]; .read.iops > 10 and .error == 0)' result.json >/dev/null
}

test_256_sessions() {
	target_up --store null --size 1G
	setpriv --pdeathsig KILL "$LUNBENCH" run --rw=randread --bs=4k --clients=256 --workers=1 \
		--norandommap --ramp_time=1 --runtime=3 --time_based --quiet \
		-o result.json "$URL" >out 2>err &
	local pid=$! peak=0
	# the peak counts for ever: read it as late as we can
	while kill -0 $pid 2>/dev/null; do
		peak=$(awk '/^VmHWM/ {print $2}' "/proc/$pid/status" 2>/dev/null || true)
		[ -z "$peak" ] || echo "$peak" >peak
		sleep 0.1
	done
	wait $pid
	peak=$(cat peak)
	[ -n "${SAN:-}" ] || [ "$peak" -lt 65536 ] || fail "$peak KiB resident"
	jq -e '.lunbench.rows[0].fairness | .clients == 256 and .jain > 0.95' result.json \
		>/dev/null || fail "not fair: $(jq -c '.lunbench.rows[0].fairness' result.json)"
}

test_lun_300_is_lun_300() {
	raw_up
	raw_lun 44 1M
	raw_lun 300 1M
	cp l44.img before.img
	expect 0 "$LUNBENCH" run --rw=write --bs=64k --quiet --overwrite -o r.json "$URL"
	cmp l44.img before.img
	! cmp -s l300.img before.img || fail "nothing was written to LUN 300"
}

test_wait_for_a_target() {
	PORT=$(free_port)
	IQN=iqn.2026-11.dev.lunbench.test:t$BASHPID
	setpriv --pdeathsig KILL "$LUNBENCH" run --rw=read --bs=4k --size=1m --quiet \
		--wait=10 -o r.json "iscsi://127.0.0.1:$PORT/$IQN/1" >out 2>err &
	local pid=$!
	until [ -s err ]; do sleep 0.05; done # it has been refused once
	raw_up
	raw_lun 1 8M
	wait $pid || fail "$(cat err)"
	has err "127.0.0.1:$PORT"
	# without --wait: at once
	expect 3 "$LUNBENCH" run --rw=read "iscsi://127.0.0.1:$(free_port)/$IQN/1"
}

test_read_only_lun() {
	raw_up
	raw_lun 1 8M
	raw_set 1 readonly=1
	expect 0 "$LUNBENCH" run --rw=read --bs=4k --quiet -o r.json "$URL"
	expect 2 "$LUNBENCH" run --rw=write --bs=4k --quiet --overwrite -o w.json "$URL"
	has err "write protected"
	[ ! -e w.json ] || fail "a result of nothing"
}

test_4k_blocks() {
	raw_up
	raw_lun 4 64M --blocksize 4096
	expect 2 "$LUNBENCH" run --rw=read --bs=512 "$URL"
	has err 4096
	expect 2 "$LUNBENCH" run --rw=read --bs=6k "$URL"
	has err 4096
	expect 0 "$LUNBENCH" run --rw=randread --bs=4k --number_ios=500 --quiet -o r.json "$URL"
	jq -e '.jobs[0].read.total_ios == 500 and .jobs[0].read.io_bytes == 500 * 4096' r.json \
		>/dev/null
}

test_window_of_one_command() {
	raw_up
	raw_lun 1 64M
	raw_param MaxQueueCmd 1
	expect 0 "$LUNBENCH" run --rw=randread --bs=4k --iodepth=256 "${short[@]}" -o r.json "$URL"
	jq -e '.jobs[0].read.total_ios > 100 and .jobs[0].error == 0' r.json >/dev/null
}

test_null_store_is_bounded() {
	target_up --store null --size 64M
	expect 0 "$LUNBENCH" plan --rw=read "$URL"
	has out '64 MiB'
	expect 2 "$LUNBENCH" plan --rw=read --size=65m "$URL"
}

test_foreign_data_is_refused() {
	raw_up
	truncate -s 64M l1.img
	mkfs.ext4 -q -L precious l1.img
	raw_lun 1 64M
	cp l1.img before.img
	expect 2 "$LUNBENCH" run --rw=write --bs=64k --quiet "$URL"
	has err ext4
	has err precious
	has err --overwrite
	cmp l1.img before.img
	[ ! -d results ] || [ -z "$(ls results)" ] || fail "a result of nothing"
	expect 0 "$LUNBENCH" run --rw=write --bs=64k --size=1m --quiet --overwrite -o r.json "$URL"
	! cmp -s l1.img before.img || fail "nothing was written"
}

test_empty_foreign_lun_is_refused_too() {
	raw_up
	raw_lun 1 8M
	cp l1.img before.img
	expect 2 "$LUNBENCH" run --rw=randwrite --bs=4k --quiet "$URL"
	has err zeros
	cmp l1.img before.img
}

# A file that its user gave to the bundled target is not ours to write to.
test_given_backing_is_refused() {
	truncate -s 16M image
	target_up --backing image
	expect 2 "$LUNBENCH" run --rw=write --bs=64k --size=1m --quiet -o r.json "$URL"
	has err --overwrite
	expect 0 "$LUNBENCH" run --rw=read --bs=64k --size=1m --quiet -o r.json "$URL"
	expect 0 "$LUNBENCH" run --rw=write --bs=64k --size=1m --quiet --overwrite -o r.json "$URL"
}

# randrepeat=0: other streams each time, from a seed that is printed.
test_randrepeat_off() {
	local seeds
	for i in 1 2; do
		expect 0 "$LUNBENCH" run --rw=randread --bs=4k --number_ios=10 --randrepeat=0 \
			--quiet -o r$i.json null:1G
	done
	seeds=$(jq -r .lunbench.seed r1.json r2.json | sort -u | wc -l)
	[ "$seeds" = 2 ] || fail "both runs had seed $(jq -r .lunbench.seed r1.json)"
	expect 0 "$LUNBENCH" plan --rw=randread --randrepeat=0 --seed=7 null:1G
	grep -qE '^Seed +7$' out
}

test_foreign_file_is_refused() {
	truncate -s 8M disk.img
	cp disk.img before.img
	expect 2 "$LUNBENCH" run --rw=write --bs=64k --quiet "block:$PWD/disk.img"
	has err --overwrite
	cmp disk.img before.img
	expect 0 "$LUNBENCH" run --rw=write --bs=64k --quiet --overwrite -o r.json \
		"block:$PWD/disk.img"
	! cmp -s disk.img before.img || fail "nothing was written"
}

test_mounted_disk_is_refused_with_overwrite_too() {
	[ "$(id -u)" = 0 ] || skip "mounting needs root"
	truncate -s 16M disk.img
	mkfs.ext4 -q disk.img
	mkdir mnt
	unshare -m bash -c 'mount -o loop disk.img mnt' 2>/dev/null || skip "no loop devices here"
	# the mount, and the loop device with it, goes with the namespace
	# shellcheck disable=SC2016
	expect 2 unshare -m bash -c 'mount -o loop disk.img mnt
		"$1" run --rw=write --bs=64k --overwrite "$(findmnt -no SOURCE mnt)"' bash "$LUNBENCH"
	has err "in use"
}

test_own_lun_needs_no_leave() {
	target_up --size 16M
	expect 0 "$LUNBENCH" run --rw=write --bs=64k --quiet -o r.json "$URL"
	jq -e '.jobs[0].write.io_bytes == 16777216' r.json >/dev/null
}

test_expect_serial() {
	raw_up
	raw_lun 1 8M
	raw_set 1 scsi_sn=SN-ONE
	expect 0 "$LUNBENCH" run --rw=read --bs=64k --quiet --expect-serial SN-ONE -o r.json "$URL"
	expect 2 "$LUNBENCH" run --rw=read --bs=64k --quiet --expect-serial SN-TWO -o r.json "$URL"
	has err SN-ONE
	has err SN-TWO
}

test_secrets_are_in_no_output() {
	raw_up
	raw_lun 1 8M
	T --mode account --op new --user alice --password secret12secret
	T --mode account --op bind --tid 1 --user alice
	setpriv --pdeathsig KILL "$LUNBENCH" run --rw=randread --bs=4k --runtime=2 --time_based \
		-o r.json "iscsi://alice%secret12secret@${URL#iscsi://}" >out 2>err &
	local pid=$!
	until [ -s out ]; do
		kill -0 $pid || fail "$(cat err)"
		sleep 0.05
	done
	! tr '\0' '\n' <"/proc/$pid/cmdline" | grep secret12 || fail "the secret is in ps"
	wait $pid
	! grep -l secret12secret out err r.json || fail "the secret was written"
	# the same from the environment
	LIBISCSI_CHAP_USERNAME=alice LIBISCSI_CHAP_PASSWORD=secret12secret \
		expect 0 "$LUNBENCH" run --rw=read --bs=64k --quiet -o r.json "$URL"
}

run_tests
