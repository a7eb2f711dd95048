#!/bin/bash
# Runs in the guest: guest_arrays.sh FUNCTION [ARGUMENT], of those below. Says "fine" at
# its end; anything else is a failure.
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
	shift 3
	lunbench target up --array "$kind" --members "$members" "$@" >up 2>err ||
		complain "$kind: does not come up: $(cat err)"
	url=$(grep -oE 'iscsi://[^ ]+' up | head -n 1)
	[ -z "$level" ] || grep -q "active $level" /proc/mdstat ||
		complain "$kind: $(cat /proc/mdstat)"
	case $kind in
	*+crypt) compgen -G '/dev/mapper/lb*-crypt*' >/dev/null || complain "$kind: no crypt" ;;
	esac
	[ "$kind" != jbod ] || lunbench run --rw=read --bs=4k --size=64k "${url%/1}/3" >/dev/null ||
		complain "jbod: LUN 3 does not read"
	lunbench run --rw=randrw --bs=4k --number_ios=64 --overwrite "$url" >run 2>&1 ||
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
md=/sys/block/md100/md
# up OPTIONS...: a target, its URL in $url.
up() {
	lunbench target up "$@" >up 2>err || complain "up $*: $(cat err)"
	url=$(grep -oE 'iscsi://[^ ]+' up | head -n 1)
}
down() {
	lunbench target down >/dev/null || complain "it does not go down"
	nothing_left "after down"
}
# member fail|replace STATUS TEXT [ARGUMENT]
member() {
	local got=0
	lunbench target "$1" ${4+"$4"} >/dev/null 2>err || got=$?
	[ $got = "$2" ] || complain "$1 ${4-}: status $got, wanted $2: $(cat err)"
	[ -z "$3" ] || grep -qF -- "$3" err || complain "$1 ${4-}: \"$3\" is not in: $(cat err)"
}
rebuilt() {
	local n=0
	until [ "$(cat $md/degraded)" = 0 ] && [ "$(cat $md/sync_action)" = idle ]; do
		n=$((n + 1))
		[ $n -lt 600 ] || complain "no end of the rebuild: $(cat /proc/mdstat)"
		sleep 0.1
	done
}
# A member fails under load, is replaced, is rebuilt; what was written stays. All of it
# is seen by the run, which did nothing of it.
degraded() {
	up --array raid5 --members 4x32M@ram
	lunbench run --rw=randrw --bs=4k --iodepth=8 --runtime=20 --time_based "$url" >run 2>&1 &
	sleep 2
	member fail 0 "" 2
	lunbench target status | grep -q 'DEGRADED by 1' ||
		complain "not degraded: $(lunbench target status)"
	sleep 1
	member replace 0 "" 2
	wait $! || complain "the run fails: $(cat run)"
	rebuilt
	grep -E '^at [0-9. a-z]+: ' run | grep -v 'taken out' | sed 's/^at [^:]*: //; s/after .*/after/; s/(.*)/()/' >seen
	cat >want <<-END
		member 2 () failed
		member 2 () is there as a blank disk
		rebuild of member 2 starts
		rebuild of member 2 is done after
	END
	[ "$(cat seen)" = "$(cat want)" ] || complain "seen: $(cat run)"
	lunbench run --rw=read --bs=4k --number_ios=64 "$url" >run 2>&1 || complain "$(cat run)"
	down
}
members() {
	up --array raid5 --members 4x16M@hdd --sync-speed 20K
	member fail 2 "say which member"
	member fail 2 'no member: give a number from 0 to 3' 7
	member fail 2 'no member' /dev/vda
	member replace 2 'not faulty: fail it first' 1
	member fail 0 "" 1
	member fail 2 'has failed already: put it back' 1
	member fail 2 'the array would be lost' 2
	[ "$(cat $md/degraded)" = 1 ] || complain "$(cat $md/degraded) members are missing"
	# By its device, too.
	member replace 0 "" "$(cd /dev && echo lb*-1 | sed 's|^|/dev/|')"
	member replace 2 'is being rebuilt already' 1
	member fail 2 'the array would be lost' 3
	lunbench target status | grep -qE 'DEGRADED by 1, recover: [0-9]+% \(sectors [0-9]+ / [0-9]+\)' ||
		complain "$(lunbench target status)"
	# The one that is being rebuilt may fail again.
	member fail 0 "" 1
	down
	up --array raid0 --members 4x16M@ram
	member fail 2 'raid0 has no redundancy' 1
	down
	up --array span --members 2x16M@ram
	member fail 2 'linear has no redundancy' 1
	down
	up --array jbod --members 2x16M@ram
	member fail 2 'lies on no array' 1
	down
	# A mirror loses all but one; RAID10 one of each pair.
	up --array raid1 --members 3x16M@ram
	member fail 0 "" 0
	member fail 0 "" 1
	member fail 2 'the array would be lost' 2
	down
	up --array raid10 --members 4x16M@ram
	member fail 0 "" 0
	member fail 2 'the array would be lost' 1
	member fail 0 "" 2
	lunbench run --rw=randrw --bs=4k --number_ios=64 "$url" >run 2>&1 || complain "$(cat run)"
	down
	up --array raid6 --members 4x16M@ram
	member fail 0 "" 0
	member fail 0 "" 1
	member fail 2 'the array would be lost' 2
	down
	member fail 3 'no target' 0
}
# value NAME TEXT: what md has, and what the result says.
value() {
	grep -qF "\"$1\": \"$2\"" result.json ||
		complain "$1 is not $2: $(grep -A 20 '"target"' result.json)"
}
# with KIND NR OPTIONS...: up, a short run, its result.
with() {
	local kind=$1 nr=$2
	shift 2
	up --array "$kind" --members "$nr"x32M@ram "$@"
	lunbench run --rw=randrw --bs=4k --number_ios=64 -o result.json "$url" >run ||
		complain "$kind $*: $(cat run)"
}
values() {
	local layout
	with raid5 3 --chunk 64K --layout right-asymmetric --stripe-cache 512 --sync-speed 2M
	[ "$(cat $md/chunk_size) $(cat $md/layout) $(cat $md/stripe_cache_size)" = "65536 1 512" ] ||
		complain "md has $(cat $md/chunk_size $md/layout $md/stripe_cache_size)"
	[ "$(cat $md/sync_speed_min)" = "2048 (local)" ] || complain "$(cat $md/sync_speed_min)"
	value chunk 65536
	value layout right-asymmetric
	value stripe_cache 512
	value sync_speed_min 2048
	down
	for layout in left-asymmetric=0 left-symmetric=2 right-symmetric=3 parity-first=4; do
		with raid5 3 --layout "${layout%=*}"
		[ "$(cat $md/layout)" = "${layout#*=}" ] || complain "$layout: $(cat $md/layout)"
		value layout "${layout%=*}"
		value chunk 524288
		value stripe_cache 256
		down
	done
	for layout in n2=258 f2=513 o2=66049 n3=259; do
		with raid10 4 --layout "${layout%=*}" --chunk 4K
		[ "$(cat $md/layout)" = "${layout#*=}" ] || complain "$layout: $(cat $md/layout)"
		value layout "${layout%=*}"
		value chunk 4096
		down
	done
	with raid0 2 --chunk 1M
	value chunk 1048576
	down
	with jbod 2
	grep -q 'jbod: LUN 1 of 2 is measured' result.json || complain "no word of the other LUN"
	down
}
# Devices that may hold anything are synced first: told on the way, and a signal ends it.
first_sync() {
	local got=0
	echo 2000 >/proc/sys/dev/raid/speed_limit_max
	up --array raid1 --members /dev/vda,/dev/vdb
	grep -qE '^lunbench: first sync of the array: [0-9]+%$' err || complain "err: $(cat err)"
	grep -qE '^lunbench: first sync of the array: [4-9][0-9]%, [0-9.]+ s left$' err ||
		complain "err: $(cat err)"
	[ "$(cat $md/sync_action)" = idle ] || complain "it is up before its sync's end"
	down
	timeout -s INT 4 lunbench target up --array raid1 --members /dev/vda,/dev/vdb >up 2>err || got=$?
	[ $got = 124 ] || complain "status $got: $(cat up err)"
	until ! pgrep -x lunbench >/dev/null; do sleep 0.1; done
	grep -q "interrupted in the array's first sync" err || complain "$(cat err)"
	nothing_left "after a signal"
	# On a terminal, one line, which is gone at the end.
	script -qec 'lunbench target up --array raid1 --members /dev/vda,/dev/vdb' /dev/null >terminal ||
		complain "$(cat terminal)"
	[ "$(tr '\r' '\n' <terminal | grep -c 'first sync of the array')" -gt 20 ] || complain "$(cat terminal)"
	! tr '\r' '\n' <terminal | grep -q 'sync.*iscsi:' || complain "$(cat terminal)"
	down
	got=0
	(timeout -s INT 4 lunbench bench --rw=read --bs=4k --number_ios=16 --array raid1 \
		--members /dev/vda,/dev/vdb >up 2>err) || got=$?
	[ $got = 124 ] || complain "bench: status $got: $(cat err)"
	until ! pgrep -x lunbench >/dev/null; do sleep 0.1; done
	nothing_left "after a signal to bench"
}
# Killed after, and before, each line of the journal; `down` must clean up.
# steps KIND MEMBERS
steps() {
	local n at
	for n in {1..40}; do
		for at in -"$n" "$n"; do
			if killed_at "$at" up --array "$1" --members "$2"; then
				echo "$1 of $2: $((n - 1)) steps"
				down
				return
			fi
			[ ! -s err ] || complain "step $at: $(cat err)"
			lunbench target down >/dev/null 2>err ||
				complain "step $at: $(cat err)"
			nothing_left "step $at"
		done
	done
	complain "$1 of $2: it never came up"
}
# In a subshell, whose own standard error takes bash's word of the kill.
killed_at() {
	local at=$1
	shift
	local got=0
	(LUNBENCH_TEST_KILL_AT_STEP=$at lunbench target "$@" >/dev/null 2>err) 2>/dev/null || got=$?
	sed -i '/first sync of the array/d' err
	return $got
}
# The same of a replacement: another goes on where it stopped, and `down` needs none.
member_steps() {
	local n at
	killed_at -1 fail 1 && complain "it was not killed"
	up --array raid5 --members "$1"
	killed_at -1 fail 1 && complain "it was not killed"
	member fail 0 "" 1
	for n in {1..10}; do
		for at in -"$n" "$n"; do
			if killed_at "$at" replace 1; then
				echo "replace: $((n - 1)) steps"
				rebuilt
				down
				return
			fi
			[ ! -s err ] || complain "step $at: $(cat err)"
			member replace 0 "" 1
			rebuilt
			lunbench run --rw=randrw --bs=4k --number_ios=64 --overwrite "$url" >run 2>&1 ||
				complain "step $at: $(cat run)"
			member fail 0 "" 1
			killed_at "$at" replace 1 && complain "it was not killed"
			lunbench target down >/dev/null 2>err || complain "step $at: $(cat err)"
			nothing_left "step $at"
			up --array raid5 --members "$1"
			member fail 0 "" 1
		done
	done
	complain "it was never replaced"
}
# refuse STATUS TEXT OPTIONS...
refuse() {
	refuse_beside "$@"
	nothing_left "$*"
}
refuse_beside() {
	local want=$1 text=$2 got=0
	shift 2
	lunbench target up "$@" >/dev/null 2>err || got=$?
	[ $got = "$want" ] || complain "status $got, wanted $want: $*: $(cat err)"
	grep -qF -- "$text" err || complain "\"$text\" is not in: $(cat err)"
	[ "$(wc -l <err)" = 1 ] || complain "more than a sentence: $(cat err)"
}
refusals() {
	local five=/dev/vda,/dev/vda,/dev/vda,/dev/vda,/dev/vda
	refuse 2 'is no array' --array raid7 --members 4x32M@ram
	refuse 2 'say of what' --array raid5
	refuse 2 'is no disk model' --array raid5 --members 4x32M@floppy
	refuse 2 'raid6 needs 4 members or more, "3x32M@ram" gives 3' --array raid6 --members 3x32M@ram
	refuse 2 'raid5 needs 3 members or more, "/dev/vda,/dev/vdb" gives 2' --array raid5 \
		--members /dev/vda,/dev/vdb
	refuse 2 '25 of them, and 1 to 24' --array jbod --members $five,$five,$five,$five,$five
	refuse 2 'named twice' --array raid1 --members /dev/vda,/dev/vda
	refuse 2 'no block device' --array raid1 --members ./guest_arrays.sh,/dev/vda
	refuse 2 'has no chunk' --array single --chunk 64K --members 1x32M@ram
	refuse 2 'larger than a member of 32 MiB' --array raid0 --chunk 64M --members /dev/vda,/dev/vdb
	refuse 3 'cannot look at' --array raid1 --members /dev/vda,/dev/nothing
	refuse 3 'memory are free' --array raid5 --members 4x64G@ram
	refuse 3 'has room for' --array raid5 --members 4x64G
	refuse 3 'takes 3 GiB of memory' --array raid5 --stripe-cache 32768 --members 24x16M@ram
	mkswap -q /dev/vdb
	refuse 2 'holds data (swap' --array raid1 --members /dev/vda,/dev/vdb
	swapon /dev/vdb
	refuse 3 'in use: it is swap' --array raid1 --overwrite --members /dev/vda,/dev/vdb
	swapoff /dev/vdb
	# It is still there: nobody wrote on it.
	refuse 2 'holds data (swap' --array single --members /dev/vdb
	cat ext4.img >/dev/vdc
	refuse 2 'holds data (ext4 file system "backup")' --array raid1 --members /dev/vda,/dev/vdc
	mkdir -p /mnt
	mount /dev/vdc /mnt
	refuse 3 '"/dev/vdc" is mounted on "/mnt"' --array raid1 --members /dev/vda,/dev/vdc
	refuse 3 'mounted on' --array raid1 --overwrite --members /dev/vda,/dev/vdc
	umount /mnt
	refuse 2 'holds data (ext4' --array raid1 --members /dev/vda,/dev/vdc
	one raid1 raid1 /dev/vda,/dev/vdc --overwrite
	echo key | cryptsetup open --type plain --key-file - --cipher aes-xts-plain64 /dev/vda held
	refuse 3 'a part of dm-0' --array raid1 --overwrite --members /dev/vda,/dev/vdc
	cryptsetup close held
	mdadm --create /dev/md9 --quiet --run --level=1 --assume-clean --raid-devices=2 \
		/dev/vda /dev/vdc >/dev/null 2>&1
	refuse_beside 3 'a part of md9' --array raid1 --overwrite --members /dev/vda,/dev/vdc
	mdadm --stop --quiet /dev/md9
	refuse 2 'holds data (Linux md RAID member' --array raid1 --members /dev/vda,/dev/vdc
	one raid1 raid1 /dev/vda,/dev/vdc --overwrite
	# Of different size: as mdadm takes them, and said.
	up --array raid1 --members /dev/vda,/dev/vdd
	grep -q 'raid1 takes 32 MiB of each, 16 MiB are not used' err || complain "$(cat err)"
	down
	up --array raid0 --members /dev/vda,/dev/vdd
	grep -q 'the last 16 MiB of raid0 lie on fewer' err || complain "$(cat err)"
	down
	up --array span --members /dev/vda,/dev/vdd
	[ ! -s err ] || complain "span: $(cat err)"
	down
}
"$@"
echo fine
