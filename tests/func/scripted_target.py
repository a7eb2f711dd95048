#!/usr/bin/env python3
"""An iSCSI target that misbehaves as told: what tgtd cannot be made to do.

scripted_target.py MODE: one LUN 1 of 8 MiB, 512-byte blocks, nothing kept.
Prints its port on 127.0.0.1. RFC 7143 for the PDUs. Modes, for READ and WRITE:

  good, busy, full, conflict, aborted    status GOOD, BUSY, ...
  attention    each session starts with three unit attentions
  underflow    GOOD, but half of the data and a residual to say so
  overflow     GOOD, with a residual that says the command was for more
  early        WRITE is refused (7/27/00) while its data, all of it solicited
               at once, is still on its way
  logout       asks for a logout (asynchronous event 1) instead of answering
  announce     says that it will drop the session (event 3), then drops it
  drop         closes the connection instead of answering
  reject       sends a Reject instead
  garbage      sends bytes that are no PDU
  stall        never answers
  names        (in discovery) a name that is not fit for a terminal
  busy-login, full-login, garbage-login, drop-login: the same during login
  banner-login, short-login, huge-login, slow-login: answer as a web server; with
               half a header; with the header of 16 MiB; a byte at a time
"""
import socket
import struct
import sys
import threading
import time

MODE = sys.argv[1]
BLOCKS = 16384


class Session:
    def __init__(self, sock):
        self.sock, self.stat_sn, self.cmd_sn = sock, 1, 0
        self.attentions = 3 if MODE == "attention" else 0

    def read(self, n):
        data = b""
        while len(data) < n:
            part = self.sock.recv(n - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    def next_pdu(self):
        header = self.read(48)
        length = int.from_bytes(header[5:8], "big")
        return header, self.read((length + 3) // 4 * 4)[:length]

    def send(self, opcode, flags, itt, data=b"", status=b"\0\0", words=(0, 0, 0, 0), ttt=0xffffffff,
             lun=bytes(8), with_status=True):
        """@status: bytes 2 and 3; @words: bytes 32..47 after the SNs at 24..35."""
        header = struct.pack(">BB2sI8sIIIII", opcode, flags, status, len(data), lun, itt, ttt,
                             self.stat_sn, self.cmd_sn, self.cmd_sn + 64)
        header += struct.pack(">III", *words[:3])
        if with_status:
            self.stat_sn += 1
        self.sock.sendall(header + data + bytes(-len(data) % 4))

    def login(self):
        while True:
            header, data = self.next_pdu()
            itt, = struct.unpack(">I", header[16:20])
            self.cmd_sn, = struct.unpack(">I", header[24:28])
            status = b"\0\0"
            if MODE == "busy-login":
                status = b"\x03\x01"
            elif MODE == "full-login":
                status = b"\x02\x06"
            elif MODE == "garbage-login":
                self.sock.sendall(b"\x23\x87" + b"\xff" * 200)
            elif MODE == "drop-login":
                raise EOFError
            elif MODE == "banner-login":
                self.sock.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" + b"x" * 4096)
            elif MODE == "short-login":
                self.sock.sendall(b"\x23\x87" + bytes(22))
                raise EOFError
            elif MODE == "huge-login":
                self.sock.sendall(b"\x23\x87\0\0\0\xff\xff\xff" + header[8:14] + bytes(34))
                while True:
                    self.sock.sendall(b"K=V\0" * 1000)
            elif MODE == "slow-login":
                while True:
                    self.sock.sendall(b"\x23")
                    time.sleep(0.2)
            keys = b"".join(k + b"\0" for k in (
                b"HeaderDigest=None", b"DataDigest=None", b"InitialR2T=No", b"ImmediateData=Yes",
                b"FirstBurstLength=262144", b"MaxBurstLength=262144",
                b"MaxRecvDataSegmentLength=8192", b"TargetPortalGroupTag=1"))
            reply = struct.pack(">BBBBI8sIIIII", 0x23, header[1] & 0x8f, 0, 0, len(keys),
                                header[8:14] + b"\0\1", itt, 0, self.stat_sn, self.cmd_sn,
                                self.cmd_sn + 64)
            reply += status + bytes(10)
            self.stat_sn += 1
            self.sock.sendall(reply + keys + bytes(-len(keys) % 4))
            if header[1] & 0x83 == 0x83:
                return

    def respond(self, itt, status=0, sense=b"", flags=0, residual=0):
        data = struct.pack(">H", len(sense)) + sense if sense else b""
        self.send(0x21, 0x80 | flags, itt, data, bytes([0, status]), (0, 0, residual))

    def check(self, itt, key, asc, ascq):
        self.respond(itt, 2, bytes([0x70, 0, key, 0, 0, 0, 0, 10, 0, 0, 0, 0, asc, ascq, 0, 0, 0, 0]))

    def data_in(self, itt, data, want, flags=0, residual=0):
        """All in one PDU, with the status."""
        data = data[:want]
        if len(data) < want and not flags:
            flags, residual = 0x02, want - len(data)
        self.send(0x25, 0x81 | flags, itt, data, b"\0\0", (0, 0, residual))

    def inquiry(self, itt, cdb, want):
        if not cdb[1]:
            data = bytes([0, 0, 5, 2, 31, 0, 0, 2]) + b"SCRIPTED" + b"TARGET          " + b"1   "
        elif cdb[2] == 0:
            data = bytes([0, 0, 0, 1, 0])
        else:
            return self.check(itt, 5, 0x24, 0)
        self.data_in(itt, data, want)

    def medium(self, itt, cdb, want):
        """READ and WRITE: where the modes bite."""
        is_read = cdb[0] in (0x28, 0x88)
        statuses = {"busy": 0x08, "full": 0x28, "conflict": 0x18, "aborted": 0x40}
        if MODE in statuses:
            self.respond(itt, statuses[MODE])
        elif MODE == "underflow":
            if is_read:
                self.data_in(itt, bytes(want // 2), want)
            else:
                self.respond(itt, 0, flags=0x02, residual=want // 2)
        elif MODE == "overflow":
            if is_read:
                self.data_in(itt, bytes(want), want, 0x04, 28672)
            else:
                self.respond(itt, 0, flags=0x04, residual=28672)
        elif MODE == "early" and not is_read:
            self.send(0x31, 0x80, itt, words=(0, 8192, want - 8192), ttt=1, with_status=False)
            time.sleep(0.2)  # until nothing more fits the sockets
            self.check(itt, 7, 0x27, 0)
        elif MODE == "logout":
            self.send(0x32, 0x80, 0xffffffff, words=(0x01000000, 0, 0), with_status=False)
        elif MODE == "announce":
            self.send(0x32, 0x80, 0xffffffff, words=(0x03000000, 0, 0), with_status=False)
            raise EOFError
        elif MODE == "drop":
            raise EOFError
        elif MODE == "reject":
            self.send(0x3f, 0x80, 0xffffffff, self.header, b"\x09\0")
        elif MODE == "garbage":
            self.sock.sendall(b"\xff" * 300)
        elif MODE == "stall":
            pass
        elif is_read:
            self.data_in(itt, bytes(want), want)
        else:
            self.respond(itt)

    def command(self, header):
        itt, want, self.cmd_sn = struct.unpack(">III", header[16:28])
        self.cmd_sn += 1
        cdb = header[32:48]
        if header[9] != 1 or header[8]:
            self.check(itt, 5, 0x25, 0)
        elif self.attentions:
            self.attentions -= 1
            self.check(itt, 6, 0x29, self.attentions)
        elif cdb[0] == 0x00:
            self.respond(itt)
        elif cdb[0] == 0x12:
            self.inquiry(itt, cdb, want)
        elif cdb[0] == 0x9e:
            self.data_in(itt, struct.pack(">QI20s", BLOCKS - 1, 512, bytes(20)), want)
        elif cdb[0] in (0x28, 0x88, 0x2a, 0x8a):
            self.medium(itt, cdb, want)
        elif cdb[0] == 0x35:
            self.respond(itt)
        else:
            self.check(itt, 5, 0x20, 0)

    def serve(self):
        self.login()
        while True:
            self.header, _ = self.next_pdu()
            opcode = self.header[0] & 0x3f
            itt, = struct.unpack(">I", self.header[16:20])
            if opcode == 0x01:
                self.command(self.header)
            elif opcode == 0x04:
                names = [b"iqn.2026-11.lb:scripted"]
                if MODE == "names":
                    names.insert(0, b"iqn.x:a\x1b[31m\xff\nb")
                self.cmd_sn = int.from_bytes(self.header[24:28], "big") + 1
                port = self.sock.getsockname()[1]
                self.send(0x24, 0x80, itt, b"".join(
                    b"TargetName=%s\0TargetAddress=127.0.0.1:%d,1\0" % (n, port) for n in names))
            elif opcode == 0x06:
                self.send(0x26, 0x80, itt)
                return


def run(sock):
    try:
        Session(sock).serve()
    except (EOFError, OSError):
        pass
    sock.close()


listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
listener.bind(("127.0.0.1", 0))
listener.listen(16)
print(listener.getsockname()[1], flush=True)
while True:
    threading.Thread(target=run, args=(listener.accept()[0],), daemon=True).start()
