// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "c/arrays.hpp"
#include "c/failure.hpp"
#include "c/model.hpp"

#include "zygos/lane/dispatch.hpp"

#include <string>
#include <vector>

namespace zygos::c {
namespace {

/// The arrays of one prediction.
struct Arrays {
  Arrays(const zygos_array* inputs_, std::int32_t count, const zygos_array* output_)
      : inputs(samples_of(checked(inputs_, count), "the input")),
        output(samples_of(required(output_, "output"), "the output")) {}

  static std::span<const zygos_array> checked(const zygos_array* inputs, std::int32_t count) {
    if (count < 1) {
      throw UsageError("a prediction from " + std::to_string(count) +
                       " inputs; it needs 1 or more");
    }
    return {&required(inputs, "inputs"), static_cast<std::size_t>(count)};
  }

  std::vector<infer::Samples> inputs;
  infer::Samples output;
};

void wait_for(const lane::Execution& execution) {
  lane::dispatch(execution, [](const auto& exec) { exec.fence("zygos::c::predict"); });
}

}  // namespace
}  // namespace zygos::c

using namespace zygos::c;

int zygos_predict(zygos_model* model, const zygos_array* inputs, int32_t inputs_count,
                  const zygos_array* output, zygos_error* error) {
  return guarded(error, [&] {
    zygos_model& used = required(model, "model");
    const Arrays arrays(inputs, inputs_count, output);
    const InUse in_use(used);
    used.model.predict_samples(used.on_host(), arrays.inputs, arrays.output);
  });
}

int zygos_predict_on_stream(zygos_model* model, void* stream, const zygos_array* inputs,
                            int32_t inputs_count, const zygos_array* output, zygos_error* error) {
  return guarded(error, [&] {
    zygos_model& used = required(model, "model");
    const Arrays arrays(inputs, inputs_count, output);
    const InUse in_use(used);
    const auto& execution = used.on_stream(stream);
    used.model.predict_samples(execution, arrays.inputs, arrays.output);
    if (stream == nullptr) {
      wait_for(execution);
    }
  });
}

int zygos_prepare(zygos_model* model, int64_t samples, zygos_error* error) {
  return guarded(error, [&] {
    zygos_model& used = required(model, "model");
    const InUse in_use(used);
    zygos::lane::dispatch(used.on_host(),
                          [&](const auto& exec) { used.model.prepare(exec, samples); });
  });
}
