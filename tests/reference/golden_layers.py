# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Layers: function(options, parameter, input...) -> output, named like the deck keyword.

`parameter(name, shape)` draws a parameter; names, shapes and order are those of the layer in Zygos.
"""

import torch
from torch.nn import functional as F

from golden_case import Case, equal_ones, labels_below, layer, wide


def pair(options, key, fallback):
    value = options.get(key, fallback)
    return tuple(value) if isinstance(value, list) else (value, value)


def as_image(x):
    """(height, width) is an image of one channel."""
    return x.unsqueeze(1) if x.dim() == 3 else x


def activated(options, z):
    functions = {"none": lambda x: x, "relu": F.relu, "tanh": torch.tanh, "sigmoid": torch.sigmoid}
    return functions[options.get("activation", "none")](z)


def bias_of(options, parameter, width):
    return parameter("bias", (width,)) if options.get("bias", True) else None


@layer(Case((4, 3), units=5),
       Case((1, 7), units=1, bias=False),
       Case((3, 2, 3), units=4, activation="tanh"),
       Case((5, 6), units=3, activation="relu"),
       Case((2, 9), units=5, activation="sigmoid"),
       Case((2, 3, 4), units=3, flatten=False, activation="tanh"))
def dense(options, parameter, x):
    rows = x.flatten(1) if options.get("flatten", True) else x
    # Zygos keeps (inputs, outputs), PyTorch the transpose.
    kernel = parameter("kernel", (rows.shape[-1], options["units"]))
    return activated(options, F.linear(rows, kernel.T,
                                       bias_of(options, parameter, options["units"])))


@layer(Case((2, 3, 7), filters=2, kernel=3),
       Case((2, 4, 9), filters=4, kernel=3, stride=2, padding=1, groups=2, activation="relu"),
       Case((3, 2, 8), filters=2, kernel=2, dilation=3, bias=False))
def conv1d(options, parameter, x):
    groups, filters = options.get("groups", 1), options["filters"]
    # Zygos keeps an image's kernel of one row.
    kernel = parameter("kernel", (filters, x.shape[1] // groups, 1, options["kernel"]))
    return activated(options, F.conv1d(
        x, kernel.squeeze(2), bias_of(options, parameter, filters), options.get("stride", 1),
        options.get("padding", 0), options.get("dilation", 1), groups))


@layer(Case((2, 2, 5, 4), filters=3, kernel=3),
       Case((1, 1, 4, 4), filters=1, kernel=1, bias=False),
       Case((2, 4, 5), filters=2, kernel=[3, 2], padding=1),
       Case((2, 2, 5, 7), filters=2, kernel=3, stride=2, padding=1),
       Case((1, 2, 8, 7), filters=2, kernel=[5, 1], stride=[3, 2], padding=[2, 0]),
       Case((1, 2, 7, 6), filters=2, kernel=3, dilation=2, padding=2),
       Case((1, 2, 9, 8), filters=2, kernel=[2, 3], stride=[2, 1], dilation=[3, 2]),
       Case((1, 4, 3, 3), filters=6, kernel=3, groups=2, padding=1, activation="relu"),
       Case((1, 3, 5, 5), filters=3, kernel=3, groups=3, stride=2, activation="tanh"),
       Case((2, 2, 4, 4), filters=2, kernel=4, activation="sigmoid"),
       Case((1, 1, 3, 35), filters=1, kernel=3, padding=1, bias=False),
       Case((2, 2, 7, 7), filters=2, kernel=2, stride=3))
def conv2d(options, parameter, x):
    x = as_image(x)
    groups, filters = options.get("groups", 1), options["filters"]
    kernel = parameter("kernel", (filters, x.shape[1] // groups, *pair(options, "kernel", 1)))
    return activated(options, F.conv2d(
        x, kernel, bias_of(options, parameter, filters), pair(options, "stride", 1),
        pair(options, "padding", 0), pair(options, "dilation", 1), groups))


@layer(Case((2, 2, 3, 3), filters=2, kernel=3),
       Case((1, 2, 3, 4), filters=3, kernel=2, stride=2),
       Case((2, 2, 3, 3), filters=2, kernel=3, stride=2, padding=1, output_padding=1),
       Case((1, 2, 4, 2), filters=1, kernel=[4, 3], stride=[2, 3], padding=[1, 0],
            output_padding=[0, 2], bias=False),
       Case((1, 4, 2, 3), filters=6, kernel=3, groups=2, activation="relu"),
       Case((1, 2, 3, 2), filters=1, kernel=2, dilation=2, stride=3, activation="tanh"),
       Case((2, 3, 5), filters=2, kernel=[3, 1], dilation=[2, 1], padding=[2, 0]))
def conv_transpose2d(options, parameter, x):
    x = as_image(x)
    groups, filters = options.get("groups", 1), options["filters"]
    kernel = parameter("kernel", (x.shape[1], filters // groups, *pair(options, "kernel", 1)))
    return activated(options, F.conv_transpose2d(
        x, kernel, bias_of(options, parameter, filters), pair(options, "stride", 1),
        pair(options, "padding", 0), pair(options, "output_padding", 0), groups,
        pair(options, "dilation", 1)))


def pool_options(options):
    kernel = pair(options, "kernel", 1)
    return {"kernel_size": kernel, "stride": pair(options, "stride", list(kernel)),
            "padding": pair(options, "padding", 0), "ceil_mode": options.get("ceil", False)}


@layer(Case((2, 3, 4, 6), kernel=2),
       Case((1, 2, 7, 8), kernel=3, stride=2),
       Case((1, 2, 7, 8), kernel=3, stride=2, ceil=True),
       Case((1, 2, 6, 6), kernel=2, stride=3, padding=1, ceil=True),
       Case((2, 5, 7), kernel=[3, 2], stride=[1, 2], padding=[1, 0]),
       Case((2, 2, 6, 6), kernel=3, stride=1, padding=1, drawn=equal_ones))
def max_pool2d(options, _, x):
    return F.max_pool2d(as_image(x), **pool_options(options))


@layer(Case((2, 3, 4, 6), kernel=2),
       Case((1, 2, 7, 8), kernel=3, stride=2, padding=1),
       Case((1, 2, 7, 8), kernel=3, stride=2, padding=1, count_padding=True),
       Case((2, 1, 8, 7), kernel=3, stride=2, ceil=True),
       Case((1, 2, 6, 8), kernel=3, stride=2, padding=1, ceil=True, count_padding=True),
       Case((1, 2, 6, 6), kernel=2, stride=3, padding=1, ceil=True, count_padding=True),
       Case((2, 5, 7), kernel=[3, 2], stride=[1, 3], padding=[1, 0]))
def average_pool2d(options, _, x):
    # PyTorch's default is to count the padding, Zygos' is not to.
    return F.avg_pool2d(as_image(x), **pool_options(options),
                        count_include_pad=options.get("count_padding", False))


@layer(Case((2, 2, 2, 3), factor=2), Case((1, 2, 3), factor=[1, 3]),
       Case((1, 2, 2, 3), factor=2, mode="bilinear"),
       Case((2, 1, 3, 2), factor=[3, 1], mode="bilinear"),
       Case((1, 1, 1, 4), factor=[2, 4], mode="bilinear"))
def upsample(options, _, x):
    mode = options.get("mode", "nearest")
    corners = {} if mode == "nearest" else {"align_corners": False}
    return F.interpolate(as_image(x), scale_factor=pair(options, "factor", 1), mode=mode, **corners)


@layer(Case((2, 6), shape=[2, 3]), Case((2, 2, 3, 2), shape=[3, -1]))
def reshape(options, _, x):
    return x.reshape(x.shape[0], *options["shape"])


@layer(Case((2, 2, 3)))
def flatten(_options, _, x):
    return x.flatten(1)


@layer(Case((2, 3, 2, 2)), Case((2, 4, 3)), Case((1, 1, 5)))
def transpose(_options, _, x):
    return x.flatten(2).transpose(1, 2)


@layer(Case((3, 4, 2), index=0), Case((2, 5, 3), index=-2), Case((2, 3, 2, 2), index=2),
       Case((1, 1, 4), index=-1))
def select(options, _, x):
    return x.select(1, options["index"])


@layer(Case((3, 11)), Case((2, 3, 3), drawn=wide), Case((2, 8), drawn=equal_ones))
def relu(_options, _, x):
    return F.relu(x)


@layer(Case((3, 11)), Case((2, 3, 3), drawn=wide))
def tanh(_options, _, x):
    return torch.tanh(x)


@layer(Case((3, 11)), Case((2, 3, 3), drawn=wide))
def sigmoid(_options, _, x):
    return torch.sigmoid(x)


@layer(Case((3, 11)), Case((2, 3, 3), drawn=wide), Case((2, 5), drawn=equal_ones),
       Case((3, 11), approximate="tanh"), Case((2, 3, 3), approximate="tanh", drawn=wide))
def gelu(options, _, x):
    return F.gelu(x, approximate=options.get("approximate", "none"))


@layer(Case((3, 11)), Case((2, 3, 3), drawn=wide), Case((2, 5), drawn=equal_ones))
def silu(_options, _, x):
    return F.silu(x)


@layer(Case((3, 11)), Case((2, 3, 3), slope=0.25, drawn=wide), Case((2, 5), slope=0))
def leaky_relu(options, _, x):
    # At zero PyTorch's gradient has the slope's factor, Zygos' has not: no case has a zero.
    return F.leaky_relu(x, options.get("slope", 0.01))


@layer(Case((3, 4), rate=0), Case((2, 2, 3), rate=0.5, trains=False))
def dropout(options, _, x):
    # Only what needs no random numbers; tests/nn/test_dropout.cpp has the rest.
    return F.dropout(x, options["rate"], training=options["rate"] == 0)


@layer(Case((5, 3)), Case((4, 2, 3), epsilon=0.1, momentum=0.25), Case((3, 2, 2, 3), drawn=wide),
       Case((6, 2, 2), group=3))
def batch_norm(options, parameter, x):
    channels = x.shape[1:2]
    gain, shift = parameter("gain", channels), parameter("shift", channels)
    mean, variance = parameter("running_mean", channels), parameter("running_variance", channels)
    epsilon, momentum = options.get("epsilon", 1e-5), options.get("momentum", 0.1)
    # What Zygos has as the gradient of running statistics is what an update subtracts from them.
    group = options.get("group", len(x))
    new = [[statistic.detach().clone() for statistic in (mean, variance)] for _ in x.split(group)]
    y = torch.cat([F.batch_norm(part, *running, gain, shift, True, momentum, epsilon)
                   for part, running in zip(x.split(group), new)])
    mean.grad = mean.detach() - sum(running[0] for running in new) / len(new)
    variance.grad = variance.detach() - sum(running[1] for running in new) / len(new)
    return y


@layer(Case((2, 6, 3)), Case((3, 2, 2, 2), size=3, alpha=2.0, beta=0.5, k=0.5),
       Case((2, 9, 1), size=7, alpha=0.5, drawn=wide))
def lrn(options, _, x):
    return F.local_response_norm(x, options.get("size", 5), options.get("alpha", 1e-4),
                                 options.get("beta", 0.75), options.get("k", 1.0))


@layer(Case((4, 9)), Case((2, 3, 4), epsilon=0.1), Case((2, 2, 2, 5), epsilon=1e-12, drawn=wide),
       Case((1, 37)))
def layer_norm(options, parameter, x):
    width = x.shape[-1:]
    return F.layer_norm(x, width, parameter("gain", width), parameter("shift", width),
                        options.get("epsilon", 1e-5))


@layer(Case((2, 4, 3), groups=2), Case((3, 6, 2, 3), groups=3, epsilon=0.1),
       Case((2, 4, 2), groups=4, drawn=wide), Case((4, 6), groups=2), Case((1, 5, 3, 3), groups=1))
def group_norm(options, parameter, x):
    channels = x.shape[1:2]
    return F.group_norm(x, options["groups"], parameter("gain", channels),
                        parameter("shift", channels), options.get("epsilon", 1e-5))


def adjacency(options, nodes):
    """Dense: who hears of whom. In a tree only nodes that are no leaves hear of anybody."""
    edges = options.get("edges")
    if edges is not None:
        a = torch.zeros(nodes, nodes, dtype=torch.float64)
        for one, other in zip(edges[::2], edges[1::2]):
            if one != other:
                a[one, other] = a[other, one] = 1.0
        return a
    parents, first, children = [0], 1, []
    for count in options["fan_out"]:
        if first == nodes:  # behind other layers: a tree with fewer levels
            break
        children += [list(range(first + i * count, first + (i + 1) * count))
                     for i in range(len(parents))]
        parents = [node for of_parent in children[-len(parents):] for node in of_parent]
        first += len(parents)
    a = torch.zeros(len(children), nodes, dtype=torch.float64)
    for row, of_parent in enumerate(children):
        a[row, of_parent] = 1.0
    return a


@layer(Case((2, 5, 2), units=3, nodes=5, edges=[0, 1, 1, 2, 2, 0, 3, 1]),
       Case((1, 4, 5), units=1, nodes=4, edges=[0, 1, 1, 2, 2, 3, 0, 1], activation="tanh"),
       Case((1, 2, 2), units=1, nodes=2, edges=[], bias=False),
       Case((2, 4, 2), units=1, aggregate="mean", nodes=4, edges=[0, 1, 1, 3], activation="relu"),
       Case((1, 9, 2), units=2, aggregate="mean", fan_out=[2, 3]),
       Case((2, 3, 2), units=2, aggregate="mean", fan_out=[2, 3], activation="sigmoid", bias=False),
       Case((1, 7, 1), units=2, fan_out=[2, 2], activation="tanh"))
def graph_conv(options, parameter, x):
    a = adjacency(options, x.shape[1])
    rows = len(a)
    if options.get("aggregate", "gcn") == "mean":
        mean = a / a.sum(1, keepdim=True).clamp(min=1.0) @ x
        gathered = torch.cat([x[:, :rows], mean], dim=2)
    else:
        a = a + torch.eye(*a.shape, dtype=a.dtype)
        degree = a.sum(1)
        weights = (a / torch.sqrt(degree[:, None] * degree) if rows == x.shape[1]
                   else a / degree[:, None])
        gathered = weights @ x
    kernel = parameter("kernel", (gathered.shape[2], options["units"]))
    z = gathered @ kernel
    if options.get("bias", True):
        z = z + parameter("bias", (options["units"],))
    return activated(options, z)


@layer(Case((3, 4), (3, 4)), Case((2, 2, 3), (2, 2, 3), (2, 2, 3)), Case((3, 4), (3, 4), dropout=0),
       Case((2, 2, 3), (2, 2, 3), (2, 2, 3), dropout=0.5, trains=False))
def add(options, _, stream, *residuals):
    # Only what needs no random numbers; tests/nn/test_joins.cpp has the rest.
    rate = options.get("dropout", 0)
    return F.dropout(stream, rate, training=False) + sum(residuals)


@layer(Case((3, 4), (3, 2)), Case((2, 1, 2, 3), (2, 3, 2, 3), (2, 2, 2, 3)),
       Case((2, 3, 2), (2, 3, 4), axis="last"), Case((3, 4), (3, 2), axis="last"),
       Case((2, 2, 1, 2), (2, 2, 1, 1), (2, 2, 1, 3), axis="last"))
def concat(options, _, *inputs):
    return torch.cat(inputs, dim={"first": 1, "last": -1}[options.get("axis", "first")])


@layer(Case((3, 5), vocabulary=7, units=3, drawn=labels_below(7)),
       Case((2, 4), vocabulary=2, units=1, drawn=labels_below(1)))
def embedding(options, parameter, x):
    return F.embedding(x, parameter("table", (options["vocabulary"], options["units"])))


@layer(Case((3, 4, 2)), Case((2, 1, 5)))
def positions(_options, parameter, x):
    return x + parameter("table", x.shape[1:])


def recurrent(module, options, parameter, x):
    """PyTorch's own module with the parameters of a case. Zygos keeps (inputs, outputs), PyTorch the transpose."""
    gates, units = {torch.lstm: 4, torch.gru: 3}[module], options["units"]
    weights = [parameter("input_kernel", (x.shape[2], gates * units)).T,
               parameter("recurrent_kernel", (units, gates * units)).T,
               parameter("input_bias", (gates * units,)), parameter("recurrent_bias", (gates * units,))]
    # In reverse it is the second direction of a bidirectional module.
    reverse = options.get("reverse", False)
    directions = 2 if reverse else 1
    zeros = x.new_zeros(directions, len(x), units)
    state = (zeros, zeros) if module is torch.lstm else zeros
    y = module(x, state, directions * weights, True, 1, 0.0, True, reverse, True)[0][..., -units:]
    return y if options.get("sequences", True) else y[:, 0 if reverse else -1]


@layer(Case((3, 4, 5), units=6), Case((1, 1, 2), units=1), Case((1, 7, 1), units=2),
       Case((4, 5, 3), units=2, sequences=False), Case((2, 3, 4), units=3, drawn=wide),
       Case((2, 4, 3), units=3, reverse=True), Case((3, 5, 2), units=2, reverse=True, sequences=False))
def lstm(options, parameter, x):
    return recurrent(torch.lstm, options, parameter, x)


@layer(Case((3, 4, 5), units=6), Case((1, 1, 2), units=1), Case((1, 7, 1), units=2),
       Case((4, 5, 3), units=2, sequences=False), Case((2, 3, 4), units=3, drawn=wide),
       Case((2, 4, 3), units=3, reverse=True), Case((3, 5, 2), units=2, reverse=True, sequences=False))
def gru(options, parameter, x):
    return recurrent(torch.gru, options, parameter, x)


@layer(Case((3, 4, 2)), Case((2, 1, 5)))
def class_token(_options, parameter, x):
    token = parameter("token", x.shape[2:])
    return torch.cat([token.expand(len(x), 1, -1), x], dim=1)


def self_attention(options, x, is_causal):
    # Queries, keys and values of all heads lie side by side.
    samples, length, width = x.shape
    heads = options.get("heads", 1)
    q, k, v = x.reshape(samples, length, 3, heads, width // 3 // heads).permute(2, 0, 3, 1, 4)
    y = F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)
    return y.transpose(1, 2).reshape(samples, length, width // 3)


@layer(Case((2, 5, 6)), Case((2, 4, 12), heads=2), Case((1, 3, 9), heads=3),
       Case((2, 1, 6), heads=1), Case((1, 37, 3), heads=1, dropout=0.5, trains=False))
def attention(options, _, x):
    return self_attention(options, x, is_causal=False)


@layer(Case((2, 5, 6)), Case((2, 4, 12), heads=2), Case((1, 3, 9), heads=3),
       Case((2, 1, 6), heads=1), Case((1, 37, 3), heads=1, dropout=0.5, trains=False))
def causal_attention(options, _, x):
    return self_attention(options, x, is_causal=True)
