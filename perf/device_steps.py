#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Tries a build on a machine that has just got a card, and writes what was found as one table.

Usage: perf/device_steps.py [--folder FOLDER] [--zygos PROGRAM] [--output FILE] [--quick]
                            [--only STEP...] [--limit SECONDS] [--slower FACTOR]

Each step has a time limit and a log (FOLDER/logs/STEP.log); one that fails does not stop the next.
Steps: starts, the binary links and starts; tests, the device tests, whose failures are listed below the
table with what each one said (perf/device_tests.py); epochs, an epoch on the host, and three on the device, of which one with captured
steps, whose bits must be equal; bench, seven models in float32, tf32 and bf16, also with captured steps (device_graphs); torch, the same models in PyTorch on the card; split, what `plan`
recommends and what a split of host and device takes; sanitize, compute-sanitizer over the kernels with
scratch memory; ncu, the slowest kernels. Tools that this machine lacks are rows that say so.

Without a card every step runs on the emulated device: the table then shows that the steps work and
nothing else. --quick: few steps of small models, for a test. Ends with 1 if a step failed.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
from typing import NamedTuple

import device_tests

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = {"mnist_mlp": 200, "mlp_big": 20, "lenet5": 100, "cifar10_quick": 50, "unet": 10, "gpt": 10,
          "gcn": 50}
# Decks whose data files need not be on this machine.
DATA = {"cifar10_quick": ["data={format: glyphs, size: 32}"]}
TORCH_MODELS = {"mnist_mlp": ["--model", "mlp", "--widths", "784,128,10", "--batch", 100],
                "mlp_big": ["--model", "mlp", "--widths", "784,2048,2048,2048,10", "--batch", 256],
                "lenet5": ["--model", "lenet5", "--batch", 64],
                "cifar10_quick": ["--model", "cifar10_quick", "--batch", 100],
                "unet": ["--model", "unet", "--batch", 8], "gpt": ["--model", "gpt", "--batch", 1],
                "gcn": ["--model", "gcn", "--batch", 1]}
PRECISIONS = ["float32", "tf32", "bf16"]
STEPS = ["tests", "epochs", "bench", "torch", "split", "sanitize", "ncu"]
SANITIZED = "*onvolution*,*ttention*,*ool*,*sums over rows*,*product*"
# The card, or what stands in for it.
DEVICE_ALONE = "lanes={device: {kind: auto}}"
EPOCH = "inputs/mnist_mlp.yaml"


class Row(NamedTuple):
    step: str
    result: str  # passed, failed, not run
    seconds: float
    found: str


class NotHere(Exception):
    """A tool or device that this machine lacks."""


class Steps:
    def __init__(self, folder, zygos, quick, limit, slower=1):
        self.limit = limit
        packed = folder / "bin/zygos"
        self.zygos = packed if packed.exists() else zygos
        self.tests = folder / "bin/zygos_device_tests"
        self.logs = folder / "logs"
        self.logs.mkdir(parents=True, exist_ok=True)
        self.runs = folder / "runs"
        self.quick = quick
        self.slower = slower
        self.environment = dict(os.environ)
        if packed.exists():
            toolkit = os.environ.get("CUDA_HOME", "/usr/local/cuda")
            found = self.environment.get("LD_LIBRARY_PATH", "")
            self.environment["LD_LIBRARY_PATH"] = f"{folder / 'lib'}:{toolkit}/lib64:{found}"
        self.rows = []
        self.failures = []
        self.has_card = False

    def call(self, log, words, limit):
        """What the command prints; its log is kept."""
        with open(self.logs / f"{log}.log", "a") as file:
            file.write(f"$ {' '.join(map(str, words))}\n")
            file.flush()
            done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=file, text=True,
                                  timeout=min(limit * self.slower, self.limit), env=self.environment, cwd=ROOT)
            file.write(done.stdout)
        if done.returncode != 0:
            raise RuntimeError(f"ended with {done.returncode}, see {log}.log")
        return done.stdout

    def json(self, log, words, limit):
        return json.loads(self.call(log, [self.zygos, *words, "--json"], limit))

    def step(self, name, function):
        started = time.monotonic()
        try:
            result, found = "passed", function()
        except NotHere as absent:
            result, found = "not run", str(absent)
        except subprocess.TimeoutExpired as late:
            result, found = "failed", f"not done after {late.timeout:.0f} s"
        except (RuntimeError, KeyError, ValueError, OSError) as problem:
            result, found = "failed", str(problem)
        self.rows.append(Row(name, result, time.monotonic() - started, found))
        print(f"{name}: {result}, {found}", flush=True)

    # ------------------------------------------------------------ steps

    def starts(self):
        linked = subprocess.run(["ldd", str(self.zygos)], stdout=subprocess.PIPE, text=True,
                                env=self.environment).stdout
        missing = [line.split()[0] for line in linked.splitlines() if "not found" in line]
        if missing:
            raise RuntimeError("libraries are missing: " + ", ".join(missing))
        facts = self.json("starts", ["info"], 60)["spaces"]
        self.has_card = not str(facts["devices"]).startswith("0")
        return f"device space {facts['device space']}, devices {facts['devices']}"

    def device_tests(self):
        if not self.tests.exists():
            raise NotHere("no packed zygos_device_tests")
        runs = device_tests.DeviceTests(self.tests, self.logs, self.environment, min(240, self.limit))
        outcome = runs.run("*team*" if self.quick else "")
        self.failures = outcome.failures
        if outcome.failures or outcome.unreached:
            raise RuntimeError(outcome.text())
        return outcome.text()

    def sanitized(self, tool):
        if shutil.which("compute-sanitizer") is None or not self.has_card:
            raise NotHere("needs compute-sanitizer and a card")
        words = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", self.tests, SANITIZED]
        return self.call(tool, words, 300).strip().splitlines()[-1]

    def benched(self, model, precision, graphs):
        steps = 2 if self.quick else MODELS[model]
        found = self.json("bench", ["bench", f"inputs/{model}.yaml", "--steps", steps, "--warmup", 2, "--ops",
                                    "policy={type: single, lane: device}", DEVICE_ALONE,
                                    f"precision={precision}", f"device_graphs={str(graphs).lower()}",
                                    *DATA.get(model, [])], 120)
        return f"{1e3 * found['median_step_s']:.3f} ms a step"

    def epoch(self, name, lane, *more):
        folder = self.runs / name
        shutil.rmtree(folder, ignore_errors=True)
        words = ["train", EPOCH, "--run-dir", folder, f"policy={{type: single, lane: {lane}}}", *more]
        words.append("train={batch: 100, steps: 20}" if self.quick else "train={batch: 100, epochs: 1}")
        self.call("epoch", [self.zygos, *words], 240)
        return json.loads((folder / "summary.json").read_text())

    def epochs(self):
        host, first, second, captured = (self.epoch(*which) for which in
                                         [("host", "host"), ("device_1", "device"), ("device_2", "device"),
                                          ("device_graphs", "device", "device_graphs=true")])
        if first["weights_xxh64"] != second["weights_xxh64"]:
            raise RuntimeError("two runs on the device have different weights")
        if captured["recorded_tasks"] == 0:
            raise RuntimeError("no task of the run with captured steps ran in a graph")
        if captured["weights_xxh64"] != first["weights_xxh64"]:
            raise RuntimeError("captured steps have other weights than steps whose kernels are launched one by one")
        return (f"loss {host['loss']:.6f} on the host, {first['loss']:.6f} on the device, whose runs "
                f"have equal bits; {host['samples_per_s']['total']:.0f} and "
                f"{first['samples_per_s']['total']:.0f} samples/s, {captured['samples_per_s']['total']:.0f} with captured steps")

    def split(self):
        found = self.json("plan", ["plan", EPOCH], 120)
        self.call("compare", [self.zygos, "compare", EPOCH, "--policies", "single,coarse_split",
                              "--steps", 20 if self.quick else 200], 240)
        return f"recommended: {found['recommended']}; measured: compare.log"

    def torch(self, model, precision):
        if not self.has_card:
            raise NotHere("needs a card")
        try:
            self.call("torch", [sys.executable, "-c", "import torch; assert torch.cuda.is_available()"], 60)
        except RuntimeError as absent:
            raise NotHere("needs PyTorch with CUDA") from absent
        words = [sys.executable, ROOT / "perf/peers/step_torch.py", "--device", "cuda", "--precision", precision,
                 *TORCH_MODELS[model], "--steps", MODELS[model]]
        found = json.loads(self.call("torch", words, 120).strip().splitlines()[-1])
        return f"{1e3 * found['median_step_s']:.3f} ms a step, PyTorch {found['version']}"

    def slowest_kernels(self):
        if shutil.which("ncu") is None or not self.has_card:
            raise NotHere("needs ncu and a card")
        return self.call("ncu", ["ncu", "--set", "basic", "--launch-count", "20", self.zygos, "bench",
                                 "inputs/lenet5.yaml", "--steps", 2, "--warmup", 0, DEVICE_ALONE,
                                 "policy={type: single, lane: device}"], 240).strip().splitlines()[-1]

    def plan(self):
        """(name for --only, title, function) of every step."""
        models = ["mnist_mlp"] if self.quick else MODELS
        yield "tests", "device tests", self.device_tests
        yield "epochs", "an epoch on host and device", self.epochs
        for model in models:
            for precision in PRECISIONS:
                for graphs in [False, True]:
                    title = f"bench {model} {precision}" + (", captured steps" if graphs else "")
                    yield "bench", title, lambda m=model, p=precision, g=graphs: self.benched(m, p, g)
        for model in models:
            for precision in PRECISIONS:
                yield "torch", f"PyTorch {model} {precision}", lambda m=model, p=precision: self.torch(m, p)
        yield "split", "plan and split", self.split
        for tool in ["memcheck", "racecheck", "initcheck"]:
            yield "sanitize", f"compute-sanitizer {tool}", lambda tool=tool: self.sanitized(tool)
        yield "ncu", "ncu", self.slowest_kernels

    def run(self, only):
        self.step("links and starts", self.starts)
        for name, title, function in self.plan():
            if not only or name in only:
                self.step(title, function)


def table(steps):
    where = "on a card" if steps.has_card else "on the emulated device: shows that the steps work, no more"
    lines = [f"# First run, {datetime.date.today()}, {where}", "", "| step | result | s | found |",
             "| --- | --- | --- | --- |"]
    for row in steps.rows:
        lines.append(f"| {row.step} | {row.result} | {row.seconds:.1f} | {row.found.replace('|', '/')} |")
    for failure in steps.failures:
        lines += ["", f"`{failure.name}` {failure.how}:", "", "```", failure.said, "```"]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/device")
    parser.add_argument("--zygos", type=pathlib.Path, default=ROOT / "build/host/bin/zygos",
                        help="where nothing is packed (build/host/bin/zygos)")
    parser.add_argument("--output", type=pathlib.Path, help="the table (FOLDER/device.md)")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="+", choices=STEPS, help="these steps and `starts`, which comes always")
    parser.add_argument("--limit", type=float, default=600, metavar="SECONDS", help="no call takes longer")
    parser.add_argument("--slower", type=float, default=1, metavar="FACTOR",
                        help="so many times as long for every call, below --limit: a sanitizer's build (1)")
    given = parser.parse_args()
    steps = Steps(given.folder.resolve(), given.zygos.resolve(), given.quick, given.limit, given.slower)
    steps.run(given.only)
    output = given.output or given.folder / "device.md"
    output.write_text(table(steps))
    print(f"wrote {output}")
    sys.exit(1 if any(row.result == "failed" for row in steps.rows) else 0)


if __name__ == "__main__":
    main()
