#!/bin/bash
# Bad command lines, job files and URLs: status 2, one sentence on stderr that
# names the thing and the value, nothing on stdout. No target is needed.
# shellcheck source=tests/func/lib.sh
. "$(dirname "$0")/lib.sh"

# refused TEXT... -- COMMAND...: exit 2 and one line that has each TEXT.
refused() {
	local texts=()
	while [ "$1" != -- ]; do
		texts+=("$1")
		shift
	done
	shift
	expect 2 "$@"
	[ ! -s out ] || fail "stdout: $(cat out)"
	[ "$(wc -l <err)" = 1 ] || fail "not one line: $(cat err)"
	local t
	for t in "${texts[@]}"; do has err "$t"; done
}

job() {
	printf '%s\n' "$@" >job.fio
}

plan() {
	"$LUNBENCH" plan job.fio null:1G
}

test_unknown_key() {
	job '[a]' 'iodepht=4'
	refused job.fio:2 '"iodepht"' '"iodepth"' -- plan
}

test_unknown_option() {
	refused '"--iodepht"' '"--iodepth"' -- "$LUNBENCH" plan --iodepht=4 null:1G
	refused '"--overwite"' '"--overwrite"' -- "$LUNBENCH" run --overwite --rw=read null:1G
	# no abbreviations: a script must not break when an option is added
	refused '"--iodep"' -- "$LUNBENCH" plan --iodep=4 null:1G
	refused '"--xyzzyxyzzy"' -- "$LUNBENCH" run --xyzzyxyzzy null:1G
	refused '"--siz"' '"--size"' -- "$LUNBENCH" target up --siz=1m
	refused '"-x"' -- "$LUNBENCH" run -x null:1G
	refused '"-z"' -- "$LUNBENCH" target up -z
	refused --workers=N -- "$LUNBENCH" run --workers
	refused '-o FILE' -- "$LUNBENCH" run -vo
	refused --quiet '"3"' -- "$LUNBENCH" run --quiet=3 null:1G
	refused --help -- "$LUNBENCH" run --help=3
	refused '"x"' -- "$LUNBENCH" selftest x
	refused raid5 --members -- "$LUNBENCH" target up --array=raid5
}

test_unknown_command() {
	refused '"rum"' -- "$LUNBENCH" rum
}

test_bad_unit() {
	job '[a]' 'bs=4q'
	refused job.fio:2 '"4q"' -- plan
	refused bs '4q' -- "$LUNBENCH" plan --bs=4q null:1G
	refused '--timeout' 'soon' -- "$LUNBENCH" run --timeout=soon --rw=read null:1G
	refused '--workers' '0' -- "$LUNBENCH" run --workers=0 --rw=read null:1G
	refused '--on-disconnect' 'perhaps' -- "$LUNBENCH" run --on-disconnect=perhaps --rw=read null:1G
}

test_not_a_multiple_of_the_block() {
	job '[a]' 'bs=1000'
	refused a bs 1000 512 -- plan
}

test_past_the_end() {
	job '[a]' 'offset=900m' 'size=200m'
	refused a -- plan
}

test_depth_zero() {
	job '[a]' 'iodepth=0'
	refused iodepth 0 -- plan
}

test_empty_job_file() {
	: >job.fio
	refused job.fio -- plan
	job '[global]' 'bs=4k'
	refused job.fio -- plan
}

test_duplicate_section() {
	job '[a]' 'bs=4k' '[a]' 'bs=8k'
	refused job.fio:3 a -- plan
}

test_missing_include() {
	job '[a]' 'include nowhere.fio'
	refused nowhere.fio -- plan
}

test_no_such_job() {
	refused '"nosuchjob"' basic -- "$LUNBENCH" plan nosuchjob null:1G
}

test_unreadable_job() {
	mkdir folder.fio
	refused folder.fio -- "$LUNBENCH" plan folder.fio null:1G
	job '[a]' 'rw=read'
	chmod 000 job.fio
	if [ "$(id -u)" = 0 ]; then
		chmod 755 .. .
		mkdir -p nobody
		chown 65534 nobody
		expect 2 setpriv --reuid=65534 --regid=65534 --clear-groups \
			"$LUNBENCH" plan job.fio null:1G
	else
		expect 2 "$LUNBENCH" plan job.fio null:1G
	fi
	has err job.fio
	has err denied
}

test_arguments() {
	refused URL -- "$LUNBENCH" run --rw=read
	refused basic '"other"' -- "$LUNBENCH" plan basic other null:1G
	refused 'null:2G' -- "$LUNBENCH" plan basic null:1G null:2G
}

test_bad_url() {
	local base=iscsi://127.0.0.1/iqn.2026-11.x:y
	refused 99999 -- "$LUNBENCH" run --rw=read iscsi://127.0.0.1:99999/iqn.2026-11.x:y/1
	refused -- "$LUNBENCH" run --rw=read $base/-1
	refused 99999999999 -- "$LUNBENCH" run --rw=read $base/99999999999
	refused 1x -- "$LUNBENCH" run --rw=read $base/1x
	refused 16384 -- "$LUNBENCH" run --rw=read $base/16384
	refused -- "$LUNBENCH" run --rw=read $base
	refused -- "$LUNBENCH" run --rw=read iscsi:///iqn.2026-11.x:y/1
	refused http -- "$LUNBENCH" run --rw=read http://127.0.0.1/x
	refused null -- "$LUNBENCH" run --rw=read null:lots
}

test_secrets_stay_secret() {
	local long
	long=$(printf 'x%.0s' {1..300})
	expect 2 "$LUNBENCH" run --rw=read "iscsi://user%$long@127.0.0.1/iqn.2026-11.x:y/1"
	! grep -q xxxxxxxx err || fail "a secret on stderr"
	has err 255
}

test_no_block_device() {
	expect 3 "$LUNBENCH" run --rw=read block:/nowhere/disk
	has err /nowhere/disk
}

test_result_folder() {
	: >file
	refused file -- "$LUNBENCH" run --rw=read --size=1m --out file/below null:1G
	refused '"."' -- "$LUNBENCH" run --rw=read --size=1m -o . null:1G
	refused /proc/x.json -- "$LUNBENCH" run --rw=read --size=1m -o /proc/x.json null:1G
	refused nowhere -- "$LUNBENCH" run --rw=read --size=1m -o nowhere/x.json null:1G
	refused '-o: ""' -- "$LUNBENCH" run --rw=read --size=1m -o '' null:1G
	refused '--out: ""' -- "$LUNBENCH" run --rw=read --size=1m --out= null:1G
}

test_bench_array() {
	refused raid5 '--members' -- "$LUNBENCH" target up --array raid5
	refused raid7 'is no array' -- "$LUNBENCH" bench --array raid7 --members 4x1G
	refused '--store' 'ssd' -- "$LUNBENCH" bench --store ssd
}

# Nothing that was given gets to steer the terminal.
test_control_characters() {
	local esc=$'\033[31m'
	refused --name control -- "$LUNBENCH" plan "--name=a${esc}b" null:1G
	refused '?[31m' -- "$LUNBENCH" plan "--bs=${esc}4k" null:1G
	refused '?[31m' -- "$LUNBENCH" plan "$esc.fio" null:1G
	job '[a]' "$(printf 'r\vw=read')"
	refused job.fio:2 -- plan
	refused '?[31m' -- "$LUNBENCH" "$esc"
	! grep -q "$(printf '[\033\v]')" err
}

test_closed_standard_files() {
	truncate -s 64M disk.img
	# else the disk would get number 1 or 2, and the messages
	setpriv --pdeathsig KILL "$LUNBENCH" run --rw=randread --runtime=30 --time_based \
		-o r.json "block:$PWD/disk.img" <&- >&- 2>&- &
	local pid=$! fd n=0
	until readlink /proc/$pid/fd/* | grep -q disk.img; do
		n=$((n + 1))
		[ $n -lt 200 ] || fail "did not start"
		sleep 0.05
	done
	for fd in 0 1 2; do
		[ "$(readlink /proc/$pid/fd/$fd)" = /dev/null ] ||
			fail "$fd is $(readlink /proc/$pid/fd/$fd)"
	done
	kill -INT $pid
	wait $pid || [ $? = 130 ]
}

test_stdout_on_a_full_disk() {
	local status=0
	"$LUNBENCH" plan --rw=read null:1G >/dev/full 2>err || status=$?
	[ $status = 3 ] || fail "exit $status"
	has err "standard output could not be written"
	# a reader who has seen enough is none
	"$LUNBENCH" run --rw=read --size=1m -o r.json null:1G 2>err | true
	[ "${PIPESTATUS[0]}" = 0 ] || fail "$(cat err)"
}

run_tests
