// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "c/arrays.hpp"
#include "c/failure.hpp"
#include "c/insitu/surrogate.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>
#include <string>
#include <variant>

namespace zygos::c {
namespace {

/// Arrays of a call, named `name` and, one by one, `what`.
void put(const zygos_array* arrays, std::int32_t count, const char* name, const std::string& what,
         std::vector<infer::Samples>& samples) {
  if (count < 1) {
    throw UsageError(std::to_string(count) + " " + name + "; there must be 1 or more");
  }
  put_samples({&required(arrays, name), static_cast<std::size_t>(count)}, what, samples);
}

std::chrono::nanoseconds budget_of(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0.0) {
    throw UsageError("a budget of " + std::to_string(seconds) +
                     " seconds; it must be above 0, or 0 for no limit");
  }
  constexpr double longest = 1e9;  // 30 years; nanoseconds have room for ten times as much
  // Rounded up: a budget is not lost.
  return std::chrono::nanoseconds(
      static_cast<std::int64_t>(std::ceil(std::min(seconds, longest) * 1e9)));
}

insitu::TrainOptions limits_of(const zygos_surrogate& surrogate, double seconds,
                               std::int64_t max_steps) {
  if (max_steps < 0) {
    throw UsageError(std::to_string(max_steps) +
                     " steps at most; it must be 1 or more, or 0 for no limit");
  }
  const insitu::TrainOptions limits{.budget = budget_of(seconds), .max_steps = max_steps};
  const auto is_none = [](const insitu::TrainOptions& of) {
    return of.budget.count() == 0 && of.max_steps == 0;
  };
  if (is_none(limits) && is_none(surrogate.limits)) {
    throw UsageError("training without an end; give a budget, a number of steps, or both");
  }
  return is_none(limits) ? surrogate.limits : limits;
}

zygos_training described(const insitu::TrainReport& report) {
  zygos_training out{};
  out.steps = report.steps;
  out.refused = report.refused;
  out.loss = report.loss;
  out.seconds = report.seconds;
  out.step_seconds = report.step_seconds;
  out.rolled_back = report.rolled_back ? 1 : 0;
  out.restandardised = report.restandardised ? 1 : 0;
  return out;
}

/// Throws unless `count` is that of the outputs, or nothing is wanted.
void require_room(const zygos_surrogate& surrogate, const double* errors, std::int64_t count) {
  const std::int64_t outputs = surrogate.graph().output_shape().size();
  if (count == 0 && errors == nullptr) {
    return;
  }
  required(errors, "root_mean_squares");
  if (count != outputs) {
    throw UsageError("room for the errors of " + std::to_string(count) +
                     " outputs; the surrogate has " + std::to_string(outputs));
  }
}

/// The arrays of a prediction, in the surrogate's `from` and `to`.
void put_prediction(zygos_surrogate& surrogate, const zygos_array* inputs,
                    std::int32_t inputs_count, const zygos_array* outputs,
                    std::int32_t outputs_count) {
  put(inputs, inputs_count, "inputs", "the input", surrogate.from);
  put(outputs, outputs_count, "outputs", "the output", surrogate.to);
}

insitu::Ensemble& ensemble_of(zygos_surrogate& surrogate) {
  auto* ensemble = std::get_if<insitu::Ensemble>(&surrogate.net);
  if (ensemble == nullptr) {
    throw UsageError(
        "a surrogate of one network has no spread; make it with 2 or more members, or use "
        "zygos_surrogate_predict()");
  }
  return *ensemble;
}

}  // namespace
}  // namespace zygos::c

using namespace zygos::c;

int zygos_surrogate_add(zygos_surrogate* surrogate, const zygos_array* inputs, int32_t inputs_count,
                        const zygos_array* targets, int32_t targets_count, zygos_error* error) {
  return guarded(error, [&] {
    zygos_surrogate& used = required(surrogate, "surrogate");
    const InUse in_use = used.use();
    put(inputs, inputs_count, "inputs", "the input", used.from);
    put(targets, targets_count, "targets", "the target", used.to);
    used.samples.add_samples(used.execution, used.from, used.to);
  });
}

int zygos_surrogate_train(zygos_surrogate* surrogate, double budget_seconds, int64_t max_steps,
                          zygos_training* training, zygos_error* error) {
  return guarded(error, [&] {
    zygos_surrogate& used = required(surrogate, "surrogate");
    const InUse in_use = used.use();
    const auto limits = limits_of(used, budget_seconds, max_steps);
    const zygos_training done =
        described(std::visit([&](auto& net) { return net.train(used.samples, limits); }, used.net));
    if (training != nullptr) {
      *training = done;
    }
  });
}

int zygos_surrogate_validate(zygos_surrogate* surrogate, zygos_validation* validation,
                             double* root_mean_squares, int64_t count, zygos_error* error) {
  return guarded(error, [&] {
    zygos_surrogate& used = required(surrogate, "surrogate");
    zygos_validation& out = required(validation, "validation");
    const InUse in_use = used.use();
    require_room(used, root_mean_squares, count);
    const zygos::insitu::Validation found =
        std::visit([&](auto& net) { return net.validate(used.samples); }, used.net);
    out = {found.samples, found.loss, found.relative_error};
    if (count > 0) {
      std::ranges::copy(found.root_mean_squares, root_mean_squares);
    }
  });
}

int zygos_surrogate_predict(zygos_surrogate* surrogate, const zygos_array* inputs,
                            int32_t inputs_count, const zygos_array* outputs, int32_t outputs_count,
                            zygos_error* error) {
  return guarded(error, [&] {
    zygos_surrogate& used = required(surrogate, "surrogate");
    const InUse in_use = used.use();
    put_prediction(used, inputs, inputs_count, outputs, outputs_count);
    std::visit([&](auto& net) { net.predict_samples(used.execution, used.from, used.to); },
               used.net);
  });
}

int zygos_surrogate_predict_spread(zygos_surrogate* surrogate, const zygos_array* inputs,
                                   int32_t inputs_count, const zygos_array* outputs,
                                   int32_t outputs_count, const zygos_array* spread,
                                   zygos_error* error) {
  return guarded(error, [&] {
    zygos_surrogate& used = required(surrogate, "surrogate");
    const InUse in_use = used.use();
    zygos::insitu::Ensemble& ensemble = ensemble_of(used);
    put_prediction(used, inputs, inputs_count, outputs, outputs_count);
    const auto apart = samples_of(required(spread, "spread"), "the spread");
    ensemble.predict_samples(used.execution, used.from, used.to, {&apart, 1});
  });
}

int zygos_surrogate_rollback(zygos_surrogate* surrogate, zygos_error* error) {
  return guarded(error, [&] {
    zygos_surrogate& used = required(surrogate, "surrogate");
    const InUse in_use = used.use();
    std::visit([](auto& net) { net.rollback(); }, used.net);
  });
}
