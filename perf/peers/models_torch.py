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


def dense_stack(widths, activation):
    layers = []
    for index, (narrow, wide) in enumerate(zip(widths, widths[1:])):
        layers.append(nn.Linear(narrow, wide))
        if index + 2 < len(widths):
            layers.append(activation())
    return nn.Sequential(*layers)


def one_layer(batch):
    """The smallest model that trains: what its process needs is not the models' doing."""
    model = nn.Linear(6, 3)
    return Work(model, nn.MSELoss(), torch.optim.Adam(model.parameters(), lr=0.001),
                lambda: (torch.rand(batch, 6), torch.rand(batch, 3)))


def mlp(batch, widths):
    """Dense layers with ReLU between them, Adam: inputs/mnist_mlp.yaml, inputs/mlp_big.yaml."""
    model = dense_stack(widths, nn.ReLU)
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


class UNet(nn.Module):
    """Two padded 3 x 3 convolutions a level, the encoder's outputs joined to the decoder's."""

    def __init__(self, base=16, levels=3):
        super().__init__()
        wide = [base << level for level in range(levels + 1)]
        self.down = nn.ModuleList(
            self.block(narrow, channels) for narrow, channels in zip([1] + wide, wide))
        self.up = nn.ModuleList(
            nn.ConvTranspose2d(wide[i + 1], wide[i], 2, stride=2) for i in range(levels))
        self.join = nn.ModuleList(self.block(2 * wide[i], wide[i]) for i in range(levels))
        self.last = nn.Conv2d(base, 1, 1)

    @staticmethod
    def block(narrow, wide):
        return nn.Sequential(nn.Conv2d(narrow, wide, 3, padding=1), nn.ReLU(),
                             nn.Conv2d(wide, wide, 3, padding=1), nn.ReLU())

    def forward(self, x):
        skips = []
        for level, block in enumerate(self.down):
            x = block(x if level == 0 else nn.functional.max_pool2d(x, 2))
            skips.append(x)
        skips.pop()
        for level in reversed(range(len(self.up))):
            x = self.join[level](torch.cat([skips[level], self.up[level](x)], dim=1))
        return torch.sigmoid(self.last(x))


def dice_loss(prediction, target):
    both = (prediction * target).flatten(1).sum(1)
    total = prediction.flatten(1).sum(1) + target.flatten(1).sum(1)
    return (1 - (2 * both + 1) / (total + 1)).mean()


def unet(batch):
    """inputs/unet.yaml"""
    model = UNet()
    return Work(model, dice_loss, torch.optim.Adam(model.parameters(), lr=0.001),
                lambda: (torch.rand(batch, 1, 64, 64),
                         (torch.rand(batch, 1, 64, 64) > 0.8).float()))


def surrogate_mlp(batch):
    """inputs/surrogate_mlp.yaml"""
    model = dense_stack([6, 64, 64, 64, 3], nn.Tanh)
    return Work(model, nn.MSELoss(), torch.optim.Adam(model.parameters(), lr=0.002),
                lambda: (torch.rand(batch, 6), torch.rand(batch, 3)))


def closure_mlp(batch):
    """inputs/closure_mlp.yaml"""
    model = dense_stack([6, 256, 256, 256, 256, 256, 2], nn.ReLU)
    return Work(model, nn.L1Loss(), torch.optim.Adam(model.parameters(), lr=0.001),
                lambda: (torch.rand(batch, 6), torch.rand(batch, 2)))


class GptBlock(nn.Module):
    """Pre-norm: causal attention and a GELU network of four times the width, each added on."""

    def __init__(self, width, heads, dropout):
        super().__init__()
        self.heads = heads
        self.dropout = dropout
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.project = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.wide = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                                  nn.Linear(4 * width, width), nn.Dropout(dropout))
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        batch, length, width = x.shape
        split = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4).unbind(0)
        mixed = nn.functional.scaled_dot_product_attention(
            query, key, value, is_causal=True, dropout_p=self.dropout if self.training else 0.0)
        mixed = mixed.transpose(1, 2).reshape(batch, length, width)
        x = x + self.drop(self.project(mixed))
        return x + self.wide(self.norm2(x))


class Gpt(nn.Module):
    """Token and position embeddings, blocks, a last normalisation and one score a token."""

    def __init__(self, vocabulary=10000, context=1000, width=384, blocks=10, heads=1, dropout=0.2):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(context, width)
        self.drop = nn.Dropout(dropout)
        self.blocks = nn.Sequential(*(GptBlock(width, heads, dropout) for _ in range(blocks)))
        self.norm = nn.LayerNorm(width)
        self.scores = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.drop(self.tokens(tokens) + self.positions(places))
        return self.scores(self.norm(self.blocks(x)))


def next_token_loss(scores, targets):
    return nn.functional.cross_entropy(scores.flatten(0, 1), targets.flatten())


def gpt(batch, vocabulary=10000, context=1000):
    """inputs/gpt.yaml"""
    model = Gpt(vocabulary, context)
    return Work(model, next_token_loss,
                torch.optim.AdamW(model.parameters(), lr=0.0003, weight_decay=0.1),
                lambda: (torch.randint(0, vocabulary, (batch, context)),
                         torch.randint(0, vocabulary, (batch, context))))


def normalised_power_law_graph(nodes, mean_degree, classes, homophily=0.8):
    """D^-1/2 (A + I) D^-1/2 as CSR, of a graph drawn as the data format power_law_graph draws it."""
    weights = (torch.arange(nodes) + 1.0) ** -0.5
    count = int(nodes * mean_degree / 2)
    one = torch.multinomial(weights, count, replacement=True)
    other = torch.multinomial(weights, count, replacement=True)
    within = torch.rand(count) < homophily
    for label in range(classes):
        chosen = (within & (one % classes == label)).nonzero().squeeze(1)
        drawn = torch.multinomial(weights[label::classes], len(chosen), replacement=True)
        other[chosen] = drawn * classes + label
    ends = torch.stack([torch.cat([one, other]), torch.cat([other, one])])
    ends = torch.unique(ends[:, ends[0] != ends[1]], dim=1)
    ends = torch.cat([ends, torch.arange(nodes).repeat(2, 1)], dim=1)
    root = torch.bincount(ends[0]).float().rsqrt()
    return torch.sparse_coo_tensor(ends, root[ends[0]] * root[ends[1]],
                                   (nodes, nodes)).coalesce().to_sparse_csr()


class SymmetricProduct(torch.autograd.Function):
    """A x; the gradient is A d_y, which spares PyTorch the transpose of A in every step."""

    @staticmethod
    def forward(context, matrix, x):
        context.matrix = matrix
        return matrix @ x

    @staticmethod
    def backward(context, d_y):
        return None, context.matrix @ d_y


class Gcn(nn.Module):
    def __init__(self, matrix, features, units, classes):
        super().__init__()
        self.register_buffer("matrix", matrix)
        self.linear = nn.ModuleList([nn.Linear(features, units), nn.Linear(units, units)])
        self.last = nn.Linear(units, classes)

    def forward(self, x):
        for index, layer in enumerate(self.linear):
            z = SymmetricProduct.apply(self.matrix, x @ layer.weight.T) + layer.bias
            x = torch.relu(z)
            if index == 0:
                x = nn.functional.dropout(x, 0.5, self.training)
        return self.last(x)


def gcn(_batch):
    """inputs/gcn.yaml: 20,000 nodes at once, a tenth of which have a valid label."""
    nodes, classes, features = 20000, 16, 64
    model = Gcn(normalised_power_law_graph(nodes, 10, classes), features, 64, classes)
    x = torch.rand(nodes, features)
    targets = torch.where(torch.rand(nodes) < 0.1, labels(nodes, classes), -1)
    return Work(model, nn.CrossEntropyLoss(ignore_index=-1),
                torch.optim.Adam(model.parameters(), lr=0.01), lambda: (x, targets))


MODELS = {"one_layer": one_layer, "mlp": mlp, "lenet5": lenet5, "cifar10_quick": cifar10_quick,
          "unet": unet, "surrogate_mlp": surrogate_mlp, "closure_mlp": closure_mlp, "gpt": gpt,
          "gcn": gcn}
