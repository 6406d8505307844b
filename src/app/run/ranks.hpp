// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The processes that work on one run: those that mpirun started, or this one alone. The one rule a
// reader could not guess: rank 0 speaks and writes for all, so whatever may fail on one of them is
// done in together(), after which either all go on or all have failed.
#pragma once

#include "app/failure.hpp"

#include "zygos/comm/communicator.hpp"
#include "zygos/comm/mpi_session.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace zygos::app {

class Ranks {
 public:
  /// This process alone.
  Ranks() = default;
  /// Collective: all that were started with it; alone if there are no others.
  explicit Ranks(const comm::MpiSession& session);
  /// Collective. Takes any group, for tests. `cores`: numbers of those that this process may use.
  Ranks(std::unique_ptr<comm::Communicator> communicator, std::string host, std::vector<int> cores);

  int rank() const noexcept { return communicator_ ? communicator_->rank() : 0; }
  int size() const noexcept { return communicator_ ? communicator_->size() : 1; }
  bool first() const noexcept { return rank() == 0; }
  bool alone() const noexcept { return communicator_ == nullptr; }
  /// Null if alone.
  comm::Communicator* communicator() const noexcept { return communicator_.get(); }

  /// "rank 1 on node7"
  std::string name_of(int rank) const;
  /// Ranks on this one's host, itself among them, in rising order.
  std::vector<int> on_this_host() const;
  /// Cores for this process: those it may use, shared with the other ranks that may use them; none
  /// if alone.
  std::optional<int> cores() const noexcept { return cores_; }

  /// Collective: every rank's text, by rank.
  std::vector<std::string> exchange(const std::string& mine) const;

  /// Collective: does `work` on every rank, then makes sure that it failed on none. If it failed,
  /// all throw the same SharedFailure, which names the ranks where rank 0's own does not say it
  /// all. `work` must not communicate. Alone, it is just called.
  template <class Work>
  auto together(Work&& work) const {
    using Result = std::invoke_result_t<Work>;
    if constexpr (std::is_void_v<Result>) {
      do_together(work);
    } else {
      std::optional<Result> result;
      do_together([&] { result.emplace(work()); });
      return std::move(*result);
    }
  }

  /// Collective: throws a SharedFailure (UsageError's code) unless `value` is the same on all
  /// ranks; `what` names it, "the deck".
  void require_same(const std::string& what, const std::string& value) const;

  /// Collective: returns when all have called it.
  void wait_for_all() const;

  /// This rank alone has failed and has said why: ends all processes with `failure`'s code.
  void end_all(const Failure& failure) const noexcept;

 private:
  void do_together(const std::function<void()>& work) const;

  const comm::MpiSession* session_ = nullptr;
  std::unique_ptr<comm::Communicator> communicator_;
  std::vector<std::string> hosts_;  ///< by rank
  std::optional<int> cores_;
};

/// What rank 0 says where some ranks have failed; failures by rank.
Failure combined(const std::vector<std::optional<Failure>>& failures,
                 const std::function<std::string(int rank)>& name_of);

/// Cores for `rank` if every core is divided evenly among the ranks of its host that may use it; at
/// least one. `cores`: their numbers, by rank.
int fair_cores(const std::vector<std::string>& hosts, const std::vector<std::vector<int>>& cores,
               int rank);

}  // namespace zygos::app
