# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""The samples of the documentation that are not in tests/docs/test_cpp_samples.cpp.

    python3 tests/docs/test_samples.py ZYGOS SOURCE_FOLDER

A sample in C or C++ that is not compiled there must stand, spaces and comments aside, in a source file of the project.
Samples in Python are run with h5py on a run or before one, as their page says; that of docs/exchange.md where PyTorch and safetensors are there,
too (ZYGOS_TORCH_PYTHON names a Python that has them). Exit code 77: h5py is not there.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from extract_samples import samples

# Pages whose samples in Python are run below, with the module they need, and those whose samples another test runs.
RUN = {"checkpoints": "h5py", "data": "h5py", "exchange": "safetensors.torch", "graphs": "h5py"}
NOT_RUN = {"add_a_layer": "golden_layers.py", "tutorial_csv": "test_tutorial.py"}

DATA = """
import h5py, numpy
random = numpy.random.default_rng(1)
"""
ARRAYS = "inputs, labels = random.random((60, 4), 'f4'), random.integers(0, 3, 60)\n"
SIMULATION = "n, simulate = 8, lambda i: (random.random((3, 64, 64)), random.random(3))\n"
GRAPH = """
edges, features = random.integers(0, 40, (120, 2)), random.random((40, 5), 'f4')
edges = edges[edges[:, 0] != edges[:, 1]]
labels, mask = random.integers(0, 3, 40), random.integers(0, 2, 40)
"""
# `model` of the sample, with the layers of a run; both weights have to be what the file says.
MODULE = """
import collections, torch
model = torch.nn.Sequential(collections.OrderedDict(fc1=torch.nn.Linear(4, 5), act=torch.nn.ReLU(), fc2=torch.nn.Linear(5, 3)))
before = [tensor.clone() for tensor in model.state_dict().values()]
"""
LOADED = """
assert all(not torch.equal(a, b) for a, b in zip(before, model.state_dict().values()))
"""
DECK = """deck_version: 1
data: {{{data}}}
model: {{layers: [{layers}], loss: {loss}{model}}}
optimizer: adam
lanes: {{host: {{kind: host, threads: 1}}}}
policy: single
train: {{steps: 3, batch: 1}}
"""


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.S | re.M)


def squashed(code):
    """Code without comments and spaces."""
    return re.sub(r"\s+", "", re.sub(r"//[^\n]*|/\*.*?\*/", "", code, flags=re.S))


def stray_samples(source):
    """Samples in C, C++ and Fortran that neither a test compiles nor a source file has."""
    in_fortran = (source / "tests/docs/test_fortran_samples.f90").read_text()
    compiled = (source / "tests/docs/test_cpp_samples.cpp").read_text()
    sources = [squashed(file.read_text()) for folder in ("src", "policies", "examples") for file in (source / folder).rglob("*")
               if file.suffix in {".hpp", ".cpp", ".c", ".inc"}]
    for page in [source / "README.md", *sorted((source / "docs").glob("*.md"))]:
        for count, (line, text) in enumerate(samples(page.read_text()), 1):
            if f'#include "{page.stem}_{count}.inc"' in compiled:
                continue
            parts = [squashed(part) for part in re.split(r"^\s*\.\.\.$|\n\n", text, flags=re.M)]
            if any(not any(part in one for one in sources) for part in parts):
                yield f"{page.name}:{line}: neither compiled by tests/docs/test_cpp_samples.cpp nor in a source file"
        for count, (line, _) in enumerate(samples(page.read_text(), "fortran"), 1):
            if f"include '{page.stem}_fortran_{count}.inc'" not in in_fortran:
                yield f"{page.name}:{line}: not compiled by tests/docs/test_fortran_samples.f90"


def python_with(module):
    for python in (sys.executable, "/usr/bin/python3", os.environ.get("ZYGOS_TORCH_PYTHON", "")):
        if python and Path(python).exists() and subprocess.run([python, "-c", f"import {module}"], capture_output=True).returncode == 0:
            return python
    return None


class Samples:
    def __init__(self, zygos, source, folder):
        self.zygos, self.source, self.python, self.folder = zygos, source, None, Path(folder)

    def run(self, *words, cwd=None):
        done = subprocess.run(words, cwd=cwd or self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            sys.exit(f"{' '.join(map(str, words))}\nended with {done.returncode}:\n{done.stdout}")
        return done.stdout

    def page(self, name):
        return (self.source / "docs" / f"{name}.md").read_text()

    def train(self, name, data, layers, loss, model=""):
        (self.folder / f"{name}.yaml").write_text(DECK.format(data=data, layers=layers, loss=loss, model=model))
        self.run(self.zygos, "train", f"{name}.yaml")

    def data(self):
        arrays, streamed = blocks(self.page("data"), "python")
        self.run(self.python, "-c", DATA + ARRAYS + arrays)
        self.train("set", "format: hdf5, train: {file: set.h5}", "{type: dense, units: 3}", "cross_entropy")
        self.run(self.python, "-c", DATA + SIMULATION + streamed)
        self.train("streamed", "format: hdf5, train: {file: train.h5}, in_memory: false", "{type: dense, units: 3}", "mse")

    def exchange(self):
        """Weights of a run in PyTorch, and back."""
        (sample,) = blocks(self.page("exchange"), "python")
        (self.folder / "table.csv").write_text("a,b,c,d,kind\n1,2,3,4,0\n2,1,0,1,1\n0,1,3,1,2\n")
        data, layers = "format: csv, train: {file: table.csv}", "{type: dense, units: 5, name: fc1, activation: relu}, {type: dense, units: 3, name: fc2}"
        self.train("exported", data, layers, "cross_entropy")
        self.run(self.zygos, "export", "runs/exported", "--output", "mnist.safetensors")
        self.run(self.python, "-c", MODULE + sample + LOADED)
        self.train("imported", data, layers, "cross_entropy", ", pretrained: {file: back.safetensors}")

    def graphs(self):
        (graph,) = blocks(self.page("graphs"), "python")
        self.run(self.python, "-c", DATA + GRAPH + graph)
        self.train("graph", "format: graph, file: cora.h5", "{type: graph_conv, units: 3}", "cross_entropy")

    def checkpoints(self):
        page = self.page("checkpoints").split("## Without Zygos", 1)[1]
        commands = blocks(page, "")[0].splitlines()
        deck, steps = re.fullmatch(r"cd runs/(\w+)/checkpoints/step-0*(\d+)", commands[0]).groups()
        shutil.copytree(self.source / "inputs", self.folder / "inputs")
        self.run(self.zygos, "train", f"inputs/{deck}.yaml", "policy={type: single}", f"train.steps={steps}")
        checkpoint = self.folder / commands[0].removeprefix("cd ")
        for command in commands[1:]:
            if shutil.which(command.split()[0]):
                self.run("sh", "-c", command, cwd=checkpoint)
        for sample in blocks(page, "python"):
            self.run(self.python, "-c", sample, cwd=checkpoint)


def main(zygos, source):
    source = Path(source)
    if stray := list(stray_samples(source)):
        print("\n".join(stray))
        return 1
    for page in sorted((source / "docs").glob("*.md")):
        if blocks(page.read_text(), "python") and page.stem not in RUN.keys() | NOT_RUN.keys():
            print(f"nobody runs the samples in Python of docs/{page.name}")
            return 1
    if python_with("h5py") is None:
        print("no Python here has h5py (Debian's package python3-h5py)")
        return 1 if "CI" in os.environ and "h5py" not in os.environ.get("ZYGOS_CI_WITHOUT", "").split() else 77
    with tempfile.TemporaryDirectory() as folder:
        works = Samples(Path(zygos).resolve(), source, folder)
        for page, module in RUN.items():
            works.python = python_with(module)
            print(page if works.python else f"{page}: NOT run, no Python here has {module}", flush=True)
            if works.python:
                getattr(works, page)()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
