#!/bin/bash
# --pcap: what passes the sockets, as tshark sees it.
# shellcheck source=tests/func/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/func/rawtgt.sh
. "$(dirname "$0")/rawtgt.sh"

# shark FILE ARG...: with the target's port, which is not that of iSCSI.
shark() {
	command -v tshark >/dev/null || skip "no tshark here: make deps"
	tshark -o "iscsi.target_ports:$PORT" -o ip.check_checksum:TRUE \
		-o tcp.check_checksum:TRUE -r "$@" 2>shark.err || {
		cat shark.err >&2
		return 1
	}
}

# clean FILE: nothing is odd in it, and all of it is iSCSI but the start and end
# of connections, and the parts of PDUs that are in other packets.
clean() {
	shark "$1" -z expert,note -q >expert
	if grep -vE 'closing$|^Notes |^ +Frequency|^=+|^$' expert; then
		fail "$1: $(cat expert)"
	fi
	shark "$1" -Y "_ws.malformed || tcp.analysis.flags" >odd
	[ ! -s odd ] || fail "$1: $(cat odd)"
	shark "$1" -Y "iscsi && !iscsi.opcode && !tcp.segment" >odd
	[ ! -s odd ] || fail "$1: $(cat odd)"
	shark "$1" -Y "tcp.len > 0 && !iscsi && !tcp.segment && !tcp.reassembled_in" \
		-T fields -e tcp.len >odd
	[ ! -s odd ] || [ "${2:-}" = parts ] || fail "$1: not iSCSI: $(head -n 5 odd)"
}

# fields FILE FIELD [FILTER]: one value a line.
fields() {
	shark "$1" -Y "${3:-iscsi}" -T fields -E aggregator=, -e "$2" | tr , '\n'
}

# counts FILE: of commands for 12 KiB, which only the run sends, as many as the
# result has.
counts() {
	local n
	n=$(fields "$1" iscsi.scsicommand.expecteddatatransferlength | grep -cx 12288)
	jq -e --argjson n "$n" '.jobs[0] | .read.total_ios + .write.total_ios == $n' r.json \
		>/dev/null || fail "$1: $n commands; $(jq -c '.jobs[0] |
			[.read.total_ios, .write.total_ios]' r.json)"
}

# lacks FILE TEXT: the bytes of the text are not in the file.
lacks() {
	if grep -qaF -- "$2" "$1"; then fail "$1 has \"$2\""; fi
}

# captured FILE OPTION... : 100 reads and writes, in that file and in r.json.
captured() {
	local file=$1
	shift
	expect 0 "$LUNBENCH" run --rw=randrw --bs=12k --iodepth=8 --number_ios=100 --size=32M \
		--norandommap --overwrite --quiet -o r.json --pcap "$file" "$@" "$URL"
	has out "captured to \"$file\", which slows the run"
	jq -e '.lunbench.warnings | map(select(startswith("captured to"))) | length == 1' r.json
}

# Reads, and writes with R2T; as the calls were, as PDUs, and headers alone.
test_reads_and_writes() {
	instant size=64M InitialR2T=Yes ImmediateData=No MaxRecvDataSegmentLength=8192
	for n in all 256 0; do
		captured $n.pcapng --pcap-snaplen=$n
		clean $n.pcapng
		counts $n.pcapng
		fields $n.pcapng iscsi.opcode | sort | uniq -c >ops.$n
		for op in 0x01 0x03 0x05 0x06 0x21 0x23 0x25 0x26 0x31; do has ops.$n $op; done
	done
	[ "$(stat -c %s all.pcapng)" -gt 1200000 ] || fail "not all data"
	[ "$(stat -c %s 0.pcapng)" -lt 200000 ] || fail "data in it"
	[ "$(stat -c %s 0.pcapng)" -lt "$(stat -c %s 256.pcapng)" ] || fail "no data in it"
	# lengths are those of the wire: each write's data, in 8 KiB and the rest
	[ "$(fields 0.pcapng iscsi.datasegmentlength 'iscsi.opcode == 0x05' | sort -nu |
		paste -sd' ')" = "4096 8192" ] || fail "lengths of Data-Out"
	# a file of others' is not for others
	[ "$(stat -c %a all.pcapng)" = 600 ] || fail "mode $(stat -c %a all.pcapng)"
}

# PDUs longer than a packet, and batches of many.
test_large_and_small() {
	instant size=64M MaxRecvDataSegmentLength=262144
	for n in all 256; do
		expect 0 "$LUNBENCH" run --rw=randrw --bs=256k --iodepth=4 --number_ios=40 \
			--size=32M --norandommap --overwrite --quiet -o r.json \
			--pcap l$n.pcapng --pcap-snaplen=$n "$URL"
		clean l$n.pcapng parts
		[ "$(fields l$n.pcapng iscsi.scsicommand.expecteddatatransferlength |
			grep -cx 262144)" = 40 ] || fail "not 40 commands"
		expect 0 "$LUNBENCH" run --rw=randread --bs=512 --iodepth=64 --number_ios=5000 \
			--size=32M --norandommap --quiet -o r.json --pcap s$n.pcapng \
			--pcap-snaplen=$n "$URL"
		clean s$n.pcapng
	done
}

test_sessions() {
	instant size=64M
	captured four.pcapng --clients=4 --workers=2
	clean four.pcapng
	counts four.pcapng
	shark four.pcapng -q -z conv,tcp | grep -c '<->' >streams
	[ "$(cat streams)" -ge 5 ] || fail "$(cat streams) streams" # and the probe's
	# every connection has its start and its end
	[ "$(shark four.pcapng -Y 'tcp.flags.syn == 1 && tcp.flags.ack == 0' | wc -l)" = "$(cat streams)" ]
	[ "$(shark four.pcapng -Y 'tcp.flags.fin == 1' -T fields -e tcp.stream | sort -u |
		wc -l)" = "$(cat streams)" ]
	# times do not step back
	shark four.pcapng -Y 'frame.time_delta < 0' >odd
	[ ! -s odd ] || fail "$(cat odd)"
	local now
	now=$(shark four.pcapng -T fields -e frame.time_epoch -c 1 | cut -d. -f1)
	[ $(($(date +%s) - now)) -lt 60 ] || fail "not the wall clock: $now"
}

# Where one submission carries the sends of many: before their answers.
test_many_sessions() {
	instant size=64M
	captured many.pcapng --clients=16 --iodepth=1 --number_ios=2000
	clean many.pcapng
	counts many.pcapng
	shark many.pcapng -Y '(iscsi.opcode == 0x21 || iscsi.opcode == 0x25) && !iscsi.request_frame' >odd
	[ ! -s odd ] || fail "answers before their commands: $(head -n 5 odd)"
}

# A session that is lost and comes back is another stream.
test_reconnect() {
	instant size=64M 'rule io after=50 times=1 drop'
	captured lost.pcapng
	clean lost.pcapng
	shark lost.pcapng -Y 'tcp.flags.fin == 1 && tcp.srcport == '"$PORT" >fin
	[ -s fin ] || fail "the target's end is not in it"
}

test_ipv6_and_digest() {
	grep -qs " lo$" /proc/net/if_inet6 || skip "no IPv6 here"
	raw_up
	T --mode portal --op new --param "portal=[::1]:$PORT"
	raw_lun 1 64M
	raw_param HeaderDigest CRC32C
	URL="iscsi://[::1]:$PORT/$IQN/1"
	for n in all 256; do
		captured six.pcapng --header-digest=yes --pcap-snaplen=$n
		clean six.pcapng
		counts six.pcapng
		shark six.pcapng -Y 'ipv6.dst == ::1 && tcp.dstport == '"$PORT"' && iscsi' >to
		[ -s to ] || fail "nothing to ::1"
		shark six.pcapng -V >text
		has text "HeaderDigest: 0x"
		if grep -q "HeaderDigest.*incorrect" text; then fail "digests"; fi
	done
}

# The login is there and its secrets are not, for both sides and any split.
test_secrets() {
	local bare file n
	raw_up
	raw_lun 1 64M
	bare=${URL#iscsi://}
	T --mode account --op new --user alice-name --password secret12secret
	T --mode account --op bind --tid 1 --user alice-name
	T --mode account --op new --user out-name --password outsecret1234
	T --mode account --op bind --tid 1 --user out-name --outgoing
	export LIBISCSI_CHAP_USERNAME=alice-name LIBISCSI_CHAP_PASSWORD=secret12secret
	export LIBISCSI_CHAP_TARGET_USERNAME=out-name LIBISCSI_CHAP_TARGET_PASSWORD=outsecret1234
	for n in all 0; do
		file=chap$n.pcapng
		captured $file --pcap-snaplen=$n
		clean $file
		counts $file
		for text in secret alice-name out-name CHAP_R=0x CHAP_C=0x; do lacks $file $text; done
		fields $file iscsi.keyvalue >keys
		has keys CHAP_A=5
		for key in N R I C; do
			grep -E "^CHAP_$key=x+$" keys >of || fail "no CHAP_$key: $(cat keys)"
		done
		# as long as it was: 0x and 16 bytes
		has keys "CHAP_R=$(printf 'x%.0s' {1..34})"
		# the same login, seen beside it by the kernel, would not be so
		has keys "TargetName=$IQN"
	done
	URL=iscsi://$bare
	export LIBISCSI_CHAP_PASSWORD=wrong12wrong12
	expect 3 "$LUNBENCH" run --rw=read --quiet -o r.json --pcap bad.pcapng "$URL"
	clean bad.pcapng
	lacks bad.pcapng wrong12
	shark bad.pcapng -Y 'iscsi.login.status == 0x0201' >refusal
	[ -s refusal ] || fail "the refusal is not in it"
}

test_discover() {
	instant size=64M luns=2
	expect 0 "$LUNBENCH" discover --pcap d.pcapng "127.0.0.1:$PORT"
	clean d.pcapng
	fields d.pcapng iscsi.opcode | grep -q 0x04 || fail "no SendTargets"
}

test_interrupted() {
	instant size=64M 'rule read delay=20ms'
	"$LUNBENCH" run --rw=randread --bs=4k --iodepth=8 --time_based --runtime=30 --size=32M \
		--norandommap --quiet -o r.json --pcap i.pcapng "$URL" >out 2>err &
	local run=$!
	sleep 1
	kill -INT $run
	wait $run || [ $? = 130 ]
	clean i.pcapng
	# one that has no answer to its login yet
	listener swallow
	"$LUNBENCH" run --rw=read --pcap w.pcapng --quiet -o r.json \
		"iscsi://127.0.0.1:$PORT/iqn.x/1" >out 2>err &
	run=$!
	until [ "$(stat -c %s w.pcapng 2>/dev/null || echo 0)" -gt 700 ]; do sleep 0.05; done
	kill -INT $run
	wait $run || [ $? = 130 ]
	clean w.pcapng
	[ "$(fields w.pcapng iscsi.opcode)" = 0x03 ] || fail "no login request"
	# and one that is killed: what is in the file are whole packets
	instant size=64M 'rule read delay=20ms'
	"$LUNBENCH" run --rw=randread --bs=4k --iodepth=8 --time_based --runtime=30 --size=32M \
		--norandommap --quiet -o r.json --pcap k.pcapng "$URL" >out 2>err &
	run=$!
	sleep 2
	kill -KILL $run
	wait $run || true
	clean k.pcapng
	[ "$(stat -c %s k.pcapng)" -gt 30000 ] || fail "nothing in it"
}

# The run goes on, is told once, and what is there are whole packets.
test_disk_full() {
	[ "$(id -u)" = 0 ] || skip "mounting a small tmpfs needs root"
	instant size=64M
	mkdir full
	# shellcheck disable=SC2016
	expect 0 unshare -m bash -c 'mount -t tmpfs -o size=300k tmpfs full || exit 77
		"$1" run --rw=randread --bs=4k --iodepth=8 --number_ios=2000 --size=32M \
			--norandommap --quiet -o r.json --pcap full/f.pcapng --pcap-snaplen=all "$2"
		s=$?
		cp full/f.pcapng . && exit $s' bash "$LUNBENCH" "$URL"
	[ "$(cat out err | grep -c 'capture "full/f.pcapng" ended early: No space left')" = 1 ] ||
		fail "$(cat out err)"
	jq -e '.jobs[0].read.total_ios == 2000' r.json >/dev/null
	[ "$(stat -c %s f.pcapng)" -gt 200000 ] || fail "too short"
	clean f.pcapng
	if grep -q "cut short" shark.err; then fail "not whole: $(cat shark.err)"; fi
	expect 3 "$LUNBENCH" discover --pcap /dev/full "127.0.0.1:$PORT" ||
		expect 2 "$LUNBENCH" discover --pcap /dev/full "127.0.0.1:$PORT"
	has err 'capture "/dev/full" ended early: No space left'
}

test_refused() {
	instant
	expect 2 "$LUNBENCH" run --rw=read --pcap p --wire=plain "$URL"
	has err "--pcap goes with --wire=batch"
	expect 2 "$LUNBENCH" run --rw=read --size=1m --pcap p -o r.json null:1G
	has err "only iSCSI sessions"
	expect 2 "$LUNBENCH" run --rw=read --pcap-snaplen=5 "$URL"
	has err "goes with --pcap"
	expect 2 "$LUNBENCH" run --rw=read --pcap p --pcap-snaplen=1m "$URL"
	has err "--pcap-snaplen"
	expect 2 "$LUNBENCH" run --rw=read --pcap p -o p "$URL"
	has err "the same file"
	expect 2 "$LUNBENCH" bench basic --array raid0,raid5 --pcap p --out d
	has err "goes with one run"
	[ ! -e p ] || fail "a file is left"
	mkdir folder
	mkfifo fifo
	for place in folder nowhere/file fifo; do
		expect 2 "$LUNBENCH" run --rw=read --quiet --pcap $place -o r.json "$URL"
		has err "\"$place\""
	done
	# an older one is replaced, as results are
	head -c 100000 /dev/zero >old
	expect 0 "$LUNBENCH" run --rw=read --bs=4k --number_ios=10 --size=1m --quiet --pcap old \
		-o r.json "$URL"
	clean old
}

run_tests
