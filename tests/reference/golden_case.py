# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""A case of golden_torch.py: what its deck says, and how its numbers are drawn."""

REGISTERED = {"layer": [], "loss": [], "optimizer": [], "rate": []}


# How numbers are drawn: name -> function of a random.Random.
def odd_sixteenths(draw):
    return (2 * draw.randrange(-16, 16) + 1) / 16


def wide(draw):
    return (2 * draw.randrange(-32, 32) + 1) / 4


def equal_ones(draw):
    return float(draw.randrange(-1, 2))


def shares(draw):
    return draw.randrange(0, 17) / 16


def labels_below(count):
    return lambda draw: draw.randrange(count)


def labels_or_none(count):
    return lambda draw: draw.randrange(-1, count)


class Case:
    """Options as a deck has them, the shapes of a batch (samples first) and how it is drawn."""

    def __init__(self, *shapes, drawn=odd_sixteenths, target=odd_sixteenths, trains=True, **options):
        self.shapes, self.drawn, self.target, self.trains = shapes, drawn, target, trains
        self.options = options

    def deck(self, keyword):
        """The case's section of a deck, as YAML on one line."""
        def text(value):
            return str(value).lower() if isinstance(value, bool) else str(value)

        pairs = ", ".join(f"{key}: {text(value)}" for key, value in self.options.items())
        return f"{{type: {keyword}, {pairs}}}" if pairs else keyword


def parts(kind):
    """A decorator that registers a function under `kind` with the cases it is for."""
    def with_cases(*cases):
        def register(function):
            REGISTERED[kind].append((function.__name__, cases, function))
            return function
        return register
    return with_cases


layer, loss, optimizer, rate = (parts(kind) for kind in REGISTERED)
