// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Optimizers against STREAM's triad (a = b + s c; McCalpin, 1995) in the same memory: what memory
// or caches deliver. Bytes are those that have to move: an update reads the gradient and what it
// overwrites, which therefore costs no further read; the triad writes what it has not read, so its
// 16 bytes an element have the read in them that goes before such a write ("write-allocate").
#include "lane/host_memory.hpp"
#include "ops/common/launch.hpp"
#include "support/host_bench.hpp"

#include "zygos/lane/execution.hpp"
#include "zygos/lane/spaces.hpp"
#include "zygos/nn/optimizers.hpp"
#include "zygos/tensor/views.hpp"

#include <algorithm>

namespace {

using zygos::Shape;
using Exec = Kokkos::OpenMP;

/// Memory as a lane has it, with huge pages where there are any.
class LaneMemory {
 public:
  explicit LaneMemory(std::int64_t count, float scale = 1.0F)
      : block_(zygos::lane::allocate_host(static_cast<std::size_t>(count) * sizeof(float),
                                          "zygos::perf::memory")),
        tensor_(block_.get(), zygos::DType::f32, Shape{count}) {
    for (std::int64_t i = 0; i < count; ++i) {
      data()[i] = scale * (static_cast<float>(i * 37 % 1000) / 1000.0F - 0.5F);
    }
  }
  float* data() const { return tensor_.data<float>(); }
  const zygos::Tensor& tensor() const { return tensor_; }

 private:
  zygos::memory::Block block_;
  zygos::Tensor tensor_;
};

/// Updates that keep what they overwrite, and those that begin from what was kept.
enum class Speculation { none, kept, redone };

/// As a step has it: the gradient is scaled by a factor, and elements that are not finite are
/// found.
void update(benchmark::State& state, const zygos::nn::OptimizerPtr& optimizer,
            Speculation speculation) {
  const zygos::lane::Execution execution = Exec(static_cast<int>(state.range(0)));
  const std::int64_t count = state.range(1);
  const LaneMemory weights(count);
  const LaneMemory gradient(count);
  std::vector<LaneMemory> states;
  double factor = 0.5;
  std::int32_t bad = 0;
  std::vector<std::uint8_t> decays(static_cast<std::size_t>(count), 1);
  zygos::nn::UpdateArgs args;
  args.weights = weights.tensor();
  args.gradient = gradient.tensor();
  args.gradient_factor = zygos::Tensor(&factor, zygos::DType::f64, Shape{1});
  args.bad = zygos::Tensor(&bad, zygos::DType::i32, Shape{1});
  if (optimizer->uses_decay()) {
    args.decay_mask = zygos::Tensor(decays.data(), zygos::DType::u8, Shape{count});
  }
  for (std::size_t i = 0; i < optimizer->state_names().size(); ++i) {
    states.emplace_back(count, 0.0F);
    args.states.push_back(states.back().tensor());
  }
  std::vector<LaneMemory> previous;
  if (speculation != Speculation::none) {
    for (std::size_t i = 0; i <= states.size(); ++i) {
      previous.emplace_back(count, 0.0F);
    }
    args.previous_weights = previous.back().tensor();
    for (std::size_t i = 0; i < states.size(); ++i) {
      args.previous_states.push_back(previous[i].tensor());
    }
    args.again = speculation == Speculation::redone;
  }
  for ([[maybe_unused]] auto iteration : state) {
    ++args.step;
    optimizer->update(execution, args);
  }
  const double copies = 4.0 * static_cast<double>(count) * static_cast<double>(previous.size());
  zygos::perf::report_bytes(state, optimizer->cost(count, zygos::DType::f32).bytes + copies);
}

void triad(benchmark::State& state) {
  const Exec exec(static_cast<int>(state.range(0)));
  const std::int64_t count = state.range(1);
  const LaneMemory sum(count);
  const LaneMemory left(count);
  const LaneMemory right(count);
  float* const a = sum.data();
  const float* const b = left.data();
  const float* const c = right.data();
  for ([[maybe_unused]] auto iteration : state) {
    zygos::ops::for_each_element("zygos::perf::triad", exec, static_cast<std::size_t>(count),
                                 zygos::ops::chunk::light,
                                 [=](const std::size_t i) { a[i] = b[i] + 3.0F * c[i]; });
  }
  zygos::perf::report_bytes(state, 16.0 * static_cast<double>(count));
}

void sizes(benchmark::internal::Benchmark* bench) {
  for (const int threads : {1, 2}) {
    bench->Args({threads, 101'776})->Args({threads, 10'020'896})->Args({threads, 30'000'000});
  }
  bench->ArgNames({"threads", "parameters"})->UseRealTime();
}

BENCHMARK(triad)->Apply(sizes);
BENCHMARK_CAPTURE(update, sgd, zygos::nn::sgd({.momentum = 0.0}), Speculation::none)->Apply(sizes);
BENCHMARK_CAPTURE(update, momentum, zygos::nn::sgd({.momentum = 0.9}), Speculation::none)
    ->Apply(sizes);
BENCHMARK_CAPTURE(update, adam, zygos::nn::adam({}), Speculation::none)->Apply(sizes);
BENCHMARK_CAPTURE(update, adamw, zygos::nn::adam({.weight_decay = 0.01, .decoupled = true}),
                  Speculation::none)
    ->Apply(sizes);
BENCHMARK_CAPTURE(update, adam_speculated, zygos::nn::adam({}), Speculation::kept)->Apply(sizes);
BENCHMARK_CAPTURE(update, adam_redone, zygos::nn::adam({}), Speculation::redone)->Apply(sizes);
BENCHMARK_CAPTURE(update, rmsprop, zygos::nn::rmsprop({}), Speculation::none)->Apply(sizes);
BENCHMARK_CAPTURE(update, adagrad, zygos::nn::adagrad({}), Speculation::none)->Apply(sizes);

}  // namespace

int main(int argc, char** argv) { return zygos::perf::run_benchmarks(argc, argv); }
