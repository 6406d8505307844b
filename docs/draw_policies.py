#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""The pictures of docs/policies.md: one step of every policy, drawn by `zygos schedule` from the policy's deck in inputs/.

    python3 docs/draw_policies.py                  writes docs/policies/*.svg
    python3 docs/draw_policies.py --check          compares instead, and ends with 1 where the program draws something else
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "policies"

THIRD_LANE = "lanes.third={kind: emulated, threads: 1, link: {bandwidth: 12 GB/s, latency: 10 us}}"
# By policy or exchange: its deck, and what is changed so that a step has few tasks. Whatever a deck leaves to measurements is said here.
PICTURES = {
    "single": ("single", ["policy.micro_batches=2"]),
    "coarse_split": ("glyphs_mlp", ["policy.share=0.75"]),
    "coarse_pipeline": ("coarse_pipeline", ["policy.share=0.375", "policy.pipeline.cuts=[dense3]", "policy.pipeline.micro_batches=4", "train.batch=64"]),
    "layer_placement": ("layer_placement", []),
    "tensor_parallel": ("tensor_parallel", ["policy.shares=equal"]),
    "hybrid_conv_fc": ("hybrid_conv_fc", []),
    "hybrid_all_gather": ("hybrid_conv_fc", ["policy.exchange=all_gather"]),
    "gpipe": ("gpipe", [THIRD_LANE, "policy={type: gpipe, micro_batches: 4, cuts: [dense2, dense4]}", "optimizer={type: adam, learning_rate: 0.001}"]),
    "one_f_one_b": ("one_f_one_b", [THIRD_LANE, "policy={type: one_f_one_b, micro_batches: 4, cuts: [block1, block2]}"]),
    "hippie": ("hippie", ["policy={type: hippie, micro_batches: 3, cuts: [dense3]}"]),
    "data_parallel": ("data_parallel", []),
    "chunked_broadcast": ("chunked_broadcast", ["policy.chunks=3"]),
    "mirrored": ("mirrored", []),
    "multi_worker_mirrored": ("multi_worker_mirrored", []),
    "central_storage": ("central_storage", []),
    "one_bit_adam": ("one_bit_adam", []),
    "pipedream": ("pipedream", [THIRD_LANE, "policy={type: pipedream, micro_batches: 6, cuts: [dense2, dense3]}"]),
    "pipedream_2bw": ("pipedream_2bw", ["policy={type: pipedream_2bw, updates: 3, cuts: [dense3]}"]),
    "zero_offload": ("zero_offload", []),
    "cotrain": ("cotrain", ["policy.device_layers=1"]),
}


def draw(zygos, policy, path):
    deck, changes = PICTURES[policy]
    words = [str(ROOT / "inputs" / f"{deck}.yaml"), *changes]
    subprocess.run([zygos, "schedule", *words, "--output", str(path), "--quiet"], check=True, stdout=subprocess.DEVNULL)


def differing(zygos, policies):
    """Policies of which another picture is committed than the program draws."""
    with tempfile.TemporaryDirectory() as folder:
        for policy in policies:
            path = pathlib.Path(folder) / f"{policy}.svg"
            draw(zygos, policy, path)
            committed = FOLDER / path.name
            if not committed.exists() or committed.read_bytes() != path.read_bytes():
                yield policy


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("policies", nargs="*", default=list(PICTURES), help="those only")
    parser.add_argument("--zygos", default=os.environ.get("ZYGOS", str(ROOT / "build" / "host" / "bin" / "zygos")))
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    if arguments.check:
        wrong = list(differing(arguments.zygos, arguments.policies))
        for policy in wrong:
            print(f"docs/policies/{policy}.svg is not what the program draws now: python3 docs/draw_policies.py")
        return int(bool(wrong))
    FOLDER.mkdir(exist_ok=True)
    for policy in arguments.policies:
        draw(arguments.zygos, policy, FOLDER / f"{policy}.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
