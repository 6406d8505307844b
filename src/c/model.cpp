// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "c/model.hpp"

#include "c/arrays.hpp"
#include "c/failure.hpp"
#include "c/stream.hpp"

#include "zygos/load/deck_file.hpp"
#include "zygos/load/graph.hpp"
#include "zygos/load/model.hpp"

#include <omp.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace c = zygos::c;

zygos_model::zygos_model(zygos_session& session_, zygos::infer::Model&& model_, int threads_)
    : registration(session_),
      model(std::move(model_)),
      threads(c::threads_of(session_, threads_, "a model")) {}

c::InUse zygos_model::use() {
  return {in_use,
          "another thread uses this model now; give each thread its own with zygos_share()"};
}

const zygos::lane::Execution& zygos_model::on_host() {
  // A team within a parallel region of the caller has one thread, or makes more than there are
  // cores.
  const bool alone = threads == 1 || omp_get_level() > 0;
  std::optional<zygos::lane::Execution>& execution = alone ? serial_ : team_;
  if (!execution) {
    if (alone) {
      execution = Kokkos::Serial(Kokkos::NewInstance{});
    } else {
      execution = Kokkos::OpenMP(threads);
    }
  }
  return *execution;
}

const zygos::lane::Execution& zygos_model::on_stream(void* stream) {
  if (!device_ || stream != stream_) {
    device_ = c::execution_on(stream);
    stream_ = stream;
  }
  return *device_;
}

namespace zygos::c {

namespace {

load::ModelOptions model_options(const zygos_options& options) {
  load::ModelOptions out;
  out.best = options.best != 0;
  if (options.precision != ZYGOS_TYPE_NONE) {
    out.dtype = dtype_of(options.precision, "the precision of the options");
  }
  out.block = options.block;
  return out;
}

infer::Model model_in_memory(const zygos_network& network, const zygos_options& options) {
  const load::CheckedDeck deck =
      load::parse_deck(&required(network.deck, "the deck"), "zygos_create.yaml", {});
  const graph::Graph graph = load::build_model(
      deck.spec, shape_of(network.rank, network.dimensions, "a sample"), {}, deck.deck.findings());
  const load::ModelOptions chosen = model_options(options);
  return {graph,
          weights_of(network.weights, network.weights_count),
          {.dtype = chosen.dtype.value_or(deck.spec.precision),
           .block = chosen.block,
           .min_block = deck.spec.train.batch}};
}

void describe(const zygos_model& model, zygos_info& info) {
  const graph::Graph& graph = model.model.graph();
  info = {};
  info.input_rank = static_cast<std::int32_t>(graph.input_shape().rank());
  info.output_rank = static_cast<std::int32_t>(graph.output_shape().rank());
  std::ranges::copy(graph.input_shape().dimensions(), info.input);
  std::ranges::copy(graph.output_shape().dimensions(), info.output);
  info.precision = type_of(model.model.dtype());
  info.threads = model.threads;
  info.block = model.model.block();
  info.parameters = std::ssize(graph.parameters());
  info.weight_bytes = static_cast<std::int64_t>(model.model.weight_bytes());
  info.workspace_bytes = static_cast<std::int64_t>(model.model.workspace_bytes());
}

/// What `make` returns, as a model of the session.
template <class F>
void put_model(zygos_session* session, zygos_model** model, int threads, const F& make) {
  zygos_session& owner = required(session, "session");
  zygos_model*& out = required(model, "where the model is to be stored");
  out = std::make_unique<zygos_model>(owner, make(), threads).release();
}

}  // namespace
}  // namespace zygos::c

using namespace zygos::c;

int zygos_load(zygos_session* session, const char* path, const zygos_options* options,
               zygos_model** model, zygos_error* error) {
  return guarded(error, [&] {
    const zygos_options chosen = options == nullptr ? zygos_options{} : *options;
    put_model(session, model, chosen.threads, [&] {
      return zygos::load::load_model(&required(path, "path"), model_options(chosen));
    });
  });
}

int zygos_create(zygos_session* session, const zygos_network* network, const zygos_options* options,
                 zygos_model** model, zygos_error* error) {
  return guarded(error, [&] {
    const zygos_options chosen = options == nullptr ? zygos_options{} : *options;
    put_model(session, model, chosen.threads,
              [&] { return model_in_memory(required(network, "network"), chosen); });
  });
}

int zygos_share(const zygos_model* model, int32_t threads, zygos_model** shared,
                zygos_error* error) {
  return guarded(error, [&] {
    const zygos_model& from = required(model, "model");
    put_model(&from.registration.session(), shared, threads == 0 ? from.threads : threads,
              [&] { return from.model.share(); });
  });
}

void zygos_free(zygos_model* model) { delete model; }

int zygos_get_info(const zygos_model* model, zygos_info* info, zygos_error* error) {
  return guarded(error, [&] { describe(required(model, "model"), required(info, "info")); });
}

int zygos_get_parameter(const zygos_model* model, int64_t index, zygos_parameter* parameter,
                        zygos_error* error) {
  return guarded(error, [&] {
    const auto parameters = required(model, "model").model.graph().parameters();
    zygos_parameter& out = required(parameter, "parameter");
    if (index < 0 || index >= std::ssize(parameters)) {
      throw zygos::UsageError("there is no parameter " + std::to_string(index) +
                              "; the model has " + std::to_string(parameters.size()));
    }
    const auto& found = parameters[static_cast<std::size_t>(index)];
    out = {};
    out.name = found.name.c_str();
    out.rank = static_cast<std::int32_t>(found.shape.rank());
    std::ranges::copy(found.shape.dimensions(), out.dimensions);
  });
}
