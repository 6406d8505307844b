# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Times training steps or forward passes of a model in PyTorch; prints one JSON object.

The same work as `zygos bench DECK`: data already in memory and on the batch's side, forward, loss,
backward and update, no evaluation and no output inside the timed part. --forward: forward and loss
in evaluation mode, without gradients.
"""

import argparse
import json
import statistics
import time

import torch
from models_torch import MODELS


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=sorted(MODELS), required=True)
    parser.add_argument("--widths", help="of an mlp: 784,128,10")
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--warmup", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--forward", action="store_true")
    parser.add_argument("--device", default="cpu", help="cpu (default) or cuda")
    parser.add_argument("--precision", choices=["float32", "tf32", "bf16"], default="float32",
                        help="of products on a card: float32 (default), tf32, or bf16 by autocast")
    parser.add_argument("--compile", action="store_true",
                        help="model with loss, and optimizer, by torch.compile")
    return parser.parse_args()


def set_precision(name):
    """PyTorch lets cuDNN round to tf32 unless told otherwise, but not cuBLAS."""
    torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
    torch.backends.cudnn.allow_tf32 = name == "tf32"


def training_step(work, options):
    """A function that trains on inputs and targets."""
    def loss_of(inputs, targets):
        with torch.autocast(options.device, torch.bfloat16, enabled=options.precision == "bf16"):
            return work.loss(work.model(inputs), targets)

    update = work.optimizer.step
    if options.compile:
        loss_of = torch.compile(loss_of)
        update = torch.compile(work.optimizer.step)

    def step(inputs, targets):
        work.optimizer.zero_grad()
        loss_of(inputs, targets).backward()
        update()

    return step


def forward_pass(work, options):
    work.model.eval()
    model = torch.compile(work.model) if options.compile else work.model

    def step(inputs, targets):
        with torch.inference_mode():
            work.loss(model(inputs), targets)

    return step


def main():
    options = arguments()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    set_precision(options.precision)
    widths = {"widths": [int(w) for w in options.widths.split(",")]} if options.widths else {}
    work = MODELS[options.model](options.batch, **widths)
    work.model.to(options.device)  # in place: the optimizer's parameters stay the same
    # A few batches in turn, as a data set in memory would give them.
    batches = [tuple(part.to(options.device) for part in work.batch()) for _ in range(8)]
    wait = torch.cuda.synchronize if options.device == "cuda" else (lambda: None)
    run = (forward_pass if options.forward else training_step)(work, options)
    seconds = []
    for step in range(options.warmup + options.steps):
        inputs, targets = batches[step % len(batches)]
        start = time.perf_counter()
        run(inputs, targets)
        wait()
        if step >= options.warmup:
            seconds.append(time.perf_counter() - start)
    print(
        json.dumps(
            {
                "median_step_s": statistics.median(seconds),
                "min_step_s": min(seconds),
                "steps": len(seconds),
                "threads": torch.get_num_threads(),
                "parameters": sum(p.numel() for p in work.model.parameters()),
                "version": torch.__version__,
            }
        )
    )


if __name__ == "__main__":
    main()
