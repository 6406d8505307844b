# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""The model of a resolved deck as a PyTorch module, whose modules are called as the layers."""

import torch
from torch import nn
from torch.nn import functional

ACTIVATIONS = {"none": nn.Identity, "relu": nn.ReLU, "tanh": nn.Tanh, "sigmoid": nn.Sigmoid,
               "silu": nn.SiLU}


def pair(value):
    values = value if isinstance(value, list) else [value]
    return tuple(values * 2 if len(values) == 1 else values)


def first(value):
    return value[0] if isinstance(value, list) else value


def as_images(x, wanted):
    """A batch without the axis of channels is one of images with one channel."""
    return x.unsqueeze(1) if x.dim() == wanted - 1 else x


class Convolution(nn.Module):
    """conv1d, conv2d and conv_transpose2d keep their parameters in a module of PyTorch itself."""

    @staticmethod
    def of(options, shape):
        kind = options["type"]
        size = first if kind == "conv1d" else pair
        make = {"conv1d": nn.Conv1d, "conv2d": nn.Conv2d, "conv_transpose2d": nn.ConvTranspose2d}[kind]
        channels = shape[0] if len(shape) == (2 if kind == "conv1d" else 3) else 1
        further = {"output_padding": size(options["output_padding"])} if "output_padding" in options else {}
        return make(channels, options["filters"], size(options["kernel"]), stride=size(options["stride"]),
                    padding=size(options["padding"]), dilation=size(options.get("dilation", 1)),
                    groups=options["groups"], bias=options["bias"], **further)


class Positions(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(shape) * 0.02)

    def forward(self, x):
        return x + self.weight


class ClassToken(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.cls_token = nn.Parameter(torch.randn(1, 1, width) * 0.02)

    def forward(self, x):
        return torch.cat([self.cls_token.expand(len(x), -1, -1), x], dim=1)


class Reversed(nn.Module):
    """A recurrent layer from the last position to the first, its parameters called as those of PyTorch's second direction."""

    def __init__(self, module):
        super().__init__()
        self.hidden = [module]  # a list, so that only the names below are in the state
        for name, parameter in module.named_parameters():
            self.register_parameter(name + "_reverse", parameter)

    def forward(self, x):
        y, state = self.hidden[0](x.flip(1))
        return y.flip(1), state


class DeckModel(nn.Module):
    """`layers`: those of a resolved deck, `shape`: of a sample."""

    def __init__(self, layers, shape):
        super().__init__()
        self.steps = []  # name, options, names of inputs
        self.shape = tuple(shape)
        self.add_layers(layers, "", "input")
        probe = torch.zeros((2, *shape))
        with torch.no_grad():
            self.run(probe, self.build)
        self.eval()

    def add_layers(self, layers, prefix, source):
        """Returns the full name of the last layer."""
        names, before = {"input": source}, source
        for layer in layers:
            inputs = [names[name] for name in layer.get("inputs") or []] or [before]
            name = prefix + layer["name"]
            if layer["type"] == "repeat":
                before = inputs[0]
                for copy in range(layer["times"]):
                    before = self.add_layers(layer["layers"], f"{name}.{copy + 1}.", before)
            else:
                self.steps.append((name, layer, inputs))
                before = name
            names[layer["name"]] = before
        return before

    def run(self, x, prepare=None):
        values = {"input": x}
        for name, options, inputs in self.steps:
            operands = [values[source] for source in inputs]
            if prepare:
                prepare(name, options, tuple(operands[0].shape[1:]))
            values[name] = self.apply_layer(name, options, operands)
        return values[self.steps[-1][0]]

    def forward(self, x):
        return self.run(x)

    def build(self, name, options, shape):
        module = self.module_of(options, shape)
        if module is None:
            return
        *folders, last = name.split(".")
        parent = self
        for folder in folders:
            if not hasattr(parent, folder):
                parent.add_module(folder, nn.Module())
            parent = getattr(parent, folder)
        parent.add_module(last, module)

    @staticmethod
    def module_of(options, shape):
        kind = options["type"]
        if kind == "dense":
            width = torch.Size(shape).numel() if options["flatten"] else shape[-1]
            return nn.Linear(width, options["units"], bias=options["bias"])
        if kind in ("conv1d", "conv2d", "conv_transpose2d"):
            return Convolution.of(options, shape)
        if kind == "batch_norm":
            make = {1: nn.BatchNorm1d, 2: nn.BatchNorm1d, 3: nn.BatchNorm2d}[len(shape)]
            return make(shape[0], eps=options["epsilon"])
        if kind == "group_norm":
            return nn.GroupNorm(options["groups"], shape[0], eps=options["epsilon"])
        if kind == "layer_norm":
            return nn.LayerNorm(shape[-1], eps=options["epsilon"])
        if kind in ("lstm", "gru"):
            make = nn.LSTM if kind == "lstm" else nn.GRU
            module = make(shape[-1], options["units"], batch_first=True)
            return Reversed(module) if options["reverse"] else module
        if kind == "embedding":
            return nn.Embedding(options["vocabulary"], options["units"])
        if kind == "class_token":
            return ClassToken(shape[-1])
        return Positions(shape) if kind == "positions" else None

    def apply_layer(self, name, options, operands):
        kind, x = options["type"], operands[0]
        if kind == "dense":
            x = x.flatten(1) if options["flatten"] else x
            x = self.get_submodule(name)(x)
        elif kind in ("conv2d", "conv_transpose2d"):
            x = self.get_submodule(name)(as_images(x, 4))
        elif kind == "conv1d":
            x = self.get_submodule(name)(as_images(x, 3))
        elif kind in ("batch_norm", "class_token", "group_norm", "layer_norm", "positions"):
            x = self.get_submodule(name).eval()(x)
        elif kind in ("lstm", "gru"):
            x = self.get_submodule(name)(x)[0]
            x = x if options["sequences"] else x[:, 0 if options["reverse"] else -1]
        elif kind == "embedding":
            x = self.get_submodule(name)(x.long())
        elif kind in ("max_pool2d", "average_pool2d"):
            x = self.pooled(kind, options, as_images(x, 4))
        elif kind == "upsample":
            modes = {"nearest": {}, "bilinear": {"align_corners": False}}
            x = functional.interpolate(x, scale_factor=[float(f) for f in pair(options["factor"])],
                                       mode=options["mode"], **modes[options["mode"]])
        elif kind == "reshape":
            x = x.reshape(len(x), *options["shape"])
        elif kind == "flatten":
            x = x.flatten(1)
        elif kind == "gelu":
            x = functional.gelu(x, approximate=options["approximate"])
        elif kind == "leaky_relu":
            x = functional.leaky_relu(x, options["slope"])
        elif kind == "lrn":
            x = functional.local_response_norm(x, options["size"], options["alpha"], options["beta"],
                                               options["k"])
        elif kind == "transpose":
            x = x.flatten(2).transpose(1, 2)
        elif kind == "select":
            x = x.select(1, options["index"])
        elif kind in ("attention", "causal_attention"):
            x = self.attention(options, x)
        elif kind == "add":
            x = sum(operands)
        elif kind == "concat":
            x = torch.cat(operands, dim={"first": 1, "last": -1}[options["axis"]])
        elif kind in ACTIVATIONS:
            x = ACTIVATIONS[kind]()(x)
        elif kind != "dropout":
            raise NotImplementedError(f"layer {kind}")
        return ACTIVATIONS[options.get("activation", "none")]()(x)

    @staticmethod
    def pooled(kind, options, x):
        window = {"kernel_size": pair(options["kernel"]), "stride": pair(options.get("stride") or options["kernel"]),
                  "padding": pair(options["padding"]), "ceil_mode": options["ceil"]}
        if kind == "max_pool2d":
            return functional.max_pool2d(x, **window)
        return functional.avg_pool2d(x, count_include_pad=options["count_padding"], **window)

    @staticmethod
    def attention(options, x):
        samples, length, width = x.shape
        heads = options["heads"]
        q, k, v = (part.reshape(samples, length, heads, -1).transpose(1, 2) for part in x.chunk(3, dim=2))
        out = functional.scaled_dot_product_attention(q, k, v, is_causal=options["type"] == "causal_attention")
        return out.transpose(1, 2).reshape(samples, length, width // 3)
