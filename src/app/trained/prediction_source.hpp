// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the samples of a prediction come from: a file of inputs, or the test set of a deck.
#pragma once

#include "zygos/deck/run_schema.hpp"
#include "zygos/graph/graph.hpp"
#include "zygos/io/dataset.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace zygos::app {

class PredictionSource {
 public:
  virtual ~PredictionSource() = default;
  virtual const std::string& name() const = 0;
  virtual std::int64_t samples() const = 0;
  /// The next `count` samples in memory. Without targets, unless it is a test set.
  virtual io::Dataset next(std::int64_t count) = 0;
};

/// `file`: empty for the test set of the deck; `dataset`: the array of an HDF5 file, empty for the
/// one the deck reads its inputs from; `columns`: those of a table with names. Values are scaled as
/// data of the deck are. Throws UsageError, DataError (samples that do not fit the model) and
/// IoError.
std::unique_ptr<PredictionSource> prediction_source(
    const deck::RunSpec& spec, deck::Findings findings, const graph::Graph& graph,
    const std::string& file, const std::string& dataset, const std::vector<std::string>& columns);

}  // namespace zygos::app
