#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Writes PyTorch's answers for every layer, loss and optimizer: tests/reference/golden_torch.jsonl.

    PYTHON tests/reference/golden_torch.py        # PYTHON: any with PyTorch

tests/nn/test_golden.cpp compares Zygos with that file and needs no PyTorch. To add a layer, a loss
or the like, add a function named like its deck keyword to golden_layers.py, golden_losses.py,
golden_optimizers.py or golden_rates.py, with its cases in front of it. It says in PyTorch what the
deck's options mean.

A case's numbers depend on its own text alone, so that other lines of the file stay as they are.
Numbers that go in are odd multiples of 1/16, unless a case says otherwise: the same in float and in
double, and never zero, where subgradients are a matter of taste. Numbers that come out are computed
in double and written with 15 digits.
"""

import json
import pathlib
import random
import zlib

import torch

import golden_layers  # noqa: F401 (these register their cases)
import golden_losses  # noqa: F401
import golden_optimizers  # noqa: F401
import golden_rates  # noqa: F401
from golden_case import REGISTERED, odd_sixteenths

OUTPUT = pathlib.Path(__file__).with_suffix(".jsonl")


def drawn(draw, how, shape):
    count = torch.Size(shape).numel()
    values = [how(draw) for _ in range(count)]
    kind = torch.int64 if all(isinstance(value, int) for value in values) else torch.float64
    return torch.tensor(values, dtype=kind).reshape(shape)


def written(tensor):
    values = [float(f"{value:.15g}") for value in tensor.detach().flatten().tolist()]
    short = [int(value) if value == int(value) else value for value in values]
    return {"shape": list(tensor.shape), "values": short}


def gradient_of(tensor):
    """Null where a tensor has none, such as one of labels."""
    return None if tensor.grad is None else written(tensor.grad)


def layer_line(case, draw, function):
    inputs = [drawn(draw, case.drawn, shape) for shape in case.shapes]
    for x in inputs:
        x.requires_grad_(x.is_floating_point())
    parameters = {}

    def parameter(name, shape):
        parameters[name] = drawn(draw, odd_sixteenths, shape).requires_grad_()
        return parameters[name]

    output = function(case.options, parameter, *inputs)
    d_output = drawn(draw, odd_sixteenths, output.shape)
    output.backward(d_output)
    return {"trains": case.trains,
            "inputs": [written(x) for x in inputs],
            "parameters": {name: written(value) for name, value in parameters.items()},
            "output": written(output), "d_output": written(d_output),
            "d_inputs": [gradient_of(x) for x in inputs],
            "d_parameters": {name: gradient_of(value) for name, value in parameters.items()}}


def loss_line(case, draw, function):
    prediction = drawn(draw, case.drawn, case.shapes[0]).requires_grad_()
    target = drawn(draw, case.target, case.shapes[-1])
    value = function(case.options, prediction, target)
    value.backward()
    return {"prediction": written(prediction), "target": written(target),
            "value": written(value)["values"][0], "d_prediction": gradient_of(prediction)}


def optimizer_line(case, draw, function):
    half, steps = 4, 3
    weights = [drawn(draw, odd_sixteenths, (half,)) for _ in range(2)]
    start = written(torch.cat(weights))
    stepper = function(case.options, [weight.requires_grad_() for weight in weights])
    gradients, after = [], []
    for _ in range(steps):
        for weight in weights:
            weight.grad = drawn(draw, odd_sixteenths, (half,))
        gradients.append(written(torch.cat([weight.grad for weight in weights])))
        stepper.step()
        after.append(written(torch.cat(weights)))
    decays = torch.tensor([1.0] * half + [0.0] * half)
    return {"decays": written(decays), "weights": start, "gradients": gradients, "after": after}


def rate_line(case, draw, function):
    optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    schedule = function(case.options, optimizer)
    if isinstance(schedule, torch.optim.lr_scheduler.ReduceLROnPlateau):
        return plateau_line(case, draw, optimizer, schedule)
    factors = []
    for _ in range(case.shapes[0][0]):
        factors.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    return {"factors": written(torch.tensor(factors, dtype=torch.float64))}


def plateau_line(case, draw, optimizer, schedule):
    """An evaluation behind every step; reductions are how often the rate was lowered before it."""
    factors, losses, reductions = [], [], []
    count = 0
    reduce = schedule._reduce_lr

    def counted(epoch):
        nonlocal count
        count += 1
        reduce(epoch)

    schedule._reduce_lr = counted
    for _ in range(case.shapes[0][0]):
        factors.append(optimizer.param_groups[0]["lr"])
        reductions.append(count)
        optimizer.step()
        losses.append(odd_sixteenths(draw))
        schedule.step(losses[-1])
    return {"factors": written(torch.tensor(factors, dtype=torch.float64)),
            "reductions": reductions, "losses": losses}


def main():
    torch.set_num_threads(1)
    lines = [{"torch": torch.__version__, "written_by": pathlib.Path(__file__).name}]
    makers = {"layer": layer_line, "loss": loss_line, "optimizer": optimizer_line,
              "rate": rate_line}
    for kind, entries in REGISTERED.items():
        for keyword, cases, function in entries:
            for case in cases:
                deck = case.deck(keyword)
                draw = random.Random(zlib.crc32(f"{deck} {case.shapes}".encode()))
                lines.append({kind: deck, **makers[kind](case, draw, function)})
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    OUTPUT.write_text(text, encoding="utf-8")
    print(f"{OUTPUT}: {len(lines) - 1} cases, {len(text) / 1000:.0f} kB, PyTorch {torch.__version__}")


if __name__ == "__main__":
    main()
