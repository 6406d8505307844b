// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/run/ranks.hpp"

#include "zygos/core/machine.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <span>

namespace zygos::app {

namespace {

using nlohmann::json;

std::string host_name() {
  std::array<char, 256> name{};
  const bool known = ::gethostname(name.data(), name.size() - 1) == 0;
  return known ? name.data() : "an unknown host";
}

/// Bytes of a text that a collective call may write to.
std::span<std::byte> bytes_of(std::string& text) {
  return std::as_writable_bytes(std::span(text.data(), text.size()));
}

std::string text_of(const std::optional<Failure>& failure) {
  if (!failure) {
    return {};
  }
  // Messages hold names of files, which need not be UTF-8.
  return json{static_cast<int>(failure->code), failure->has_layout, failure->message}.dump(
      -1, ' ', false, json::error_handler_t::replace);
}

std::optional<Failure> failure_from(const std::string& text) {
  if (text.empty()) {
    return std::nullopt;
  }
  const json list = json::parse(text);
  return Failure{static_cast<ExitCode>(list[0].get<int>()), list[2].get<std::string>(),
                 list[1].get<bool>()};
}

}  // namespace

Ranks::Ranks(const comm::MpiSession& session) : session_(&session) {
  auto world = session.world();
  if (world->size() > 1) {
    auto cores = usable_cores();
    // Ranks of one job share its control group: as many of the cores as that lets them keep busy.
    cores.resize(std::min(cores.size(), static_cast<std::size_t>(granted_cores(cores.size()))));
    *this = Ranks(std::move(world), host_name(), std::move(cores));
    session_ = &session;
  }
}

Ranks::Ranks(std::unique_ptr<comm::Communicator> communicator, std::string host,
             std::vector<int> cores)
    : communicator_(std::move(communicator)) {
  std::vector<std::vector<int>> cores_by_rank;
  for (const std::string& text : exchange(json{std::move(host), std::move(cores)}.dump())) {
    const json seat = json::parse(text);
    hosts_.push_back(seat[0].get<std::string>());
    cores_by_rank.push_back(seat[1].get<std::vector<int>>());
  }
  cores_ = fair_cores(hosts_, cores_by_rank, rank());
}

std::string Ranks::name_of(int rank) const {
  return fmt::format("rank {} on {}", rank, hosts_.at(static_cast<std::size_t>(rank)));
}

std::vector<int> Ranks::on_this_host() const {
  if (alone()) {
    return {0};
  }
  std::vector<int> found;
  for (std::size_t other = 0; other < hosts_.size(); ++other) {
    if (hosts_[other] == hosts_[static_cast<std::size_t>(rank())]) {
      found.push_back(static_cast<int>(other));
    }
  }
  return found;
}

std::vector<std::string> Ranks::exchange(const std::string& mine) const {
  if (alone()) {
    return {mine};
  }
  const std::uint64_t size = mine.size();
  std::vector<std::uint64_t> sizes(static_cast<std::size_t>(this->size()));
  communicator_->all_gather(std::as_bytes(std::span(&size, 1)),
                            std::as_writable_bytes(std::span(sizes)));
  std::vector<std::string> texts;
  for (int r = 0; r < this->size(); ++r) {
    texts.push_back(r == rank() ? mine : std::string(sizes[static_cast<std::size_t>(r)], ' '));
    if (!texts.back().empty()) {
      communicator_->broadcast(bytes_of(texts.back()), r);
    }
  }
  return texts;
}

void Ranks::do_together(const std::function<void()>& work) const {
  if (alone()) {
    return work();
  }
  std::optional<Failure> mine;
  try {
    work();
  } catch (...) {
    mine = current_failure();
  }
  std::vector<std::optional<Failure>> all;
  std::ranges::transform(exchange(text_of(mine)), std::back_inserter(all), failure_from);
  if (std::ranges::any_of(all, [](const auto& failure) { return failure.has_value(); })) {
    throw SharedFailure(combined(all, [this](int rank) { return name_of(rank); }));
  }
}

void Ranks::require_same(const std::string& what, const std::string& value) const {
  const auto values = exchange(value);
  together([&] {
    if (value != values.front()) {
      throw UsageError(fmt::format(
          "{} is not the same here as on rank 0; all processes of a run read the same files: give "
          "the same command on every machine, in a folder that all of them see",
          what));
    }
  });
}

void Ranks::wait_for_all() const {
  if (!alone()) {
    communicator_->barrier();
  }
}

void Ranks::end_all(const Failure& failure) const noexcept {
  if (!alone()) {
    communicator_->abort(failure.message);
    if (session_ != nullptr) {
      session_->kill(failure.code);
    }
  }
}

Failure combined(const std::vector<std::optional<Failure>>& failures,
                 const std::function<std::string(int rank)>& name_of) {
  Failure all{ExitCode::done, {}};
  std::set<std::string> told;
  for (std::size_t rank = 0; rank < failures.size(); ++rank) {
    const std::optional<Failure>& failure = failures[rank];
    if (!failure || !told.insert(failure->message).second) {
      continue;
    }
    if (all.code == ExitCode::done) {
      all.code = failure->code;
      all.has_layout = failure->has_layout;
    } else {
      all.message += "\n";
    }
    if (rank > 0) {
      all.message += name_of(static_cast<int>(rank)) + (failure->has_layout ? ":\n" : ": ");
    }
    all.message += failure->message;
  }
  return all;
}

int fair_cores(const std::vector<std::string>& hosts, const std::vector<std::vector<int>>& cores,
               int rank) {
  const auto own = static_cast<std::size_t>(rank);
  double share = 0.0;
  for (const int core : cores[own]) {
    int users = 0;
    for (std::size_t other = 0; other < hosts.size(); ++other) {
      const bool may = std::ranges::find(cores[other], core) != cores[other].end();
      users += hosts[other] == hosts[own] && may ? 1 : 0;
    }
    share += 1.0 / users;
  }
  // Thirds do not sum to exactly 1.
  return std::max(1, static_cast<int>(share + 1e-6));
}

}  // namespace zygos::app
