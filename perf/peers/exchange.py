#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Whether Zygos, PyTorch and onnxruntime compute the same from the same weights, for every deck.

Usage: perf/peers/exchange.py [--zygos PROGRAM] [DECK...]

Each deck of inputs/ is trained for a step or two and exported. The state_dict is loaded, strictly,
into the same model in PyTorch (deck_torch.py), the ONNX model into onnxruntime, and all predict
random samples. Then PyTorch's own first weights go the other way: a run begins with them, and what
it exports again has their bits. A row is the largest difference of a prediction, over the largest
prediction. Layers that deck_torch.py has no module for are compared with onnxruntime alone. PyTorch
comes from an environment of its own under the cache folder.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from processes import ROOT, Failed, finished
from torch_environment import environment

TOLERANCE = {"float32": 1e-5, "bf16": 2e-2}  # over the largest prediction
# Large data sets and models by as little of them as shows the same.
SMALL = {"gpt": ["data={format: tokens, sequence: 64, vocabulary: 65, samples: 100}"],
         "gpt_char": ["data={format: tokens, sequence: 64, vocabulary: 65, samples: 100}"],
         "cifar10_quick": ["data={format: glyphs, size: 32, channels: 3, samples: 64, test_samples: 16}"],
         "alexnet_shape": ["data.size=67"], "iris": ["data.normalise=none"],
         "gcn": ["train.batch=1", "data.nodes=500"], "gnn_mlp": ["train.batch=1"]}
QUICK = ["policy=single", "lanes={host: {kind: host}}", "optimizer={type: sgd}",
         "train={steps: 2, batch: 16, evaluate_every: never}"]
SAMPLES = 37


def zygos(program, *words):
    return json.loads(finished([program, *map(str, words), "--json", "--quiet"])[0])


def overrides_of(deck):
    return QUICK + SMALL.get(deck.stem, [])


def resolved_model(program, run):
    """Layers and other facts of the deck that a run keeps, as plain values."""
    import yaml
    return yaml.safe_load((run / "deck.yaml").read_text())


def samples_for(deck, shape):
    import numpy
    random = numpy.random.default_rng(3)
    kinds = [layer["type"] for layer in deck["model"]["layers"]]
    if "embedding" in kinds:
        vocabulary = next(layer["vocabulary"] for layer in deck["model"]["layers"]
                          if layer["type"] == "embedding")
        return random.integers(0, vocabulary, (SAMPLES, *shape), dtype="int32")
    return random.random((SAMPLES, *shape), dtype="float32")


def predicted(program, source, samples, folder, scales):
    import numpy
    numpy.save(folder / "in.npy", samples)
    zygos(program, "predict", source, "--input", folder / "in.npy", "--output", folder / "out.npy",
          *scales)
    return numpy.load(folder / "out.npy")


def difference(ours, theirs):
    import numpy
    theirs = theirs.reshape(ours.shape)
    return float(numpy.abs(ours - theirs).max() / max(numpy.abs(theirs).max(), 1e-30))


def onnxruntime_difference(program, run, samples, folder, scales):
    """The exported model in onnxruntime, beside Zygos with weights that come from it."""
    import numpy
    import onnxruntime
    file = folder / "ours.onnx"
    zygos(program, "export", run, "--output", file)
    ours = predicted(program, file, samples, folder, scales)
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    (theirs,) = session.run(None, {"input": samples.astype(numpy.float32)})
    return difference(ours, theirs)


def check(program, deck_file, folder):
    """The differences from onnxruntime, and from PyTorch with weights of Zygos and of PyTorch."""
    import torch
    from safetensors import safe_open
    from safetensors.torch import load_file, save_file

    from deck_torch import DeckModel
    run, exported = folder / "run", folder / "ours.safetensors"
    words = overrides_of(deck_file)
    zygos(program, "train", deck_file, "--run-dir", run, *words)
    zygos(program, "export", run, "--output", exported)
    deck = resolved_model(program, run)
    with safe_open(exported, "pt") as file:
        shape = [int(n) for n in file.metadata()["zygos.sample_shape"].split()]
    scales = ["data.scale=1", "data.offset=0"] if "scale" in deck["data"] else []
    samples = samples_for(deck, shape)
    runtime = onnxruntime_difference(program, run, samples, folder, scales)
    torch.manual_seed(1)
    try:
        model = DeckModel(deck["model"]["layers"], shape)
    except NotImplementedError:
        return [f"{runtime:.1e}", "-", "-"], runtime <= TOLERANCE[deck["precision"]]
    first = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    model.load_state_dict(load_file(exported))
    with torch.no_grad():
        ours_in_torch = model(torch.from_numpy(samples)).numpy()
    forth = difference(predicted(program, exported, samples, folder, scales), ours_in_torch)

    # Now PyTorch's own: weights that one step does not change, so that they come back as they were.
    save_file(first, folder / "theirs.safetensors")
    tuned = folder / "tuned"
    zygos(program, "train", deck_file, "--run-dir", tuned, *words, "train.steps=1",
          "optimizer.learning_rate=1e-30", f"model.pretrained={{file: '{folder / 'theirs.safetensors'}'}}")
    zygos(program, "export", tuned, "--output", folder / "back.safetensors")
    returned = load_file(folder / "back.safetensors")
    for name, tensor in first.items():
        counted = "running_" in name or "num_batches" in name  # a step counts its batch
        # A learning rate of 1e-30 moves nothing but zeros.
        if not counted and not ((returned[name] == tensor) | (returned[name].abs() < 1e-20)).all():
            raise Failed(f"{name} came back with other bits")
    model.load_state_dict(returned)
    with torch.no_grad():
        theirs = model(torch.from_numpy(samples)).numpy()
    back = difference(predicted(program, tuned, samples, folder, scales), theirs)
    found = (runtime, forth, back)
    return [f"{one:.1e}" for one in found], max(found) <= TOLERANCE[deck["precision"]]


def rows(program, decks):
    for deck in decks:
        with tempfile.TemporaryDirectory() as folder:
            try:
                found, good = check(program, deck, pathlib.Path(folder))
                yield deck.stem, found, "agree" if good else "DIFFER"
            except Failed as failure:
                yield deck.stem, ["-"] * 3, f"FAILED: {failure}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--zygos", default=str(ROOT / "build/host/bin/zygos"))
    parser.add_argument("decks", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    python = environment()
    if not os.environ.get("ZYGOS_IN_PEERS"):
        return subprocess.run([python, *sys.argv], env={**os.environ, "ZYGOS_IN_PEERS": "1"},
                              check=False).returncode
    decks = [deck.resolve() for deck in arguments.decks] or sorted((ROOT / "inputs").glob("*.yaml"))
    bad = 0
    print(f"{'deck':24} {'onnxruntime':>12} {'ours in torch':>14} {'theirs here':>12}")
    for name, (runtime, forth, back), verdict in rows(arguments.zygos, decks):
        bad += verdict.startswith(("DIFFER", "FAILED"))
        print(f"{name:24} {runtime:>12} {forth:>14} {back:>12}  {verdict}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
