#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""The same work in Zygos and in PyTorch, in turn, with equal threads: time and peak memory.

Usage: perf/peers/compare.py [--rounds N] [--threads N] [--case NAME] [--write FILE]
                             [--kann FOLDER] [--cblas FOLDER]

Builds nothing but a program against libtorch: give the executable with --zygos (default
build/host/bin/zygos). PyTorch is installed from the package index into an environment of its own
under the cache folder, which nothing else uses. Runs alternate (ours, theirs, ours, ...) so that a
machine that drifts hits all alike; a ratio is that of the medians over all rounds, PyTorch / Zygos:
above 1, Zygos is faster. A case that fails or can't run is a row that says so.

Memory is the largest resident set, less that of the same process with a model of one small layer
(6 to 3, dense), measured in the same rounds: libraries, threads and whatever a framework loads on
first use are in both. Two further columns subtract only a process that does nothing (`zygos info`,
`import torch`), as earlier tables did; for PyTorch that leaves in what it loads later.

If KANN's sources are found (kann_program.py), a second table has the cases that are MLPs in KANN,
measured in the same rounds with several sets of compiler flags, of which the fastest counts; with
--cblas also with OpenBLAS' matrix product. KANN's only optimizer is RMSprop, in place of Adam or
SGD, and it has no mean absolute error: closure_mlp has the mean squared error there. Its step is
that of kann_train_fnn1, with as many threads.
"""

import argparse
import datetime
import os
import pathlib
import platform
import statistics
import subprocess
import sys
from typing import NamedTuple

import kann_program
from processes import ROOT, Failed, finished, measured
from torch_environment import environment, libtorch_program

PEERS = pathlib.Path(__file__).resolve().parent
BEGIN, END = "<!-- compare.py: begin -->", "<!-- compare.py: end -->"

# A deck may be run on one host lane with all threads, or split between a host lane and an emulated
# device that share them; the same number of threads works either way.
ONE_LANE = "policy={type: single, lane: host}"
SPLIT = "policy={type: coarse_split, share: auto}"
COLUMNS = 14  # of the first table


class Case(NamedTuple):
    deck: str
    policy: str
    model: list  # the same in PyTorch
    batch: int
    steps: int  # of a round
    aim: float  # target: minimum ratio over PyTorch eager
    best_aim: float = 0.0  # over the best of eager, compiled and libtorch; 0: eager only
    forward: bool = False  # forward passes, not training steps


CASES = {
    "mlp": ("inputs/mnist_mlp.yaml", ONE_LANE, ["mlp", "--widths", "784,128,10"], 100, 400, 2.0),
    "mlp_split": ("inputs/mnist_mlp.yaml", SPLIT, ["mlp", "--widths", "784,128,10"], 100, 400, 2.0),
    "mlp_big": ("inputs/mlp_big.yaml", ONE_LANE, ["mlp", "--widths", "784,2048,2048,2048,10"], 256,
                12, 1.1),
    "lenet5": ("inputs/lenet5.yaml", ONE_LANE, ["lenet5"], 64, 150, 3.0),
    "cifar10_quick": ("inputs/cifar10_quick.yaml", ONE_LANE, ["cifar10_quick"], 100, 15, 1.5),
    "unet": ("inputs/unet.yaml", ONE_LANE, ["unet"], 8, 15, 1.3),
    "surrogate_mlp": ("inputs/surrogate_mlp.yaml", ONE_LANE, ["surrogate_mlp"], 256, 600, 4.0, 2.5),
    "closure_mlp": ("inputs/closure_mlp.yaml", ONE_LANE, ["closure_mlp"], 256, 200, 1.4, 1.4),
    "gpt_forward": ("inputs/gpt.yaml", ONE_LANE, ["gpt"], 1, 10, 1.3, 0.0, True),
    "gpt_train": ("inputs/gpt.yaml", ONE_LANE, ["gpt"], 1, 8, 1.25),
    "gcn": ("inputs/gcn.yaml", ONE_LANE, ["gcn"], 1, 20, 1.5),
}
CASES = {name: Case(*row) for name, row in CASES.items()}

# The same in KANN: widths, activation, loss.
KANN_CASES = {
    "mlp": ("784,128,10", "relu", "cross_entropy"),
    "surrogate_mlp": ("6,64,64,64,3", "tanh", "mse"),
    "closure_mlp": ("6,256,256,256,256,256,2", "relu", "mse"),
}


def our_bench(case, options):
    # The emulated device of a split has one thread.
    host_threads = options.threads if case.policy == ONE_LANE else options.threads - 1
    command = [options.zygos, "bench", case.deck, "--steps", str(case.steps), "--warmup",
               str(warm_up(case)), "--json", "--quiet", "--threads", str(host_threads), case.policy]
    return command + (["--forward"] if case.forward else [])


def ours(name, case, options):
    folder = f"data.folder={options.cifar10.resolve()}"
    return our_bench(case, options) + ([folder] if name == "cifar10_quick" else [])


def eager(model, case, options, python):
    return [python, str(PEERS / "step_torch.py"), "--model", *model, "--batch", str(case.batch),
            "--steps", str(case.steps), "--warmup", str(warm_up(case)),
            "--threads", str(options.threads)] + (["--forward"] if case.forward else [])


def one_layer(case, options, python):
    """The case's commands with a model of one layer, by way: their memory is the process's."""
    data = (f"data={{format: synthetic, function: invariants, samples: {8 * case.batch}, "
            "test_samples: 0}")
    model = "model={layers: [{type: dense, units: 3}], loss: mse}"
    return {"zygos": [*our_bench(case, options), data, model],
            "eager": eager(["one_layer"], case, options, python)}


def theirs(case, options, python):
    """PyTorch's commands by way: eager is the first."""
    eager_command = eager(case.model, case, options, python)
    if case.best_aim == 0.0:
        return {"eager": eager_command}
    libtorch = [libtorch_program(python), *case.model, str(case.batch), str(case.steps),
                str(warm_up(case)), str(options.threads)]
    return {"eager": eager_command, "compiled": [*eager_command, "--compile"],
            "libtorch": libtorch}


def kann_commands(name, options):
    """KANN's commands by peer and flags; ways of the others are words."""
    if name not in KANN_CASES:
        return {}
    case = CASES[name]
    words = [*KANN_CASES[name],
             *map(str, (case.batch, case.steps, warm_up(case), options.threads))]
    return {way: [program, "step", *words] for way, program in options.kann_programs.items()}


def warm_up(case):
    return min(10, max(2, case.steps // 4))


def require_same_model(name, results):
    parameters = {way: runs[0]["parameters"] for way, runs in results.items()}
    if len(set(parameters.values())) > 1:
        raise Failed(f"{name}: the models differ in parameters: {parameters}")


def measure(name, options, python):
    """By way, "zygos" among them: medians over the rounds of the step's time and peak memory; and
    medians of the peak memory of "zygos" and "eager" with a model of one layer."""
    case = CASES[name]
    commands = {"zygos": ours(name, case, options), **theirs(case, options, python),
                **kann_commands(name, options)}
    small = one_layer(case, options, python)
    results = {way: [] for way in commands}
    small_results = {way: [] for way in small}
    for number in range(options.rounds):
        for way, command in commands.items():
            results[way].append(measured(command))
        for way, command in small.items():
            small_results[way].append(measured(command))
        print(f"{name}: round {number + 1}/{options.rounds}: " +
              ", ".join(f"{way if isinstance(way, str) else ' '.join(way)} "
                        f"{runs[-1]['median_step_s'] * 1e3:.3f} ms"
                        for way, runs in results.items()), file=sys.stderr, flush=True)
    require_same_model(name, results)
    require_same_model(f"{name}, one layer", small_results)
    ways = {way: {key: statistics.median(run[key] for run in runs)
                  for key in ("median_step_s", "peak_bytes")} for way, runs in results.items()}
    return ways, {way: statistics.median(run["peak_bytes"] for run in runs)
                  for way, runs in small_results.items()}


def machine():
    model = "unknown"
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        for line in info:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    flags = "AVX-512" if "avx512f" in pathlib.Path("/proc/cpuinfo").read_text() else "AVX2"
    return f"{model}, {os.cpu_count()} cores, {flags}, {platform.system()} {platform.machine()}"


def commit():
    done = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True,
                          text=True)
    return done.stdout.strip() or "unknown"


def empty_processes(options, python):
    """Peak bytes of processes that do nothing, and PyTorch's version."""
    nothing = f"import torch; torch.set_num_threads({options.threads}); print(torch.__version__)"
    _, zygos = finished([options.zygos, "info", "--json"])
    version, torch = finished([python, "-c", nothing])
    return {"zygos": zygos, "eager": torch}, version.strip()


def head(options, empty, version):
    return [
        f"{machine()}; {options.threads} threads each; {options.rounds} interleaved rounds; PyTorch"
        f" {version}; commit {commit()}, {datetime.date.today()}. MiB: largest resident set, less"
        " that of the same process with a model of one layer, in brackets; \"beyond nothing\": less"
        f" that of a process that does nothing ({mib(empty['zygos'])} and"
        f" {mib(empty['eager'])} MiB; the latter has yet to load what PyTorch loads on first use).",
        "",
        "| case | batch | Zygos ms | PyTorch ms | ratio | target | compiled ms | libtorch ms |"
        " ratio to best | target | Zygos MiB | PyTorch MiB | Zygos MiB beyond nothing |"
        " PyTorch MiB beyond nothing |",
        "|" + " --- |" * COLUMNS,
    ]


def mib(count):
    return f"{count / 2**20:.0f}"


def memory_cells(ways, small, empty):
    sides = ("zygos", "eager")
    return ([f"{mib(ways[way]['peak_bytes'] - small[way])} ({mib(small[way])})" for way in sides] +
            [mib(ways[way]["peak_bytes"] - empty[way]) for way in sides])


def row(name, ways, small, empty):
    case = CASES[name]
    step_ms = {way: result["median_step_s"] * 1e3 for way, result in ways.items()}
    best = min(value for way, value in step_ms.items() if way in ("eager", "compiled", "libtorch"))
    cells = [name, str(case.batch), f"{step_ms['zygos']:.3f}", f"{step_ms['eager']:.3f}",
             f"{step_ms['eager'] / step_ms['zygos']:.2f}", f">= {case.aim}"]
    if case.best_aim > 0.0:
        cells += [f"{step_ms['compiled']:.3f}", f"{step_ms['libtorch']:.3f}",
                  f"{best / step_ms['zygos']:.2f}", f">= {case.best_aim}"]
    else:
        cells += [""] * 4
    return "| " + " | ".join(cells + memory_cells(ways, small, empty)) + " |"


def kann_rows(name, ways):
    """Rows of KANN's table; none where it was not measured."""
    step_ms = {way: result["median_step_s"] * 1e3 for way, result in ways.items()}
    zygos = step_ms["zygos"]
    kann = {way: value for way, value in step_ms.items() if not isinstance(way, str)}
    rows = []
    for peer, best in kann_program.fastest(kann).items():
        others = "; ".join(f"{flags}: {value:.3f}" for (other, flags), value in kann.items()
                           if other == peer and flags != best)
        rows.append(f"| {name} | {CASES[name].batch} | {zygos:.3f} | {peer} | "
                    f"{kann[peer, best]:.3f} | {kann[peer, best] / zygos:.2f} | {best} | "
                    f"{others} |")
    return rows


def kann_table(options, rows):
    if not rows:
        return []
    return ["", f"KANN, {options.threads} threads, RMSprop; closure_mlp: mean squared error.", "",
            "| case | batch | Zygos ms | peer | ms | peer / Zygos | compiled with | others, ms |",
            "|" + " --- |" * 8, *rows]


def row_or_reason(name, options, python, empty):
    """A row of the table, whether it is one, and rows of KANN's table."""
    if name == "cifar10_quick" and not options.cifar10.is_dir():
        return f"| {name} | left out: CIFAR-10 was not found |" + " |" * (COLUMNS - 2), True, []
    try:
        ways, small = measure(name, options, python)
        return row(name, ways, small, empty), True, kann_rows(name, ways)
    except (Failed, subprocess.CalledProcessError, ValueError, KeyError) as problem:
        print(f"{name}: {problem}", file=sys.stderr, flush=True)
        return f"| {name} | failed |" + " |" * (COLUMNS - 2), False, []


def put(file, lines):
    """Writes the lines between the marks in the file, or at its end if it has none."""
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    before, mark, rest = text.partition(BEGIN)
    after = rest.partition(END)[2] if mark else "\n"
    if not mark:
        before = text.rstrip("\n") + "\n\n"
    file.write_text(before + "\n".join([BEGIN, *lines, END]) + after, encoding="utf-8")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2, help="of each of the two, at least 2")
    parser.add_argument("--case", choices=sorted(CASES), action="append")
    parser.add_argument("--cifar10", type=pathlib.Path,
                        default=ROOT / "inputs" / "data" / "cifar-10-batches-bin",
                        help="folder of CIFAR-10's binary version; without it its case is left out")
    parser.add_argument("--zygos", default=str(ROOT / "build" / "host" / "bin" / "zygos"))
    parser.add_argument("--write", type=pathlib.Path,
                        help="put the table into this file as cases end, in place of the one there")
    kann_program.add_options(parser)
    options = parser.parse_args()
    if not pathlib.Path(options.zygos).exists():
        sys.exit(f"{options.zygos} does not exist; run ./bootstrap run info first, or give --zygos")
    return options


def main():
    options = arguments()
    options.kann_programs = kann_program.programs(options)
    python = environment()
    empty, version = empty_processes(options, python)

    lines, beside_kann, good = head(options, empty, version), [], True
    print("\n".join(lines), flush=True)
    for name in options.case or list(CASES):
        line, fine, further = row_or_reason(name, options, python, empty)
        print(line, flush=True)
        lines.append(line)
        beside_kann += further
        good = good and fine
        if options.write:
            put(options.write, lines + kann_table(options, beside_kann))
    print("\n".join(kann_table(options, beside_kann)))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
