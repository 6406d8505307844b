# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""The decks' models in PyTorch, with its defaults: what step_torch.py times."""

import dataclasses
from typing import Callable

import torch
from torch import nn


@dataclasses.dataclass
class Work:
    model: nn.Module
    loss: Callable
    optimizer: torch.optim.Optimizer
    batch: Callable  # () -> inputs, targets


def labels(batch, classes):
    return torch.randint(0, classes, (batch,))


def mlp(batch, widths):
    """Dense layers with ReLU between them, Adam: inputs/mnist_mlp.yaml, inputs/mlp_big.yaml."""
    layers = []
    for index, (narrow, wide) in enumerate(zip(widths, widths[1:])):
        layers.append(nn.Linear(narrow, wide))
        if index + 2 < len(widths):
            layers.append(nn.ReLU())
    model = nn.Sequential(*layers)
    return Work(model, nn.CrossEntropyLoss(), torch.optim.Adam(model.parameters(), lr=0.001),
                lambda: (torch.rand(batch, widths[0]), labels(batch, widths[-1])))


def lenet5(batch):
    """inputs/lenet5.yaml"""
    model = nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(),
        nn.Linear(84, 10))
    return Work(model, nn.CrossEntropyLoss(),
                torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9),
                lambda: (torch.rand(batch, 1, 28, 28), labels(batch, 10)))


def cifar10_quick(batch):
    """inputs/cifar10_quick.yaml: Caffe's shapes, with its pooling rounded up."""
    pooling = {"kernel_size": 3, "stride": 2, "ceil_mode": True}
    model = nn.Sequential(
        nn.Conv2d(3, 32, 5, padding=2), nn.MaxPool2d(**pooling), nn.ReLU(),
        nn.Conv2d(32, 32, 5, padding=2), nn.ReLU(), nn.AvgPool2d(**pooling),
        nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), nn.AvgPool2d(**pooling),
        nn.Flatten(), nn.Linear(1024, 64), nn.Linear(64, 10))
    return Work(model, nn.CrossEntropyLoss(),
                torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9, weight_decay=0.004),
                lambda: (torch.rand(batch, 3, 32, 32), labels(batch, 10)))


MODELS = {"mlp": mlp, "lenet5": lenet5, "cifar10_quick": cifar10_quick}
