# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Optimizers: function(options, groups) -> torch.optim's, named like the deck keyword.

`groups` are the weights that decay and those that do not. Options that a case leaves out have the
defaults of both libraries.
"""

import torch

from golden_case import Case, optimizer


def named(options, **names):
    """Options under PyTorch's names; those that are missing fall back to its defaults."""
    return {theirs: options[ours] for ours, theirs in names.items() if ours in options}


def groups_of(groups, options):
    decays, exempt = groups
    return [{"params": decays, **named(options, weight_decay="weight_decay")},
            {"params": exempt, "weight_decay": 0.0}]


@optimizer(Case(learning_rate=0.1), Case(learning_rate=0.1, momentum=0.9),
           Case(learning_rate=0.05, momentum=0.5, weight_decay=0.1),
           Case(learning_rate=0.1, weight_decay=0.01))
def sgd(options, groups):
    return torch.optim.SGD(groups_of(groups, options),
                           **named(options, learning_rate="lr", momentum="momentum"))


def adam_options(options):
    found = named(options, learning_rate="lr", epsilon="eps")
    if "beta1" in options:
        found["betas"] = (options["beta1"], options["beta2"])
    return found


@optimizer(Case(), Case(learning_rate=0.05, beta1=0.5, beta2=0.75, epsilon=0.001),
           Case(learning_rate=0.01, weight_decay=0.1))
def adam(options, groups):
    return torch.optim.Adam(groups_of(groups, options), **adam_options(options))


@optimizer(Case(), Case(learning_rate=0.05, beta1=0.0, beta2=0.5),
           Case(learning_rate=0.1, weight_decay=0.25))
def adamw(options, groups):
    return torch.optim.AdamW(groups_of(groups, options), **adam_options(options))


@optimizer(Case(), Case(learning_rate=0.1, epsilon=0.01), Case(learning_rate=0.1, weight_decay=0.1))
def adagrad(options, groups):
    return torch.optim.Adagrad(groups_of(groups, options),
                               **named(options, learning_rate="lr", epsilon="eps"))


@optimizer(Case(), Case(learning_rate=0.1, alpha=0.5, epsilon=0.01),
           Case(learning_rate=0.01, alpha=0.9, momentum=0.9, weight_decay=0.1))
def rmsprop(options, groups):
    return torch.optim.RMSprop(groups_of(groups, options), **named(
        options, learning_rate="lr", alpha="alpha", epsilon="eps", momentum="momentum"))
