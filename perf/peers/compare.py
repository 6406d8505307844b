#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""The same training steps in Zygos and in PyTorch, in turn, with equal threads.

Usage: perf/peers/compare.py [--rounds N] [--threads N] [--case NAME] [--write FILE]

Builds nothing: give the executable with --zygos (default build/host/bin/zygos). PyTorch is
installed from the package index into an environment of its own under the cache folder, which
nothing else uses. Runs alternate (ours, theirs, ours, ...) so that a machine that drifts hits both
alike; a ratio is that of the medians over all rounds, PyTorch / Zygos: above 1, Zygos is faster.
"""

import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import venv

ROOT = pathlib.Path(__file__).resolve().parents[2]
PEERS = pathlib.Path(__file__).resolve().parent

# A deck may be run on one host lane with all threads, or split between a host lane and an emulated
# device that share them; the same number of threads works either way.
ONE_LANE = "policy={type: single, lane: host}"
SPLIT = "policy={type: coarse_split, share: auto}"

# name: deck, policy, the same model in PyTorch, batch, steps a round, least ratio aimed at
CASES = {
    "mlp": ("inputs/mnist_mlp.yaml", ONE_LANE, ["mlp", "--widths", "784,128,10"], 100, 400, 2.0),
    "mlp_split": ("inputs/mnist_mlp.yaml", SPLIT, ["mlp", "--widths", "784,128,10"], 100, 400, 2.0),
    "mlp_big": ("inputs/mlp_big.yaml", ONE_LANE, ["mlp", "--widths", "784,2048,2048,2048,10"], 256,
                12, 1.1),
    "lenet5": ("inputs/lenet5.yaml", ONE_LANE, ["lenet5"], 64, 150, 3.0),
    "cifar10_quick": ("inputs/cifar10_quick.yaml", ONE_LANE, ["cifar10_quick"], 100, 15, 1.5),
    "unet": ("inputs/unet.yaml", ONE_LANE, ["unet"], 8, 15, 1.3),
    "surrogate_mlp": ("inputs/surrogate_mlp.yaml", ONE_LANE, ["surrogate_mlp"], 256, 600, 4.0),
    "closure_mlp": ("inputs/closure_mlp.yaml", ONE_LANE, ["closure_mlp"], 256, 200, 1.4),
}


def environment():
    """The Python of PyTorch's environment, made on first use."""
    cache = os.environ.get("ZYGOS_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "zygos"
    )
    folder = pathlib.Path(cache) / "peers-env"
    python = folder / "bin" / "python"
    probe = [str(python), "-c", "import torch"]
    if python.exists() and subprocess.run(probe, capture_output=True).returncode == 0:
        return str(python)
    print(f"making PyTorch's environment in {folder} (once)", file=sys.stderr, flush=True)
    venv.create(folder, with_pip=True)
    subprocess.run([str(python), "-m", "pip", "install", "-q", "torch", "numpy"], check=True)
    return str(python)


def run(command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout)


def measure(case, options, python):
    deck, policy, model, batch, steps, _ = CASES[case]
    # The emulated device of a split has one thread.
    host_threads = options.threads if policy == ONE_LANE else options.threads - 1
    ours = [options.zygos, "bench", deck, "--steps", str(steps), "--json",
            "--threads", str(host_threads), policy]
    if case == "cifar10_quick":
        ours.append(f"data.folder={options.cifar10.resolve()}")
    theirs = [python, str(PEERS / "step_torch.py"), "--model", *model, "--batch", str(batch),
              "--steps", str(steps), "--threads", str(options.threads)]
    results = {"zygos": [], "torch": []}
    for number in range(options.rounds):
        results["zygos"].append(run(ours))
        results["torch"].append(run(theirs))
        print(f"{case}: round {number + 1}/{options.rounds}: "
              f"zygos {results['zygos'][-1]['median_step_s'] * 1e3:.3f} ms, "
              f"torch {results['torch'][-1]['median_step_s'] * 1e3:.3f} ms",
              file=sys.stderr, flush=True)
    return results


def machine():
    model = "unknown"
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        for line in info:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    flags = "AVX-512" if "avx512f" in pathlib.Path("/proc/cpuinfo").read_text() else "AVX2"
    return f"{model}, {os.cpu_count()} cores, {flags}, {platform.system()} {platform.machine()}"


def table(rows, options, version):
    lines = [
        f"Machine: {machine()}; {options.threads} threads each; {options.rounds} interleaved rounds;"
        f" PyTorch {version}.",
        "",
        "| case | Zygos ms | PyTorch ms | ratio | aim |",
        "| --- | --- | --- | --- | --- |",
    ]
    for case, ours, theirs in rows:
        lines.append(f"| {case} | {ours * 1e3:.3f} | {theirs * 1e3:.3f} | {theirs / ours:.2f} |"
                     f" >= {CASES[case][-1]} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2, help="of each of the two, at least 2")
    parser.add_argument("--case", choices=sorted(CASES), action="append")
    parser.add_argument("--cifar10", type=pathlib.Path,
                        default=ROOT / "inputs" / "data" / "cifar-10-batches-bin",
                        help="folder of CIFAR-10's binary version; without it its case is left out")
    parser.add_argument("--zygos", default=str(ROOT / "build" / "host" / "bin" / "zygos"))
    parser.add_argument("--write", help="append the table to this file")
    options = parser.parse_args()
    if not pathlib.Path(options.zygos).exists():
        sys.exit(f"{options.zygos} does not exist; run ./bootstrap run info first, or give --zygos")
    python = environment()
    rows, version = [], ""
    for case in options.case or list(CASES):
        if case == "cifar10_quick" and not options.cifar10.is_dir():
            print(f"{case}: left out, there is no folder {options.cifar10}", file=sys.stderr)
            continue
        results = measure(case, options, python)
        version = results["torch"][0]["version"]
        rows.append((case,
                     statistics.median(r["median_step_s"] for r in results["zygos"]),
                     statistics.median(r["median_step_s"] for r in results["torch"])))
    text = table(rows, options, version)
    print(text)
    if options.write:
        with open(options.write, "a", encoding="utf-8") as out:
            out.write("\n" + text)


if __name__ == "__main__":
    main()
