#!/usr/bin/env python3
"""Our result beside fio's own output and beside its schema.

result_keys.py superset OURS FIO...   every key of fio's is in ours, same type
result_keys.py schema OURS SCHEMA     ours is valid, and spoilt ones are not
result_keys.py fio SCHEMA FIO...      fio's own jobs[] fit our schema's job
result_keys.py plot OURS              what fio-plot reads is there
"""
import copy
import json
import math
import sys

import jsonschema


def load(path):
    def refuse(word):
        raise ValueError(f"{path}: {word} is not JSON")

    with open(path, encoding="utf-8") as f:
        return json.load(f, parse_constant=refuse)


def kinds(value, path=(), into=None):
    """{path: type} of everything, all entries of jobs[] as one."""
    into = {} if into is None else into
    if isinstance(value, dict):
        into[path] = "object"
        for key, v in value.items():
            kinds(v, path + (key,), into)
    elif isinstance(value, list):
        into[path] = "array"
        for v in value:
            kinds(v, path + ("[]",), into)
    else:
        into[path] = type(value).__name__
    return into


def varies(path):
    """Keys that are data: options, percentiles that were asked for, bins."""
    return any(p in path for p in ("job options", "global options", "bins"))


def superset(ours, *fios):
    have = kinds(load(ours))
    bad = 0
    compared = 0
    for fio in fios:
        for path, kind in kinds(load(fio)).items():
            if varies(path):
                continue
            compared += 1
            if have.get(path) != kind:
                print(f"{fio}: {'/'.join(path)} is {kind}, ours "
                      f"{have.get(path, 'missing')}")
                bad += 1
    # a whole job has some 190; an empty comparison proves nothing
    if compared < 190 * len(fios):
        print(f"only {compared} keys compared")
        bad += 1
    return bad


def spoilt(document):
    """(what, document) of some damages that the schema must notice."""
    def changed(what, change):
        d = copy.deepcopy(document)
        change(d)
        return what, d

    yield changed("foreign key", lambda d: d["lunbench"].update(extra=1))
    yield changed("row's key gone", lambda d: d["lunbench"]["rows"][0].pop("cpu"))
    yield changed("no bandwidth", lambda d: d["jobs"][0]["read"].pop("bw"))
    yield changed("number as text",
                  lambda d: d["jobs"][0]["read"].update(iops="5"))
    yield changed("option as number",
                  lambda d: d["jobs"][0]["job options"].update(iodepth=4))
    yield changed("other version", lambda d: d["lunbench"].update(schema=2))
    yield changed("negative", lambda d: d["jobs"][0].update(error=-5))


def schema(ours, path):
    rules = load(path)
    jsonschema.Draft7Validator.check_schema(rules)
    validator = jsonschema.Draft7Validator(rules)
    document = load(ours)
    errors = list(validator.iter_errors(document))
    for e in errors[:10]:
        print(f"{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}")
    bad = len(errors)
    for what, d in spoilt(document):
        if validator.is_valid(d):
            print(f"the schema does not notice: {what}")
            bad += 1
    return bad


def fio(path, *fios):
    rules = load(path)
    validator = jsonschema.Draft7Validator({
        "$ref": "#/definitions/job", "definitions": rules["definitions"]})
    bad = 0
    for name in fios:
        for job in load(name)["jobs"]:
            for e in validator.iter_errors(job):
                print(f"{name}: {'/'.join(map(str, e.absolute_path))}: "
                      f"{e.message[:200]}")
                bad += 1
    return bad


def plot(ours):
    """FACTS: jobs[0]."job options".{rw,iodepth,numjobs,bs}, and numbers."""
    for job in load(ours)["jobs"]:
        options = job["job options"]
        for key in ("rw", "iodepth", "numjobs", "bs"):
            assert isinstance(options[key], str), key
        int(options["iodepth"]), int(options["numjobs"])
        for direction in ("read", "write"):
            d = job[direction]
            for v in (d["bw"], d["iops"], d["iops_stddev"],
                      d["lat_ns"]["mean"], d["lat_ns"]["stddev"]):
                assert math.isfinite(v)
    return 0


if __name__ == "__main__":
    what = {"superset": superset, "schema": schema, "fio": fio, "plot": plot}
    sys.exit(1 if what[sys.argv[1]](*sys.argv[2:]) else 0)
