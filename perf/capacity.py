#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""The largest models that train on an emulated device of 64 MiB beside a host of 768 MiB, as it is and with all that keeps it free: weights, gradients and moments with
the host (`zero_offload`, `weights: host`), activations kept, recomputed or offloaded (`memory_plan: auto`). Found by bisection over the number of
layers with `zygos check`; at the limit a run has to train, one layer more has to be refused, and at the limit of the plain device both ways have to
give the same weights. Prints the table of docs/memory.md; ends with 1 where one of these fails, or where less than 10 times the
parameters train.

    python3 perf/capacity.py
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

from running import ROOT, ZYGOS, json_of

PLAIN = ["policy={type: single, lane: device}"]
FREE = ["policy={type: zero_offload, owner: host, bucket: 2 MiB, weights: host}", "memory_plan.activations=auto"]
LANES = ("lanes={host: {kind: host, threads: 1, memory: 768 MiB}, device: {kind: emulated, threads: 1, memory: 64 MiB, "
         "link: {bandwidth: 12 GB/s, latency: 10 us}}}")
BLOCK = """[layer_norm, {type: dense, units: 768, flatten: false}, {type: causal_attention, heads: 4},
 {type: dense, units: 256, flatten: false}, {name: attended, type: add, inputs: [dense2, input]}, layer_norm,
 {type: dense, units: 1024, flatten: false}, gelu, {type: dense, units: 256, flatten: false}, {type: add, inputs: [dense4, attended]}]"""
SHAPES = {
    "mlp": ("zero_offload", lambda n: [
        f"model={{layers: [{{type: repeat, name: block, times: {n}, layers: [{{type: dense, units: 512, activation: relu}}]}}, "
        "{type: dense, units: 10}], loss: cross_entropy}", "train={steps: 2, batch: 64, evaluate_every: never}"]),
    "gpt": ("memory_plan", lambda n: [
        "data={format: tokens, samples: 64, test_samples: 8, sequence: 32, vocabulary: 65}",
        "model={layers: [{type: embedding, vocabulary: 65, units: 256}, positions, "
        f"{{type: repeat, name: block, times: {n}, layers: {BLOCK}}}, layer_norm, "
        "{type: dense, units: 65, flatten: false}], loss: cross_entropy}", "train={steps: 2, batch: 4, evaluate_every: never}"]),
}


def words(shape, layers, way):
    deck, model = SHAPES[shape]
    return [str(ROOT / "inputs" / f"{deck}.yaml"), LANES, "memory_plan.activations=keep", *model(layers), *way]


def check(zygos, shape, layers, way):
    done = subprocess.run([zygos, "check", *words(shape, layers, way)], capture_output=True, text=True, check=False)
    found = re.search(r"([\d,]+) parameters, f32", done.stdout)
    return done.returncode, int(found.group(1).replace(",", "")) if found else 0, done.stderr


def limit(zygos, shape, way, most):
    fits, fails = 1, None
    while fails is None or fails - fits > 1:
        middle = min(most, fits * 2) if fails is None else (fits + fails) // 2
        if check(zygos, shape, middle, way)[0] == 0:
            fits = middle
            if fits == most:
                break
        else:
            fails = middle
    return fits


def trained(zygos, shape, layers, way):
    with tempfile.TemporaryDirectory() as folder:
        return json_of(zygos, "train", *words(shape, layers, way), "--run-dir", str(pathlib.Path(folder) / "run"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zygos", default=str(ZYGOS))
    parser.add_argument("--most", type=int, default=1000, help="layers that are tried at most")
    arguments = parser.parse_args()
    failed = False
    print("| shape | way | layers | parameters | device, MiB | one layer more | same weights at the plain limit |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for shape in SHAPES:
        plain = limit(arguments.zygos, shape, PLAIN, arguments.most)
        free = limit(arguments.zygos, shape, FREE, arguments.most)
        same = trained(arguments.zygos, shape, plain, PLAIN)["weights_xxh64"] == trained(arguments.zygos, shape, plain, FREE)["weights_xxh64"]
        sizes = []
        for name, layers, way in (("plain", plain, PLAIN), ("weights: host, memory_plan: auto", free, FREE)):
            summary = trained(arguments.zygos, shape, layers, way)
            code = check(arguments.zygos, shape, layers + 1, way)[0]
            sizes.append(summary["parameters"])
            said = "not tried" if layers == arguments.most else f"refused, exit code {code}" if code else "NOT REFUSED"
            failed = failed or (layers < arguments.most and code != 6) or not same
            print(f"| {shape} | {name} | {layers} | {summary['parameters']:,} | {summary['peak_bytes']['device']['total'] / 2**20:.1f} | {said} | "
                  f"{'yes' if same else 'NO'} |", flush=True)
        failed = failed or sizes[1] < 10 * sizes[0]
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
