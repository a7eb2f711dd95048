#!/usr/bin/env python3
"""check_page.py DOM REFERENCE RESULT...: the page as Chromium has it, with
probe.js's findings in it, beside the published table and the result files (in
the set's order): every figure of its tables and every value that its charts
drew must be those of the files."""
import collections
import html.parser
import json
import math
import re
import statistics
import sys

COUNTS = {"": 1, "k": 1e3, "M": 1e6}
TIMES = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
T975 = {1: 12.7062, 2: 4.30265, 3: 3.18245, 4: 2.77645, 7: 2.364624,
        24: 2.063899}


class Page(html.parser.HTMLParser):
    """Tables by class, in order: a list of rows of (data-value, text)."""

    def __init__(self, text):
        super().__init__()
        self.tables = collections.defaultdict(list)
        self.tags, self.probe, self.text, self.inside = [], "", "", None
        self.heads, self.head = [], None
        self.table = None
        self.captions, self.caption = collections.defaultdict(list), None
        self.in_caption = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.append(tag)
        if tag == "table":
            self.table = []
            self.tables[attrs["class"]].append(self.table)
            self.captions[attrs["class"]].append("")
            self.caption = self.captions[attrs["class"]]
        elif tag == "tr" and self.table is not None:
            self.table.append([])
        elif tag in ("td", "th") and self.table:
            self.table[-1].append([attrs.get("data-value"), ""])
        elif tag == "script":
            self.inside = attrs.get("id", "script")
        elif tag in ("h2", "h3"):
            self.head = ""
        self.in_caption = tag == "caption"

    def handle_endtag(self, tag):
        if tag == "caption":
            self.in_caption = False
        if tag == "script":
            self.inside = None
        elif tag == "table":
            self.table = None
        elif tag in ("h2", "h3"):
            self.heads.append((tag, self.head))
            self.head = None

    def handle_data(self, data):
        if self.inside == "probe":
            self.probe += data
        elif self.inside:
            return
        elif self.in_caption:
            self.caption[-1] += data
        elif self.table and self.table[-1]:
            self.table[-1][-1][1] += data
        if self.head is not None:
            self.head += data
        if not self.inside:
            self.text += data


def same(a, b):
    return math.isclose(float(a), float(b), rel_tol=1e-9, abs_tol=1e-12)


def shown(text, value, scale):
    """The cell's text is the value, rounded to what it shows."""
    number, unit = re.match(r"([0-9.]+) ?([a-zA-Z]*)", text).groups()
    step = 10 ** -(len(number.split(".")[1]) if "." in number else 0)
    assert abs(float(number) - value / scale[unit]) <= step * 0.5001, \
        (text, value)


def interval(values):
    """Half of the 95 % interval of the mean; None without repeats."""
    n = len(values)
    if n < 2 or statistics.stdev(values) == 0:
        return None
    return T975[n - 1] * statistics.stdev(values) / math.sqrt(n)


class Figure:
    def __init__(self):
        self.points = []  # (doc, row, op's data, job)

    def values(self, of):
        return [of(v) for _, _, v, _ in self.points if v["ios"]]

    def mean(self, of):
        values = self.values(of)
        return sum(values) / len(values) if values else None


def mb_s(v):
    return v["bytes_per_s"] / 1e6


def latency(key):
    return lambda v: v["latency"][key]


def read_figures(docs):
    """(test, array, name, nth, step, op) -> Figure, in the set's order."""
    figures = {}
    for d in docs:
        own = d["lunbench"]
        test = (own["job"] or "").split("/")[-1]
        array = own["target"].get("array", "")
        seen = collections.Counter()
        for row, job in zip(own["rows"], d["jobs"]):
            for op in ("read", "write", "trim", "flush"):
                v = row["ops"].get(op)
                if not v or row["has_run"] and not v["ios"] and \
                        not v["errors"]:
                    continue
                step = row.get("step_clients", 0)
                place = (row["name"], op, step, row.get("repeat", 1))
                key = (test, array, row["name"], seen[place], step, op)
                seen[place] += 1
                figures.setdefault(key, Figure()).points.append(
                    (d, row, v, job))
    return figures


def name_of(key):
    _, _, name, nth, step, op = key
    if name.endswith("-" + op):
        name = name[:-len(op) - 1]
    return name + (f", {step} client{'s' * (step != 1)}" if step else "") + \
        (f" #{nth + 1}" if nth else "") + " " + op


def check_mean(cell, values, scale, with_interval=True):
    mean = sum(values) / len(values)
    assert same(cell[0], mean), (cell, mean)
    shown(cell[1], mean, scale)
    half = interval(values) if with_interval else None
    assert (half is not None) == ("±" in cell[1]), (cell, half)
    if half is not None:
        number = cell[1].split("±")[1].strip()
        digits, unit = re.match(r"([0-9.]+) ?([a-zA-Z]*)", number).groups()
        step = 10 ** -(len(digits.split(".")[1]) if "." in digits else 0)
        wanted = half / scale[unit]
        # T975 has six digits.
        assert abs(float(digits) - wanted) <= step * 0.51 + wanted * 1e-5, \
            (number, half)


def check_line(cells, key, figure, has_arrays):
    if has_arrays:
        assert cells.pop(0)[1] == key[1], (cells, key)
    _, row, v, _ = figure.points[0]
    assert cells[0][1].rstrip(" *") == name_of(key), (cells[0], key)
    measured = figure.values(lambda v: v)
    if not measured:
        assert len(cells) == 2 and cells[1][1], cells
        return
    assert same(cells[2][0], row["total_depth"])
    assert same(cells[3][0], row["fairness"]["clients"])
    assert same(cells[4][0], len(measured))
    if key[5] == "flush":
        assert cells[1][0] is None and cells[5][0] is None, cells
    else:
        ios = sum(v["ios"] for v in measured)
        assert same(cells[1][0], sum(v["bytes"] for v in measured) / ios)
        check_mean(cells[5], figure.values(mb_s), COUNTS)
    check_mean(cells[6], figure.values(lambda v: v["ios_per_s"]), COUNTS,
               key[5] == "flush")
    for cell, what in ((7, "mean_ns"), (9, "p99_ns")):
        check_mean(cells[cell], figure.values(latency(what)), TIMES)
    assert same(cells[8][0], figure.mean(latency("p50_ns")))
    assert same(cells[10][0], figure.mean(latency("p99_9_ns")))
    assert same(cells[11][0], max(figure.values(latency("max_ns"))))
    cpu = [r["cpu"] for _, r, v, _ in figure.points if v["ios"] and r["cpu"]]
    assert (cells[12][0] is not None) == bool(cpu), cells[12]
    if cpu:
        assert same(cells[12][0], sum(c["user_ns_per_io"] +
                                      c["system_ns_per_io"]
                                      for c in cpu) / len(cpu))
    assert same(cells[13][0], sum(v["errors"] for _, _, v, _ in
                                  figure.points))


def check_figures(page, figures):
    tests = list(dict.fromkeys(k[0] for k in figures))
    has_arrays = len({k[1] for k in figures}) > 1
    assert len(page.tables["figures"]) == len(tests)
    for table, test in zip(page.tables["figures"], tests):
        wanted = [(k, f) for k, f in figures.items() if k[0] == test]
        assert len(table) - 1 == len(wanted), (len(table), len(wanted))
        for cells, (key, figure) in zip(table[1:], wanted):
            check_line(list(cells), key, figure, has_arrays)


def view_of(figure):
    return figure.points[0][1].get("view", "")


def check_tests(page, figures):
    """CrystalDiskMark's table: of each test best, mean, median of its runs."""
    wanted = {}  # test -> array -> figures
    for key, f in figures.items():
        if view_of(f) == "cdm" and key[5] != "flush":
            wanted.setdefault(key[0], {}).setdefault(key[1], []).append(
                (key, f))
    assert len(page.tables["tests"]) == len(wanted)
    n = 0
    for table, arrays in zip(page.tables["tests"], wanted.values()):
        lines = iter(table[1:])
        for array, of_array in arrays.items():
            group = next(lines)
            assert len(group) == 1 and group[0][1].strip() == array, \
                (group, array)
            for key, f in of_array:
                cells = next(lines)
                assert cells[0][1] == name_of(key), (cells[0], key)
                rates, ios = f.values(mb_s), f.values(
                    lambda v: v["ios_per_s"])
                means = f.values(latency("mean_ns"))
                for cell, value, scale in (
                        (1, max(rates), COUNTS),
                        (3, statistics.median(rates), COUNTS),
                        (4, max(ios), COUNTS), (5, min(means), TIMES)):
                    assert same(cells[cell][0], value), (cells, cell, value)
                    shown(cells[cell][1], value, scale)
                check_mean(cells[2], rates, COUNTS)
                check_mean(cells[6], means, TIMES)
                assert same(cells[7][0], len(rates))
                n += 1
        assert next(lines, None) is None
    return n


def ranks(values):
    return {k: 1 + sum(w > v for w in values.values())
            for k, v in values.items()}


def check_published(page, figures, reference):
    """The copies beside the published table: both MB/s, what they are of each
    other and of RAID 0, and both ranks."""
    copies = {k[0] for k, f in figures.items() if view_of(f) == "copy"}
    published = collections.defaultdict(dict)
    for line in reference:
        test, protocol, volume, up, down = line.strip().split(",")
        if protocol == "iscsi" and test in copies:
            published[test, "up"][volume] = float(up)
            published[test, "down"][volume] = float(down)
    here = collections.defaultdict(dict)
    for (test, array, name, _, _, op), f in figures.items():
        if view_of(f) == "copy" and op != "flush" and f.mean(mb_s):
            here[test, name][array] = f
    tables = dict(zip(page.captions["published"], page.tables["published"]))
    assert set(tables) == {f"{t}, {way}" for t, way in published}, \
        (set(tables), set(published))
    n = 0
    for (test, way), theirs in published.items():
        ours = here[test, way]
        both = [v for v in theirs if v in ours]
        lines = {cells[0][1]: cells for cells in
                 tables[f"{test}, {way}"][2:]}
        assert set(both) <= set(lines) <= set(theirs), (set(lines), both)
        our_rank = ranks({v: ours[v].mean(mb_s) for v in both})
        their_rank = ranks({v: theirs[v] for v in both})
        for volume, cells in lines.items():
            assert same(cells[2][0], theirs[volume]), (cells, volume)
            shown(cells[2][1], theirs[volume], COUNTS)
            if volume not in both:
                assert cells[1][0] is None and "not measured" in cells[3][1]
                continue
            check_mean(cells[1], ours[volume].values(mb_s), COUNTS)
            mean = ours[volume].mean(mb_s)
            for cell, value in (
                    (3, mean / theirs[volume]),
                    (4, mean / ours["raid0"].mean(mb_s)),
                    (5, theirs[volume] / theirs["raid0"]),
                    (6, our_rank[volume]), (7, their_rank[volume])):
                assert math.isclose(float(cells[cell][0]), value,
                                    rel_tol=1e-9), (cells, cell, value)
                shown(cells[cell][1], value, COUNTS)
            agrees = our_rank[volume] == their_rank[volume]
            assert cells[8][1].strip() == ("agrees" if agrees else "differs"), cells
            n += 1
    return n


# --- charts ---


def by_kind(charts):
    found = collections.defaultdict(list)
    for c in charts:
        found[c["spec"]["title"]].append(c)
    return found


def check_drawn(charts):
    """What Chart.js holds is what the page says, and it is to be seen."""
    for c in charts:
        spec = c["spec"]
        assert c["drawn"], f"{spec['title']} was not drawn"
        assert spec["series"], f"{spec['title']} is empty"
        assert c["inked"] > 1500 and c["colors"] > 2, \
            (spec["title"], c["inked"], c["colors"])
        assert c["table"], f"{spec['title']} has no table beside it"
        for s, d in zip(spec["series"], c["datasets"]):
            assert s["name"] == d["label"]
            if spec["kind"] == "lines":
                assert [[p["x"], p["y"]] for p in d["data"]] == \
                    [p[:2] for p in s["data"]]
            else:
                assert d["data"] == [v and v[0] for v in s["data"]]


def check_sweeps(charts, figures):
    """Throughput and response time of each array and step."""
    steps = collections.defaultdict(dict)
    for (test, array, name, _, step, _), f in figures.items():
        if step:
            for d, row, v, _ in f.points:
                if v["ios"]:
                    steps[array].setdefault(step, {})[
                        id(d), row.get("repeat", 1)] = row
    drawn = by_kind(charts)
    for title, of in (
            ("Throughput against clients",
             lambda r: sum(mb_s(v) for v in r["ops"].values())),
            ("Response time against clients",
             lambda r: sum(v["ios"] * v["latency"]["mean_ns"]
                           for v in r["ops"].values()) /
             sum(v["ios"] for v in r["ops"].values()))):
        if not steps:
            assert title not in drawn
            continue
        series = {s["name"]: s for s in drawn[title][0]["spec"]["series"]}
        assert set(series) == set(steps), (set(series), set(steps))
        for array, wanted in steps.items():
            points = {p[0]: p for p in series[array]["data"]}
            assert set(points) == set(wanted)
            for step, rows in wanted.items():
                values = [of(r) for r in rows.values()]
                assert same(points[step][1], sum(values) / len(values))
                half = interval(values)
                assert len(points[step]) == (4 if half else 2)
                if half:
                    assert math.isclose(
                        points[step][3] - points[step][1], half, rel_tol=1e-4)


def check_bars(charts, figures):
    """Charts of throughput: their rows are "name op", their series arrays."""
    for c in charts:
        spec = c["spec"]
        if spec["title"] != "Throughput":
            continue
        for s in spec["series"]:
            for row, value in zip(spec["rows"], s["data"]):
                wanted = [f for k, f in figures.items()
                          if name_of(k) == row and (k[1] or s["name"]) ==
                          s["name"]]
                assert value is None or any(
                    f.mean(mb_s) and same(value[0], f.mean(mb_s))
                    for f in wanted), (row, value)
    for key, f in figures.items():
        if view_of(f) == "bars" and f.mean(mb_s):
            chart = [c["spec"] for c in charts
                     if c["spec"]["title"] == key[1] and
                     c["spec"]["kind"] == "bars"][0]
            series = {s["name"]: s["data"] for s in chart["series"]}
            value = series[key[5]][chart["rows"].index(
                name_of(key).rsplit(" ", 1)[0])]
            assert same(value[0], f.mean(mb_s)), (key, value)


def check_steady(page, charts, docs):
    """Each round is drawn, its last five are marked, and the rules hold."""
    rounds = {}  # (array, row) -> IOPS of each round
    for d in docs:
        own = d["lunbench"]
        if own.get("repeats", {}).get("until") != "steady":
            continue
        for row in own["rows"]:
            rounds.setdefault((own["target"].get("array", ""), row["name"]),
                              []).append(sum(v["ios_per_s"] for v in
                                             row["ops"].values()))
    lines = {(r[0][1], r[1][1].split(": ")[-1]): r
             for t in page.tables["steady"] for r in t[1:]}
    assert set(lines) == set(rounds), (set(lines), set(rounds))
    drawn = [c["spec"] for c in charts if c["spec"]["x"]["title"] == "round"]
    assert len(drawn) == len({name for _, name in rounds})
    for (array, name), x in rounds.items():
        spec = [c for c in drawn if c["title"].endswith(name)][0]
        series = [s for s in spec["series"] if s["name"] == array][0]
        assert [p[0] for p in series["data"]] == list(range(1, len(x) + 1))
        assert all(same(p[1], v) for p, v in zip(series["data"], x))
        assert {"at": len(x) - 4, "text": array + ": the last five",
                "color": series["color"]} in spec["events"], spec["events"]
        last, cells = x[-5:], lines[array, name]
        mean = statistics.mean(last)
        spread = (max(last) - min(last)) / mean
        slope = sum((i - 2) * (v - mean) for i, v in enumerate(last)) / 10
        rise = abs(slope) * 4 / mean
        assert same(cells[2][0], len(x)) and same(cells[3][0], mean)
        for cell, value in ((4, spread), (5, rise)):
            assert math.isclose(float(cells[cell][0]), 100 * value,
                                rel_tol=1e-9, abs_tol=1e-9), (cells, value)
        wanted = spread <= .2 and rise <= .1
        assert cells[6][1].strip() == ("steady" if wanted else "not steady")
    return sorted(f"{a} {n} {r[6][1].strip()}" for (a, n), r in lines.items())


def check_curves(charts):
    curves = [s for c in charts if c["spec"]["kind"] == "lines" and
              c["spec"]["x"]["unit"] == "percentile"
              for s in c["spec"]["series"]]
    for s in curves:
        assert all(a[1] <= b[1] for a, b in zip(s["data"], s["data"][1:]))
    return curves


def check_series(charts, docs):
    """No byte is lost: the area below the lines is what was done."""
    charts = [c["spec"] for c in charts if c["spec"].get("plain")]
    total = sum(sum(row["series"][op]["bytes"])
                for d in docs for row in d["lunbench"]["rows"]
                for op in ("read", "write", "trim") if op in row["series"])
    drawn = 0
    for c in charts:
        for s in c["series"]:
            drawn += sum(p[1] for p in s["data"]) * s["seconds"] * 1e6
    assert math.isclose(drawn, total, rel_tol=0.02), (drawn, total)
    events = [e for d in docs for e in d["lunbench"]["events"]
              if e["kind"] != "phase"]
    told = [e["text"] for c in charts for e in c.get("events", [])]
    for e in events:
        assert any(t.endswith(e["text"]) for t in told), e


def main():
    with open(sys.argv[1]) as f:
        page = Page(f.read())
    docs = []
    for path in sys.argv[3:]:
        with open(path) as f:
            docs.append(json.load(f))
    figures = read_figures(docs)
    probe = json.loads(page.probe)
    charts = probe["charts"]

    check_figures(page, figures)
    tests = check_tests(page, figures)
    with open(sys.argv[2]) as f:
        beside = check_published(page, figures, f.readlines()[1:])
    check_drawn(charts)
    check_sweeps(charts, figures)
    check_bars(charts, figures)
    steady = check_steady(page, charts, docs)
    curves = check_curves(charts)
    assert curves
    maxima = {max(v["latency"]["max_ns"] for _, _, v, _ in f.points
                  if v["latency"])
              for f in figures.values() if f.values(lambda v: v)}
    for s in curves:
        assert s["data"][-1][1] in maxima, (s["name"], s["data"][-1])
    check_series(charts, docs)
    for d in docs:
        for w in d["lunbench"]["warnings"][:3]:
            assert w in page.text, w
        for w in d["lunbench"].get("departs", []):
            assert w in page.text, w
    assert not {"img", "iframe", "b", "i", "link", "object"} & set(page.tags)
    assert not probe["wide"], "the page is wider than its window"
    print(json.dumps({
        "dark": probe["dark"], "ms": probe["ms"], "tests": tests,
        "beside": beside, "steady": steady,
        "charts": sorted(c["spec"]["title"] for c in charts),
        "sections": [h for t, h in page.heads if t == "h2"]}))


main()
