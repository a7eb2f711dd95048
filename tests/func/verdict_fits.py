#!/usr/bin/env python3
"""verdict_fits.py RESULT [WHAT...]: each row's bottleneck and its evidence agree.

Says each row's verdict. Which one it is, is the machine's mood; that nothing is
said without its evidence, and nothing unsaid that has it, is not. WHAT: the
verdicts that may come; "none" for the one that is not known.
"""
import json
import sys

LIMITS = {"cpu": 90, "host": 95, "busy": 90, "queue": 0.9, "wait": 0.25, "stage": 0.5}


def signs(row, transport):
    """What the row's figures show, each by itself."""
    beside = row.get("beside", {})
    host, target = beside.get("host"), beside.get("target")
    disks = beside.get("disks")
    workers = [w["core_percent"] + w["starved_percent"] for w in (row["cpu"] or {}).get("workers", [])]
    went = row.get("wire", {}).get("time_went")
    window = row["command_window"]
    law = row["littles_law"]
    found = set()
    if not law:
        return {"none"}
    if workers and max(workers) >= LIMITS["cpu"]:
        found.add("initiator cpu")
    if target and target["busiest_thread_percent"] + \
            target["busiest_thread_starved_percent"] >= LIMITS["cpu"]:
        found.add("target cpu")
    if host and workers and \
            host["used_percent"] + host["steal_percent"] >= LIMITS["host"]:
        found.add("host")
    if any(d["busy_percent"] >= LIMITS["busy"] and d["queue_mean"] >= LIMITS["queue"]
           for d in disks or []):
        found.add("member disks")
    if window and window["held_mean"] >= LIMITS["wait"] * window["outstanding_mean"]:
        found.add("window")
    if went and went["r2t_wait"] >= LIMITS["wait"]:
        found.add("r2t")
    if went and went["sending"] >= LIMITS["stage"]:
        found.add("wire")
    if row["pace"] == "open" and law["n_measured"] < 0.9 * row["total_depth"]:
        found.add("pace")
    if found:
        return found
    # Nothing is at its limit, as far as it was seen.
    near = transport != "iscsi" or target
    if workers and host and disks is not None and near:
        return {"depth" if law["n_measured"] >= 0.5 * row["total_depth"] else "none"}
    return {"target" if went and went["target"] >= LIMITS["stage"] else "none"}


def main():
    own = json.load(open(sys.argv[1], encoding="utf-8"))["lunbench"]
    may = set(sys.argv[2:])
    for row in own["rows"]:
        verdict = row["bottleneck"]
        what = verdict.get("what", "none")
        print(f"{row['name']}: {what}: {verdict['why']}")
        assert verdict["why"] and not verdict["why"].endswith("."), verdict
        assert not may or what in may, f"{what} is not among {sorted(may)}"
        if own["transport"] == "sim":
            continue
        found = signs(row, own["transport"])
        if "host" in found:  # who uses most of it is not looked at here
            found |= {"initiator cpu", "target cpu", "host cpu"}
        assert what in found, f"{what}, but the figures show {sorted(found)}"
        cpu = {"initiator cpu", "target cpu", "host cpu"}
        if found & cpu and "pace" not in found:
            assert what in cpu, f"{what} before {sorted(found & cpu)}"


main()
