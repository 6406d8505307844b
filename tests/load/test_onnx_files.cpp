// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Files of ONNX that are no model of ours, or have their weights elsewhere.
#include "load/onnx/model_file.hpp"
#include "support/temporary_folder.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/weight_file.hpp"
#include "zygos/load/exchange.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <onnx/onnx_pb.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace zygos::test_onnx_files {
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace fs = std::filesystem;

namespace {

/// (-1 for a dimension without a value) a product with a weight (2, 1) of two floats.
onnx::ModelProto product_of(const std::vector<std::int64_t>& input) {
  onnx::ModelProto model;
  model.add_opset_import()->set_version(17);
  onnx::GraphProto& graph = *model.mutable_graph();
  onnx::ValueInfoProto& x = *graph.add_input();
  x.set_name("x");
  x.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  auto& shape = *x.mutable_type()->mutable_tensor_type()->mutable_shape();
  for (const std::int64_t extent : input) {
    auto& dimension = *shape.add_dim();
    if (extent < 0) {
      dimension.set_dim_param("batch");
    } else {
      dimension.set_dim_value(extent);
    }
  }
  graph.add_output()->set_name("y");
  onnx::TensorProto& weight = *graph.add_initializer();
  weight.set_name("fc.weight");
  weight.set_data_type(onnx::TensorProto::FLOAT);
  weight.add_dims(2);
  weight.add_dims(1);
  weight.add_float_data(3.0F);
  weight.add_float_data(4.0F);
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type("MatMul");
  node.add_input("x");
  node.add_input("fc.weight");
  node.add_output("y");
  return model;
}

struct Written {
  explicit Written(const onnx::ModelProto& model) {
    std::ofstream out(file, std::ios::binary);
    REQUIRE(model.SerializeToOstream(&out));
  }
  test::TemporaryFolder folder{"onnx-files"};
  fs::path file = folder.path() / "model.onnx";
};

void set_external(onnx::ModelProto& model, const std::string& location, const std::string& offset) {
  onnx::TensorProto& weight = *model.mutable_graph()->mutable_initializer(0);
  weight.clear_float_data();
  weight.set_data_location(onnx::TensorProto::EXTERNAL);
  for (const auto& [key, value] : {std::pair<std::string, std::string>{"location", location},
                                   {"offset", offset},
                                   {"length", "8"}}) {
    auto& entry = *weight.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  }
}

template <class Error>
void check_refused(const onnx::ModelProto& model, const std::string& part) {
  const Written written(model);
  CHECK_THROWS_MATCHES(load::import_onnx(written.file), Error,
                       MessageMatches(ContainsSubstring(part)));
}

}  // namespace

TEST_CASE("A model of another program becomes a deck and weights") {
  const Written written(product_of({-1, 2}));

  const load::ForeignModel model = load::import_onnx(written.file, "models/model.onnx");

  CHECK(model.sample == Shape{2});
  CHECK_THAT(model.deck, ContainsSubstring("{name: fc, type: dense, units: 1, bias: false}"));
  CHECK_THAT(model.deck,
             ContainsSubstring("pretrained: {file: 'models/model.onnx', match: operators}"));
  REQUIRE(model.weights.size() == 1);
  CHECK(model.weights[0].name == "fc/kernel");
  CHECK(load::import_model(written.file).graph.parameter_count() == 2);
}

TEST_CASE("The first dimension of the input must be the batch, and the others known") {
  CHECK(load::read_onnx_file(Written(product_of({1, 2})).file).sample == Shape{2});
  check_refused<UsageError>(product_of({4, 2}), "the model's input 'x' is (4, 2); its first");
  check_refused<UsageError>(product_of({-1, -1}), "is (batch, batch)");
  check_refused<UsageError>(product_of({2}), "is (2)");
}

TEST_CASE("A model of several inputs or outputs is refused with their names") {
  onnx::ModelProto inputs = product_of({-1, 2});
  inputs.mutable_graph()->add_input()->set_name("more");
  check_refused<UsageError>(inputs, "the model has 2 inputs ('x', 'more')");

  onnx::ModelProto outputs = product_of({-1, 2});
  outputs.mutable_graph()->add_output()->set_name("x");
  check_refused<UsageError>(outputs, "the model has 2 outputs ('y', 'x')");

  onnx::ModelProto early = product_of({-1, 2});  // weights among the inputs, as in early versions
  early.mutable_graph()->add_input()->set_name("fc.weight");
  CHECK(load::import_onnx(Written(early).file).weights.size() == 1);
}

TEST_CASE("Operators of another domain, and those that nothing leads to, are refused") {
  onnx::ModelProto domain = product_of({-1, 2});
  domain.mutable_graph()->mutable_node(0)->set_domain("com.example");
  check_refused<UsageError>(domain,
                            "operator com.example.MatMul 'y': no layer of Zygos computes it");

  onnx::ModelProto disordered = product_of({-1, 2});
  disordered.mutable_graph()->mutable_node(0)->set_input(0, "z");
  check_refused<DataError>(disordered, "operator MatMul 'y' reads 'z', which nothing before it");

  onnx::ModelProto twice = product_of({-1, 2});
  twice.mutable_graph()->mutable_node(0)->set_output(0, "x");
  check_refused<DataError>(twice, "operator MatMul 'x' computes 'x', which is there already");
}

TEST_CASE("Weights in another file beside the model are read, and no file elsewhere") {
  onnx::ModelProto model = product_of({-1, 2});
  set_external(model, "weights.bin", "4");
  const Written written(model);
  const std::vector<float> elements{1.0F, 5.0F, 6.0F};
  const auto write = [&](std::size_t count) {
    std::ofstream(written.folder.path() / "weights.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(elements.data()),
               static_cast<std::streamsize>(count * sizeof(float)));
  };

  write(3);
  const auto weights = load::import_onnx(written.file).weights;
  CHECK(std::equal(weights.at(0).bytes.begin(), weights.at(0).bytes.end(),
                   std::as_bytes(std::span(elements)).begin() + 4));
  CHECK(io::read_weight_file(written.file).tensors.at(0).shape == Shape{2, 1});
  write(2);
  CHECK_THROWS_MATCHES(load::import_onnx(written.file), DataError,
                       MessageMatches(ContainsSubstring("is not there or too short")));

  for (const std::string location : {"../weights.bin", "/etc/hostname", ""}) {
    onnx::ModelProto outside = product_of({-1, 2});
    set_external(outside, location, "0");
    check_refused<DataError>(outside, "allowed is a file in the folder of the model, or below");
  }
}

TEST_CASE(
    "Weights in a folder, to the end of which some file systems say there are 2^63 - 1 bytes") {
  onnx::ModelProto model = product_of({-1, 2});
  set_external(model, ".", "0");
  model.mutable_graph()->mutable_initializer(0)->mutable_external_data()->RemoveLast();

  check_refused<DataError>(model, "is not there or too short");
}

TEST_CASE("Only a model says what its layers are") {
  const test::TemporaryFolder folder("onnx-none");
  CHECK_THROWS_MATCHES(load::import_onnx(folder.path() / "a.npz"), UsageError,
                       MessageMatches(ContainsSubstring("is no .onnx")));
  std::ofstream(folder.path() / "a.onnx") << "no model";
  CHECK_THROWS_AS(load::import_onnx(folder.path() / "a.onnx"), DataError);
}

}  // namespace zygos::test_onnx_files
