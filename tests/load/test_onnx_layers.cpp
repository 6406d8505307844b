// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// How operators of ONNX become layers.
#include "onnx_model.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace zygos::test_onnx_layers {
using namespace zygos::test;
using Catch::Matchers::ContainsSubstring;
using Numbers = std::vector<double>;

TEST_CASE("A Gemm is a dense layer, its factors and transposition in the weights") {
  OnnxModel model(Shape{2});
  model.counted("w", Shape{3, 2}).counted("b", Shape{3});
  model.add("Gemm", {"x", "w", "b"}, {"y"},
            {{"transB", std::int64_t{1}}, {"alpha", 2.0}, {"beta", 10.0}});

  const load::ReadModel read = model.read();

  CHECK(model.text() == "dense units=3");
  CHECK(elements_of(read, 0, 0) == Numbers{2, 6, 10, 4, 8, 12});
  CHECK(elements_of(read, 0, 1) == Numbers{10, 20, 30});
}

TEST_CASE("A Gemm without C has no bias, and a single number as C is one for each unit") {
  OnnxModel bare(Shape{2});
  bare.counted("w", Shape{2, 3}).add("Gemm", {"x", "w"}, {"y"});
  CHECK(bare.text() == "dense units=3 bias=false");

  OnnxModel single(Shape{2});
  single.counted("w", Shape{2, 3}).scalar("b", 4).add("Gemm", {"x", "w", "b"}, {"y"});
  CHECK(elements_of(single.read(), 0, 1) == Numbers{4, 4, 4});

  OnnxModel column(Shape{2});
  column.counted("w", Shape{2, 3}).counted("b", Shape{3, 1}).add("Gemm", {"x", "w", "b"}, {"y"});
  CHECK_REFUSED(column, "'b' is [3, 1], but must have its 3 elements along its last axis");

  OnnxModel transposed(Shape{2});
  transposed.counted("w", Shape{2, 3});
  transposed.add("Gemm", {"x", "w"}, {"y"}, {{"transA", std::int64_t{1}}});
  CHECK_REFUSED(transposed, "operator Gemm 'y_node': its attribute transA is 1; it must be 0");
}

TEST_CASE(
    "A product and the sum behind it are one dense layer, vector by vector where there are many") {
  OnnxModel model(Shape{4, 2});
  model.counted("w", Shape{2, 3}).counted("b", Shape{3});
  model.add("MatMul", {"x", "w"}, {"m"}).add("Add", {"b", "m"}, {"y"});
  CHECK(model.text() == "dense units=3 flatten=false");

  OnnxModel read_twice(Shape{2});
  read_twice.counted("w", Shape{2, 2}).counted("b", Shape{2});
  read_twice.add("MatMul", {"x", "w"}, {"m"}).add("Relu", {"m"}, {"r"});
  read_twice.add("Add", {"m", "r"}, {"y"});
  CHECK(read_twice.text() == "dense units=2 bias=false; relu; add");
}

TEST_CASE("Weights that the file transposes are those of the layer") {
  OnnxModel model(Shape{2});
  model.counted("fc.weight", Shape{3, 2});
  model.add("Transpose", {"fc.weight"}, {"t"}).add("MatMul", {"x", "t"}, {"y"});

  const load::ReadModel read = model.read();

  CHECK(read.layers[0].name == "fc");
  CHECK(elements_of(read, 0, 0) == Numbers{1, 3, 5, 2, 4, 6});
}

TEST_CASE("A product of flattened channels-last images has its weights' rows in our order") {
  OnnxModel model(Shape{2, 1, 2});
  model.counted("w", Shape{4, 1}).integers("flat", {-1, 4});
  model.add("Transpose", {"x"}, {"t"}, {{"perm", Integers{0, 2, 3, 1}}});
  model.add("Reshape", {"t", "flat"}, {"f"}).add("MatMul", {"f", "w"}, {"y"});

  CHECK(model.text() == "dense units=1 bias=false");
  CHECK(elements_of(model.read(), 0, 0) == Numbers{1, 3, 2, 4});
}

TEST_CASE("A Conv has its attributes as options, those that are the default left out") {
  OnnxModel model(Shape{4, 9, 9});
  model.counted("k", Shape{6, 2, 3, 5});
  model.add("Conv", {"x", "k"}, {"y"},
            {{"group", std::int64_t{2}},
             {"pads", Integers{1, 2, 1, 2}},
             {"strides", Integers{2, 2}},
             {"dilations", Integers{1, 1}}});
  CHECK(model.text() ==
        "conv2d filters=6 kernel=[3, 5] stride=2 padding=[1, 2] groups=2 bias=false");
}

TEST_CASE("A bias behind a Conv and zeros before it are part of the layer") {
  OnnxModel model(Shape{1, 6, 6});
  model.counted("k", Shape{2, 1, 3, 3}).counted("b", Shape{1, 2, 1, 1});
  model.integers("pads", {0, 0, 1, 1, 0, 0, 1, 1});
  model.add("Pad", {"x", "pads"}, {"p"})
      .add("Conv", {"p", "k"}, {"c"})
      .add("Add", {"c", "b"}, {"y"});
  CHECK(model.text() == "conv2d filters=2 kernel=3 padding=1");

  OnnxModel uneven(Shape{1, 6, 6});
  uneven.counted("k", Shape{2, 1, 3, 3}).integers("pads", {0, 0, 0, 0, 0, 0, 1, 1});
  uneven.add("Pad", {"x", "pads"}, {"p"}).add("Conv", {"p", "k"}, {"y"});
  CHECK_REFUSED(uneven, "the Pad 'p_node' before it does not add zeros alike on both sides");
}

TEST_CASE("Automatic padding is taken where it is the same on both sides") {
  const auto with_kernel = [](std::int64_t size) {
    OnnxModel model(Shape{1, 6, 6});
    model.counted("k", Shape{2, 1, size, size});
    model.add("Conv", {"x", "k"}, {"y"}, {{"auto_pad", std::string("SAME_UPPER")}});
    return model;
  };
  CHECK(with_kernel(3).text() == "conv2d filters=2 kernel=3 padding=1 bias=false");
  CHECK_REFUSED(with_kernel(2), "its padding is [0, 0, 1, 1] (before, then behind each axis)");
}

TEST_CASE("Convolutions and pooling of lines") {
  OnnxModel model(Shape{4, 10});
  model.counted("k", Shape{6, 4, 3});
  model.add("Conv", {"x", "k"}, {"c"}, {{"pads", Integers{1, 1}}});
  model.add("MaxPool", {"c"}, {"y"}, {{"kernel_shape", Integers{2}}, {"strides", Integers{2}}});
  CHECK(model.text() ==
        "conv1d filters=6 kernel=3 padding=1 bias=false; reshape shape=[6, 1, 10]; "
        "max_pool2d kernel=[1, 2]; reshape shape=[6, 5]");
}

TEST_CASE("A ConvTranspose has its output padding") {
  OnnxModel model(Shape{4, 3, 3});
  model.counted("k", Shape{4, 2, 3, 3}).counted("b", Shape{2});
  model.add("ConvTranspose", {"x", "k", "b"}, {"y"},
            {{"strides", Integers{2, 2}},
             {"pads", Integers{1, 1, 1, 1}},
             {"output_padding", Integers{1, 1}}});
  CHECK(model.text() == "conv_transpose2d filters=2 kernel=3 stride=2 padding=1 output_padding=1");

  OnnxModel shaped(Shape{4, 3, 3});
  shaped.counted("k", Shape{4, 2, 3, 3});
  shaped.add("ConvTranspose", {"x", "k"}, {"y"}, {{"output_shape", Integers{6, 6}}});
  CHECK_REFUSED(shaped, "its attribute output_shape is given");
}

TEST_CASE("Pooling, with windows and over a whole image") {
  const auto pooled = [](const std::string& type,
                         std::map<std::string, nn::OnnxOperator::Attribute> attributes) {
    OnnxModel model(Shape{2, 6, 4});
    model.add(type, {"x"}, {"y"}, std::move(attributes));
    return model;
  };
  CHECK(pooled("MaxPool", {{"kernel_shape", Integers{2, 2}}, {"strides", Integers{2, 2}}}).text() ==
        "max_pool2d kernel=2");
  CHECK(pooled("MaxPool", {{"kernel_shape", Integers{3, 3}}}).text() ==
        "max_pool2d kernel=3 stride=1");
  CHECK(pooled("AveragePool", {{"kernel_shape", Integers{3, 3}},
                               {"strides", Integers{3, 3}},
                               {"pads", Integers{1, 1, 1, 1}},
                               {"count_include_pad", std::int64_t{1}}})
            .text() == "average_pool2d kernel=3 padding=1 count_padding=true");
  CHECK(pooled("GlobalAveragePool", {}).text() == "average_pool2d kernel=[6, 4]");
  CHECK(pooled("ReduceMean", {{"axes", Integers{-1, -2}}, {"keepdims", std::int64_t{0}}}).text() ==
        "average_pool2d kernel=[6, 4]; flatten");
  CHECK_REFUSED(pooled("ReduceMean", {{"axes", Integers{1}}}),
                "operator ReduceMean 'y_node': it is read as a mean over the height and width");
  CHECK_REFUSED(
      pooled("MaxPool", {{"kernel_shape", Integers{2, 2}}, {"dilations", Integers{2, 2}}}),
      "its dilations are 2; they must be 1");
}

TEST_CASE("A BatchNormalization keeps its running statistics") {
  OnnxModel model(Shape{2, 3, 3});
  model.counted("g", Shape{2}).counted("b", Shape{2}).counted("m", Shape{2}).counted("v", Shape{2});
  model.add("BatchNormalization", {"x", "g", "b", "m", "v"}, {"y"},
            {{"epsilon", 0.001F}, {"momentum", 0.8}});
  CHECK(model.text() == "batch_norm epsilon=0.001 momentum=0.2");
  CHECK(model.read().layers[0].parameters[3].first == "running_variance");

  model.add("BatchNormalization", {"y", "g", "b", "m", "v"}, {"z"},
            {{"training_mode", std::int64_t{1}}});
  CHECK_REFUSED(model, "its attribute training_mode is 1; it must be 0");
}

TEST_CASE("An activation behind a layer that has an option for it becomes that option") {
  OnnxModel fused(Shape{2});
  fused.counted("w", Shape{2, 3}).add("MatMul", {"x", "w"}, {"m"}).add("Tanh", {"m"}, {"t"});
  fused.add("Relu", {"t"}, {"y"});
  CHECK(fused.text() == "dense units=3 bias=false activation=tanh; relu");

  OnnxModel first(Shape{2});
  first.add("Sigmoid", {"x"}, {"s"}).add("LeakyRelu", {"s"}, {"y"}, {{"alpha", 0.2F}});
  CHECK(first.text() == "sigmoid; leaky_relu slope=0.2");
}

TEST_CASE("A softmax at the end is part of the loss, and refused elsewhere") {
  OnnxModel model(Shape{2});
  model.counted("w", Shape{2, 3}).add("MatMul", {"x", "w"}, {"m"});
  model.add("Softmax", {"m"}, {"s"}, {{"axis", std::int64_t{1}}}).add("Identity", {"s"}, {"y"});

  const load::ReadModel read = model.read();

  CHECK(model.text() == "dense units=3 bias=false");
  CHECK(read.loss == "cross_entropy");
  REQUIRE(read.notes.size() == 1);
  CHECK_THAT(read.notes[0], ContainsSubstring("predictions are what it is computed of (logits)"));

  model.add("Relu", {"s"}, {"z"});
  CHECK_REFUSED(model, "operator Softmax 's_node': no layer of Zygos computes it");
}

TEST_CASE("Dropout is kept for training, with its rate as attribute or input") {
  OnnxModel model(Shape{3});
  model.scalar("rate", 0.25F).add("Dropout", {"x", "rate"}, {"d", "mask"});
  model.add("Dropout", {"d"}, {"y"}, {{"ratio", 0.1F}});
  CHECK(model.text() == "dropout rate=0.25; dropout rate=0.1");

  model.add("Relu", {"mask"}, {"z"});
  CHECK_REFUSED(model, "operator Dropout 'd_node': its output 'mask' is read");
}

TEST_CASE("What changes only a shape becomes a layer where the shape matters") {
  OnnxModel model(Shape{2, 3, 1});
  model.integers("ax", {3}).integers("to", {0, 3, 2});
  model.add("Flatten", {"x"}, {"f"}).add("Unsqueeze", {"f", "ax2"}, {"u"}, {});
  model.integers("ax2", {1}).add("Relu", {"u"}, {"r"}).add("Reshape", {"r", "to"}, {"y"});
  CHECK(model.text() == "relu; reshape shape=[3, 2]");

  OnnxModel back(Shape{2, 3});
  back.add("Transpose", {"x"}, {"t"}, {{"perm", Integers{0, 2, 1}}});
  back.add("Transpose", {"t"}, {"u"}, {{"perm", Integers{0, 2, 1}}}).add("Relu", {"u"}, {"y"});
  CHECK(back.text() == "relu");

  OnnxModel moved(Shape{2, 3, 2});
  moved.add("Transpose", {"x"}, {"t"}, {{"perm", Integers{0, 1, 3, 2}}}).add("Relu", {"t"}, {"y"});
  CHECK_REFUSED(
      moved,
      "operator Relu 'y_node': Transpose 't_node' before it moves elements of layer 'input'");
}

TEST_CASE("A transposed matrix becomes a layer before what reads it") {
  OnnxModel moved(Shape{2, 3});
  moved.add("Transpose", {"x"}, {"t"}, {{"perm", Integers{0, 2, 1}}}).add("Relu", {"t"}, {"y"});
  CHECK(moved.text() == "transpose; relu");
  CHECK(moved.read().layers.back().output == Shape{3, 2});

  OnnxModel last(Shape{2, 3});
  last.add("Relu", {"x"}, {"r"}).add("Transpose", {"r"}, {"y"}, {{"perm", Integers{0, 2, 1}}});
  CHECK(last.text() == "relu; transpose");
}

TEST_CASE("Patches of an image become positions of a sequence") {
  OnnxModel model(Shape{1, 4, 4});
  model.counted("k", Shape{3, 1, 2, 2}).counted("p", Shape{1, 4, 3}).integers("to", {0, 3, -1});
  model.add("Conv", {"x", "k"}, {"c"}, {{"strides", Integers{2, 2}}});
  model.add("Reshape", {"c", "to"}, {"f"});
  model.add("Transpose", {"f"}, {"t"}, {{"perm", Integers{0, 2, 1}}});
  model.add("Add", {"t", "p"}, {"y"});
  CHECK(model.text() == "conv2d filters=3 kernel=2 stride=2 bias=false; transpose; positions");
  CHECK(model.read().layers.back().output == Shape{4, 3});

  // Two operators that read what was moved have one layer for it.
  model.counted("w", Shape{3, 3}).add("MatMul", {"t", "w"}, {"m"}).add("Add", {"m", "t"}, {"z"});
  CHECK(model.text() ==
        "conv2d filters=3 kernel=2 stride=2 bias=false; transpose; dense units=3 bias=false "
        "flatten=false; add");
}

TEST_CASE("Channels-last images of several channels are transposed before a convolution") {
  OnnxModel model(Shape{4, 5, 3});
  model.counted("k", Shape{2, 3, 1, 1});
  model.add("Transpose", {"x"}, {"t"}, {{"perm", Integers{0, 3, 1, 2}}});
  model.add("Conv", {"t", "k"}, {"y"});
  CHECK(model.text() ==
        "reshape shape=[20, 3]; transpose; reshape shape=[3, 4, 5]; conv2d filters=2 kernel=1 "
        "bias=false");
}

TEST_CASE("A shape that the file computes of the input's is known") {
  OnnxModel model(Shape{2, 3});
  model.integers("zero", {0}).integers("rest", {-1});
  model.add("Shape", {"x"}, {"s"}).add("Gather", {"s", "zero"}, {"n"});
  model.add("Concat", {"n", "rest"}, {"to"}, {{"axis", std::int64_t{0}}});
  model.add("Reshape", {"x", "to"}, {"f"}).counted("w", Shape{6, 1});
  model.add("MatMul", {"f", "w"}, {"y"});
  CHECK(model.text() == "dense units=1 bias=false");
}

TEST_CASE("Residual connections and joined channels name their inputs") {
  OnnxModel model(Shape{2, 4});
  model.add("Relu", {"x"}, {"r"}).add("Tanh", {"x"}, {"t"}).add("Add", {"r", "t"}, {"a"});
  model.add("Concat", {"a", "r"}, {"y"}, {{"axis", std::int64_t{1}}});

  const load::ReadModel read = model.read();

  CHECK(model.text() == "relu; tanh; add; concat");
  CHECK(read.layers[2].inputs == std::vector<std::string>{"relu1", "tanh1"});
  CHECK(read.layers[3].inputs == std::vector<std::string>{"add1", "relu1"});
  CHECK(read.layers[3].output == Shape{4, 4});

  OnnxModel samples(Shape{2, 4});
  samples.add("Relu", {"x"}, {"r"}).add("Concat", {"x", "r"}, {"y"}, {{"axis", std::int64_t{0}}});
  CHECK_REFUSED(samples, "it joins [1, 2, 4] along axis 0; layers are joined along axis 1,");

  OnnxModel unlike(Shape{2, 4});
  unlike.integers("ax", {1}).add("Unsqueeze", {"x", "ax"}, {"u"}).add("Add", {"x", "u"}, {"y"});
  CHECK_REFUSED(unlike, "its inputs are [1, 2, 4] and [1, 1, 2, 4]");
}

TEST_CASE("Images are made larger by whole factors") {
  const auto larger = [](const std::string& mode, const std::string& positions, double factor) {
    OnnxModel model(Shape{1, 2, 2});
    model.constant("s", Shape{4}, {1, 1, factor, 3});
    model.add("Resize", {"x", "", "s"}, {"y"},
              {{"mode", mode},
               {"coordinate_transformation_mode", positions},
               {"nearest_mode", std::string("floor")}});
    return model;
  };
  CHECK(larger("nearest", "asymmetric", 2).text() == "upsample factor=[2, 3]");
  CHECK(larger("linear", "half_pixel", 2).text() == "upsample factor=[2, 3] mode=bilinear");
  CHECK_REFUSED(larger("linear", "align_corners", 2), "its mode is linear with align_corners");
  CHECK_REFUSED(larger("nearest", "asymmetric", 1.5), "not a whole multiple");
}

TEST_CASE("An operator that is no layer is named, and so are those that are") {
  OnnxModel model(Shape{2});
  model.add("Cos", {"x"}, {"y"});
  CHECK_REFUSED(model,
                "operator Cos 'y_node': no layer of Zygos computes it. Layers are read from "
                "Add, AveragePool, BatchNormalization, Clip, Concat, Conv,");

  OnnxModel known(Shape{2});
  known.add("MatMul", {"x", "x"}, {"y"});
  CHECK_REFUSED(known, "with these inputs it is part of no layer of Zygos");

  OnnxModel nothing(Shape{2});
  nothing.add("Identity", {"x"}, {"y"});
  CHECK_REFUSED(nothing, "the model computes nothing from its input");
}

TEST_CASE("A model of blocks may be thousands of operators deep, and a chain hundreds") {
  const auto deep = [](int count, bool adds) {
    OnnxModel model(Shape{2});
    std::string last = "x";
    for (int i = 0; i < count; ++i) {
      const std::string next = "t" + std::to_string(i);
      model.add("Tanh", {last}, {next});
      if (adds) {
        model.add("Add", {last, next}, {next + "a"});
      }
      last = adds ? next + "a" : next;
    }
    return model;
  };
  CHECK(deep(300, false).read().layers.size() == 300);
  CHECK(deep(2000, true).read().layers.size() == 4000);
  CHECK_REFUSED(deep(3000, false), "more than 600 operators follow each other");
}

TEST_CASE("An option that a layer does not take is refused with the operator") {
  OnnxModel model(Shape{2});
  model.add("LeakyRelu", {"x"}, {"y"}, {{"alpha", 1.5}});
  CHECK_REFUSED(
      model,
      "operator LeakyRelu 'y_node': it would be the layer {type: leaky_relu, slope: 1.5}, "
      "but 'layer.slope' must be in [0, 1)");
}

TEST_CASE("Layers are called as in the file where that says so, and others by type and number") {
  OnnxModel model(Shape{2});
  for (const std::string name :
       {"block.0.fc.weight", "3.weight", "onnx::MatMul_7", "net/out/kernel"}) {
    model.counted(name, Shape{2, 2});
  }
  model.add("MatMul", {"x", "block.0.fc.weight"}, {"a"}).add("MatMul", {"a", "3.weight"}, {"b"});
  model.add("MatMul", {"b", "onnx::MatMul_7"}, {"c"}).add("MatMul", {"c", "net/out/kernel"}, {"d"});
  model.add("MatMul", {"d", "3.weight"}, {"y"});

  const load::ReadModel read = model.read();

  std::vector<std::string> names;
  for (const load::ReadLayer& layer : read.layers) {
    names.push_back(layer.name);
  }
  CHECK(names == std::vector<std::string>{"block_0_fc", "dense_3", "dense1", "net_out", "dense2"});
  REQUIRE(read.notes.size() == 1);
  CHECK_THAT(read.notes[0], ContainsSubstring("layers 'dense_3' and 'dense2' share '3.weight'"));
}

}  // namespace zygos::test_onnx_layers
