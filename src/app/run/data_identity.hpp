// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether a resumed run, or another rank, sees the samples that the run began with.
#pragma once

#include "app/run/run_setup.hpp"

#include "zygos/io/checkpoint_store.hpp"
#include "zygos/io/dataset.hpp"

#include <string>

namespace zygos::app {

/// XXH64 over inputs and targets. Of samples that are not in memory: over some of them, from begin
/// to end.
std::string hash_of(const io::Dataset& data);

/// The hash of the training samples, among the facts of every checkpoint.
void add_data_identity(const io::Dataset& training, io::Facts& facts);
/// Throws CheckpointError if the checkpoint was trained on other samples than the run has. A run
/// that changes between samples in memory and in their file is not compared.
void refuse_other_data(const RunSetup& setup, const io::Checkpoint& checkpoint);

}  // namespace zygos::app
