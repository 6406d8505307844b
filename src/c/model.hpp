// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "c/in_use.hpp"
#include "c/session.hpp"

#include "zygos/infer/model.hpp"
#include "zygos/lane/spaces.hpp"

#include <atomic>
#include <optional>
#include <vector>

/// A model and where it predicts. Instances are made by the first prediction that needs them.
struct zygos_model {
  /// Throws UsageError for a negative number of threads; 0: those of the session.
  zygos_model(zygos_session& session, zygos::infer::Model&& model, int threads);

  /// The model for the length of a call.
  zygos::c::InUse use();
  const zygos::lane::Execution& on_host();
  const zygos::lane::Execution& on_stream(void* stream);

  const zygos::c::Registration registration;  // first: leaves the session last
  zygos::infer::Model model;
  const int threads;
  std::atomic_flag in_use = ATOMIC_FLAG_INIT;
  std::vector<zygos::infer::Samples> inputs{};  ///< of the last prediction: memory for the next

 private:
  std::optional<zygos::lane::Execution> team_{};    ///< of the model's threads
  std::optional<zygos::lane::Execution> serial_{};  ///< the calling thread alone
  std::optional<zygos::lane::Execution> device_{};
  void* stream_ = nullptr;  ///< of device_
};
