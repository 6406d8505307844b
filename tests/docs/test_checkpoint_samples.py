# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the samples of docs/checkpoints.md on a checkpoint of the run that they name.

    python3 tests/docs/test_checkpoint_samples.py ZYGOS SOURCE_FOLDER

Where h5py is not installed, the names of the samples are compared with those that `zygos inspect` lists.
"""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.S | re.M)


def main(zygos, source):
    zygos = Path(zygos).resolve()
    page = Path(source, "docs/checkpoints.md").read_text()
    without_zygos = page.split("## Without Zygos", 1)[1]
    folder = re.search(r"^cd (\S+)$", blocks(without_zygos, "")[0], re.M).group(1)
    deck, steps = re.fullmatch(r"runs/(\w+)/checkpoints/step-0*(\d+)", folder).groups()
    with tempfile.TemporaryDirectory() as scratch:
        run = lambda *words, **more: subprocess.run(words, cwd=scratch, check=True, text=True, capture_output=True, **more)
        shutil.copytree(Path(source, "inputs"), Path(scratch, "inputs"))
        run(zygos, "train", f"inputs/{deck}.yaml", "policy={type: single}", f"train.steps={steps}")
        checkpoint = Path(scratch, folder)
        subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=checkpoint, check=True, capture_output=True)
        known = {tensor["name"] for tensor in json.loads(run(zygos, "inspect", folder, "--json").stdout)["tensors"]}
        named = set(re.findall(r'"(weights/\S+?)"', page))
        if not named or not named <= known:
            print(f"no such tensors: {sorted(named - known)}; there are {sorted(known)}")
            return 1
        samples = blocks(without_zygos, "python")
        if not samples:
            print("the page has no sample in Python")
            return 1
        if importlib.util.find_spec("h5py"):
            for sample in samples:
                subprocess.run([sys.executable, "-c", sample], cwd=checkpoint, check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
