// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/load/pretrained.hpp"

#include "load/weight_prefix.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/weight_file.hpp"
#include "zygos/load/exchange.hpp"
#include "zygos/load/model.hpp"

#include <fmt/format.h>

#include <utility>

namespace zygos::load {
namespace {

namespace fs = std::filesystem;

std::vector<io::StoredTensor> tensors_in(const fs::path& file, bool by_operators) {
  if (by_operators) {
    return import_onnx(file).weights;
  }
  if (!fs::is_directory(file)) {
    return io::read_weight_file(file).tensors;
  }
  std::vector<io::StoredTensor> weights;
  for (io::StoredTensor& tensor : load_checkpoint(file).tensors) {
    if (tensor.name.starts_with(weight_prefix)) {
      tensor.name.erase(0, weight_prefix.size());
      weights.push_back(std::move(tensor));
    }
  }
  return weights;
}

}  // namespace

MatchedWeights load_pretrained(const deck::PretrainedSpec& spec, const graph::Graph& graph,
                               deck::Findings findings) {
  MatchOptions options{.match = spec.in_order ? MatchBy::order : MatchBy::names,
                       .renamings = {},
                       .partial = spec.partial};
  for (const auto& [from, to] : spec.renamings) {
    options.renamings.push_back({from, to});
  }
  try {
    if (!fs::exists(spec.file)) {
      throw UsageError(fmt::format("there is no file {}", spec.file.string()));
    }
    return match_weights(graph, tensors_in(spec.file, spec.by_operators), spec.file.string(),
                         options);
  } catch (const UsageError& refusal) {
    findings.error(spec.position, refusal.what());
    findings.throw_if_any();
    throw;
  }
}

}  // namespace zygos::load
