// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A trained network that predicts. Kernels run on the caller's execution-space instance and nowhere
// else: no thread is started, nothing is read from files, and nothing is waited for.
//
//   infer::Model model(graph, weights);
//   model.predict(exec, inputs, outputs);
#pragma once

#include "zygos/core/standards.hpp"
#include "zygos/graph/graph.hpp"
#include "zygos/infer/samples.hpp"
#include "zygos/infer/weight.hpp"
#include "zygos/lane/spaces.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tuple>

namespace zygos::infer {

struct Options {
  /// Of activations. With bf16 the weights are float.
  DType dtype = DType::f32;
  /// Most samples that go through the layers at once; larger batches are cut into blocks of so
  /// many. 0: as many as fit into a core's cache, 256 or more where memory allows it.
  std::int64_t block = 0;
  std::int64_t min_block = 1;  ///< of a block that the model chooses
  /// What the graph's samples were standardised by: predict() takes inputs and returns predictions
  /// in their own units. Columns are those of a sample's first axis, or all of its elements.
  Standards inputs{};
  Standards outputs{};
};

/// A graph with its weights and a workspace. The prediction is the output of the graph's last node,
/// in evaluation mode: what the loss would see, such as logits in front of cross_entropy. For
/// batches of up to block() samples it has the bits that train::Engine::evaluate() computes on the
/// same kind of execution space.
///
/// Threads: one Model is used by one thread at a time; give each thread its own by share(), which
/// adds a workspace and no weights. assign() may be called at any time from any thread. A model
/// must be destroyed before Kokkos is finalised.
///
/// Memory: the weights are in host memory, and in device memory as well once a device instance has
/// predicted. A workspace is allocated by the first prediction, and anew by one that needs a larger
/// one; after that, predictions of at most as many samples allocate nothing in any memory space.
class Model {
 public:
  /// Copies graph and weights; a weight of another floating-point type is converted. Throws
  /// UsageError for a parameter that is missing, unknown or of another shape or type, and for
  /// layers that have no kernels for options.dtype; NumericError for a weight that is not finite.
  Model(const graph::Graph& graph, std::span<const Weight> weights, const Options& options = {});
  Model(Model&& other) noexcept;
  Model& operator=(Model&& other) noexcept;
  ~Model();

  /// Another model of the same weights for another thread; assign() to either reaches both.
  Model share() const;
  /// Replaces the weights, as checked as the constructor's, from the next prediction on; those in
  /// progress keep the old ones, and nobody waits. Allocates and copies the new weights.
  void assign(std::span<const Weight> weights);

  /// outputs(i, ...) = network(inputs(i, ...)) for all samples i, the first extent of both Views.
  /// Inputs and outputs are float, double or bf16, of any layout, in memory that `exec` can access;
  /// a sample may be given flat, (N, features) for the model's (C, H, W). Enqueued on `exec`
  /// without a fence: on a device the Views must live until its work is done. A View may be input
  /// and output at once. Throws UsageError for shapes that do not fit and MemoryError, before
  /// anything is computed.
  template <class Exec, class Inputs, class Outputs>
  void predict(const Exec& exec, const Inputs& inputs, const Outputs& outputs) {
    predict(exec, std::tuple<const Inputs&>(inputs), outputs);
  }

  /// The same for a model input that lies in several Views, one behind the other along the first
  /// axis of a sample: predict(exec, std::tuple(positions, velocities), forces).
  template <class Exec, class... Inputs, class Outputs>
  void predict(const Exec& exec, const std::tuple<Inputs...>& inputs, const Outputs& outputs) {
    static_assert((readable<Exec, std::remove_cvref_t<Inputs>> && ...),
                  "the execution space cannot access the memory of an input View");
    static_assert(readable<Exec, Outputs>,
                  "the execution space cannot access the memory of the output View");
    static_assert(!std::is_const_v<typename Outputs::value_type>, "the output View is const");
    const std::array<Samples, sizeof...(Inputs)> parts =
        std::apply([](const auto&... one) { return std::array{samples_of(one)...}; }, inputs);
    predict_samples(lane::Execution(exec), parts, samples_of(outputs));
  }

  /// The same without Views. Nothing checks that `execution` can access the memory.
  void predict_samples(const lane::Execution& execution, std::span<const Samples> inputs,
                       const Samples& outputs);

  /// Allocates and copies what predictions of up to `samples` samples on such an instance need.
  template <class Exec>
  void prepare(const Exec& exec, std::int64_t samples) {
    prepare_on(lane::Execution(exec), samples);
  }

  const graph::Graph& graph() const noexcept;
  DType dtype() const noexcept;
  /// Most samples of one pass through the layers.
  std::int64_t block() const noexcept;
  /// Bytes of weights, once, and of this model's workspace as it is now.
  std::size_t weight_bytes() const noexcept;
  std::size_t workspace_bytes() const noexcept;

 private:
  struct Impl;
  explicit Model(std::unique_ptr<Impl> impl);
  void prepare_on(const lane::Execution& execution, std::int64_t samples);

  template <class Exec, class View>
  static constexpr bool readable =
      Kokkos::SpaceAccessibility<Exec, typename View::memory_space>::accessible;

  std::unique_ptr<Impl> impl_;
};

}  // namespace zygos::infer
