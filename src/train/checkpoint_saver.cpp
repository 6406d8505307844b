// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "train/checkpoint_saver.hpp"

#include "zygos/core/error.hpp"

#include <array>
#include <chrono>

namespace zygos::train {
namespace {

/// Far below any limit after which a silent rank counts as lost.
constexpr double heartbeat_s = 0.25;

/// Adds the time of its life to a total.
class Stopwatch {
 public:
  explicit Stopwatch(double& total) : total_(total) {}
  ~Stopwatch() {
    total_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& total_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

}  // namespace

CheckpointSaver::CheckpointSaver(Engine& engine, io::CheckpointStore* store, int max_failures,
                                 bool streams)
    : engine_(engine),
      max_failures_(max_failures),
      source_(streams ? engine.state_source() : nullptr) {
  if (max_failures < 1) {
    throw UsageError("a run bears at least 1 failure to write a checkpoint, the one that ends it");
  }
  if (store != nullptr) {
    writer_.emplace(*store);
  }
}

bool CheckpointSaver::agree_on_saving() {
  std::array<std::int64_t, 1> found{writes() ? 1 : 0};
  engine_.agree(found);
  saves_ = found[0] != 0;
  return saves_;
}

void CheckpointSaver::reserve(const io::Facts& facts) {
  if (source_ != nullptr) {
    if (writer_) {
      writer_->reserve_staging();
    }
    return;
  }
  const auto tensors = engine_.snapshot();  // of all ranks
  if (writer_) {
    writer_->reserve(tensors, facts);
  }
}

void CheckpointSaver::start(std::int64_t step, const io::Facts& facts) {
  const Stopwatch stopped(costs_.stopped_s);
  if (source_ != nullptr) {
    if (writer_) {
      writer_->write(step, *source_, facts);
      costs_.bytes = writer_->bytes();
    }
    return;
  }
  const auto tensors = engine_.snapshot();  // of all ranks
  if (writer_) {
    writer_->start(step, tensors, facts);
    costs_.bytes = writer_->bytes();
  }
}

SaveEnd CheckpointSaver::poll() {
  if (!writer_) {
    return {};
  }
  try {
    const auto committed = writer_->take();
    if (!committed) {
      return {};
    }
    failures_ = 0;
    path_ = committed->path.string();
    written_s_ = committed->seconds;
    verified_s_ = committed->verified_seconds;
    costs_.writing_s += committed->verified_seconds;
    return {.committed = committed->step, .failed = false, .problem = {}};
  } catch (const IoError& error) {
    ++costs_.failed;
    if (++failures_ >= max_failures_) {
      throw;
    }
    return {.committed = -1,
            .failed = true,
            .problem = std::string(error.what()) + " (failure " + std::to_string(failures_) +
                       " in a row; the run ends at " + std::to_string(max_failures_) + ")"};
  }
}

SaveEnd CheckpointSaver::settle() {
  const Stopwatch stopped(costs_.stopped_s);
  SaveEnd end;
  for (bool busy = saves_; busy;) {
    const bool mine = writer_ && writer_->busy_for(heartbeat_s);
    end = mine ? SaveEnd{} : poll();
    std::array<std::int64_t, 3> all{mine, end.committed, end.failed};
    engine_.agree(all);
    busy = all[0] != 0;
    end.committed = all[1];
    end.failed = all[2] != 0;
  }
  return end;
}

}  // namespace zygos::train
