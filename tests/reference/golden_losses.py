# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Losses: function(options, prediction, target) -> mean over the batch, named like the deck keyword.

A case has the prediction's shape and, where it is another, the target's.
"""

import torch
from torch.nn import functional as F

from golden_case import Case, equal_ones, labels_below, labels_or_none, loss, shares, wide


@loss(Case((5, 4), (5,), target=labels_below(4)), Case((3, 1), (3,), target=labels_below(1)),
      Case((4, 11), (4,), target=labels_below(11), drawn=wide),
      Case((2, 5, 3), (2, 5), target=labels_below(3)),
      Case((2, 3, 2, 4), (2, 2, 4), target=labels_below(3)),
      Case((2, 5, 3), (2, 5), target=labels_or_none(3)),
      Case((4, 11), (4,), target=labels_below(11), drawn=wide, label_smoothing=0.1),
      Case((5, 4), (5,), target=labels_below(4), class_weights=[0.5, 2, 1, 0.25]),
      Case((3, 40), (3,), target=labels_below(40), label_smoothing=0.3, class_weights=[1, 0.5, 2, 0.25] * 10),
      Case((2, 5, 3), (2, 5), target=labels_or_none(3), label_smoothing=0.25, class_weights=[0.5, 2, 1]),
      Case((2, 3, 2, 4), (2, 2, 4), target=labels_below(3), label_smoothing=0.25, class_weights=[0.5, 2, 1]))
def cross_entropy(options, prediction, target):
    # The classes of a sequence come last, those of an image first; PyTorch's always come first.
    of_sequence = prediction.dim() == 3
    logits = prediction.transpose(1, 2) if of_sequence else prediction
    weights = options.get("class_weights")
    weights = None if weights is None else torch.tensor(weights, dtype=prediction.dtype)
    # A sample's loss is the mean over its labels, so that samples weigh the same; it divides by their number, not by
    # the sum of their classes' weights.
    return sum(F.cross_entropy(one, labels, weight=weights, ignore_index=-1, reduction="sum",
                               label_smoothing=options.get("label_smoothing", 0.0)) / (labels >= 0).sum()
               for one, labels in zip(logits.split(1), target.split(1))) / len(target)


@loss(Case((5, 4)), Case((2, 3, 2)), Case((1, 1)))
def mse(_options, prediction, target):
    return F.mse_loss(prediction, target)


@loss(Case((5, 4)), Case((2, 3, 2)), Case((3, 5), drawn=equal_ones, target=equal_ones))
def mae(_options, prediction, target):
    return F.l1_loss(prediction, target)


@loss(Case((5, 4), target=shares), Case((2, 3, 2), target=shares, drawn=wide))
def bce(_options, prediction, target):
    # Zygos' predictions are logits, as are those of PyTorch's form with that name.
    return F.binary_cross_entropy_with_logits(prediction, target)


@loss(Case((3, 4), drawn=shares, target=shares),
      Case((2, 1, 3, 3), smooth=0.125, drawn=shares, target=shares))
def dice(options, prediction, target):
    # PyTorch has no such loss: the formula, and its gradient by autograd.
    p, t, smooth = prediction.flatten(1), target.flatten(1), options.get("smooth", 1.0)
    overlap = (2 * (p * t).sum(1) + smooth) / (p.sum(1) + t.sum(1) + smooth)
    return (1 - overlap).mean()
