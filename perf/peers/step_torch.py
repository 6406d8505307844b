# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Times training steps of a dense network in PyTorch; prints one JSON object.

The same work as `zygos bench DECK`: data already in memory and on the batch's side, forward, loss,
backward and update, no evaluation and no output inside the timed part.
"""

import argparse
import json
import statistics
import time

import torch


def build(widths):
    layers = []
    for index, (narrow, wide) in enumerate(zip(widths, widths[1:])):
        layers.append(torch.nn.Linear(narrow, wide))
        if index + 2 < len(widths):
            layers.append(torch.nn.ReLU())
    return torch.nn.Sequential(*layers)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--widths", required=True, help="784,128,10")
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--warmup", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--learning-rate", type=float, default=0.001)
    options = parser.parse_args()

    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    widths = [int(width) for width in options.widths.split(",")]
    model = build(widths)
    loss_function = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=options.learning_rate)
    # A few batches in turn, as a data set in memory would give them.
    batches = [
        (torch.rand(options.batch, widths[0]), torch.randint(0, widths[-1], (options.batch,)))
        for _ in range(8)
    ]
    seconds = []
    for step in range(options.warmup + options.steps):
        inputs, labels = batches[step % len(batches)]
        start = time.perf_counter()
        optimizer.zero_grad()
        loss = loss_function(model(inputs), labels)
        loss.backward()
        optimizer.step()
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
