#!/usr/bin/env python3
"""Stands in for QEMU with a guest in it, as far as lunbench can tell.

FAKE_GUEST: ok; silent (never comes up); panic; error (QEMU itself fails).
FAKE_RESULT: the file that is sent back as what the command left behind.
"""
import json
import os
import re
import select
import socket
import struct
import sys
import time

args = sys.argv[1:]
kind = os.environ.get("FAKE_GUEST", "ok")
paths = dict(re.findall(r"id=(\w+)(?:,server=on,wait=off)?,path=(\S+)", "\n".join(args)))
console = next(a for a in args if a.startswith("file:"))[5:]
forward = re.search(r"hostfwd=tcp:127.0.0.1:(\d+)-10.0.2.15:3260", " ".join(args))


def write(path, data):
    with open(path, "ab") as f:
        f.write(data)


def target():
    iqn = "iqn.2026-11.dev.lunbench:default"
    return {"name": "default", "url": f"iscsi://10.0.2.15:3260/{iqn}/1", "iqn": iqn,
            "store": "rdwr", "durable": True, "write_cache": True, "size_bytes": 67108864,
            "block_bytes": 512, "backing": "/dev/md100", "backing_is_ours": True,
            "listen": "10.0.2.15", "port": 3260, "pid": 1, "control_port": 1,
            "running": True, "stock": False, "tgt_version": "1", "problem": "", "luns": 1}


def frame(kind, data):
    return kind + struct.pack("<I", len(data)) + data


def answer(words, secret):
    """What the guest's lunbench says, and its status."""
    said = os.environ.get("FAKE_SAYS")
    if words[:3] == ["lunbench", "target", "up"]:
        if "--chap-user" in words and not secret:
            return b"", b"lunbench: no secret\n", 2
        if os.environ.get("FAKE_TARGET"):
            return b"", b"lunbench: " + os.environ["FAKE_TARGET"].encode() + b"\n", 3
        return (said or json.dumps(target())).encode(), b"", 0
    if words[:3] == ["lunbench", "target", "status"]:
        return (said or json.dumps({"targets": [target()]})).encode(), b"", 0
    if words[:1] == ["say"]:
        return words[1].encode(), b"", int(words[2])
    return b"", b"", 0


def session(client):
    """One client's: its greeting, then frames. False: the guest is off."""
    data = b""
    magic = b"lunb\xf0\x0d\0\1"
    while True:
        more = client.recv(65536)
        if not more:
            return True
        data += more
        if magic in data and len(data) >= data.index(magic) + 16:
            break
    at = data.index(magic)
    # What an earlier session left is skipped.
    client.sendall(b"junk" + data[at:at + 16])
    data = data[at + 16:]
    while len(data) < 5 or len(data) < 5 + struct.unpack("<I", data[1:5])[0]:
        data += client.recv(65536)
    assert data[:1] == b"S", data
    size = struct.unpack("<I", data[1:5])[0]
    nr_env = struct.unpack("<H", data[10:12])[0]
    words = data[12:5 + size].decode().split("\0")[:-1]
    env, words = words[:nr_env], words[nr_env:]
    out, err, status = answer(words, any("PASSWORD=" in e for e in env))
    client.sendall(frame(b"o", out) + frame(b"e", err) + frame(b"x", bytes([status])))
    return not any("sysrq" in w for w in words)


def serve():
    ports = []
    for name, path in paths.items():
        if name.startswith("shell"):
            s = socket.socket(socket.AF_UNIX)
            s.bind(path)
            s.listen(4)
            ports.append(s)
    write(paths["status"], b"started\n")
    while True:
        for s in select.select(ports, [], [])[0]:
            client = s.accept()[0]
            if not session(client):
                sys.exit(0)
            client.close()


if kind == "error":
    sys.exit("qemu-system-x86_64: Could not set up host forwarding rule")
if kind == "panic":
    write(console, b"first words\r\n[    1.0] Kernel panic - not syncing: no cheese\r\nlast words\r\n")
    sys.exit(0)
if kind == "silent":
    write(console, b"Booting\r\nwaiting for cheese\r\n")
    time.sleep(600)
if forward or "shell0" in paths:
    serve()
write(paths["status"], b"started\n")
write(paths["out"], b"said in the guest\n")
if "FAKE_RESULT" in os.environ:
    write(paths["result"], open(os.environ["FAKE_RESULT"], "rb").read())
else:
    name = b"TRAILER!!!\0"
    write(paths["result"], b"070701" + b"%08X" % 0 * 11 + b"%08X" % len(name) + b"%08X" % 0 +
          name + bytes(3))
write(paths["status"], b"exit 4\n")
time.sleep(600)
