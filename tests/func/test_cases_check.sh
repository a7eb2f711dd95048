#!/bin/bash
# Problems that were reported of tools that compare data: what they must say.
# Where the other cases are: cases_lib.sh.
# shellcheck source=tests/func/cases_lib.sh
. "$(dirname "$0")/cases_lib.sh"

# checked STATUS [OPTION...]: a check of the LUN, short.
checked() {
	local want=$1
	shift
	expect "$want" "$LUNBENCH" check "$URL" --overwrite --quiet --runtime 1 -o r.json "$@"
}

says() { jq -e ".lunbench.check | $1" r.json >/dev/null || fail "not so: $1: $(cat out err)"; }

# Case 16: as far out as a LUN goes; its file grows only where it was written.
test_beyond_2_tib() {
	raw_up
	raw_lun 1 3T
	checked 0 --offset 3298517843968 --size 16M
	says '.integrity == "kept" and .region.first_lba > 4294967296'
	[ "$(du -k l1.img | cut -f1)" -lt 20000 ] || fail "grew to $(du -h l1.img)"
}

# Case 19: blocks of 4 KiB, in the LUN's own LBAs.
test_blocks_of_4_kib() {
	raw_up
	raw_lun 1 32M --blocksize 4096
	checked 0
	says '.region.blocks == 8192 and .region.block_bytes == 4096 and .blocks.written == 8192'
}

# Case 22: right in every way that data can be asked for.
test_bursts_of_512_bytes() {
	raw_up
	raw_lun 1 16M
	T --mode target --op update --tid 1 --name MaxBurstLength --value 512
	T --mode target --op update --tid 1 --name FirstBurstLength --value 512
	T --mode target --op update --tid 1 --name InitialR2T --value Yes
	checked 0
	says '.integrity == "kept"'
}

# Case 32: not possible is not broken.
test_read_only() {
	raw_up
	raw_lun 1 16M
	T --mode logicalunit --op update --tid 1 --lun 1 --params readonly=1
	checked 2
}

# Case 40: a write that failed leaves old or new, and accuses nobody.
test_failed_writes() {
	raw_faulty
	raw_lun 1 16M
	echo 'w 1048576 4096 eio' >ctl
	checked 3
	has out "integrity: unknown"
	says '.promises_broken == [] and .io.failed_writes > 0 and
		.blocks.unknown + .blocks.unwritten >= 8'
	# What fails in the midst of it, too.
	echo 'r 5242880 4096 eio' >ctl
	checked 3
	says '.promises_broken == [] and .io.errors > 0 and .io.failed_writes == 0'
}

# breaks CTL KIND: found, once the LUN was filled.
breaks() {
	: >ctl
	rm -rf r.*
	"$LUNBENCH" check "$URL" --overwrite --quiet --runtime 3 -o r.json >out 2>err &
	local run=$! got=0
	until [ -e r.journal ]; do
		kill -0 $run || fail "did not start: $(cat err)"
		sleep 0.02
	done
	sleep 1
	echo "$1" >ctl
	wait $run || got=$?
	[ $got = 1 ] || fail "exit $got: $(cat out err)"
	says "[.promises_broken[].kind] | index(\"$2\")"
	[ -s "r.blocks/$(jq -r "first(.lunbench.check.findings[] | select(.kind == \"$2\") | .file)" \
		r.json)" ]
}

# Case 42: real corruption is found, named and shown.
test_corruption() {
	raw_faulty
	raw_lun 1 16M
	# one block in the part that all clients share, with others around it
	breaks 'r 9437184 512 flip' bit_rot
	says 'any(.findings[]; .kind == "bit_rot" and .first_wrong_byte < 512)'
	breaks 'w 9437184 4096 drop' lost_write
	breaks 'w 9437184 4096 torn' torn_write
	breaks 'w 9437184 4096 misdir 65536' misdirected_write
}

# Case 2: the target dies in the midst and comes back: what it acknowledged is
# there, what it did not is old or new.
test_target_dies() {
	raw_up
	raw_lun 1 32M
	setpriv --pdeathsig KILL "$LUNBENCH" check "$URL" --overwrite --quiet --runtime 30 \
		--reopen-timeout 1 -o r.json >out 2>err &
	local run=$! got=0
	until [ -e r.journal ]; do sleep 0.05; done
	sleep 2
	kill -9 "$TGTD_PID"
	wait "$TGTD_PID" || true
	wait $run || got=$?
	[ $got = 3 ] || fail "exit $got: $(cat out err)"
	says '.integrity == "unknown" and .blocks.unknown > 0 and .promises_broken == []'
	raw_start
	T --mode logicalunit --op new --tid 1 --lun 1 -b "$PWD/l1.img"
	expect 0 "$LUNBENCH" check "$URL" --resume r.journal --quiet -o r.json
	says '.integrity == "kept" and .compared.ok == 65536 and .blocks.unknown > 0'
}

# The same, away for a moment: the check goes on.
test_target_comes_back() {
	raw_up
	raw_lun 1 32M
	setpriv --pdeathsig KILL "$LUNBENCH" check "$URL" --overwrite --quiet --runtime 6 \
		-o r.json >out 2>err &
	local run=$! got=0
	until [ -e r.journal ]; do sleep 0.05; done
	sleep 2
	kill -9 "$TGTD_PID"
	wait "$TGTD_PID" || true
	raw_start
	T --mode logicalunit --op new --tid 1 --lun 1 -b "$PWD/l1.img"
	wait $run || got=$?
	[ $got = 0 ] || fail "exit $got: $(cat out err)"
	says '.integrity == "kept"'
	holds 'any(.lunbench.events[]; .kind == "reconnect")'
}

# A target that stands still: over in time, and nothing is claimed.
test_target_frozen() {
	raw_up
	raw_lun 1 32M
	setpriv --pdeathsig KILL "$LUNBENCH" check "$URL" --overwrite --quiet --runtime 30 \
		--timeout 1 --reopen-timeout 1 -o r.json >out 2>err &
	local run=$! got=0 start
	until [ -e r.journal ]; do sleep 0.05; done
	sleep 1
	kill -STOP "$TGTD_PID"
	start=$SECONDS
	wait $run || got=$?
	kill -CONT "$TGTD_PID"
	[ $got = 3 ] || fail "exit $got: $(cat out err)"
	[ $((SECONDS - start)) -le 10 ] || fail "took $((SECONDS - start)) s"
	says '.integrity == "unknown"'
}

# Case 42: a byte that is changed below the target.
test_byte_below() {
	raw_up
	raw_lun 1 16M
	checked 0
	printf '\377' | dd of=l1.img bs=1 seek=7000000 conv=notrunc status=none
	rm -f out
	expect 1 "$LUNBENCH" check "$URL" --resume r.journal --quiet -o again.json
	has out "LBA 13671: bit rot"
	has out "first wrong byte 448"
}

TEST_DEADLINE=90 run_tests
