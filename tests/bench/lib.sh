# shellcheck shell=bash
# What the benchmarks of lunbench beside others share: interleaved pairs, so that
# a machine that grows slower hits both sides alike. Their user sets PAIRS, TIME
# (seconds a run), LUNBENCH and the folder work.
# shellcheck disable=SC2154  # work

TIMEFORMAT='%R %U %S'

# timed COMMAND...: stdout and stderr to $work/out, the times to $work/time.
timed() {
	{ time timeout -k 5 $((TIME * 10 + 30)) "$@" >"$work/out" 2>&1; } 2>"$work/time" || {
		echo "failed: $*" >&2
		cat "$work/out" >&2
		exit 1
	}
}

# cpu IOS: what the last timed command took for each, in us. It is the whole
# process's, start and login included.
cpu() {
	awk -v n="$1" '{printf "%.2f", ($2 + $3) * 1e6 / n}' "$work/time"
}

# Each of these prints "IOPS CPU-us-per-I/O [MEAN-us]" of one run.

# run_lunbench URL RW [OPTION...]
run_lunbench() {
	local url=$1 rw=$2
	shift 2
	timed "$LUNBENCH" run --rw="$rw" --time_based --runtime="$TIME" --norandommap --overwrite \
		--quiet --output-format=json -o "$work/result.json" "$@" "$url"
	local iops ios mean
	read -r iops ios mean < <(jq -r '[.jobs[0].read, .jobs[0].write] |
		"\(map(.iops) | add) \(map(.total_ios) | add) \(map(.lat_ns.mean) | max / 1000)"' \
		"$work/result.json")
	echo "$iops $(cpu "$ios") $mean"
}

# run_iscsi_perf URL DEPTH: random 4 KiB reads; it can no other.
run_iscsi_perf() {
	timed iscsi-perf -m "$2" -b 8 -t "$TIME" -r "$1"
	local iops
	iops=$(tr '\r' '\n' <"$work/out" | awk '/^iops average/ {print $3}')
	echo "$iops $(cpu $((iops * TIME)))"
}

# run_qemu URL DEPTH: sequential 4 KiB reads. qemu-img bench counts I/Os instead
# of seconds: QEMU_COUNT is from calibrate_qemu.
run_qemu() {
	timed qemu-img bench -f raw -t none -c "$QEMU_COUNT" -d "$2" -s 4096 -S 4096 "$1"
	local seconds
	seconds=$(awk '/^Run completed/ {print $4}' "$work/out")
	echo "$(awk -v n="$QEMU_COUNT" -v s="$seconds" 'BEGIN {print n / s}') $(cpu "$QEMU_COUNT")"
}

calibrate_qemu() {
	QEMU_COUNT=20000
	local iops
	read -r iops _ < <(run_qemu "$@")
	QEMU_COUNT=$(awk -v i="$iops" -v t="$TIME" 'BEGIN {printf "%d", i * t + 1}')
}

# median COLUMN FILE
median() {
	awk -v c="$1" '{print $c}' "$2" | sort -g | awk '{v[NR] = $1}
		END {print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2}'
}

# pairs NAME-A NAME-B: runs a and b, functions of the user, in turn, PAIRS times;
# $work/pairs gets lines "IOPS CPU MEAN IOPS CPU MEAN", and each is printed.
pairs() {
	local i a b
	: >"$work/pairs"
	printf '  %4s %12s %10s %12s %10s %7s %7s\n' pair "$1" 'us/I/O' "$2" 'us/I/O' IOPS CPU
	for ((i = 1; i <= PAIRS; i++)); do
		if ((i % 2)); then
			a=$(a)
			b=$(b)
		else
			b=$(b)
			a=$(a)
		fi
		[ -n "$a" ] && [ -n "$b" ] || exit 1
		echo "$a $b" | awk 'NF == 4 {$0 = $1 " " $2 " 0 " $3 " " $4 " 0"}
			NF == 5 {$0 = $0 " 0"} {print $1, $2, $3, $4, $5, $6, $1 / $4, $2 / $5, $6 ? $3 / $6 : 0}' \
			>>"$work/pairs"
		tail -n 1 "$work/pairs" | awk -v i=$i '{
			printf "  %4d %12.0f %10.2f %12.0f %10.2f %7.3f %7.3f\n", i, $1, $2, $4, $5, $7, $8}'
	done
}
