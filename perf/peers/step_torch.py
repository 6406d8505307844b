# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Times training steps of a model in PyTorch; prints one JSON object.

The same work as `zygos bench DECK`: data already in memory and on the batch's side, forward, loss,
backward and update, no evaluation and no output inside the timed part.
"""

import argparse
import json
import statistics
import time

import torch
from models_torch import MODELS


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=sorted(MODELS), required=True)
    parser.add_argument("--widths", help="of an mlp: 784,128,10")
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--warmup", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()

    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    widths = {"widths": [int(w) for w in options.widths.split(",")]} if options.widths else {}
    work = MODELS[options.model](options.batch, **widths)
    # A few batches in turn, as a data set in memory would give them.
    batches = [work.batch() for _ in range(8)]
    seconds = []
    for step in range(options.warmup + options.steps):
        inputs, targets = batches[step % len(batches)]
        start = time.perf_counter()
        work.optimizer.zero_grad()
        loss = work.loss(work.model(inputs), targets)
        loss.backward()
        work.optimizer.step()
        if step >= options.warmup:
            seconds.append(time.perf_counter() - start)
    print(
        json.dumps(
            {
                "median_step_s": statistics.median(seconds),
                "min_step_s": min(seconds),
                "steps": len(seconds),
                "threads": torch.get_num_threads(),
                "version": torch.__version__,
            }
        )
    )


if __name__ == "__main__":
    main()
