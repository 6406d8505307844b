# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Models in ONNX for onnx_import.py: of PyTorch by both of its exporters, and made by hand."""

import logging
import math
import warnings

import numpy
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn
from torch.nn import functional


class Residual(nn.Module):
    """Two convolutions with batch normalisation around a skip connection, then the mean over the image."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 8, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(8)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(8, 10)
        for norm in (self.norm1, self.norm2):
            nn.init.uniform_(norm.running_mean, -1, 1)
            nn.init.uniform_(norm.running_var, 0.5, 2)
            nn.init.uniform_(norm.weight, 0.5, 2)

    def forward(self, x):
        x = functional.relu(self.norm1(self.conv1(x)))
        x = functional.relu(x + self.norm2(self.conv2(x)))
        return self.classifier(torch.flatten(self.pool(x), 1))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1 = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU())
        self.down2 = nn.Sequential(nn.Conv2d(8, 16, 3, padding=1), nn.ReLU())
        self.middle = nn.Sequential(nn.Conv2d(16, 32, 3, padding=2, dilation=2), nn.ReLU())
        self.up2 = nn.ConvTranspose2d(32, 16, 2, stride=2)
        self.join2 = nn.Sequential(nn.Conv2d(32, 16, 3, padding=1), nn.ReLU())
        self.up1 = nn.ConvTranspose2d(16, 8, 3, stride=2, padding=1, output_padding=1)
        self.join1 = nn.Conv2d(16, 2, 3, padding=1)

    def forward(self, x):
        first = self.down1(x)
        second = self.down2(functional.max_pool2d(first, 2))
        x = self.middle(functional.max_pool2d(second, 2))
        x = self.join2(torch.cat([second, self.up2(x)], 1))
        return torch.sigmoid(self.join1(torch.cat([first, self.up1(x)], 1)))


class Block(nn.Module):
    """A decoder block with one product for queries, keys and values."""

    def __init__(self, units=16, heads=4):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(units), nn.LayerNorm(units)
        self.queries_keys_values = nn.Linear(units, 3 * units)
        self.projection = nn.Linear(units, units)
        self.wide, self.narrow = nn.Linear(units, 4 * units), nn.Linear(4 * units, units)
        for norm in (self.norm1, self.norm2):
            nn.init.uniform_(norm.weight, 0.5, 2)
            nn.init.uniform_(norm.bias, -1, 1)

    def attended(self, q, k, v):
        return functional.scaled_dot_product_attention(q, k, v, is_causal=True)

    def forward(self, x):
        batch, length, units = x.shape
        parts = self.queries_keys_values(self.norm1(x)).split(units, dim=2)
        q, k, v = (part.view(batch, length, self.heads, units // self.heads).transpose(1, 2) for part in parts)
        y = self.attended(q, k, v).transpose(1, 2).reshape(batch, length, units)
        x = x + self.projection(y)
        return x + self.narrow(functional.gelu(self.wide(self.norm2(x))))


class BlockInSteps(Block):
    """The same with scores, mask and softmax written out."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mask", torch.tril(torch.ones(8, 8)).view(1, 1, 8, 8))

    def attended(self, q, k, v):
        length = q.shape[2]
        scores = (q @ k.transpose(-2, -1)) / math.sqrt(q.shape[-1])
        scores = scores.masked_fill(self.mask[:, :, :length, :length] == 0, float("-inf"))
        return torch.dropout(functional.softmax(scores, -1), 0.1, False) @ v


class Attention(nn.Module):
    """Queries, keys and values of layers of their own, or of one that has them head by head; some with fewer heads of keys."""

    def __init__(self, kind, units=16, heads=4):
        super().__init__()
        self.kind, self.heads = kind, heads
        self.shared = 2 if kind == "grouped" else heads
        self.query, self.projection = nn.Linear(units, units), nn.Linear(units, units)
        self.key = nn.Linear(units, units * self.shared // heads, bias=False)
        self.value = nn.Linear(units, units * self.shared // heads)
        self.all = nn.Linear(units, 3 * units)
        self.register_buffer("mask", torch.tril(torch.ones(8, 8)).bool())

    def parts(self, x):
        batch, length, units = x.shape
        width = units // self.heads
        if self.kind == "by_head":
            return self.all(x).view(batch, length, self.heads, 3 * width).transpose(1, 2).split(width, -1)
        q = self.query(x).view(batch, length, self.heads, width).transpose(1, 2)
        k, v = (layer(x).view(batch, length, self.shared, width).transpose(1, 2) for layer in (self.key, self.value))
        if self.kind == "grouped":
            k, v = (part[:, :, None].expand(batch, self.shared, 2, length, width).reshape(batch, self.heads, length, width)
                    for part in (k, v))
        return q, k, v

    def forward(self, x):
        batch, length, units = x.shape
        q, k, v = self.parts(x)
        if self.kind == "full":
            y = functional.scaled_dot_product_attention(q, k, v)
        elif self.kind == "masked":
            y = functional.scaled_dot_product_attention(q, k, v, attn_mask=self.mask)
        elif self.kind == "filled":
            scores = (q @ k.transpose(-2, -1) / math.sqrt(units // self.heads)).masked_fill(~self.mask, -1e4)
            y = functional.softmax(scores, -1) @ v
        else:
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=True, scale=1.0 if self.kind == "unscaled" else None)
        return x + self.projection(y.transpose(1, 2).reshape(batch, length, units))


class Scaled(nn.Module):
    """Images that the model standardises itself, a factor for each channel, and layers of PyTorch in forms of their own."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.tensor([0.4, 0.5, 0.6]).view(1, 3, 1, 1))
        self.register_buffer("deviation", torch.tensor([0.2, 0.3, 0.4]).view(1, 3, 1, 1))
        self.factor = nn.Parameter(torch.randn(8, 1, 1))
        self.conv1, self.conv2 = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1)
        self.prelu = nn.PReLU()
        self.classifier = nn.Linear(8, 5)

    def forward(self, x):
        x = self.prelu(self.conv1((x - self.mean) / self.deviation))
        x = x + self.factor * self.conv2(functional.avg_pool2d(x, 3, stride=1, padding=1))
        return self.classifier(x.clamp(min=0).amax((2, 3)))


class Sentence(nn.Module):
    """The mean of a sequence's vectors, normalised without weights."""

    def __init__(self):
        super().__init__()
        self.tokens, self.norm = nn.Embedding(20, 16), nn.LayerNorm(16, elementwise_affine=False)
        self.scale = nn.Parameter(torch.randn(16))
        self.head = nn.Linear(16, 3)

    def forward(self, ids):
        return self.head((self.scale * self.norm(self.tokens(ids))).mean(1))


class VisionTransformer(nn.Module):
    """Patches of an image as positions, PyTorch's own encoder without a mask, and the mean of its positions."""

    def __init__(self, units=16):
        super().__init__()
        self.patches = nn.Conv2d(1, units, 7, stride=7)
        self.positions = nn.Parameter(torch.randn(1, 16, units))
        layer = nn.TransformerEncoderLayer(units, 4, 32, activation="gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.norm, self.classes = nn.LayerNorm(units), nn.Linear(units, 10)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2) + self.positions
        return self.classes(self.norm(self.encoder(x)).mean(1))


class ClassTokenTransformer(VisionTransformer):
    """The same with a class token, which is classified beside the last patch."""

    def __init__(self, units=16):
        super().__init__(units)
        self.cls_token = nn.Parameter(torch.randn(1, 1, units))
        self.positions = nn.Parameter(torch.randn(1, 17, units))
        self.classes = nn.Linear(2 * units, 10)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls_token.expand(x.shape[0], -1, -1), x], dim=1) + self.positions
        x = self.norm(self.encoder(x))
        return self.classes(torch.cat([x[:, 0], x[:, -1]], dim=-1))


class EncoderLayer(nn.Module):
    """PyTorch's own layer, which has its sequences first inside, with a causal mask."""

    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(16, 4, 32, activation="gelu", batch_first=True, norm_first=True)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(8))
        for name, parameter in self.layer.named_parameters():
            if name.endswith("bias"):
                nn.init.uniform_(parameter, -1, 1)

    def forward(self, x):
        return self.layer(x, src_mask=self.mask)


class Recurrent(nn.Module):
    """Sequences through two recurrent modules, of which the last position, or the last state, is classified."""

    def __init__(self, kind, layers=1, reads="position"):
        super().__init__()
        self.first, self.reads = kind(5, 12, num_layers=layers, batch_first=True), reads
        self.second, self.head = kind(12, 7), nn.Linear(7, 3)

    def forward(self, x):
        y = self.second(self.first(x)[0].transpose(0, 1))  # with the positions first
        if self.reads == "all":
            return self.head(y[0].transpose(0, 1))
        state = y[1][0] if isinstance(self.second, nn.LSTM) else y[1]
        return self.head(y[0][-1] if self.reads == "position" else state[-1])


class Bidirectional(nn.Module):
    """Sequences in both directions, of which all positions, or the states that both leave, are classified."""

    def __init__(self, kind, layers=1, reads="all"):
        super().__init__()
        self.rnn, self.reads = kind(5, 6, num_layers=layers, batch_first=True, bidirectional=True), reads
        self.head = nn.Linear(12, 3)

    def forward(self, x):
        y, state = self.rnn(x)
        state = state[0] if isinstance(self.rnn, nn.LSTM) else state
        return self.head(y if self.reads == "all" else torch.cat([state[-2], state[-1]], dim=1))


class Decoder(nn.Module):
    """Tokens to logits, with learned positions."""

    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(20, 16), nn.Embedding(8, 16)
        self.blocks = nn.ModuleList([Block(), Block()])
        self.norm = nn.LayerNorm(16)
        self.head = nn.Linear(16, 20, bias=False)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Larger(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, stride=2)

    def forward(self, x):
        x = functional.interpolate(self.conv(x), scale_factor=2)
        x = functional.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
        return functional.leaky_relu(x.mean((2, 3)).view(x.size(0), -1), 0.2)


class Depthwise(nn.Module):
    """Groups, strides, an overlapping pooling with padding, one that is rounded up, and kernels that are no squares."""

    def __init__(self):
        super().__init__()
        self.depth = nn.Conv2d(6, 6, 3, padding=1, groups=6)
        self.point = nn.Conv2d(6, 12, (1, 3), stride=(1, 2), padding=(0, 1))
        self.pool = nn.MaxPool2d(3, stride=2, padding=1)
        self.mean = nn.AvgPool2d(2, stride=2, ceil_mode=True)
        self.classifier = nn.Linear(12 * 4, 5)

    def forward(self, x):
        x = functional.relu(self.point(self.depth(x)))
        return torch.log_softmax(self.classifier(torch.flatten(self.mean(self.pool(x)), 1)), 1)


def torch_models():
    """Name, module and an example batch."""
    image = torch.randn(2, 1, 28, 28)
    yield "mlp", nn.Sequential(nn.Flatten(), nn.Linear(784, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 16, bias=False),
                               nn.Sigmoid(), nn.Linear(16, 10)), image
    yield "lenet5", nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(6, 16, 5), nn.Tanh(), nn.AvgPool2d(2),
        nn.Flatten(), nn.Linear(400, 120), nn.GELU(), nn.Linear(120, 10), nn.Softmax(1)), image
    yield "smooth", nn.Sequential(nn.Linear(12, 16), nn.SiLU(), nn.Linear(16, 16), nn.GELU(approximate="tanh"),
                                  nn.Linear(16, 3)), torch.randn(2, 12)
    yield "groups", nn.Sequential(nn.Conv2d(3, 6, 3), nn.GroupNorm(2, 6), nn.SiLU(), nn.Conv2d(6, 4, 3),
                                  nn.InstanceNorm2d(4, affine=True)), torch.randn(2, 3, 10, 10)
    yield "residual", Residual(), torch.randn(2, 3, 16, 16)
    yield "unet", UNet(), torch.randn(2, 1, 16, 16)
    yield "block", Block(), torch.randn(2, 8, 16)
    yield "block_in_steps", BlockInSteps(), torch.randn(2, 8, 16)
    for kind in ("separate", "by_head", "grouped", "masked", "filled", "unscaled", "full"):
        yield "attention_" + kind, Attention(kind), torch.randn(2, 8, 16)
    yield "scaled", Scaled(), torch.randn(2, 3, 12, 12)
    yield "sentence", Sentence(), torch.randint(0, 20, (2, 8))
    yield "larger_lines", nn.Sequential(
        nn.Conv1d(3, 4, 3), nn.ConvTranspose1d(4, 6, 3, stride=2, padding=1, output_padding=1)), torch.randn(2, 3, 12)
    yield "encoder_layer", EncoderLayer(), torch.randn(2, 8, 16)
    yield "vit", VisionTransformer(), image
    yield "vit_class_token", ClassTokenTransformer(), image
    yield "decoder", Decoder(), torch.randint(0, 20, (2, 8))
    yield "larger", Larger(), image
    yield "depthwise", Depthwise(), torch.randn(2, 6, 13, 8)
    yield "lines", nn.Sequential(
        nn.Conv1d(4, 8, 3, padding=2, dilation=2), nn.BatchNorm1d(8), nn.ReLU(), nn.MaxPool1d(2), nn.Conv1d(8, 6, 3, groups=2),
        nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(6, 3)), torch.randn(2, 4, 20)
    yield "doubles", nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 2)).double(), torch.randn(2, 5).double()
    yield "lstm", Recurrent(nn.LSTM), torch.randn(2, 6, 5)
    yield "lstm_state", Recurrent(nn.LSTM, 2, "state"), torch.randn(2, 6, 5)
    yield "gru", Recurrent(nn.GRU, 2), torch.randn(2, 6, 5)
    yield "gru_all", Recurrent(nn.GRU, 1, "all"), torch.randn(2, 6, 5)
    yield "lstm_both", Bidirectional(nn.LSTM, 2), torch.randn(2, 6, 5)
    yield "gru_both_states", Bidirectional(nn.GRU, 2, "states"), torch.randn(2, 6, 5)


def export_unfolded(file):
    """Batch normalisation as its own operator, as for training on."""
    model = Residual().eval()
    torch.onnx.export(model, (torch.randn(2, 3, 16, 16),), str(file), dynamo=False, input_names=["x"],
                      dynamic_axes={"x": {0: "batch"}}, training=torch.onnx.TrainingMode.PRESERVE,
                      do_constant_folding=False)


def export(model, example, file, dynamo):
    options = ({"dynamo": True, "dynamic_shapes": ({0: torch.export.Dim("batch")},), "verbose": False} if dynamo else
               {"dynamo": False, "input_names": ["x"], "dynamic_axes": {"x": {0: "batch"}}})
    torch.onnx.export(model, (example,), str(file), **options)


def normal(*shape):
    return numpy.random.default_rng(sum(shape) + len(shape)).standard_normal(shape).astype("float32")


def write(file, nodes, constants, sample, outputs, opset=17, batch="N", version=8):
    """`constants`: arrays by name; `outputs`: the rank of the output."""
    graph = helper.make_graph(
        nodes, "by_hand", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, *sample])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [batch, *["?" + str(i) for i in range(1, outputs)]])],
        [numpy_helper.from_array(numpy.asarray(value), name) for name, value in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=version)
    onnx.checker.check_model(model)
    onnx.save(model, file)


node = helper.make_node


def write_gemms(file):
    write(file, [node("Gemm", ["x", "a", "b"], ["h"], alpha=0.5, beta=2.0), node("Tanh", ["h"], ["t"]),
                 node("Transpose", ["c"], ["ct"], perm=[1, 0]), node("MatMul", ["t", "ct"], ["m"]),
                 node("Add", ["d", "m"], ["g"]), node("Gemm", ["g", "e"], ["y"], transB=1)],
          {"a": normal(6, 8), "b": normal(1, 8), "c": normal(7, 8), "d": normal(7), "e": normal(3, 7)}, [6], 2)


def write_channels_last(file):
    """As converters from TensorFlow: around a convolution of NCHW images of NHWC, whose flattening a product follows."""
    write(file, [node("Reshape", ["x", "nchw"], ["i"]), node("Conv", ["i", "k"], ["c"], auto_pad="SAME_UPPER"),
                 node("Add", ["c", "kb"], ["cb"]), node("Relu", ["cb"], ["r"]),
                 node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2], auto_pad="VALID"),
                 node("Transpose", ["p"], ["t"], perm=[0, 2, 3, 1]), node("Reshape", ["t", "flat"], ["f"]),
                 node("MatMul", ["f", "w"], ["m"]), node("Add", ["m", "b"], ["l"]), node("Softmax", ["l"], ["y"])],
          {"nchw": numpy.array([-1, 1, 8, 6]), "k": normal(4, 1, 3, 3), "kb": normal(1, 4, 1, 1), "flat": numpy.array([-1, 48]),
           "w": normal(48, 5), "b": normal(5)}, [8, 6, 1], 2, opset=13)


def write_padded(file):
    write(file, [node("Pad", ["x", "p"], ["q"]), node("Conv", ["q", "k"], ["c"], strides=[2, 2]),
                 node("BatchNormalization", ["c", "g", "s", "m", "v"], ["n"], epsilon=1e-3),
                 node("LRN", ["n"], ["r"], size=3, alpha=0.5, beta=0.5, bias=2.0),
                 node("GlobalAveragePool", ["r"], ["a"]), node("Squeeze", ["a", "ax"], ["y"])],
          {"p": numpy.array([0, 0, 1, 2, 0, 0, 1, 2]), "k": normal(3, 2, 3, 3), "g": normal(3), "s": normal(3) ** 2,
           "m": normal(3), "v": normal(3) ** 2 + 0.5, "ax": numpy.array([2, 3])}, [2, 9, 7], 2)


def write_early(file):
    """Version 9: layer normalisation and gelu in steps, attributes that are inputs today, initializers among the inputs."""
    constants = {"two": numpy.float32(2), "eps": numpy.float32(1e-5), "g": normal(6), "b": normal(6), "root": numpy.float32(math.sqrt(2)),
                 "one": numpy.float32(1), "half": numpy.float32(0.5), "w": normal(6, 4)}
    write(file, [node("ReduceMean", ["x"], ["mean"], axes=[-1]), node("Sub", ["x", "mean"], ["c"]),
                 node("Pow", ["c", "two"], ["sq"]), node("ReduceMean", ["sq"], ["var"], axes=[-1]),
                 node("Add", ["var", "eps"], ["ve"]), node("Sqrt", ["ve"], ["sd"]), node("Div", ["c", "sd"], ["n"]),
                 node("Mul", ["n", "g"], ["ng"]), node("Add", ["ng", "b"], ["ln"]), node("MatMul", ["ln", "w"], ["h"]),
                 node("Div", ["h", "root"], ["hr"]), node("Erf", ["hr"], ["e"]), node("Add", ["e", "one"], ["e1"]),
                 node("Mul", ["h", "e1"], ["he"]), node("Mul", ["he", "half"], ["u"]), node("Dropout", ["u"], ["d"], ratio=0.3),
                 node("Unsqueeze", ["d"], ["s"], axes=[1]), node("Squeeze", ["s"], ["y"], axes=[1])],
          constants, [5, 6], 3, opset=9, version=4)


def write_one(file):
    """A batch of one, in numbers: what flattens says 1 as well."""
    write(file, [node("Conv", ["x", "k", "b"], ["c"], kernel_shape=[3, 3]), node("LeakyRelu", ["c"], ["l"], alpha=0.1),
                 node("Reshape", ["l", "to"], ["f"]), node("MatMul", ["f", "w"], ["y"])],
          {"k": normal(2, 1, 3, 3), "b": normal(2), "to": numpy.array([1, 32]), "w": normal(32, 3)}, [1, 6, 6], 2, batch=1)


def write_steps(file):
    """Version 13: layer normalisation in steps without a shift, and local response normalisation as PyTorch has it."""
    write(file, [node("ReduceMean", ["x"], ["mean"], axes=[-1]), node("Sub", ["x", "mean"], ["c"]),
                 node("Pow", ["c", "two"], ["sq"]), node("ReduceMean", ["sq"], ["var"], axes=[-1]),
                 node("Add", ["var", "eps"], ["ve"]), node("Sqrt", ["ve"], ["sd"]), node("Div", ["c", "sd"], ["n"]),
                 node("Mul", ["n", "g"], ["ln"]), node("Mul", ["ln", "ln"], ["s"]), node("Reshape", ["s", "volume"], ["v"]),
                 node("Pad", ["v", "pads"], ["p"]), node("AveragePool", ["p"], ["a"], kernel_shape=[3, 1, 1]),
                 node("Squeeze", ["a", "one"], ["q"]), node("Mul", ["q", "alpha"], ["m"]), node("Add", ["m", "k"], ["t"]),
                 node("Pow", ["t", "beta"], ["d"]), node("Div", ["ln", "d"], ["y"])],
          {"two": numpy.float32(2), "eps": numpy.float32(1e-5), "g": normal(6), "volume": numpy.array([-1, 1, 4, 5, 6]),
           "pads": numpy.array([0, 0, 1, 0, 0, 0, 0, 1, 0, 0]), "one": numpy.array([1]), "alpha": numpy.float32(0.5),
           "k": numpy.float32(2), "beta": numpy.float32(0.75)}, [4, 5, 6], 4, opset=13)


BY_HAND = {"gemms": write_gemms, "channels_last": write_channels_last, "padded": write_padded, "early": write_early,
           "one": write_one, "steps": write_steps}


def written_models(folder, names):
    """Files, written one after the other; all unless names are given."""
    logging.disable(logging.WARNING)
    warnings.filterwarnings("ignore")
    torch.manual_seed(1)
    for name, model, example in torch_models():
        if names and name not in names:
            continue
        model.eval()
        for exporter in ("legacy", "dynamo"):
            file = folder / f"{name}_{exporter}.onnx"
            export(model, example, file, exporter == "dynamo")
            yield file
    if not names or "unfolded" in names:
        file = folder / "unfolded_legacy.onnx"
        export_unfolded(file)
        yield file
    for name, written in BY_HAND.items():
        if not names or name in names:
            file = folder / f"{name}_by_hand.onnx"
            written(file)
            yield file
