# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""How the scripts of this folder run zygos."""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ZYGOS = str(ROOT / "build/host/bin/zygos")


def run_zygos(zygos, *words):
    """What zygos prints; ends the script with what it said if it fails."""
    done = subprocess.run([zygos, *words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"zygos {' '.join(words)} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def json_of(zygos, *words):
    return json.loads(run_zygos(zygos, *words, "--json"))
