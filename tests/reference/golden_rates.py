# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Schedules of learning rates: function(options, optimizer) -> torch.optim.lr_scheduler's.

A case's only extent is the number of steps. Its rate begins at 1, so that PyTorch's rates are the
factors; warm-ups are a schedule of their own there.
"""

from torch.optim import lr_scheduler

from golden_case import Case, rate

STEPS = (12,)


def steps(options, key):
    return int(options[key].split()[0])


def warmed_up(options, optimizer, schedule):
    """Both factors at once."""
    ramp = lr_scheduler.LinearLR(optimizer, options["warm_up_from"],
                                 total_iters=steps(options, "warm_up"))
    return lr_scheduler.ChainedScheduler([ramp, schedule])


@rate(Case(STEPS), Case(STEPS, warm_up="5 steps", warm_up_from=0.25))
def constant(options, optimizer):
    still = lr_scheduler.ConstantLR(optimizer, factor=1.0)
    return warmed_up(options, optimizer, still) if "warm_up" in options else still


@rate(Case(STEPS, every="3 steps", factor=0.5),
      Case(STEPS, every="4 steps", factor=0.1, warm_up="6 steps", warm_up_from=0.5))
def step(options, optimizer):
    falls = lr_scheduler.StepLR(optimizer, steps(options, "every"), options["factor"])
    return warmed_up(options, optimizer, falls) if "warm_up" in options else falls


@rate(Case(STEPS, at=[2, 3, 7], unit="steps", factor=0.5))
def milestones(options, optimizer):
    return lr_scheduler.MultiStepLR(optimizer, options["at"], options["factor"])


@rate(Case((9,), length="8 steps"), Case((11,), length="10 steps", floor=0.125),
      Case((11,), length="10 steps", floor=0.25, warm_up="4 steps", warm_up_from=0.5))
def cosine(options, optimizer):
    # PyTorch's goes up again after its length: cases end there.
    warm_up = steps(options, "warm_up") if "warm_up" in options else 0
    falls = lr_scheduler.CosineAnnealingLR(optimizer, steps(options, "length") - warm_up,
                                           options.get("floor", 0.0))
    if not warm_up:
        return falls
    ramp = lr_scheduler.LinearLR(optimizer, options["warm_up_from"], total_iters=warm_up)
    return lr_scheduler.SequentialLR(optimizer, [ramp, falls], milestones=[warm_up])


@rate(Case((24,), patience=2), Case((24,), factor=0.5, patience=1, min_improvement=0.25, cooldown=2),
      Case((24,), factor=0.5, patience=2, floor=0.2))
def plateau(options, optimizer):
    # PyTorch's patience is what it bears: ours is the evaluation after.
    return lr_scheduler.ReduceLROnPlateau(
        optimizer, factor=options.get("factor", 0.1), patience=options["patience"] - 1,
        threshold=options.get("min_improvement", 0.0), threshold_mode="abs",
        cooldown=options.get("cooldown", 0), min_lr=options.get("floor", 0.0), eps=0.0)


@rate(Case(STEPS, every="4 steps", factor=0.5),
      Case(STEPS, every="5 steps", factor=0.1, warm_up="6 steps", warm_up_from=0.5))
def exponential(options, optimizer):
    falls = lr_scheduler.ExponentialLR(optimizer, options["factor"] ** (1 / steps(options, "every")))
    return warmed_up(options, optimizer, falls) if "warm_up" in options else falls
