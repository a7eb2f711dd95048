#!/bin/bash
# The bundled target: what it promises.
# shellcheck source=tests/func/target_lib.sh
. "$(dirname "$0")/target_lib.sh"

test_up_status_down() {
	fresh
	expect 0 T up --size 64M
	has out "write cache on"
	url=$(grep -oE 'iscsi://127\.0\.0\.1:[0-9]+/iqn[^ ]+/1' out)
	iscsi-readcapacity16 "$url" >capacity
	has capacity "Total size:67108864"
	has capacity "LOGICAL BLOCK LENGTH IN BYTES:512"
	status_of default
	[ "$(field running)" = true ]
	[ "$(field durable)" = true ]
	[ "$(field size_bytes)" = 67108864 ]
	[ "$(field url)" = "$url" ]
	[ "$(field problem)" = "" ]
	# It is allocated, not sparse: a full disk must show now.
	[ "$(stat -c %b "$(field backing)")" -ge 131072 ]
	iscsi-inq "$url" >inquiry
	has inquiry "Vendor:LUNBENCH"
	has inquiry "Product:bundled rdwr"
	expect 3 T up --size 64M
	has err 'target "default" is up already'
	has err 'lunbench target down --name default'
	expect 0 T down
	nothing_left
	expect 3 T down
	has err 'no target "default" is up'
	expect 3 T status --name default
	expect 0 T status
	has out "no targets"
}

test_only_the_socket_asked_for() {
	fresh
	expect 0 T up --size 16M
	status_of default
	ss -Hltnp | grep -F "pid=$(field pid)," | awk '{print $4}' >listens
	[ "$(cat listens)" = "127.0.0.1:$(field port)" ]
}

test_aio() {
	fresh
	expect 0 T up --size 16M --store aio --block 4096
	has out "not durable"
	status_of default
	[ "$(jq .targets[0].durable status.json)" = false ]
	adm default --mode target --op show >lun
	has lun "Backing store type: aio"
	has lun "Block size: 4096"
	# It would advertise UNMAP and then refuse it.
	lacks lun "Thin-provisioning: Yes"
}

test_null_is_bounded() {
	fresh
	expect 0 T up --size 16M --store null
	has out "not durable"
	has out "16 MiB (16777216 bytes)"
	status_of default
	[ "$(field size_bytes)" = 16777216 ]
	iscsi-readcapacity16 "$(field url)" >capacity
	has capacity "Total size:1099511627776"
	expect 0 T down
	expect 2 T up --size 2T --store null
	has err "1 TiB at most"
	nothing_left
}

test_tuned_and_stock() {
	fresh
	expect 0 T up --size 16M --name tuned
	expect 0 T up --size 16M --name stock --stock
	adm tuned --mode target --op show --tid 1 >values1
	adm stock --mode target --op show --tid 1 >values2
	has values1 MaxRecvDataSegmentLength=262144
	has values1 InitialR2T=No
	has values1 FirstBurstLength=262144
	has values1 MaxBurstLength=1048576
	has values2 MaxRecvDataSegmentLength=8192
	has values2 InitialR2T=Yes
	has values2 FirstBurstLength=65536
	has values2 MaxBurstLength=262144
	adm tuned --mode target --op show >lun
	has lun "Thin-provisioning: Yes"
	sed -n '/ACL information/,$p' lun >acl
	has acl 127.0.0.0/8
	[ "$(wc -l <acl)" = 2 ]
	# Two LUNs are told apart.
	status_of tuned
	iscsi-inq -e 1 -c 128 "$(field url)" >serial1
	status_of stock
	iscsi-inq -e 1 -c 128 "$(field url)" >serial2
	has serial1 "Unit Serial Number"
	refused cmp serial1 serial2
}

# tgtd keeps the memory of commands that are done: with tgt's own ways each
# write's pages are faulted in anew.
test_memory_is_kept() {
	local faults
	fresh
	expect 0 T up --size 16M --store null
	status_of default
	"$LUNBENCH" run --rw=write --bs=1M --iodepth=4 --io_size=200M \
		"$(field url)" >out 2>err || fail "$(cat err)"
	faults=$(awk '{print $10}' "/proc/$(field pid)/stat")
	# 200 x 256 if it were not so
	((faults < 15000)) || fail "$faults page faults for 200 writes of 1 MiB"
}

test_without_root() {
	local dir as=() name=ram$BASHPID
	fresh
	dir=$(mktemp -d /tmp/lunbench-nobody.XXXXXX)
	cp "$LUNBENCH" "$dir/program"
	if [ "$(id -u)" = 0 ]; then
		chown 65534:65534 "$dir"
		as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	fi
	chmod 755 "$dir"
	as+=(env "XDG_RUNTIME_DIR=$dir" LUNBENCH_STATE_DIR= "$dir/program")
	expect 0 "${as[@]}" target up --size 16M
	has out "$dir/lunbench"
	expect 0 "${as[@]}" target up --size 16M --name "$name" --ram --store aio
	iscsi-readcapacity16 "$(grep -oE 'iscsi://[^ ]+' out)" >capacity
	has capacity "Total size:16777216"
	ls /dev/shm/lunbench-*-"$name"-* >/dev/null
	# Nobody's targets are not root's to touch by a forged journal.
	if [ "$(id -u)" = 0 ]; then
		mkdir "$dir/forged"
		chown 65534 "$dir/forged"
		echo "tgtd $$ $(awk '{print $22}' /proc/$$/stat)" >"$dir/forged/journal"
		LUNBENCH_STATE_DIR=$dir expect 3 "$LUNBENCH" target down --name forged
		has err "belongs to user 65534"
		rm -r "$dir/forged"
	fi
	expect 0 "${as[@]}" target down --all
	nothing_left "$dir/lunbench"
	none /dev/shm/lunbench-*-"$name"-*
	rm -rf "$dir"
}

# --- where it listens ---

test_busy_port() {
	fresh
	python3 -c '
import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
print(s.getsockname()[1], flush=True); time.sleep(60)' >port &
	until [ -s port ]; do :; done
	expect 3 T up --size 16M --port "$(cat port)"
	has err "127.0.0.1:$(cat port): the port is taken"
	nothing_left
	kill %1
}

# tgtd with a portal that it cannot bind falls back to [::]:3260: what it
# would do if the port were taken between our look and its own.
fallback_tgtd() {
	python3 -c '
import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
print(s.getsockname()[1], flush=True); time.sleep(60)' >busy &
	until [ -s busy ]; do :; done
	shadow tgtd <<-END
		echo start >>"$PWD/starts"
		[ \$(wc -l <"$PWD/starts") -le $1 ] && busy=\$(cat "$PWD/busy")
		for a; do
			shift
			[ -n "\$busy" ] && case \$a in portal=*) a=portal=127.0.0.1:\$busy ;; esac
			set -- "\$@" "\$a"
		done
		exec /usr/sbin/tgtd "\$@"
	END
}

test_wildcard_fallback_is_killed() {
	fresh
	fallback_tgtd 100
	expect 3 env "PATH=$PWD/bin:$PATH" "$LUNBENCH" target up --size 16M --port "$(free_port)"
	has err "listens on"
	[ "$(wc -l <starts)" = 1 ]
	nothing_left
	# And with a port of our choice: given up after some.
	expect 3 env "PATH=$PWD/bin:$PATH" "$LUNBENCH" target up --size 16M
	has err "listens on"
	[ "$(wc -l <starts)" -gt 2 ]
	nothing_left
	kill %1
}

test_wildcard_fallback_is_retried() {
	fresh
	fallback_tgtd 2
	expect 0 env "PATH=$PWD/bin:$PATH" "$LUNBENCH" target up --size 16M
	[ "$(wc -l <starts)" = 3 ]
	iscsi-readcapacity16 "$(grep -oE 'iscsi://[^ ]+' out)" >capacity
	[ "$(tgtds | wc -l)" = 1 ]
	expect 0 T down
	nothing_left
	kill %1
}

test_tgtd_that_dies_says_why() {
	fresh
	shadow tgtd <<-'END'
		echo "tgtd: no more wheels" >&2
		exit 1
	END
	expect 3 env "PATH=$PWD/bin:$PATH" "$LUNBENCH" target up --size 16M
	has err "no more wheels"
	nothing_left
}

test_listen_refused() {
	fresh
	expect 2 T up --listen 0.0.0.0 --allow ALL
	has err "every interface"
	expect 2 T up --listen ::
	expect 2 T up --listen localhost
	has err "not a numeric address"
	expect 2 T up --listen 192.0.2.1
	has err "--allow"
	expect 3 T up --listen 192.0.2.1 --allow 192.0.2.2 --size 16M
	has err "192.0.2.1"
	expect 2 T up --allow 10.0.0.0/33
	expect 2 T up --allow nonsense
	has err '"nonsense"'
	nothing_left
}

test_ipv6() {
	fresh
	grep -qs " lo$" /proc/net/if_inet6 || skip "no IPv6 here"
	expect 0 T up --size 16M --listen ::1
	url=$(grep -oE 'iscsi://\[::1\]:[0-9]+/[^ ]+' out)
	iscsi-readcapacity16 "$url" >capacity
	has capacity "Total size:16777216"
	status_of default
	[ "$(field listen)" = ::1 ]
}

test_allow_lets_in_only_those() {
	fresh
	expect 0 T up --size 16M --allow 127.0.0.2
	refused iscsi-inq "$(grep -oE 'iscsi://[^ ]+' out)"
	has out "Target not found"
}

# --- many ---

test_two_at_once() {
	fresh
	local pids=() p
	for n in a b c d; do
		T up --size 16M --name $n >$n.out 2>&1 &
		pids+=($!)
	done
	for p in "${pids[@]}"; do wait "$p"; done
	[ "$(cat ./*.out | grep -oE 'iscsi://[^/]+' | sort -u | wc -l)" = 4 ]
	expect 0 T status
	[ "$(grep -c iscsi:// out)" = 4 ]
	expect 0 T down --all
	nothing_left
}

test_one_name_twice_at_once() {
	fresh
	T up --size 16M >1.out 2>1.err &
	T up --size 16M >2.out 2>2.err &
	wait %1 && one=0 || one=$?
	wait %2 && two=0 || two=$?
	[ "$((one + two))" = 3 ]
	grep -q "is up already" 1.err 2.err
	[ "$(tgtds | wc -l)" = 1 ]
	expect 0 T down
	nothing_left
}

# --- what is behind it ---

test_backing_file() {
	fresh
	expect 3 T up --backing "$PWD/none"
	has err "give --size to have it made"
	expect 0 T up --backing none --size 16M
	[ "$(stat -c %s none)" = 16777216 ]
	expect 3 T up --backing "$PWD/none" --name second
	has err 'is the backing of target "default"'
	expect 0 T down
	nothing_left
	[ "$(stat -c %s none)" = 16777216 ] # a file with the user's name stays
	expect 2 T up --backing none --size 8M
	has err "leave --size out"
	expect 0 T up --backing none
	has out "yours, stays"
	expect 0 T down
	truncate -s 100 none
	expect 2 T up --backing none
	has err "less than a block"
	expect 2 T up --backing /dev/null
	expect 2 T up --backing "$PWD"
	has err "neither a file nor a block device"
	truncate -s 1M a,b
	expect 2 T up --backing a,b
	has err comma
	nothing_left
}

test_signature_refused() {
	fresh
	command -v mkfs.ext4 >/dev/null || skip "no mkfs.ext4"
	truncate -s 16M image
	mkfs.ext4 -q -L backup image
	cp image before
	expect 2 T up --backing image
	has err 'ext4 file system "backup"'
	has err --overwrite
	cmp image before
	nothing_left
	expect 0 T up --backing image --overwrite
	expect 0 T down
	nothing_left
}

test_device_in_use() {
	fresh
	[ "$(id -u)" = 0 ] || skip "needs root"
	truncate -s 16M image
	mkfs.ext4 -q image
	loop=$(losetup -f --show image) || skip "no loop devices"
	expect 3 T up --backing image --overwrite
	has err "in use behind $loop"
	mkdir mnt
	if unshare -m true && mount "$loop" mnt; then
		expect 3 T up --backing "$loop" --overwrite
		has err 'mounted on'
		umount mnt
	fi
	expect 2 T up --backing "$loop"
	has err "ext4 file system"
	expect 0 T up --backing "$loop" --overwrite
	expect 0 T down
	[ -b "$loop" ]
	losetup -d "$loop"
	nothing_left
}

test_no_room() {
	fresh
	[ "$(id -u)" = 0 ] || skip "needs root"
	unshare -m true || skip "no mount namespaces"
	mkdir small
	cat >inside <<-'END'
		mount -t tmpfs -o size=8m none small
		"$LUNBENCH" target up --backing small/file --size 64M && exit 1
		ls -A small >>left
		export LUNBENCH_STATE_DIR=$PWD/small/state
		"$LUNBENCH" target up --size 16M || exit 1
		"$LUNBENCH" target status --output-format=json >status.json
		"$LUNBENCH" target down
		ls -A small/state >>left
		"$LUNBENCH" target up --size 100000T
	END
	status=0
	LUNBENCH=$LUNBENCH unshare -m bash inside >out 2>err || status=$?
	[ "$status" = 3 ]
	has err 'needs 64 MiB but'
	has err 'small" has room for'
	[ ! -s left ]
	has err "image in /var/tmp"
	[ "$(field backing | cut -d/ -f1-3)" = /var/tmp ]
	[ ! -e "$(field backing)" ]
	nothing_left
}

test_long_state_folder() {
	fresh
	long=$PWD/$(printf 'x%.0s' {1..80})
	mkdir "$long"
	expect 2 env "LUNBENCH_STATE_DIR=$long" "$LUNBENCH" target up --size 4M
	has err "$long/default"
	has err "set LUNBENCH_STATE_DIR to a shorter folder"
	nothing_left "$long"
}

# --- CHAP ---

test_chap() {
	fresh
	# Every argv and environment that tgtadm and tgtd see.
	for p in tgtadm tgtd; do
		shadow $p <<-END
			tr '\\0' ' ' </proc/\$\$/cmdline >>"$PWD/seen"
			env >>"$PWD/seen"
			exec /usr/sbin/$p "\$@"
		END
	done
	secret='x,%/@ twelve bytes'
	expect 0 env "PATH=$PWD/bin:$PATH" "LUNBENCH_TARGET_PASSWORD=$secret" \
		"$LUNBENCH" target up --size 16M --chap-user alice
	has seen "--user alice"
	for f in seen out err "$LUNBENCH_STATE_DIR"/default/[jt]*; do
		lacks "$f" "$secret"
	done
	status_of default
	refused iscsi-inq "$(field url)"
	export LIBISCSI_CHAP_USERNAME=alice LIBISCSI_CHAP_PASSWORD=$secret
	iscsi-inq "$(field url)" >inquiry
	LIBISCSI_CHAP_PASSWORD=${secret}x
	refused iscsi-inq "$(field url)"
	has out "Authentication failure"
	expect 0 T down
	printf 'user=bob\npassword=%s\n' "$secret" >chap
	expect 0 T up --size 16M --chap-file chap
	status_of default
	[ "$(field chap_user)" = bob ]
	LIBISCSI_CHAP_USERNAME=bob LIBISCSI_CHAP_PASSWORD=$secret
	iscsi-inq "$(field url)" >inquiry
	expect 0 T down
	expect 2 T up --chap-user alice
	has err LUNBENCH_TARGET_PASSWORD
	expect 2 env LUNBENCH_TARGET_PASSWORD=short "$LUNBENCH" target up --chap-user alice
	has err "12 to 255"
	lacks err short
	nothing_left
}

# --- usage ---

test_bad_usage() {
	fresh
	expect 2 T
	expect 2 T sideways
	has err '"sideways"'
	expect 2 T up --array raid5
	has err "--members"
	expect 2 T up --array raid7 --members 4x1G
	has err "is no array"
	if [ ! -e /proc/mdstat ] && ! modprobe -n -q md_mod; then
		expect 3 T up --array raid5 --members 4x1G
		has err "in the lab"
	fi
	expect 2 T up --size 1000
	has err "not a multiple"
	expect 2 T up --size lots
	has err '"lots"'
	expect 2 T up --size 50%
	expect 2 T up --block 1024
	has err "neither 512 nor 4096"
	expect 2 T up --store ramdisk
	has err '"ramdisk"'
	expect 2 T up --port 70000
	has err 70000
	expect 2 T up --name Upper
	has err '"Upper"'
	expect 2 T up --name ../x
	expect 2 T up --store null --threads 4
	expect 2 T up extra
	has err '"extra"'
	expect 2 T down --all --name x
	expect 0 T up --help
	nothing_left
	expect 0 T up --array single --size 1M
	expect 0 T down
}

test_without_tgt() {
	fresh
	[ "$(id -u)" = 0 ] || skip "needs root"
	unshare -m true || skip "no mount namespaces"
	expect 3 unshare -m bash -c 'mount --bind /dev/null /usr/sbin/tgtd && exec "$@"' - \
		"$LUNBENCH" target up --size 4M
	has err "tgtd is not installed; apt-get install tgt"
	nothing_left
}

run_tests
