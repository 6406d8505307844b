// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/run/share_checkpoint.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <span>

namespace zygos::app {

namespace {

using nlohmann::json;

/// Everything but the tensors' bytes.
std::string head_of(const io::Checkpoint& checkpoint) {
  json tensors = json::array();
  for (const io::StoredTensor& tensor : checkpoint.tensors) {
    const auto dimensions = tensor.shape.dimensions();
    tensors.push_back({tensor.name, std::string(name_of(tensor.dtype)),
                       std::vector<std::int64_t>(dimensions.begin(), dimensions.end())});
  }
  return json{{"path", checkpoint.path.string()},
              {"step", checkpoint.step},
              {"facts", checkpoint.facts},
              {"tensors", std::move(tensors)}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

/// With room for the tensors' bytes.
io::Checkpoint checkpoint_from(const std::string& head) {
  const json object = json::parse(head);
  io::Checkpoint checkpoint;
  checkpoint.path = object.at("path").get<std::string>();
  checkpoint.step = object.at("step").get<std::int64_t>();
  checkpoint.facts = object.at("facts").get<io::Facts>();
  for (const json& entry : object.at("tensors")) {
    io::StoredTensor& tensor = checkpoint.tensors.emplace_back();
    tensor.name = entry.at(0).get<std::string>();
    tensor.dtype = dtype_from_name(entry.at(1).get<std::string>());
    tensor.shape = Shape(entry.at(2).get<std::vector<std::int64_t>>());
    tensor.bytes.resize(static_cast<std::size_t>(tensor.shape.size()) * size_of(tensor.dtype));
  }
  return checkpoint;
}

}  // namespace

void share_checkpoint(std::optional<io::Checkpoint>& checkpoint, const Ranks& ranks) {
  if (ranks.alone()) {
    return;
  }
  const std::string head =
      ranks.exchange(ranks.first() && checkpoint ? head_of(*checkpoint) : "").front();
  if (head.empty()) {
    return;
  }
  ranks.together([&] {
    if (!ranks.first()) {
      checkpoint = checkpoint_from(head);
    }
  });
  for (io::StoredTensor& tensor : checkpoint->tensors) {
    ranks.communicator()->broadcast(tensor.bytes, 0);
  }
}

}  // namespace zygos::app
