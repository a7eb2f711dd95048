#!/bin/bash
# `lunbench discover`: targets, LUNs and abilities, as a table and as JSON.
# shellcheck source=tests/func/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/func/rawtgt.sh
. "$(dirname "$0")/rawtgt.sh"

test_table_and_json() {
	raw_up
	raw_lun 1 64M
	raw_lun 300 1M --blocksize 4096
	raw_set 1 vendor_id=ACME,product_id=DISK,scsi_sn=SN-ONE
	expect 0 "$LUNBENCH" discover "127.0.0.1:$PORT"
	has out "$IQN"
	has out '64 MiB'
	has out ACME
	grep -qE '^ +300 ' out || fail "LUN 300 is not LUN 300: $(cat out)"
	grep -qE '^ +0 .*controller' out || fail "LUN 0 is no disk: $(cat out)"
	expect 0 "$LUNBENCH" discover "127.0.0.1:$PORT" --output-format=json
	jq -e --arg iqn "$IQN" '.targets | length == 1 and .[0].name == $iqn' out >/dev/null
	jq -e '[.targets[0].luns[].lun] == [0, 1, 300]' out >/dev/null
	jq -e '.targets[0].luns[1] | .size_bytes == 67108864 and .block_bytes == 512 and
		.vendor == "ACME" and .serial == "SN-ONE" and .thin == false and
		.write_cache == true' out >/dev/null
	jq -e '.targets[0].luns[2].block_bytes == 4096' out >/dev/null
}

test_600_luns() {
	raw_up
	local n
	for n in $(seq 1 600); do raw_null "$n"; done
	expect 0 "$LUNBENCH" discover "127.0.0.1:$PORT" --output-format=json
	jq -e '[.targets[0].luns[].lun] == [range(601)]' out >/dev/null
	jq -e '[.targets[0].luns[1:][] | select(.size_bytes != 1099511627776)] | length == 0' out \
		>/dev/null
}

test_the_address_that_we_came_in_by() {
	raw_up # on 127.0.0.1 alone
	raw_lun 1 8M
	expect 0 "$LUNBENCH" discover "iscsi://localhost:$PORT"
	has out "$IQN"
	# a target in the URL lists that one
	T --mode target --op new --tid 2 -T "$IQN-other"
	T --mode target --op bind --tid 2 -I ALL
	expect 0 "$LUNBENCH" discover "iscsi://127.0.0.1:$PORT/$IQN" --output-format=json
	jq -e '.targets | length == 1' out >/dev/null
	expect 0 "$LUNBENCH" discover "127.0.0.1:$PORT" --output-format=json
	jq -e '.targets | length == 2' out >/dev/null
}

test_a_locked_target_is_listed() {
	raw_up
	raw_lun 1 8M
	T --mode account --op new --user alice --password secret12secret
	T --mode account --op bind --tid 1 --user alice
	expect 0 "$LUNBENCH" discover "127.0.0.1:$PORT" --output-format=json
	jq -e --arg iqn "$IQN" '.targets[0] | .name == $iqn and (.problem | length > 0)' out >/dev/null
	LIBISCSI_CHAP_USERNAME=alice LIBISCSI_CHAP_PASSWORD=secret12secret \
		expect 0 "$LUNBENCH" discover "127.0.0.1:$PORT" --output-format=json
	jq -e '.targets[0].luns[1].size_bytes == 8388608' out >/dev/null
}

test_nobody_there() {
	local port
	port=$(free_port)
	expect 3 "$LUNBENCH" discover "127.0.0.1:$port"
	has err "127.0.0.1:$port"
	[ ! -s out ] || fail "stdout: $(cat out)"
	expect 2 "$LUNBENCH" discover
	expect 2 "$LUNBENCH" discover 127.0.0.1:99999
	has err 99999
}

run_tests
