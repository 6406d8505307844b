// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/plan/formulas.hpp"

#include "zygos/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace zygos::plan {
namespace {

double ratio(std::int64_t above, std::int64_t below) {
  return static_cast<double>(above) / static_cast<double>(below);
}

/// Largest whole number below above / below.
std::int64_t largest_below(std::int64_t above, std::int64_t below) {
  return (above + below - 1) / below - 1;
}

std::int64_t sum(std::span<const LayerSize> layers, std::int64_t LayerSize::*what) {
  std::int64_t all = 0;
  for (const LayerSize& layer : layers) {
    all += layer.*what;
  }
  return all;
}

}  // namespace

double pipeline_bubble(std::int64_t stages, std::int64_t micro_batches) {
  return ratio(stages - 1, micro_batches + stages - 1);
}

double pipeline_speedup(std::int64_t stages, std::int64_t micro_batches) {
  return ratio(stages * micro_batches, micro_batches + stages - 1);
}

std::int64_t ring_bytes(std::int64_t ranks, std::int64_t bytes) { return 2 * (ranks - 1) * bytes; }

std::int64_t ring_messages(std::int64_t ranks) { return 2 * (ranks - 1) * ranks; }

double ring_seconds(std::int64_t ranks, std::int64_t bytes, double latency_s, double byte_s,
                    double add_byte_s) {
  const double part = ratio(ranks - 1, ranks) * static_cast<double>(bytes);
  return 2.0 * static_cast<double>(ranks - 1) * latency_s + 2.0 * part * byte_s + part * add_byte_s;
}

std::int64_t cut_bytes(std::int64_t batch, std::int64_t bytes_per_sample) {
  return 2 * batch * bytes_per_sample;
}

double memory_efficiency(double throughput, double memory) { return throughput / memory; }

std::int64_t chunked_broadcast_messages(std::int64_t workers, std::int64_t chunks) {
  return workers * (1 + chunks);
}

double chunked_broadcast_exposed_s(std::span<const double> message_s,
                                   std::span<const double> forward_s) {
  ZYGOS_REQUIRE(message_s.size() == forward_s.size(), "a chunk has a message and layers");
  double arrival_s = 0.0;
  double begin_s = 0.0;
  double exposed_s = 0.0;
  for (std::size_t chunk = 0; chunk < message_s.size(); ++chunk) {
    arrival_s += message_s[chunk];
    exposed_s = std::max(exposed_s, arrival_s - begin_s);
    begin_s += forward_s[chunk];
  }
  return exposed_s;
}

std::int64_t bucket_count(std::span<const std::int64_t> gradient_bytes, std::int64_t most) {
  std::int64_t buckets = 0;
  std::int64_t filled = 0;
  for (const std::int64_t bytes : gradient_bytes) {
    if (bytes == 0) {
      continue;
    }
    if (buckets == 0 || filled + bytes > most) {
      ++buckets;
      filled = 0;
    }
    filled += bytes;
  }
  return buckets;
}

double split_bound(double slow_rate, double fast_rate) { return 1.0 + slow_rate / fast_rate; }

LayerSize layer_size(const schedule::ModelOutline& model, std::int32_t node) {
  const schedule::NodeOutline& outline = model.nodes.at(static_cast<std::size_t>(node));
  std::int64_t bytes_in = 0;
  for (const std::int32_t input : outline.inputs) {
    bytes_in +=
        input < 0 ? model.input_bytes : model.nodes[static_cast<std::size_t>(input)].output_bytes;
  }
  return {outline.parameters.count(), bytes_in / model.activation_bytes,
          outline.output_bytes / model.activation_bytes};
}

LayerSize dense_size(std::int64_t inputs, std::int64_t units) {
  return {(inputs + 1) * units, inputs, units};
}

LayerSize convolution_size(std::int64_t channels_in, std::int64_t channels_out, std::int64_t kernel,
                           std::int64_t side_in, std::int64_t side_out, std::int64_t pooling) {
  const std::int64_t side = side_out / pooling;
  return {(kernel * kernel * channels_in + 1) * channels_out, channels_in * side_in * side_in,
          channels_out * side * side};
}

TrafficBalance::TrafficBalance(std::int64_t parameters, std::int64_t values_per_sample)
    : parameters_(parameters), values_(values_per_sample) {
  ZYGOS_REQUIRE(parameters >= 0 && values_per_sample > 0, "a model has values between its layers");
}

TrafficBalance::TrafficBalance(std::span<const LayerSize> layers)
    : TrafficBalance(sum(layers, &LayerSize::parameters), sum(layers, &LayerSize::values)) {}

double TrafficBalance::batch_bound() const { return ratio(parameters_, values_); }

std::int64_t TrafficBalance::largest_batch() const { return largest_below(parameters_, values_); }

std::int64_t TrafficBalance::workers_as_published() const {
  return largest_below(parameters_, values_) + 1;
}

std::string TrafficBalance::text() const {
  return fmt::format(
      "layer placement moves fewer bytes than data parallelism while the batch is below M/D = "
      "{} parameters / {} values per sample = {:.1f} samples (B <= {}), however many workers there "
      "are; the published form, one sample per worker and a root that does not send to itself, "
      "(N-1) D < M, gives N <= {} workers and holds only where the batch grows with them",
      parameters_, values_, batch_bound(), largest_batch(), workers_as_published());
}

double batch_bound(const LayerSize& layer) { return ratio(layer.parameters, layer.values_in); }

bool divides_by_model(const LayerSize& layer, std::int64_t batch) {
  return batch * layer.values_in < layer.parameters;
}

}  // namespace zygos::plan
