#!/bin/bash
# Runs in the guest: guest_arrays.sh kinds|steps|refusals|degraded. Says "fine" at its
# end; anything else is a failure.
set -eu
complain() {
	echo "FAIL: $*"
	exit 1
}
# Nothing of a target is left anywhere.
nothing_left() {
	local left
	left=$(compgen -G '/sys/kernel/config/nullb/lb*' || true)
	left+=$(compgen -G '/sys/block/md*' || true)
	left+=$(compgen -G '/dev/mapper/lb*' || true)
	[ -z "$left" ] || complain "$1: left: $left"
	[ -z "$(losetup -n -l)" ] || complain "$1: loop devices are left"
	[ -z "$(ls /run/lunbench 2>/dev/null)" ] || complain "$1: state is left"
	! pgrep tgtd >/dev/null || complain "$1: tgtd is left"
}
# Up, the level that md says, a bit of I/O, down.
one() {
	local kind=$1 level=$2 members=$3 url
	lunbench target up --array "$kind" --members "$members" >up ||
		complain "$kind: does not come up"
	url=$(grep -oE 'iscsi://[^ ]+' up | head -n 1)
	[ -z "$level" ] || grep -q "active $level" /proc/mdstat ||
		complain "$kind: $(cat /proc/mdstat)"
	case $kind in
	*+crypt) compgen -G '/dev/mapper/lb*-crypt*' >/dev/null || complain "$kind: no crypt" ;;
	esac
	[ "$kind" != jbod ] || lunbench run --rw=read --bs=4k --size=64k "${url%/1}/3" >/dev/null ||
		complain "jbod: LUN 3 does not read"
	lunbench run --rw=randrw --bs=4k --number_ios=64 "$url" >run ||
		complain "$kind: $(cat run)"
	lunbench target down >/dev/null || complain "$kind: does not go down"
	nothing_left "$kind"
}
kinds() {
	local m=4x32M@ram
	one single "" $m
	one jbod "" $m
	one span linear $m
	one raid0 raid0 $m
	one raid1 raid1 $m
	one raid5 raid5 $m
	one raid6 raid6 $m
	one raid10 raid10 $m
	one span+crypt linear $m
	one jbod+crypt "" $m
	one raid5 raid5 4x32M
	one raid5+crypt raid5 /dev/vda,/dev/vdb,/dev/vdc
	# What we wrote on the user's devices is gone: they are taken again.
	one single "" /dev/vda
}
# A member fails under load, is replaced, is rebuilt; what was written stays.
degraded() {
	local url
	lunbench target up --array raid5 --members 4x32M@ram >up
	url=$(grep -oE 'iscsi://[^ ]+' up | head -n 1)
	lunbench run --rw=randrw --bs=4k --iodepth=8 --runtime=6 --time_based "$url" >run 2>&1 &
	sleep 2
	lunbench target fail 2
	lunbench target status | grep -q 'DEGRADED by 1' ||
		complain "not degraded: $(lunbench target status)"
	lunbench target fail 7 2>err && complain "member 7 fails"
	grep -q 'no member' err || complain "member 7: $(cat err)"
	sleep 1
	lunbench target replace 2
	wait $! || complain "the run fails: $(cat run)"
	until ! lunbench target status | grep -qE 'recover|DEGRADED'; do sleep 0.2; done
	lunbench run --rw=read --bs=4k --number_ios=64 "$url" >run 2>&1 || complain "$(cat run)"
	lunbench target down >/dev/null
	nothing_left degraded
}
# Killed after, and before, each line of the journal; `down` must clean up.
steps() {
	local n at members
	for members in 2x32M@ram 2x32M; do
		for n in {1..30}; do
			for at in -"$n" "$n"; do
				if up_killed_at "$at" "$members"; then
					echo "$members: $((n - 1)) steps"
					lunbench target down >/dev/null
					nothing_left "after all"
					continue 3
				fi
				[ ! -s err ] || complain "step $at: $(cat err)"
				lunbench target down >/dev/null 2>err ||
					complain "step $at: $(cat err)"
				nothing_left "step $at"
			done
		done
		complain "$members: it never came up"
	done
}
# In a subshell, whose own standard error takes bash's word of the kill.
up_killed_at() {
	(LUNBENCH_TEST_KILL_AT_STEP=$1 lunbench target up --array raid1+crypt \
		--members "$2" >/dev/null 2>err) 2>/dev/null
}
# refuse STATUS TEXT OPTIONS...
refuse() {
	local want=$1 text=$2 got=0
	shift 2
	lunbench target up "$@" >/dev/null 2>err || got=$?
	[ $got = "$want" ] || complain "status $got, wanted $want: $*: $(cat err)"
	grep -qF -- "$text" err || complain "\"$text\" is not in: $(cat err)"
	[ "$(wc -l <err)" = 1 ] || complain "more than a sentence: $(cat err)"
	nothing_left "$*"
}
refusals() {
	refuse 2 'is no array' --array raid7 --members 4x32M@ram
	refuse 2 'say of what' --array raid5
	refuse 2 'is no disk model' --array raid5 --members 4x32M@floppy
	refuse 2 'too few' --array raid6 --members 3x32M@ram
	refuse 2 'different size' --array raid1 --members /dev/vda,/dev/vdd
	refuse 2 'named twice' --array raid1 --members /dev/vda,/dev/vda
	refuse 2 'no block device' --array raid1 --members ./guest_arrays.sh,/dev/vda
	refuse 2 'has no chunk' --array single --chunk 64K --members 1x32M@ram
	refuse 3 'cannot look at' --array raid1 --members /dev/vda,/dev/nothing
	mkswap -q /dev/vdb
	refuse 2 'holds data (swap' --array raid1 --members /dev/vda,/dev/vdb
	swapon /dev/vdb
	refuse 3 'in use' --array raid1 --overwrite --members /dev/vda,/dev/vdb
	swapoff /dev/vdb
	# It is still there: nobody wrote on it.
	refuse 2 'holds data (swap' --array single --members /dev/vdb
	one raid1 raid1 /dev/vda,/dev/vdc
}
"$1"
echo fine
