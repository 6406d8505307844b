#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Whether Zygos predicts what onnxruntime does, of models in ONNX that other programs have written.

Usage: perf/peers/onnx_import.py [--zygos PROGRAM] [--keep FOLDER] [MODEL...]

PyTorch models (onnx_models.py) are exported by both exporters of torch.onnx.export, others are made
with onnx.helper, as TensorFlow's converter and early exporters write them. Each predicts random
samples in onnxruntime and by `zygos predict FILE.onnx`; a row is the largest difference over the
largest prediction. Then `zygos import` makes a deck of it, which is trained for a step at a learning
rate of 1e-30 on samples of an HDF5 file, and predicts again: it has begun with the file's weights.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

from processes import ROOT, Failed, finished
from torch_environment import environment

TOLERANCE = 1e-5
SAMPLES = 7


def samples_for(described):
    import numpy
    random = numpy.random.default_rng(1)
    shape = [SAMPLES, *described.shape[1:]]
    if "int" in described.type:
        return random.integers(0, 20, shape)
    return random.standard_normal(shape).astype("float64" if "double" in described.type else "float32")


def log_softmax(logits, axis):
    import numpy
    logits = logits - logits.max(axis, keepdims=True)
    return logits - numpy.log(numpy.exp(logits).sum(axis, keepdims=True))


def in_onnxruntime(file):
    import onnxruntime
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    described = session.get_inputs()[0]
    samples = samples_for(described)
    if described.shape[0] == 1:  # of a batch of one alone
        import numpy
        return samples, numpy.concatenate([session.run(None, {described.name: samples[i:i + 1]})[0]
                                           for i in range(SAMPLES)])
    return samples, session.run(None, {described.name: samples})[0]


def predicted(program, subject, samples, folder, *words):
    import numpy
    numpy.save(folder / "in.npy", samples.astype("int32") if samples.dtype.kind == "i" else samples)
    finished([program, "predict", str(subject), "--input", str(folder / "in.npy"), "--output",
              str(folder / "out.npy"), "--quiet", *words])
    return numpy.load(folder / "out.npy")


def last_operator(file):
    import onnx
    return onnx.load(file, load_external_data=False).graph.node[-1].op_type


def difference(ours, theirs, last):
    import numpy
    if ours.shape != theirs.shape:
        raise Failed(f"predictions are {ours.shape}, onnxruntime's {theirs.shape}")
    if last.endswith("Softmax"):  # it is part of the loss: predictions are logits
        ours = log_softmax(ours, 1 if ours.ndim == 4 else -1)
        ours = numpy.exp(ours) if last == "Softmax" else ours
    return float(numpy.abs(ours - theirs).max() / max(numpy.abs(theirs).max(), 1e-30))


def after_training(program, file, samples, theirs, folder):
    """Predictions of a run of the imported deck that has not moved its weights."""
    deck, run = folder / "deck.yaml", folder / "run"
    finished([program, "import", str(file), "--output", str(deck)])
    text = deck.read_text()
    labels = "loss: cross_entropy" in text
    write_data(folder / "train.h5", samples, theirs, labels)
    words = ["optimizer={type: sgd, learning_rate: 1e-30}", "train={steps: 1, batch: 4}"]
    finished([program, "train", str(deck), "--run-dir", str(run), "--quiet", *words])
    if "batch_norm" in text:  # a step counts its batch
        return None
    return predicted(program, run, samples, folder)


def write_data(file, samples, theirs, labels):
    import h5py
    targets = (theirs.argmax(1 if theirs.ndim == 4 else -1).astype("int32") if labels
               else theirs)
    with h5py.File(file, "w") as data:
        data["inputs"] = samples.astype("int32") if samples.dtype.kind == "i" else samples
        data["targets"] = targets


def check(program, file, folder):
    samples, theirs = in_onnxruntime(file)
    last = last_operator(file)
    direct = difference(predicted(program, file, samples, folder), theirs, last)
    trained = after_training(program, file, samples, theirs, folder)
    tuned = None if trained is None else difference(trained, theirs, last)
    found = [direct] + ([tuned] if tuned is not None else [])
    return direct, tuned, max(found) <= TOLERANCE


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--zygos", default=str(ROOT / "build/host/bin/zygos"))
    parser.add_argument("--keep", type=pathlib.Path, help="folder for the .onnx files")
    parser.add_argument("models", nargs="*")
    arguments = parser.parse_args()
    python = environment()
    if not os.environ.get("ZYGOS_IN_PEERS"):
        return subprocess.run([python, *sys.argv], env={**os.environ, "ZYGOS_IN_PEERS": "1"},
                              check=False).returncode
    from onnx_models import written_models
    bad = 0
    print(f"{'model':36} {'predict':>9} {'fine-tuned':>10}")
    with tempfile.TemporaryDirectory() as scratch:
        files = arguments.keep or pathlib.Path(scratch) / "files"
        files.mkdir(parents=True, exist_ok=True)
        for file in written_models(files, arguments.models):
            with tempfile.TemporaryDirectory() as folder:
                try:
                    direct, tuned, good = check(arguments.zygos, file, pathlib.Path(folder))
                    after = "-" if tuned is None else f"{tuned:.1e}"
                    row = f"{direct:9.1e} {after:>10}  {'agree' if good else 'DIFFER'}"
                except Failed as failure:
                    good, row = False, f"FAILED: {failure}"
            bad += not good
            print(f"{file.stem:36} {row}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
