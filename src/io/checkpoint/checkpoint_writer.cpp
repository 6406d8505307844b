// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/io/checkpoint_writer.hpp"

#include "io/checkpoint/checkpoint_draft.hpp"

#include "zygos/core/error.hpp"

#include <chrono>
#include <exception>
#include <future>
#include <utility>
#include <vector>

namespace zygos::io {
namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

struct CheckpointWriter::State {
  CheckpointStore& store;
  Draft draft{};  ///< the thread's while one is in flight
  std::size_t bytes = 0;
  std::vector<std::byte> staging{};
  std::future<CommittedCheckpoint> in_flight{};

  void require_taken() const {
    if (in_flight.valid()) {
      throw UsageError("a checkpoint is in flight; take() or wait() for it before the next");
    }
  }
  void fill(std::int64_t step, std::span<const TensorRef> tensors, const Facts& facts) {
    draft = make_draft(step, tensors, facts, std::move(draft.state));
    bytes = draft.state.bytes().size();
  }
};

CheckpointWriter::CheckpointWriter(CheckpointStore& store)
    : state_(std::make_unique<State>(State{store})) {}

CheckpointWriter::~CheckpointWriter() = default;  // a future of std::async waits

void CheckpointWriter::reserve(std::span<const TensorRef> tensors, const Facts& facts) {
  if (!state_->in_flight.valid()) {
    state_->fill(0, tensors, facts);
  }
}

void CheckpointWriter::start(std::int64_t step, std::span<const TensorRef> tensors,
                             const Facts& facts) {
  state_->require_taken();
  state_->fill(step, tensors, facts);
  const auto begun = std::chrono::steady_clock::now();
  // With both policies a system that has no thread left writes in take() or wait().
  state_->in_flight =
      std::async(std::launch::async | std::launch::deferred, [state = state_.get(), step, begun] {
        const auto path = state->store.commit(state->draft);
        const double committed = seconds_since(begun);
        state->store.settle(path, state->draft);
        return CommittedCheckpoint{step, path, committed, seconds_since(begun)};
      });
}

void CheckpointWriter::write(std::int64_t step, TensorSource& source, const Facts& facts) {
  state_->require_taken();
  reserve_staging();
  const auto begun = std::chrono::steady_clock::now();
  std::promise<CommittedCheckpoint> done;
  try {
    const auto path = state_->store.write(step, source, facts, state_->staging);
    const double taken = seconds_since(begun);
    done.set_value({step, path, taken, taken});
  } catch (const IoError&) {
    done.set_exception(std::current_exception());
  }
  state_->in_flight = done.get_future();
}

void CheckpointWriter::reserve_staging() {
  state_->staging.resize(staging_bytes);
  state_->bytes = staging_bytes;
}

bool CheckpointWriter::busy() const { return busy_for(0.0); }

bool CheckpointWriter::busy_for(double seconds) const {
  return state_->in_flight.valid() &&
         state_->in_flight.wait_for(std::chrono::duration<double>(seconds)) ==
             std::future_status::timeout;
}

std::optional<CommittedCheckpoint> CheckpointWriter::take() {
  return busy() ? std::nullopt : wait();
}

std::optional<CommittedCheckpoint> CheckpointWriter::wait() {
  if (!state_->in_flight.valid()) {
    return std::nullopt;
  }
  return state_->in_flight.get();
}

std::size_t CheckpointWriter::bytes() const { return state_->bytes; }

}  // namespace zygos::io
