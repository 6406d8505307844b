// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What can be said of a policy with pen and paper. Predictions of the simulator and counters of a
// run are tested against these; `zygos plan` quotes them.
#pragma once

#include "zygos/schedule/model_outline.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace zygos::plan {

/// Idle share of a pipeline of K equal stages and M micro-batches: (K-1)/(M+K-1).
/// Huang et al., "GPipe", NeurIPS 2019, section 2.3.
double pipeline_bubble(std::int64_t stages, std::int64_t micro_batches);

/// Its speed-up over one place: KM/(M+K-1). The same source.
double pipeline_speedup(std::int64_t stages, std::int64_t micro_batches);

/// Bytes that a ring all-reduce of S bytes among N ranks moves in total: 2(N-1)S; each rank sends
/// 2(N-1)/N S. Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of
/// workstations", JPDC 2009.
std::int64_t ring_bytes(std::int64_t ranks, std::int64_t bytes);

/// Messages of it: in 2(N-1) rounds, every rank sends one.
std::int64_t ring_messages(std::int64_t ranks);

/// Its seconds: 2(N-1) a + 2(N-1)/N S b + (N-1)/N S c, with latency a of a message, seconds b to
/// move a byte and c to add one. Thakur, Rabenseifner and Gropp, "Optimization of collective
/// communication operations in MPICH", IJHPCA 2005.
double ring_seconds(std::int64_t ranks, std::int64_t bytes, double latency_s, double byte_s,
                    double add_byte_s);

/// Throughput and peak memory of a way to train, both relative to another way, in one number: how
/// much faster a byte is at work. Of 80 % more throughput from 57 % less memory 1.80/0.43 = 4.19.
/// Ye et al., "Hippie: A Data-Paralleled Pipeline Approach to Improve Memory-Efficiency and
/// Scalability for Large DNN Training", ICPP 2021.
double memory_efficiency(double throughput, double memory);

/// Messages of a step in which a root broadcasts its weights to N workers in K chunks and each of
/// these sends it a gradient: N(1+K). As many bytes as with one chunk.
std::int64_t chunked_broadcast_messages(std::int64_t workers, std::int64_t chunks);

/// Seconds by which such a broadcast delays a forward pass that could begin with it: the most over
/// chunks of arrival less begin of the chunk's layers, at least 0. `message_s` of each chunk, one
/// after the other on a link, `forward_s` of its layers.
double chunked_broadcast_exposed_s(std::span<const double> message_s,
                                   std::span<const double> forward_s);

/// Bytes over a cut between stages in one step: activations one way, their gradients back, 2BA for
/// a batch of B samples with A bytes each at the cut.
std::int64_t cut_bytes(std::int64_t batch, std::int64_t bytes_per_sample);

/// Buckets that gradients fill, in the order given (last layer first), if a bucket that has
/// something takes no more than `most` bytes. Li et al., "PyTorch Distributed", VLDB 2020, 3.2.3.
std::int64_t bucket_count(std::span<const std::int64_t> gradient_bytes, std::int64_t most);

/// The most that a second place can gain: 1 + s_slow/s_fast, when nothing else costs time.
double split_bound(double slow_rate, double fast_rate);

/// Parameters of a layer and values of one sample that enter and leave it.
struct LayerSize {
  std::int64_t parameters = 0;
  std::int64_t values_in = 0;
  std::int64_t values = 0;
};
/// Of a node of a model.
LayerSize layer_size(const schedule::ModelOutline& model, std::int32_t node);
LayerSize dense_size(std::int64_t inputs, std::int64_t units);
/// Square kernels over square images of `side_in` rows; `values` as they leave the layer, after
/// `pooling` (1: none) took every so manieth row and column of `side_out`.
LayerSize convolution_size(std::int64_t channels_in, std::int64_t channels_out, std::int64_t kernel,
                           std::int64_t side_in, std::int64_t side_out, std::int64_t pooling = 1);

/// Data against model parallelism by what they move: data parallel workers exchange a model of M
/// values, model parallel ones the D values that each sample has between layers.
class TrafficBalance {
 public:
  TrafficBalance(std::int64_t parameters, std::int64_t values_per_sample);
  explicit TrafficBalance(std::span<const LayerSize> layers);

  std::int64_t parameters() const noexcept { return parameters_; }
  std::int64_t values_per_sample() const noexcept { return values_; }

  /// Physically right: with a global batch of B samples, N workers move 2NM against 2NBD values,
  /// so model parallelism moves less while B < M/D, whatever N.
  double batch_bound() const;
  /// The largest such batch.
  std::int64_t largest_batch() const;
  /// As published for LeNet-5 ("N <= 35"): one sample per worker, and the root does not send to
  /// itself, (N-1)D < M. The largest N. It mixes workers with samples: it is right only where the
  /// batch grows with the workers, one sample each.
  std::int64_t workers_as_published() const;
  /// Both, and which is which.
  std::string text() const;

 private:
  std::int64_t parameters_;
  std::int64_t values_;
};

/// P/A of a layer, with its P parameters and the A values that enter it and would have to be
/// gathered: divided by model it moves less than divided by data while the batch is below. Infinite
/// if nothing enters it. Krizhevsky, "One weird trick for parallelizing convolutional neural
/// networks", 2014.
double batch_bound(const LayerSize& layer);
/// True if it does at a batch: B A < P.
bool divides_by_model(const LayerSize& layer, std::int64_t batch);

}  // namespace zygos::plan
