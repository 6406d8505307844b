#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Trains LeNet-5 on MNIST in PyTorch and writes its convolutions: what inputs/fine_tuning.yaml begins with.

Usage: perf/peers/pretrain_lenet5.py OUTPUT.safetensors
"""

import gzip
import os
import subprocess
import sys

from processes import ROOT
from torch_environment import environment

MNIST = ROOT / "inputs/data/mnist"
EPOCHS, BATCH = 2, 64


def numbers_in(name, header):
    import numpy
    return numpy.frombuffer(gzip.open(MNIST / name).read(), numpy.uint8, offset=header).copy()


def train(output):
    import torch
    from safetensors.torch import save_file
    from torch import nn
    images = torch.tensor(numbers_in("train-images-idx3-ubyte.gz", 16).reshape(-1, 1, 28, 28)).float() / 255
    labels = torch.tensor(numbers_in("train-labels-idx1-ubyte.gz", 8).astype("int64"))
    torch.manual_seed(1)
    torch.set_num_threads(1)
    features = nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
                             nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2))
    classifier = nn.Sequential(nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(),
                               nn.Linear(84, 10))
    optimizer = torch.optim.SGD([*features.parameters(), *classifier.parameters()], lr=0.02, momentum=0.9)
    for epoch in range(EPOCHS):
        total = 0.0
        for batch in torch.randperm(len(images)).split(BATCH):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(classifier(features(images[batch])), labels[batch])
            loss.backward()
            optimizer.step()
            total += loss.item() * len(batch)
        print(f"epoch {epoch + 1} of {EPOCHS}: loss {total / len(images):.4f}", flush=True)
    save_file({f"features.{name}": tensor for name, tensor in features.state_dict().items()}, output,
              metadata={"format": "pt"})


def main():
    if len(sys.argv) != 2:
        return __doc__
    if not os.environ.get("ZYGOS_IN_PEERS"):
        return subprocess.run([environment(), *sys.argv], env={**os.environ, "ZYGOS_IN_PEERS": "1"},
                              check=False).returncode
    train(sys.argv[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
