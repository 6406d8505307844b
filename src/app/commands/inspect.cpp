// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/commands/commands.hpp"
#include "app/report/tensor_statistics.hpp"
#include "app/table.hpp"
#include "app/text.hpp"

#include "zygos/load/saved_model.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace zygos::app {

namespace fs = std::filesystem;

namespace {

void say_tensors(const io::Checkpoint& checkpoint, Console& console) {
  using Align = Table::Align;
  Table table({{"tensor"},
               {"type"},
               {"shape"},
               {"mean", Align::right},
               {"min", Align::right},
               {"max", Align::right},
               {"xxh64"}});
  std::size_t elements = 0;
  for (const io::StoredTensor& tensor : checkpoint.tensors) {
    const TensorStatistics s = statistics_of(tensor);
    table.add({tensor.name, std::string(name_of(tensor.dtype)), tensor.shape.text(),
               fmt::format("{:.4g}", s.mean), fmt::format("{:.4g}", s.minimum),
               fmt::format("{:.4g}", s.maximum), s.hash});
    elements += static_cast<std::size_t>(tensor.shape.size());
  }
  console.say(table.text());
  console.say(fmt::format("  {} tensors, {} elements", checkpoint.tensors.size(),
                          text_of_count(static_cast<std::int64_t>(elements))));
}

nlohmann::json json_of(const io::Checkpoint& checkpoint) {
  nlohmann::json tensors = nlohmann::json::array();
  for (const io::StoredTensor& tensor : checkpoint.tensors) {
    const TensorStatistics s = statistics_of(tensor);
    nlohmann::json shape = nlohmann::json::array();
    for (const std::int64_t extent : tensor.shape.dimensions()) {
      shape.push_back(extent);
    }
    tensors.push_back({{"name", tensor.name},
                       {"dtype", name_of(tensor.dtype)},
                       {"shape", shape},
                       {"mean", s.mean},
                       {"min", s.minimum},
                       {"max", s.maximum},
                       {"finite", s.finite},
                       {"xxh64", s.hash}});
  }
  return {{"path", checkpoint.path.string()},
          {"step", checkpoint.step},
          {"verified", true},
          {"facts", checkpoint.facts},
          {"tensors", tensors}};
}

}  // namespace

ExitCode run_inspect(const Invocation& invocation, Console& console) {
  const io::Checkpoint checkpoint =
      load::load_checkpoint(invocation.target, invocation.best, console.sink());
  console.say(
      fmt::format("{}: step {}, every checksum holds", checkpoint.path.string(), checkpoint.step));
  for (const auto& [name, value] : checkpoint.facts) {
    if (value.find('\n') == std::string::npos && value.size() <= 72) {
      console.say(fmt::format("  {:<18} {}", name, value));
    }
  }
  say_tensors(checkpoint, console);
  if (console.wants_json()) {
    console.json(json_of(checkpoint));
  }
  return ExitCode::done;
}

}  // namespace zygos::app
