// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "c/arrays.hpp"
#include "c/failure.hpp"
#include "c/model.hpp"

#include "zygos/lane/dispatch.hpp"

#include <span>
#include <string>

namespace zygos::c {
namespace {

std::span<const zygos_array> checked(const zygos_array* inputs, std::int32_t count) {
  if (count < 1) {
    throw UsageError("a prediction from " + std::to_string(count) + " inputs; it needs 1 or more");
  }
  return {&required(inputs, "inputs"), static_cast<std::size_t>(count)};
}

/// `on`: gives the instance that predicts.
template <class F>
const lane::Execution& predict(zygos_model& model, const zygos_array* inputs, std::int32_t count,
                               const zygos_array* output, const F& on) {
  put_samples(checked(inputs, count), "the input", model.inputs);
  const infer::Samples outputs = samples_of(required(output, "output"), "the output");
  const lane::Execution& execution = on();
  model.model.predict_samples(execution, model.inputs, outputs);
  return execution;
}

}  // namespace
}  // namespace zygos::c

using namespace zygos::c;

int zygos_predict(zygos_model* model, const zygos_array* inputs, int32_t inputs_count,
                  const zygos_array* output, zygos_error* error) {
  return guarded(error, [&] {
    zygos_model& used = required(model, "model");
    const InUse in_use = used.use();
    predict(
        used, inputs, inputs_count, output, [&]() -> const auto& { return used.on_host(); });
  });
}

int zygos_predict_on_stream(zygos_model* model, void* stream, const zygos_array* inputs,
                            int32_t inputs_count, const zygos_array* output, zygos_error* error) {
  return guarded(error, [&] {
    zygos_model& used = required(model, "model");
    const InUse in_use = used.use();
    const auto& execution = predict(
        used, inputs, inputs_count,
        output, [&]() -> const auto& { return used.on_stream(stream); });
    if (stream == nullptr) {
      zygos::lane::dispatch(execution, [](const auto& exec) { exec.fence("zygos::c::predict"); });
    }
  });
}

int zygos_prepare(zygos_model* model, int64_t samples, zygos_error* error) {
  return guarded(error, [&] {
    zygos_model& used = required(model, "model");
    const InUse in_use = used.use();
    zygos::lane::dispatch(used.on_host(),
                          [&](const auto& exec) { used.model.prepare(exec, samples); });
  });
}
