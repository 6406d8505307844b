// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "comm/fake_nccl.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace zygos::testing {

FakeNccl::FakeNccl(std::shared_ptr<FakeLinks> links) : links_(std::move(links)) {}

bool FakeNccl::called(const std::string& name) const {
  return std::find(calls.begin(), calls.end(), name) != calls.end();
}

int FakeNccl::call(const std::string& name) {
  calls.push_back(name);
  const auto found = returns.find(name);
  return found == returns.end() ? comm::nccl_code::success : found->second;
}

int FakeNccl::send(const void* buffer, std::size_t bytes, int to) {
  const auto* const first = static_cast<const std::byte*>(buffer);
  const std::lock_guard lock(links_->mutex);
  links_->messages[{rank, to}].emplace_back(first, first + bytes);
  return call("send");
}

comm::EventState FakeNccl::query() {
  if (events_fail) {
    return comm::EventState::failed;
  }
  const std::lock_guard lock(links_->mutex);
  while (!receives_.empty()) {
    const Receive next = receives_.front();
    auto& waiting = links_->messages[{next.from, rank}];
    if (waiting.empty()) {
      return comm::EventState::pending;
    }
    if (!waiting.front().empty()) {
      std::memcpy(next.buffer, waiting.front().data(),
                  std::min(next.bytes, waiting.front().size()));
    }
    waiting.pop_front();
    receives_.pop_front();
  }
  return events_end ? comm::EventState::done : comm::EventState::pending;
}

void FakeNccl::add_communicator(comm::NcclApi& api) {
  api.get_id = [this](comm::NcclId& made) {
    made.fill(std::byte{42});
    return call("get_id");
  };
  api.init = [this](void*& comm, int ranks, const comm::NcclId& known, int own) {
    comm = this;
    id = known;
    rank = own;
    size = ranks;
    return call("init");
  };
  api.get_state = [this](void* comm, int& state) {
    if (comm != this) {
      throw std::logic_error("a communicator is used that is not there");
    }
    state = states.front();
    if (states.size() > 1) {
      states.pop_front();
    }
    return comm::nccl_code::success;
  };
  api.finalize = [this](void*) { return call("finalize"); };
  api.destroy = [this](void*) { return call("destroy"); };
  api.abort = [this](void*) { return call("abort"); };
  api.error_text = [](int code, void*) { return "code " + std::to_string(code); };
}

void FakeNccl::add_operations(comm::NcclApi& api) {
  api.group_start = [this] { return ++open_groups, call("group_start"); };
  api.group_end = [this] { return --open_groups, call("group_end"); };
  api.send = [this](const void* buffer, std::size_t bytes, int to, void*, void*) {
    return send(buffer, bytes, to);
  };
  api.receive = [this](void* buffer, std::size_t bytes, int from, void*, void*) {
    receives_.push_back({static_cast<std::byte*>(buffer), bytes, from});
    return call("receive");
  };
  api.sum = [this](void*, std::size_t, DType, void*, void*) { return call("sum"); };
  api.broadcast = [this](void*, std::size_t, int, void*, void*) { return call("broadcast"); };
}

void FakeNccl::add_events(comm::NcclApi& api) {
  api.create_event = [this]() -> void* {
    open_events += can_create_events ? 1 : 0;
    return can_create_events ? this : nullptr;
  };
  api.destroy_event = [this](void*) { --open_events; };
  api.record_event = [this](void*, void*) { return can_record_events; };
  api.query_event = [this](void*) { return query(); };
  api.cuda_error_text = [] { return std::string("an illegal memory access"); };
}

comm::NcclApi FakeNccl::table() {
  comm::NcclApi api;
  add_communicator(api);
  add_operations(api);
  add_events(api);
  return api;
}

}  // namespace zygos::testing
