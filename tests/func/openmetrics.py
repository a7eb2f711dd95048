#!/usr/bin/env python3
"""OpenMetrics 1.0 from stdin: its grammar, and the reference parser too where
python3-prometheus-client is installed. Prints the samples as JSON."""
import json
import re
import sys

text = sys.stdin.read()
NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[n"\\])*"'
NUMBER = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?)"
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)?\}})? ({NUMBER})")
META = re.compile(rf"# (TYPE|UNIT|HELP) ({NAME}) (.*)")
SUFFIXES = {"gauge": [""], "counter": ["_total"], "info": ["_info"],
            "summary": ["", "_count", "_sum"]}

assert text.endswith("\n# EOF\n"), "no # EOF at the end"
family, kind, families, seen, samples = None, None, set(), set(), []
for line in text[:-len("# EOF\n")].splitlines():
    meta = META.fullmatch(line)
    if meta:
        what, name, value = meta.groups()
        if what == "TYPE":
            assert name not in families, f"{name} twice"
            families.add(name)
            family, kind = name, value
            assert kind in SUFFIXES, line
        assert name == family, f"{line} is not in its family"
        assert what != "UNIT" or name.endswith("_" + value), line
        continue
    sample = SAMPLE.fullmatch(line)
    assert sample, f"no sample: {line}"
    name, labels, value = sample.groups()
    assert name in [family + s for s in SUFFIXES[kind]], f"{name} in {family}"
    assert (name, labels) not in seen, f"{line} twice"
    seen.add((name, labels))
    pairs = dict((k, json.loads(f'"{v}"', strict=False)) for k, v in re.findall(
        r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"', labels or ""))
    samples.append({"name": name, "labels": pairs, "value": float(value)})
try:
    from prometheus_client.openmetrics import parser
    assert list(parser.text_string_to_metric_families(text))
except ImportError:
    pass
json.dump(samples, sys.stdout)
