#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a deck alone learns small data sets of one's own as well as scikit-learn does.

Usage: perf/peers/sklearn_sets.py [--zygos PROGRAM] [--seeds N] [--write FILE]

scikit-learn's digits, wine, breast cancer and diabetes are written to CSV and to NPZ, a quarter of
each split off for the test by the seed. The deck is that of `zygos init own csv`, which standardises
by itself; files, widths, loss, and the length of training are replaced on the command line, and for
NPZ the section `data`. scikit-learn trains its MLP of the same shape behind a StandardScaler (of the targets as well,
for diabetes), with the same optimizer, batch and epochs. A row is the mean and the standard
deviation over the seeds of the accuracy, or of R2, on the test samples. scikit-learn comes from an
environment of its own under the cache folder.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import venv

from torch_environment import cache_folder

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from running import ZYGOS, json_of, run_zygos  # noqa: E402

#         set              hidden  batch  epochs
CASES = {"digits":        (64,     32,    40),
         "wine":          (32,     16,    60),
         "breast_cancer": (32,     32,    40),
         "diabetes":      (16,     32,    60)}
FORMATS = ("csv", "npz")
RATE = 0.001
BEGIN, END = "<!-- sklearn_sets.py: begin -->", "<!-- sklearn_sets.py: end -->"


def environment():
    """The Python of scikit-learn's environment, made on first use."""
    folder = cache_folder() / "sklearn-env"
    python = folder / "bin" / "python"
    if not python.exists() or subprocess.run([str(python), "-c", "import sklearn"], capture_output=True).returncode != 0:
        print(f"making scikit-learn's environment in {folder} (once)", file=sys.stderr, flush=True)
        venv.create(folder, with_pip=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", "scikit-learn"], check=True)
    return str(python)


def peer(folder, seeds):
    """In scikit-learn's Python: writes the sets of all seeds, prints its scores as JSON."""
    import csv
    import warnings

    import numpy
    import sklearn
    from sklearn import datasets
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.model_selection import train_test_split
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    warnings.filterwarnings("ignore")

    def write(stem, x, y, inputs, classes):
        labels = [classes[t] for t in y] if classes is not None else y
        with open(f"{stem}.csv", "w", newline="") as out:
            table = csv.writer(out)
            table.writerow([*inputs, "target"])
            table.writerows([*row, label] for row, label in zip(x.tolist(), numpy.asarray(labels).tolist()))
        numpy.savez(f"{stem}.npz", inputs=x, targets=y)

    scores = {"version": sklearn.__version__}
    for name, (hidden, batch, epochs) in CASES.items():
        data = getattr(datasets, f"load_{name}")()
        classes = getattr(data, "target_names", None)
        options = dict(hidden_layer_sizes=(hidden,), alpha=0.0, batch_size=batch, learning_rate_init=RATE, max_iter=epochs,
                       n_iter_no_change=epochs + 1, tol=0.0)
        scores[name] = []
        for seed in range(1, seeds + 1):
            x, x_test, y, y_test = train_test_split(data.data, data.target, test_size=0.25, random_state=seed)
            write(f"{folder}/{name}-{seed}-train", x, y, data.feature_names, classes)
            write(f"{folder}/{name}-{seed}-test", x_test, y_test, data.feature_names, classes)
            if classes is None:
                model = TransformedTargetRegressor(
                    make_pipeline(StandardScaler(), MLPRegressor(random_state=seed, **options)), transformer=StandardScaler())
            else:
                model = make_pipeline(StandardScaler(), MLPClassifier(random_state=seed, **options))
            scores[name].append(model.fit(x, y).score(x_test, y_test))
    print(json.dumps(scores))


def data_overrides(name, form, seed, folder):
    file = lambda part: f"{folder}/{name}-{seed}-{part}.{form}"
    if form == "csv":
        return [f"data.train.file={file('train')}", f"data.test={{file: {file('test')}}}", "data.validation=0"]
    return [f"data={{format: {form}, train: {{file: {file('train')}}}, test: {{file: {file('test')}}}, normalise: standard}}"]


def zygos_score(zygos, deck, name, form, seed, folder):
    hidden, batch, epochs = CASES[name]
    numbers = name == "diabetes"
    outputs = {"digits": 10, "wine": 3, "breast_cancer": 2, "diabetes": 1}[name]
    run = f"{folder}/run-{name}-{form}-{seed}"
    json_of(zygos, "train", deck, "--run-dir", run, *data_overrides(name, form, seed, folder),
            f"model.layers.dense1.units={hidden}", f"model.layers.dense2.units={outputs}",
            f"model.loss={'mse' if numbers else 'cross_entropy'}", f"optimizer.learning_rate={RATE}", f"seed={seed}",
            "lanes={host: {kind: host, threads: 1}}", "policy=single",
            f"train={{epochs: {epochs}, batch: {batch}, report_every: never, evaluate_every: never}}", "checkpoint.every=never")
    found = json_of(zygos, "eval", run)
    return found["metrics"]["r2"] if numbers else found["test_accuracy"]


def text_of(scores):
    return f"{statistics.mean(scores):.4f} ± {statistics.stdev(scores):.4f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zygos", default=ZYGOS)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--write", type=pathlib.Path, help="a page with the marks of this script, whose table is replaced")
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        return peer(options.peer, options.seeds)
    with tempfile.TemporaryDirectory() as folder:
        theirs = json.loads(subprocess.run([environment(), __file__, "--peer", folder, "--seeds", str(options.seeds)], check=True,
                                           capture_output=True, text=True).stdout)
        deck = f"{folder}/own.yaml"
        run_zygos(options.zygos, "init", deck, "csv")
        lines = ["| set | score | layers, epochs | scikit-learn | Zygos, CSV | Zygos, NPZ | difference, in deviations |",
                 "| --- | --- | --- | --- | --- | --- | --- |"]
        for name, (hidden, _, epochs) in CASES.items():
            ours = [[zygos_score(options.zygos, deck, name, form, seed, folder) for seed in range(1, options.seeds + 1)]
                    for form in FORMATS]
            spread = max(statistics.stdev(theirs[name]), 1e-9)
            away = [f"{(statistics.mean(scores) - statistics.mean(theirs[name])) / spread:+.2f}" for scores in ours]
            score = "R2" if name == "diabetes" else "accuracy"
            lines.append(f"| {name.replace('_', ' ')} | {score} | {hidden}, {epochs} | {text_of(theirs[name])} | {text_of(ours[0])} | "
                         f"{text_of(ours[1])} | {', '.join(away)} |")
            print(lines[-1], file=sys.stderr, flush=True)
    table = "\n".join([f"scikit-learn {theirs['version']}, {options.seeds} seeds.", "", *lines])
    print(table)
    if options.write:
        page = options.write.read_text()
        before, rest = page.split(BEGIN)
        options.write.write_text(f"{before}{BEGIN}\n{table}\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    sys.exit(main())
