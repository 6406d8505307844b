# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""How the scripts of this folder draw: matplotlib, from the package index, in an environment of its own."""
import json
import os
import pathlib
import subprocess
import venv

BEFORE = """
import json, sys
import matplotlib
matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "zygos"
import matplotlib.pyplot as plot
data = json.load(sys.stdin)
"""
AFTER = """
figure.savefig(sys.argv[1], metadata={"Date": None})
"""


def environment():
    """The Python of the plotting environment, made on first use."""
    cache = os.environ.get("ZYGOS_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "zygos")
    folder = pathlib.Path(cache) / "plot-env"
    python = folder / "bin" / "python"
    if not python.exists() or subprocess.run([python, "-c", "import matplotlib"], capture_output=True).returncode != 0:
        venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "matplotlib"], check=True)
    return python


def draw(script, data, path):
    """Runs `script`, which makes `figure` of `data` with `plot`, and saves it as SVG."""
    subprocess.run([environment(), "-c", BEFORE + script + AFTER, path], input=json.dumps(data), text=True, check=True)
