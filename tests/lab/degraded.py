#!/usr/bin/env python3
"""The series of a run whose array lost a member and got it back: degraded.py RESULT."""
import json
import sys

FAIL_S, REPLACE_S, LATE_S = 6, 9, 0.5


def mean(values):
    return sum(values) / len(values)


def main():
    with open(sys.argv[1]) as f:
        ours = json.load(f)["lunbench"]
    start = ours["run"]["groups"][0]["start_ns"]
    events = [((e["at_ns"] - start) / 1e9, e["text"]) for e in ours["events"] if e["kind"] == "array"]
    for at, text in events:
        print(f"{at:.3f} s: {text}")
    assert len(events) == 4, "four events: failed, blank, rebuild starts, rebuild done"
    device = events[0][1].split("(")[1].split(")")[0]
    assert [text.split(" after")[0] for _, text in events] == [
        f"member 2 ({device}) failed",
        f"member 2 ({device}) is there as a blank disk",
        "rebuild of member 2 starts",
        "rebuild of member 2 is done",
    ]
    times = [at for at, _ in events]
    assert times == sorted(times)
    assert FAIL_S <= times[0] < FAIL_S + LATE_S, "not at the asked time"
    assert REPLACE_S <= times[1] < REPLACE_S + LATE_S, "not at the asked time"
    done = times[3]
    took = float(events[3][1].split(" after ")[1].split(" s")[0])
    assert abs(done - times[2] - took) < 0.05, "it says another time than it took"
    assert done < 24, "the rebuild leaves too little of the run behind it"

    series = ours["rows"][0]["series"]
    assert series["interval_ns"] == 10**9
    ios = [r + w for r, w in zip(series["read"]["ios"], series["write"]["ios"])]
    print("I/Os of each second:", ios)
    before = mean(ios[1:FAIL_S])
    degraded = mean(ios[FAIL_S + 1 : REPLACE_S])
    rebuild = mean(ios[REPLACE_S + 1 : int(done)])
    after = mean(ios[int(done) + 1 : 28])
    print(f"before {before:.0f}, degraded {degraded:.0f}, rebuild {rebuild:.0f}, after {after:.0f} a second")
    assert degraded < 0.85 * before, "no dip while degraded"
    assert rebuild < 0.85 * before, "no dip in the rebuild"
    assert 0.9 * before < after < 1.1 * before, "no return"


main()
