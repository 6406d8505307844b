# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""What the experiments share: running zygos, training into a folder that is thrown away, drawing."""
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from plotting import draw  # noqa: E402, F401
from running import ROOT, ZYGOS, json_of, run_zygos  # noqa: E402, F401


def trained(zygos, *words):
    """Summary and lines of metrics of a run."""
    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder) / "run"
        summary = json_of(zygos, "train", *words, "--run-dir", str(run))
        metrics = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return summary, metrics


def straight_line(points):
    """Slope, intercept and R2 of the line of least squares through (x, y)."""
    count = len(points)
    mean_x = sum(x for x, _ in points) / count
    mean_y = sum(y for _, y in points) / count
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)
    intercept = mean_y - slope * mean_x
    left = sum((y - slope * x - intercept) ** 2 for x, y in points)
    whole = sum((y - mean_y) ** 2 for _, y in points)
    return slope, intercept, 1.0 - left / whole if whole else 1.0
