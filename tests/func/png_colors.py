#!/usr/bin/env python3
"""png_colors.py PICTURE BANDS COLOR...: cuts the picture into that many bands
from the top; a line a band: how many of its pixels have each colour (rrggbb),
give or take what smoothing leaves of it in the middle of a line."""
import struct
import sys
import zlib

CHANNELS = {2: 3, 6: 4}


def chunks(data):
    at = 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        yield kind, data[at + 8:at + 8 + size]
        at += 12 + size


def unfilter(kind, line, above, step):
    """A line of pixels of what the file has (PNG's filters 0 to 4)."""
    for i in range(len(line) if kind else 0):
        left = line[i - step] if i >= step else 0
        up, corner = above[i], above[i - step] if i >= step else 0
        if kind == 4:
            p = left + up - corner
            guess = min((left, up, corner), key=lambda v: abs(p - v))
        else:
            guess = (0, left, up, (left + up) // 2)[kind]
        line[i] = (line[i] + guess) & 255
    return line


def lines(path):
    with open(path, "rb") as f:
        data = f.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    packed, width, step = b"", 0, 0
    for kind, body in chunks(data):
        if kind == b"IHDR":
            width, _, depth, color, _, _, laced = struct.unpack(
                ">IIBBBBB", body)
            assert depth == 8 and not laced, (depth, laced)
            step = CHANNELS[color]
        elif kind == b"IDAT":
            packed += body
    raw, above = zlib.decompress(packed), bytearray(width * step)
    for at in range(0, len(raw), width * step + 1):
        above = unfilter(raw[at], bytearray(raw[at + 1:at + 1 + width * step]),
                         above, step)
        yield [above[i:i + 3] for i in range(0, len(above), step)]


def main():
    bands = int(sys.argv[2])
    colors = [bytes.fromhex(c) for c in sys.argv[3:]]
    rows = list(lines(sys.argv[1]))
    for band in range(bands):
        counts = [0] * len(colors)
        for row in rows[band * len(rows) // bands:
                        (band + 1) * len(rows) // bands]:
            for pixel in map(bytes, row):
                if pixel == b"\xff\xff\xff":
                    continue
                for i, color in enumerate(colors):
                    counts[i] += all(abs(a - b) < 12 for a, b in
                                     zip(pixel, color))
        print(*counts)


main()
