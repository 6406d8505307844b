// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The samples in C and C++ of docs/, compiled as they are printed and run. What they leave to their
// reader (Views, a solver, a file that is there) is declared before each.
#include "checkpoints_1.head.inc"
#include "exchange_1.head.inc"
#include "inference_1.head.inc"
#include "inference_2.head.inc"
#include "insitu_1.head.inc"
#include "insitu_2.head.inc"
#include "insitu_3.head.inc"
#include "load/saved_run.hpp"
#include "support/skip.hpp"

#include "zygos/infer/model.hpp"
#include "zygos/insitu/hdf5.hpp"
#include "zygos/io/checkpoint_writer.hpp"
#include "zygos/io/tensor_source.hpp"
#include "zygos/io/weight_file.hpp"
#include "zygos/nn/functor_loss.hpp"
#include "zygos/nn/layers.hpp"
#include "zygos/nn/losses.hpp"
#include "zygos/zygos.h"
#include "zygos/zygos_insitu.h"

#include <catch2/catch_test_macros.hpp>
#include <hdf5.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

using namespace zygos;

namespace {

namespace fs = std::filesystem;

// A loss of the reader's own, and its declaration.
namespace with_two_functions {
#include "add_a_loss_1.inc"
}  // namespace with_two_functions
namespace with_samples {
#include "add_a_loss_2.inc"
}  // namespace with_samples

/// The samples name files by relative paths.
class WorkingDirectory {
 public:
  explicit WorkingDirectory(const fs::path& path) : before_(fs::current_path()) {
    fs::current_path(path);
  }
  ~WorkingDirectory() { fs::current_path(before_); }

 private:
  fs::path before_;
};

/// `while (running)`: so many times.
struct Countdown {
  int left;
  explicit operator bool() { return left-- > 0; }
};

template <class T>
using Rows = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace>;
using Column = Kokkos::View<double*, Kokkos::HostSpace>;

Rows<double> waves(const char* name, std::size_t rows, std::size_t columns, double pitch) {
  Rows<double> view(name, rows, columns);
  for (std::size_t i = 0; i < view.size(); ++i) {
    view.data()[i] = std::sin(pitch * static_cast<double>(i));
  }
  return view;
}

Column wave(const char* name, std::size_t rows, double pitch) {
  Column column(name, rows);
  for (std::size_t i = 0; i < rows; ++i) {
    column(i) = std::sin(pitch * static_cast<double>(i));
  }
  return column;
}

bool has_values(const Rows<double>& view) {
  return std::all_of(view.data(), view.data() + view.size(),
                     [](double value) { return std::isfinite(value) && value != -7.0; });
}

/// In the place of an engine: its state is in memory.
struct SavedState {
  class Source final : public io::TensorSource {
   public:
    explicit Source(const std::vector<io::TensorRef>& tensors) : tensors_(tensors) {}
    std::span<const io::TensorRef> tensors() const override { return tensors_; }
    void read(std::size_t tensor, std::size_t begin, std::span<std::byte> out) override {
      const auto* from = static_cast<const std::byte*>(tensors_[tensor].data) + begin;
      std::copy(from, from + out.size(), out.begin());
    }

   private:
    const std::vector<io::TensorRef>& tensors_;
  };

  const std::vector<io::TensorRef>& tensors;

  std::unique_ptr<io::TensorSource> state_source() const {
    return std::make_unique<Source>(tensors);
  }
};

}  // namespace

TEST_CASE("The sample of docs/add_a_loss.md makes a model with that loss") {
  CHECK(with_two_functions::model.loss().type() == "huber");
}

TEST_CASE("The sample of the README makes a model of two layers") {
#include "README_1.inc"
  CHECK(model.output_shape() == Shape{32});
}

TEST_CASE("The sample of docs/checkpoints.md writes and reads checkpoints") {
  const test::TemporaryFolder folder("samples");
  const WorkingDirectory here(folder.path());
  const std::vector<float> values{1, 2, 3};
  const std::vector<io::TensorRef> tensors{
      {"weights/dense1/kernel", DType::f32, Shape{3}, values.data()}};
  const io::Facts facts{{"epoch", "2"}};
  const std::int64_t step = 7;
  const SavedState engine{tensors};
  {
#include "checkpoints_1.inc"
    writer.wait();
  }
  const auto newest = io::CheckpointStore("checkpoints", 3).load_newest();
  REQUIRE(newest);
  CHECK(newest->step == 7);
  CHECK(newest->fact("epoch") == "2");
}

TEST_CASE("The samples of docs/inference.md predict from files and from memory") {
  const test::SavedRun run("samples");
  const WorkingDirectory here(run.folder.path());
  fs::create_directory("runs");
  fs::create_directory_symlink("..", "runs/surrogate");
  const Kokkos::OpenMP exec(1);
  const auto inputs = waves("inputs", 5, 6, 0.3);
  const Rows<double> outputs("outputs", 5, 3);
  Kokkos::deep_copy(outputs, -7.0);
  std::vector<double> from_files;
  {
#include "inference_1.inc"
    from_files.assign(outputs.data(), outputs.data() + outputs.size());
  }
  CHECK(has_values(outputs));
  Kokkos::deep_copy(outputs, -7.0);
  const graph::Graph& graph = *run.graph;
  const std::vector<infer::Weight> weights = load::weights_of(*run.engine);
  {
#include "inference_2.inc"
  } CHECK(has_values(outputs));
}

TEST_CASE("The sample of docs/exchange.md writes, reads and matches weights") {
  if (ZYGOS_SAMPLES_HAVE_ONNX == 0) {
    test::skip_without("onnx", "this build has no ONNX");
  }
  test::SavedRun run("samples");
  const WorkingDirectory here(run.folder.path());
  fs::create_directory("runs");
  fs::create_directory_symlink("..", "runs/mnist_mlp");
  load::export_model(load::load_saved_model("runs/mnist_mlp"), "resnet.onnx");
  load::export_model(load::load_saved_model("runs/mnist_mlp"), "resnet.safetensors");
  const graph::Graph& graph = *run.graph;
  train::Engine& engine = *run.engine;
  const std::vector<double> before = run.evaluated();
  run.step();
  REQUIRE(run.evaluated() != before);
  {
#include "exchange_1.inc"
    CHECK(foreign.weights.size() == graph.parameters().size());
    CHECK(matched.missing.empty());
  }
  CHECK(run.evaluated() == before);
}

TEST_CASE("The samples of docs/insitu.md learn, predict with a spread, and are restored") {
  const test::TemporaryFolder folder("samples");
  const Kokkos::OpenMP exec(1);
  const auto x = waves("x", 300, 3, 0.3);
  const auto v = waves("v", 300, 3, 0.7);
  const auto f = waves("f", 300, 3, 0.1);
  Countdown running{3};
#include "insitu_1.inc"
  CHECK(samples.training() > 0);
  const hid_t file =
      H5Fcreate((folder.path() / "restart.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t group = H5Gcreate2(file, "zygos", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  {
#include "insitu_3.inc"
    insitu::State restored = net.state();
    restored += samples.state();
    CHECK(insitu::to_bytes(restored) == bytes);
  }
  H5Gclose(group);
  H5Fclose(file);
}

TEST_CASE("The sample of docs/insitu.md on ensembles tells how far its members are apart") {
  const Kokkos::OpenMP exec(1);
  const Column a = wave("a", 200, 0.3);
  const Column b = wave("b", 200, 0.7);
  const Column c = wave("c", 200, 0.9);
  const Column change("change", 200);
  const Column next_b("next_b", 200);
  const Column spread("spread", 200);
  auto samples = insitu::Ensemble::mlp({.in = 3, .hidden = {4}, .out = 2}, exec, 2)
                     .reservoir({.capacity = 1000});
  samples.add(exec, std::tuple(a, b, c), std::tuple(wave("f", 200, 0.2), wave("g", 200, 0.4)));
#include "insitu_2.inc"
  CHECK(*std::max_element(spread.data(), spread.data() + 200) > 0.0);
}

TEST_CASE("The samples of docs/c_and_fortran.md predict, and learn") {
  const test::SavedRun run("samples");
  const WorkingDirectory here(run.folder.path());
  fs::create_directory("runs");
  fs::create_directory_symlink("..", "runs/surrogate");
  constexpr std::int64_t cells = 40;
  static double tensors[cells][6];
  static float invariants[3][cells];
  {
#include "c_and_fortran_1.inc"
    CHECK(std::ranges::any_of(std::span(invariants[2]), [](float one) { return one != 0.0F; }));
  }
  static double targets[cells][3];
  for (std::int64_t i = 0; i < cells; ++i) {
    targets[i][0] = tensors[i][0] = std::sin(0.3 * static_cast<double>(i));
  }
  zygos_array x = {tensors, ZYGOS_FLOAT64, 2, {cells, 6}, {0}};
  zygos_array f = {targets, ZYGOS_FLOAT64, 2, {cells, 3}, {0}};
  zygos_session* session = nullptr;
  zygos_error error{};
  zygos_validation validation{};
  Countdown running{3};
  REQUIRE(zygos_initialize(1, &session, &error) == ZYGOS_OK);
  {
#include "c_and_fortran_2.inc"
  } CHECK(validation.relative_error > 0.0);
  CHECK(zygos_finalize(session, &error) == ZYGOS_OK);
}
