// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "c/session.hpp"

#include "zygos/infer/model.hpp"
#include "zygos/lane/spaces.hpp"

#include <atomic>
#include <optional>
#include <vector>

namespace zygos::c {

/// Counts a model of the session from before it is made until after it is gone.
class Registration {
 public:
  explicit Registration(zygos_session& session) : session_(session) { session.models.fetch_add(1); }
  ~Registration() { session_.models.fetch_sub(1); }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

  zygos_session& session() const noexcept { return session_; }

 private:
  zygos_session& session_;
};

}  // namespace zygos::c

/// A model and where it predicts. Instances are made by the first prediction that needs them.
struct zygos_model {
  /// Throws UsageError for a negative number of threads; 0: those of the session.
  zygos_model(zygos_session& session, zygos::infer::Model&& model, int threads);

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

namespace zygos::c {

/// The model for the length of a call. Throws UsageError while another thread has it.
class InUse {
 public:
  explicit InUse(zygos_model& model);
  ~InUse();
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;

 private:
  zygos_model& model_;
};

}  // namespace zygos::c
