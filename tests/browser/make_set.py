#!/usr/bin/env python3
"""make_set.py BASE FOLDER: from one result (result_aid's) the set of a review,
with known figures: `netbench` swept over four arrays, three repeats in each
file; `atto`, `cdm` and the copies over four; one array that failed, one that never
was, a member that failed in another, one file cut off, one that is no result.
Always the same."""
import copy
import json
import os
import random
import sys

ARRAYS = ["raid0", "raid10", "single", "raid5"]
PEAK = {"raid0": 480.0, "raid10": 430.0, "single": 300.0, "raid5": 245.0}
KNEE = {"raid0": 30, "raid10": 36, "single": 24, "raid5": 20}
STEPS = [1] + list(range(4, 61, 4))
REPEATS = 3


def scale_times(o, k):
    """A latency of fio's, every time in it times k."""
    for key in ("min", "max"):
        o[key] = round(o[key] * k)
    for key in ("mean", "stddev"):
        o[key] *= k
    for key in ("percentile", "bins"):
        if key in o:
            values = {}
            for name, value in o[key].items():
                if key == "bins":
                    name = str(round(int(name) * k))
                    values[name] = values.get(name, 0) + value
                else:
                    values[name] = round(value * k)
            o[key] = values


def scaled(base, index, rate, time):
    """Row and job @index of the base, its rates and times multiplied."""
    row = copy.deepcopy(base["lunbench"]["rows"][index])
    job = copy.deepcopy(base["jobs"][index])
    for op in row["ops"].values():
        for key in ("bytes_per_s", "ios_per_s"):
            op[key] *= rate
        for key in op["latency"] or {}:
            if key != "of":
                op["latency"][key] *= time
                if key != "mean_ns":
                    op["latency"][key] = round(op["latency"][key])
    for op in ("read", "write", "trim", "sync"):
        for key in ("clat_ns", "lat_ns"):
            if key in job.get(op, {}) and job[op][key].get("N"):
                scale_times(job[op][key], time)
    for name, series in row["series"].items():
        if isinstance(series, dict):
            series["bytes"] = [round(b * rate) for b in series["bytes"]]
            series["ios"] = [round(b * rate) for b in series["ios"]]
    return row, job


class Result:
    """A document that rows are added to, each a group of its own."""

    def __init__(self, base, job, array):
        self.base, self.doc = base, copy.deepcopy(base)
        own = self.doc["lunbench"]
        own["job"], own["target"] = job, {
            "array": array, "members": "4x64M@hdd", "store": "rdwr",
            "durable": "yes", "settings": "tuned", "tgt": "1.0.85",
            "chunk": "64K" if array.startswith("raid") else ""}
        own["url"] = "iscsi://127.0.0.1:41000/iqn.x:%s/1" % array
        own["rows"], self.doc["jobs"], own["run"]["groups"] = [], [], []
        own["checks"], own["events"] = [], []
        own["warnings"] = ["the target is at a loopback address"]
        own["checks"] = [{"check": "own_machine", "row": None, "op": None,
                          "ok": False, "value": 1, "limit": 0}]
        own["plan"]["rows"] = []

    def add(self, name, index, rate, time, ops=None, **more):
        row, job = scaled(self.base, index, rate, time)
        own = self.doc["lunbench"]
        groups = own["run"]["groups"]
        start = groups[-1]["end_ns"] if groups else 0
        seconds = len(next(v for v in row["series"].values()
                           if isinstance(v, dict))["bytes"])
        groups.append({"start_ns": start, "end_ns": start + seconds * 10**9})
        for op in list(row["ops"]):
            if ops and op not in ops:
                del row["ops"][op]
                row["series"].pop(op, None)
        row.update(name=name, group=len(groups) - 1, groupid=len(groups) - 1,
                   **more)
        job["jobname"] = name
        own["rows"].append(row)
        self.doc["jobs"].append(job)

    def event(self, at_s, text):
        self.doc["lunbench"]["events"].append(
            {"at_ns": round(at_s * 1e9), "kind": "notice", "group": 0,
             "text": text})

    def write(self, path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            json.dump(self.doc, f)


def curve(array, clients):
    """MB/s: a rise to the knee, then as the mode is."""
    peak, knee = PEAK[array], KNEE[array]
    if clients <= knee:
        return peak * (clients / knee) ** 0.7
    fall = {"single": 0.004, "raid5": 0.006, "raid10": 0, "raid0": -0.0008}
    return peak * (1 - fall[array] * (clients - knee))


def netbench(base, folder, chance):
    rate = sum(o["bytes_per_s"] for o in
               base["lunbench"]["rows"][0]["ops"].values()) / 1e6
    for array in ARRAYS:
        r = Result(base, "netbench", array)
        r.doc["lunbench"]["departs"] = [
            "this is not NetBench: raw blocks, no SMB, no file system"]
        for repeat in range(1, REPEATS + 1):
            for n in STEPS:
                mb_s = curve(array, n) * chance.gauss(1, 0.012)
                r.add("load", 0, mb_s / rate, n / mb_s * 20, repeat=repeat,
                      step_clients=n)
                row = r.doc["lunbench"]["rows"][-1]
                row["fairness"]["clients"] = row["total_depth"] = n
                row["iodepth"] = 1
        if array == "raid5":
            r.event(300.5, "member 2 failed")
            r.event(450.25, "rebuild of member 2 started")
        r.write(f"{folder}/{array}/netbench.json")


def others(base, folder, chance):
    rate = base["lunbench"]["rows"][0]["ops"]["read"]["bytes_per_s"] / 1e6
    for array in ARRAYS:
        r = Result(base, "atto", array)
        r.doc["lunbench"]["departs"] = ["bandwidth over the whole window"]
        for i in range(15):
            size = 2.0 ** (i - 1)
            mb_s = PEAK[array] * size / (size + 24)
            name = "%g KiB" % size if size < 1024 else "%g MiB" % (size / 1024)
            r.add(name + "-write", 0, mb_s / rate, 1, ["write"], view="bars")
            r.add(name + "-read", 0, mb_s / rate, .8, ["read"], view="bars")
        r.write(f"{folder}/{array}/atto.json")
        r = Result(base, "cdm", array)
        r.doc["lunbench"]["departs"] = [
            "this is not CrystalDiskMark: no file, no 5 s pause"]
        for op in ("read", "write"):
            for name, k in (("SEQ1M Q8T1", 1), ("SEQ1M Q1T1", .7),
                            ("RND4K Q32T1", .05), ("RND4K Q1T1", .01)):
                for repeat in range(1, 6):
                    mb_s = PEAK[array] * k * chance.gauss(1, 0.02)
                    r.add(name, 0, mb_s / rate, 1 / k ** .5, [op],
                          view="cdm", repeat=repeat)
        r.write(f"{folder}/{array}/cdm.json")
        for copy_, k in (("large", .2), ("medium", .1), ("small", .002)):
            r = Result(base, "copy-" + copy_, array)
            for repeat in range(1, 4):
                for name, op in (("up", "write"), ("down", "read")):
                    r.add(name, 0,
                          PEAK[array] * k * chance.gauss(1, 0.02) / rate, 1,
                          [op], view="copy", repeat=repeat)
            r.write(f"{folder}/{array}/copy-{copy_}.json")


def steady(base, folder):
    """Rounds of two rows: on one array steady after eight, on another never."""
    rate = base["lunbench"]["rows"][0]["ops"]["read"]["ios_per_s"]
    for array, rounds, steady_at in (("raid0", 8, 4), ("raid5", 25, 99)):
        r = Result(base, "pts", array)
        r.doc["lunbench"]["repeats"] = {
            "passes": rounds, "until": "steady", "reached": steady_at < 9}
        for i in range(1, rounds + 1):
            for name, op in (("rnd4k-read", "read"), ("rnd4k-write", "write")):
                iops = 4000 if op == "read" or i >= steady_at else \
                    9000 - 150 * i + 1200 * (i % 2)
                r.add(name, 0, iops / rate, 1, [op], repeat=i)
                r.doc["jobs"][-1].setdefault("job options", {})["until"] = \
                    "steady"
        r.write(f"{folder}/{array}/pts.json")


def failed(base, folder):
    """One array whose run ended with an error before its second row."""
    r = Result(base, "netbench", "raid6")
    r.add("load", 0, 1, 1, repeat=1, step_clients=1)
    r.add("load", 0, 1, 1, repeat=1, step_clients=4)
    own = r.doc["lunbench"]
    own["run"].update(end="failed", error={
        "errno": 5, "text": "\"iscsi://127.0.0.1\": the session is lost"})
    row = own["rows"][1]
    row.update(has_run=False, cpu=None)
    for op in row["ops"].values():
        op.update(ios=0, bytes=0, bytes_per_s=0.0, ios_per_s=0.0, latency=None)
    r.write(f"{folder}/raid6/netbench.json")
    with open(f"{folder}/raid6/cut.json", "w") as f:
        f.write(json.dumps(r.doc)[:2000])
    with open(f"{folder}/raid6/foreign.json", "w") as f:
        f.write('{"name": "foreign"}\n')
    with open(f"{folder}/set.json", "w") as f:
        json.dump({
            "lunbench_set": 1, "version": "0.1", "place": "lab",
            "command": ["netbench", "--array=raid0,raid1", "--out", "a set"],
            "runs": [{"name": "raid1 netbench", "plan": "", "status": 3,
                      "file": "raid1/netbench.json", "state": "failed",
                      "error": "mdadm: no <such> device"}]}, f)


def main():
    with open(sys.argv[1]) as f:
        base = json.load(f)
    chance = random.Random(7)
    parts = sys.argv[3:] or ["netbench", "others", "steady", "failed"]
    if "netbench" in parts:
        netbench(base, sys.argv[2], chance)
    if "others" in parts:
        others(base, sys.argv[2], chance)
    if "steady" in parts:
        steady(base, sys.argv[2])
    if "failed" in parts:
        failed(base, sys.argv[2])


main()
