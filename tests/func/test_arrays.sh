#!/bin/bash
# Arrays on a host that may have no md: what is refused, and in which words.
# shellcheck source=tests/func/target_lib.sh
. "$(dirname "$0")/target_lib.sh"

# refuse STATUS TEXT OPTIONS...: target up says that, in one line, and leaves nothing.
refuse() {
	local want=$1 text=$2
	shift 2
	expect "$want" T up "$@"
	has err "$text"
	[ "$(wc -l <err)" = 1 ]
	nothing_left
}

test_options() {
	fresh
	refuse 2 '--members' --array raid5
	refuse 2 '"raid7" is no array; there are: single, jbod' --array raid7 --members 4x1G
	refuse 2 'raid5 needs 3 members or more, "2x64M" gives 2' --array raid5 --members 2x64M
	refuse 2 '0 of them, and 1 to 24' --array raid0 --members 0x64M
	refuse 2 '25 of them, and 1 to 24' --array raid0 --members 25x64M
	refuse 2 'there are: hdd, ssd, ram' --array raid0 --members 2x64M@tape
	refuse 2 'is no layout of raid5' --array raid5 --members 3x64M --layout n2
	refuse 2 'write n2, f2 or o2' --array raid10 --members 4x64M --layout n5
	refuse 2 'raid0 has no layout' --array raid0 --members 2x64M --layout n2
	refuse 2 'no power of two' --array raid0 --members 2x64M --chunk 48K
	refuse 2 'larger than a member' --array raid0 --members 2x64M --chunk 128M
	refuse 2 'raid1 has no chunk' --array raid1 --members 2x64M --chunk 64K
	refuse 2 'has no stripe cache' --array raid0 --members 2x64M --stripe-cache 256
	refuse 2 'md takes 17 to 32768' --array raid5 --members 3x64M --stripe-cache 16
	refuse 2 'md takes 17 to 32768' --array raid5 --members 3x64M --stripe-cache 0
	refuse 2 'md takes 17 to 32768' --array raid5 --members 3x64M --stripe-cache 32769
	refuse 2 '--sync-speed: "0"' --array raid5 --members 3x64M --sync-speed 0
	refuse 2 '--sync-speed: "1G"' --array raid5 --members 3x64M --sync-speed 1G
	refuse 2 'no redundancy' --array raid0 --members 2x64M --sync-speed 2M
	refuse 2 'no other backing' --array raid0 --members 2x64M --size 1G
}

test_without_md() {
	[ ! -e /proc/mdstat ] && ! modprobe -n -q md_mod || skip "this host has md"
	fresh
	refuse 3 'lunbench lab exec -- lunbench' --array raid5 --members 4x1G
	has err "$([ "$(id -u)" = 0 ] && echo 'has no md' || echo 'needs root')"
}

test_no_room() {
	fresh
	refuse 3 'memory are free' --array jbod --members 2x9000G@ram
	refuse 3 'has room for' --array jbod --members 2x9000G
}

test_bench_steps() {
	fresh
	bench() { "$LUNBENCH" bench --rw=read --runtime=1 --time_based "$@"; }
	expect 2 bench --fail 10
	has err '--fail: "10": write TIME:MEMBER, as in 10s:2'
	expect 2 bench --array raid5 --members 3x16M --where host --fail soon:2
	has err '--fail: '
	expect 2 bench --fail 1:0
	has err 'no member of an image can fail'
	expect 2 bench --array raid0 --members 2x16M --replace 1:0
	has err '--replace: no member of raid0 can fail: it has no redundancy'
	expect 2 bench --array raid5 --members 3x16M --fail 1:3
	has err '"3" is no member of "3x16M": give a number from 0 to 2'
	nothing_left
}

# loop FILE: a loop device over it, in $loop; gone with the test.
loop() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	loop=$(losetup -f --show "$1") || skip "no loop devices"
	loops="${loops-} $loop"
	# shellcheck disable=SC2064,SC2154
	trap "losetup -d $loops 2>/dev/null || true" EXIT
}

test_given_devices() {
	fresh
	command -v mkfs.ext4 >/dev/null || skip "no mkfs.ext4"
	truncate -s 16M a b
	mkfs.ext4 -q -L backup a
	loop a
	refuse 2 'holds data (ext4 file system "backup"): give --overwrite' --array jbod \
		--members "$loop"
	cmp a "$loop"
	mkdir mnt
	mount "$loop" mnt || skip "nothing can be mounted here"
	refuse 3 "\"$loop\" is mounted on" --array jbod --members "$loop"
	refuse 3 "\"$loop\" is mounted on" --array jbod --members "$loop" --overwrite
	umount mnt
	refuse 2 "\"$loop\" is named twice" --array jbod --members "$loop,$loop" --overwrite
	refuse 2 "no block device" --array jbod --members "$loop,./b" --overwrite
	refuse 3 "cannot look at" --array jbod --members "$loop,./c" --overwrite
	refuse 2 "a name is missing" --array jbod --members "$loop," --overwrite
	expect 0 T up --array jbod --members "$loop" --overwrite
	expect 2 T fail 0
	has err 'lies on no array with members'
	expect 0 T down
	nothing_left
}

# Images go where there is room; one disk of several is what a jbod's run measures.
test_jbod() {
	fresh
	[ "$(id -u)" = 0 ] || skip "needs root"
	losetup -f >/dev/null || skip "no loop devices"
	unshare -m true || skip "no mount namespaces"
	mkdir small
	cat >inside <<-'END'
		set -e
		mount -t tmpfs -o size=8m none small
		export LUNBENCH_STATE_DIR=$PWD/small/state
		"$LUNBENCH" target up --array jbod --members 2x16M
		ls /var/tmp/lunbench-*-default-*-member1.img
		"$LUNBENCH" run --rw=read --bs=64k --size=1m -o result.json \
			"$("$LUNBENCH" target status --output-format=json | jq -r .targets[0].url | sed 's/1$/2/')"
		"$LUNBENCH" target down
		ls -A small/state >left
		ls /var/tmp/lunbench-*-default-*-member*.img >>left 2>/dev/null || true
	END
	LUNBENCH=$LUNBENCH unshare -m bash inside >out 2>err || { cat out err; false; }
	[ ! -s left ]
	[ -z "$(losetup -n -O BACK-FILE -l | grep "lunbench-.*-member" || true)" ]
	jq -r '.lunbench.warnings[]' result.json >warnings
	has warnings 'jbod: LUN 2 of 2 is measured, which is one disk; the others are idle'
}

run_tests
