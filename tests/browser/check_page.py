#!/usr/bin/env python3
"""check_page.py DOM RESULT...: the page as Chromium has it, with probe.js's
findings in it, beside the result files: figures, charts, text."""
import html.parser
import json
import math
import re
import sys


class Page(html.parser.HTMLParser):
    """Rows of the table of figures; the probe; every element's name."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.tags, self.probe, self.inside = [], [], "", None
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append(tag)
        if tag == "table":
            self.inside = attrs.get("id")
        if tag == "tr" and self.inside == "figures":
            self.rows.append([])
        if tag == "td" and self.inside == "figures":
            self.rows[-1].append([attrs.get("data-value"), ""])
        if tag == "script":
            self.inside = attrs.get("id")

    def handle_endtag(self, tag):
        if tag in ("script", "table"):
            self.inside = None

    def handle_data(self, data):
        if self.inside == "probe":
            self.probe += data
        elif self.inside == "figures" and self.rows and self.rows[-1]:
            self.rows[-1][-1][1] += data
        else:
            self.text += data


def same(a, b):
    return math.isclose(float(a), float(b), rel_tol=1e-12, abs_tol=0)


def shown(text, value, scale):
    """The cell's text is the value, rounded to what it shows."""
    number, unit = re.fullmatch(r"([0-9.]+) ?([a-zA-Z]*)", text).groups()
    factor = scale[unit]
    step = 10 ** -(len(number.split(".")[1]) if "." in number else 0)
    assert abs(float(number) - value / factor) <= step * 0.5001, (text, value)


COUNTS = {"": 1, "k": 1e3, "M": 1e6}
TIMES = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}

page = Page(open(sys.argv[1]).read())
docs = [json.load(open(f)) for f in sys.argv[2:]]
points = [(r, op, v) for d in docs for r in d["lunbench"]["rows"]
          for op, v in r["ops"].items() if v["ios"] or v["errors"]]
rows = [r for r in page.rows if r]
assert len(rows) == len(points), (len(rows), len(points))
for cells, (row, op, v) in zip(rows, points):
    lat = v["latency"]
    assert cells[0][1].rstrip(" *").split(" (")[0].endswith(" " + op), cells
    if op != "flush":
        assert same(cells[3][0], v["bytes_per_s"] / 1e6), cells
        shown(cells[3][1], v["bytes_per_s"] / 1e6, COUNTS)
    assert same(cells[4][0], v["ios_per_s"])
    shown(cells[4][1], v["ios_per_s"], COUNTS)
    for cell, key in zip(cells[5:10], ["mean_ns", "p50_ns", "p99_ns",
                                       "p99_9_ns", "max_ns"]):
        assert same(cell[0], lat[key]), (cell, key)
        shown(cell[1], lat[key], TIMES)
    assert int(cells[10][1]) == v["errors"]

probe = json.loads(page.probe)
charts = probe["charts"]
assert {"rates", "latencies", "percentiles", "series"} <= set(charts), charts.keys()
for name, c in charts.items():
    assert c["drawn"], f"{name} was not drawn"
    assert c["datasets"], f"{name} is empty"
    assert c["inked"] > 2000 and c["colors"] > 2, (name, c["inked"], c["colors"])


def bar(chart, cells, op, field=""):
    """The value of the bar that belongs to a line of the table."""
    c = charts[chart]
    label = cells[0][1].rstrip(" *")
    row = re.sub(rf" {op}( \([^()]*\))?$", r"\1", label)
    found = [d["data"][c["labels"].index(row)] for d in c["datasets"]
             if d["label"] == f"{op} {field}".rstrip()]
    return found[0] if found else None


for i, (cells, (row, op, v)) in enumerate(zip(rows, points)):
    drawn = bar("rates", cells, op)
    assert op == "flush" and drawn is None or \
        same(drawn, v["bytes_per_s"] / 1e6), (drawn, v)
    assert same(bar("latencies", cells, op, "mean"), v["latency"]["mean_ns"])
    assert same(bar("latencies", cells, op, "p99"), v["latency"]["p99_ns"])
    curve = charts["percentiles"]["datasets"][i]["data"]
    assert curve[-1]["y"] == v["latency"]["max_ns"], (curve[-1], v["latency"])
    near = min(curve, key=lambda c: abs(math.log(c["x"] / 2)))
    assert abs(near["x"] - 2) < 1e-9 and near["y"] == v["latency"]["p50_ns"]
series = [d for d in charts["series"]["datasets"] if len(d["data"]) > 1]
wanted = [(r["series"][op]["bytes"], r["series"]["interval_ns"])
          for r, op, v in points if op != "flush"]
assert len(series) == len(wanted)
for d, (values, interval) in zip(series, wanted):
    assert [round(p["y"] * interval / 1e3) for p in d["data"]] == values
for d in docs:
    for w in d["lunbench"]["warnings"]:
        assert w in page.text, w
assert not {"img", "iframe", "b", "i", "link", "object"} & set(page.tags)
assert not probe["wide"], "the page is wider than its window"
print(json.dumps({"dark": probe["dark"], "charts": sorted(charts)}))
