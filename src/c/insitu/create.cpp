// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "c/arrays.hpp"
#include "c/failure.hpp"
#include "c/insitu/surrogate.hpp"

#include "zygos/insitu/deck.hpp"

#include <Kokkos_Core.hpp>

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>

namespace zygos::c {
namespace {

void require_place(int threads) {
  if (threads > 1 && omp_get_level() > 0) {
    throw UsageError("a surrogate of " + std::to_string(threads) +
                     " threads can't work within a parallel region of OpenMP; make it with "
                     "threads = 1, or call it outside");
  }
}

lane::Execution execution_of(int threads) {
  require_place(threads);
  if (threads == 1) {
    return Kokkos::Serial(Kokkos::NewInstance{});
  }
  return Kokkos::OpenMP(threads);
}

nn::Activation activation_of(std::int32_t activation) {
  switch (activation) {
    case ZYGOS_TANH:
      return nn::Activation::tanh;
    case ZYGOS_RELU:
      return nn::Activation::relu;
    case ZYGOS_SIGMOID:
      return nn::Activation::sigmoid;
    case ZYGOS_GELU:
      return nn::Activation::gelu;
    case ZYGOS_LINEAR:
      return nn::Activation::none;
    default:
      throw UsageError("the activation is " + std::to_string(activation) +
                       "; allowed are ZYGOS_TANH, ZYGOS_RELU, ZYGOS_SIGMOID, ZYGOS_GELU and "
                       "ZYGOS_LINEAR");
  }
}

insitu::Keep keep_of(std::int32_t keep) {
  if (keep != ZYGOS_KEEP_UNIFORM && keep != ZYGOS_KEEP_NEWEST) {
    throw UsageError("keep is " + std::to_string(keep) +
                     "; allowed are ZYGOS_KEEP_UNIFORM and ZYGOS_KEEP_NEWEST");
  }
  return keep == ZYGOS_KEEP_NEWEST ? insitu::Keep::newest : insitu::Keep::uniform;
}

insitu::MlpOptions network_of(const zygos_surrogate_options& options) {
  insitu::MlpOptions network;
  network.in = options.inputs;
  network.out = options.outputs;
  network.activation = activation_of(options.activation);
  if (options.hidden_count < 0) {
    throw UsageError(std::to_string(options.hidden_count) +
                     " hidden layers; there can't be fewer than 0");
  }
  if (options.hidden_count > 0) {
    const std::int64_t* widths = &required(options.hidden, "hidden");
    network.hidden.assign(widths, widths + options.hidden_count);
  }
  return network;
}

insitu::Options training_of(const zygos_surrogate_options& options) {
  insitu::Options out;
  if (!std::isfinite(options.learning_rate) || options.learning_rate < 0.0) {
    throw UsageError("the learning rate is " + std::to_string(options.learning_rate) +
                     "; it must be above 0, or 0 for the default");
  }
  out.learning_rate = options.learning_rate > 0.0 ? options.learning_rate : out.learning_rate;
  if (options.precision != ZYGOS_TYPE_NONE) {
    out.dtype = dtype_of(options.precision, "the precision of the options");
  }
  out.batch = options.batch != 0 ? options.batch : out.batch;
  out.min_samples = options.min_samples;
  out.standardise = options.own_units == 0;
  out.block = options.block;
  out.seed = options.seed != 0 ? static_cast<std::uint64_t>(options.seed) : out.seed;
  return out;
}

insitu::ReservoirOptions kept_by(const zygos_surrogate_options& options) {
  insitu::ReservoirOptions out;
  out.capacity = options.capacity != 0 ? options.capacity : 100'000;
  if (options.validate_every != 0) {
    out.validate_every = options.validate_every == -1 ? 0 : options.validate_every;
    if (out.validate_every < 0) {
      throw UsageError("validate_every is " + std::to_string(options.validate_every) +
                       "; allowed are 2 or more, 0 for the default, and -1 for none");
    }
  }
  out.keep = keep_of(options.keep);
  if (options.stored != ZYGOS_TYPE_NONE) {
    out.stored = dtype_of(options.stored, "stored of the options");
  }
  out.seed = options.seed != 0 ? static_cast<std::uint64_t>(options.seed) : out.seed;
  return out;
}

std::int64_t members_of(const zygos_surrogate_options& options) {
  if (options.members < 0) {
    throw UsageError(std::to_string(options.members) +
                     " members; an ensemble has 2 or more, and 0 or 1 is one network");
  }
  return std::max(options.members, 1);
}

zygos_surrogate::Net net_of(const insitu::SurrogateSpec& spec, const lane::Execution& execution) {
  if (spec.members == 1) {
    return insitu::Surrogate(spec.graph, execution, spec.options);
  }
  return insitu::Ensemble(spec.graph, execution, spec.members, spec.options);
}

insitu::Reservoir reservoir_of(const zygos_surrogate::Net& net,
                               const insitu::ReservoirOptions& options) {
  return std::visit([&](const auto& learner) { return learner.reservoir(options); }, net);
}

/// What `spec` returns, as a surrogate of the session.
template <class F>
void put_surrogate(zygos_session* session, zygos_surrogate** surrogate, int threads,
                   const F& spec) {
  zygos_session& owner = required(session, "session");
  zygos_surrogate*& out = required(surrogate, "where the surrogate is to be stored");
  out = std::make_unique<zygos_surrogate>(owner, spec(), threads).release();
}

void describe(zygos_surrogate& surrogate, zygos_surrogate_info& info) {
  const graph::Graph& graph = surrogate.graph();
  info = {};
  info.input_rank = static_cast<std::int32_t>(graph.input_shape().rank());
  info.output_rank = static_cast<std::int32_t>(graph.output_shape().rank());
  std::ranges::copy(graph.input_shape().dimensions(), info.input);
  std::ranges::copy(graph.output_shape().dimensions(), info.output);
  info.precision = type_of(surrogate.dtype);
  info.threads = surrogate.threads;
  std::visit(
      [&](const auto& net) {
        info.steps = net.steps();
        info.steps_refused = net.refused();
        info.bytes = static_cast<std::int64_t>(net.bytes() + surrogate.samples.bytes());
      },
      surrogate.net);
  const auto* ensemble = std::get_if<insitu::Ensemble>(&surrogate.net);
  info.members = ensemble != nullptr ? ensemble->size() : 1;
  info.samples_seen = surrogate.samples.seen();
  info.samples_refused = surrogate.samples.refused();
  info.training = surrogate.samples.training();
  info.validation = surrogate.samples.validation();
}

}  // namespace
}  // namespace zygos::c

namespace c = zygos::c;
using c::guarded;
using c::put_surrogate;
using c::required;

zygos_surrogate::zygos_surrogate(zygos_session& session, const zygos::insitu::SurrogateSpec& spec,
                                 int threads_)
    : registration(session),
      threads(c::threads_of(session, threads_, "a surrogate")),
      execution(c::execution_of(threads)),
      dtype(spec.options.dtype),
      limits(spec.train),
      net(c::net_of(spec, execution)),
      samples(c::reservoir_of(net, spec.reservoir)) {}

const zygos::graph::Graph& zygos_surrogate::graph() const {
  return std::visit(
      [](const auto& learner) -> const auto& { return learner.graph(); }, net);
}

c::InUse zygos_surrogate::use() {
  c::require_place(threads);
  return {in_use, "another thread uses this surrogate now; it serves one at a time"};
}

int zygos_surrogate_create(zygos_session* session, const zygos_surrogate_options* options,
                           zygos_surrogate** surrogate, zygos_error* error) {
  return guarded(error, [&] {
    const zygos_surrogate_options& chosen = required(options, "options");
    put_surrogate(session, surrogate, chosen.threads, [&]() -> zygos::insitu::SurrogateSpec {
      return {zygos::insitu::Surrogate::mlp_graph(c::network_of(chosen)), c::training_of(chosen),
              c::kept_by(chosen), zygos_surrogate::Limits{}, c::members_of(chosen)};
    });
  });
}

int zygos_surrogate_load_spec(zygos_session* session, const char* path, int32_t threads,
                              zygos_surrogate** surrogate, zygos_error* error) {
  return guarded(error, [&] {
    put_surrogate(session, surrogate, threads,
                  [&] { return zygos::insitu::load_surrogate_spec(&required(path, "path")); });
  });
}

int zygos_surrogate_parse_spec(zygos_session* session, const char* text, int32_t threads,
                               zygos_surrogate** surrogate, zygos_error* error) {
  return guarded(error, [&] {
    put_surrogate(session, surrogate, threads,
                  [&] { return zygos::insitu::surrogate_spec(&required(text, "text")); });
  });
}

void zygos_surrogate_free(zygos_surrogate* surrogate) { delete surrogate; }

int zygos_surrogate_get_info(zygos_surrogate* surrogate, zygos_surrogate_info* info,
                             zygos_error* error) {
  return guarded(error, [&] {
    zygos_surrogate& used = required(surrogate, "surrogate");
    zygos_surrogate_info& out = required(info, "info");
    const c::InUse in_use = used.use();
    c::describe(used, out);
  });
}
