# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""How the scripts of this folder run zygos."""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ZYGOS = str(ROOT / "build/host/bin/zygos")
LINKS = {"links": "{bandwidth: 12 GB/s, latency: 10 us}", "slow links": "{bandwidth: 2 GB/s, latency: 50 us}"}
LANES = ["unified", *LINKS]


def run_zygos(zygos, *words):
    """What zygos prints; ends the script with what it said if it fails."""
    done = subprocess.run([zygos, *words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"zygos {' '.join(words)} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def json_of(zygos, *words):
    return json.loads(run_zygos(zygos, *words, "--json"))


def lanes(name, slowdown):
    """Two lanes of a thread each, the first one slower: both in host memory, or the second one behind a link."""
    memory = "unified: true" if name == "unified" else f"link: {LINKS[name]}"
    return (f"lanes={{first: {{kind: emulated, threads: 1, unified: true, slowdown: {slowdown}}}, "
            f"second: {{kind: emulated, threads: 1, {memory}}}}}")


def keyword(row):
    """Of the policy of a row of `plan` or `compare`."""
    return row["policy"].split("(")[0]


def choice(row):
    """The policy of a row of `plan` as `compare` takes it: keyword:option=value,option=value"""
    options = ",".join(f"{key}={value}" for key, value in row["options"].items())
    return f"{keyword(row)}:{options}" if options else keyword(row)
