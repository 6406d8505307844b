// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/trained/model_metrics.hpp"

#include "app/run/lane_choice.hpp"

#include "zygos/io/batching.hpp"
#include "zygos/io/sample_source.hpp"

#include <algorithm>
#include <vector>

namespace zygos::app {

void measure(infer::Model& model, const io::Dataset& data, Metrics& metrics) {
  using Rows = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace,
                            Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const Kokkos::OpenMP exec(this_machine().cores);
  const auto features = static_cast<std::size_t>(model.graph().input_shape().size());
  const auto width = static_cast<std::size_t>(model.graph().output_shape().size());
  std::vector<double> inputs;
  std::vector<double> outputs;
  for (std::int64_t first = 0; first < data.size(); first += model.block()) {
    io::Dataset part =
        io::samples_in_memory(data, first, std::min(model.block(), data.size() - first));
    part.input_standards = nullptr;  // the model takes and returns numbers in their own units
    part.target_standards = nullptr;
    const auto samples = static_cast<std::size_t>(part.size());
    inputs.resize(samples * features);
    outputs.resize(samples * width);
    io::gather(part, io::first_ids(part.size()), inputs.data());
    model.predict(exec, Rows(inputs.data(), samples, features),
                  Rows(outputs.data(), samples, width));
    exec.fence("zygos::app::metrics");
    metrics.add(outputs, part);
  }
}

}  // namespace zygos::app
