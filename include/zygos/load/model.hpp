// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// From a run's files to a model that predicts:
//
//   infer::Model model = load::load_model("runs/surrogate");
//   model.predict(exec, inputs, outputs);
#pragma once

#include "zygos/infer/model.hpp"
#include "zygos/load/saved_model.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>

namespace zygos::load {

struct ModelOptions {
  bool best = false;             ///< the best checkpoint of a run with checkpoint.keep_best
  std::optional<DType> dtype{};  ///< of activations; none: the deck's precision
  std::int64_t block = 0;        ///< see infer::Options; 0: the deck's batch at least
};

/// A model from a run's files, see load_saved_model().
infer::Model load_model(const std::filesystem::path& path, const ModelOptions& options = {});
infer::Model model_of(const SavedModel& saved, const ModelOptions& options = {});

}  // namespace zygos::load
