# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Times training steps of a multilayer perceptron in JAX (XLA); prints one JSON object.

As step_torch.py: batches in memory, forward, loss, backward and Adam in one jitted function whose
weights and moments are donated. XLA's thread pool has as many threads as the process has cores, so
the process is bound to as many as it may use.
"""

import argparse
import json
import os
import statistics
import time


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=["surrogate_mlp", "closure_mlp"], required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--warmup", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


OPTIONS = arguments()
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:OPTIONS.threads])
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402  it looks at the cores when it is loaded
import jax.numpy as jnp  # noqa: E402

#: Widths, activation, loss by element and learning rate of the decks of these names.
MODELS = {
    "surrogate_mlp": ([6, 64, 64, 64, 3], jnp.tanh, jnp.square, 0.002),
    "closure_mlp": ([6, 256, 256, 256, 256, 256, 2], jax.nn.relu, jnp.abs, 0.001),
}
WIDTHS, ACTIVATION, LOSS, RATE = MODELS[OPTIONS.model]


def initial_weights(key):
    weights = []
    for inputs, outputs in zip(WIDTHS, WIDTHS[1:]):
        key, one, two = jax.random.split(key, 3)
        bound = inputs ** -0.5
        weights.append((jax.random.uniform(one, (inputs, outputs), minval=-bound, maxval=bound),
                        jax.random.uniform(two, (outputs,), minval=-bound, maxval=bound)))
    return weights


def loss_of(weights, inputs, targets):
    values = inputs
    for kernel, bias in weights[:-1]:
        values = ACTIVATION(values @ kernel + bias)
    kernel, bias = weights[-1]
    return LOSS(values @ kernel + bias - targets).mean()


def adam_step(state, inputs, targets):
    """Kingma and Ba, 2015, algorithm 1."""
    weights, first, second, step = state
    step = step + 1
    gradient = jax.grad(loss_of)(weights, inputs, targets)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradient)
    rate = RATE * jnp.sqrt(1 - 0.999 ** step) / (1 - 0.9 ** step)
    weights = jax.tree.map(lambda w, m, v: w - rate * m / (jnp.sqrt(v) + 1e-8), weights, first,
                           second)
    return weights, first, second, step


def main():
    weights = initial_weights(jax.random.key(1))
    zeros = jax.tree.map(jnp.zeros_like, weights)
    state = (weights, zeros, jax.tree.map(jnp.zeros_like, weights), jnp.float32(0))
    step = jax.jit(adam_step, donate_argnums=0)
    keys = jax.random.split(jax.random.key(2), 16)
    batches = [(jax.random.uniform(keys[2 * i], (OPTIONS.batch, WIDTHS[0])),
                jax.random.uniform(keys[2 * i + 1], (OPTIONS.batch, WIDTHS[-1]))) for i in range(8)]
    seconds = []
    for number in range(OPTIONS.warmup + OPTIONS.steps):
        inputs, targets = batches[number % len(batches)]
        start = time.perf_counter()
        state = step(state, inputs, targets)
        jax.block_until_ready(state)
        if number >= OPTIONS.warmup:
            seconds.append(time.perf_counter() - start)
    print(json.dumps({
        "median_step_s": statistics.median(seconds),
        "min_step_s": min(seconds),
        "steps": len(seconds),
        "threads": OPTIONS.threads,
        "parameters": sum(w.size for w in jax.tree.leaves(state[0])),
        "version": jax.__version__,
    }))


if __name__ == "__main__":
    main()
