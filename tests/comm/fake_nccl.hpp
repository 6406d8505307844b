// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A table of functions that stand for NCCL and CUDA: they write down that they were called, return
// what the test wants, and move bytes between threads as NCCL does between devices: the n-th send
// meets the n-th receive, and nothing says which is which.
#pragma once

#include "comm/nccl_api.hpp"

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace zygos::testing {

/// What all fakes of one test share.
struct FakeLinks {
  std::mutex mutex;
  std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> messages;
};

class FakeNccl {
 public:
  explicit FakeNccl(std::shared_ptr<FakeLinks> links = std::make_shared<FakeLinks>());

  /// Names of the functions that were called, in order; not those that only ask.
  std::vector<std::string> calls;
  /// Codes to return instead of success, by the function's name.
  std::map<std::string, int> returns;
  /// What get_state says: the first for the first call and so on, the last for ever.
  std::deque<int> states{0};
  bool can_create_events = true;
  bool can_record_events = true;
  bool events_fail = false;
  bool events_end = true;
  comm::NcclId id{};  ///< the one that init got
  int rank = -1;
  int size = 0;
  int open_groups = 0;
  int open_events = 0;

  comm::NcclApi table();
  bool called(const std::string& name) const;

 private:
  int call(const std::string& name);
  int send(const void* buffer, std::size_t bytes, int to);
  comm::EventState query();
  void add_communicator(comm::NcclApi& api);
  void add_operations(comm::NcclApi& api);
  void add_events(comm::NcclApi& api);

  struct Receive {
    std::byte* buffer;
    std::size_t bytes;
    int from;
  };
  std::shared_ptr<FakeLinks> links_;
  std::deque<Receive> receives_;
};

}  // namespace zygos::testing
