// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "io/prefetcher.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

namespace zygos::io {
namespace {

/// Batches that who calls next() may look at: the newest and the one before it.
constexpr std::size_t held_batches = 2;

std::size_t row_bytes(const Rows& rows) {
  return static_cast<std::size_t>(rows.row_elements) * size_of(rows.dtype);
}

/// How samples of an array lie when they are read: densely.
Rows layout_of(const Array& array, double scale, double offset,
               const std::shared_ptr<const Standards>& standards) {
  const std::int64_t elements = array.shape.without_leading().size();
  return {.data = nullptr,
          .dtype = array.dtype,
          .samples = 0,
          .row_elements = elements,
          .sample_stride = elements,
          .element_stride = 1,
          .scale = scale,
          .offset = offset,
          .standards = standards.get()};
}

std::size_t slots_of(const Dataset& data) {
  return static_cast<std::size_t>(data.prefetch) + held_batches;
}

std::size_t sample_bytes(const Array& array) {
  return static_cast<std::size_t>(array.shape.without_leading().size()) * size_of(array.dtype);
}

/// Somebody else's memory as an array; allocates nothing.
void point_to(Array& array, std::int64_t samples, const std::byte* data) {
  array.shape = array.shape.without_leading().with_leading(samples);
  array.data = {std::shared_ptr<const std::byte>(), data};
}

}  // namespace

std::size_t prefetch_bytes(const Dataset& data, std::int64_t batch) {
  const auto samples = static_cast<std::size_t>(std::min(batch, data.size()));
  const std::size_t sample = sample_bytes(data.inputs) + sample_bytes(data.targets);
  const std::size_t order = static_cast<std::size_t>(data.size()) * sizeof(std::uint32_t);
  return slots_of(data) * samples * sample + order + data.source->bytes();
}

Prefetcher::Prefetcher(const Dataset& data, const FeedOptions& options)
    : data_(data),
      order_(data.size(), options),
      layout_{layout_of(data.inputs, data.input_scale, data.input_offset, data.input_standards),
              layout_of(data.targets, 1.0, 0.0, data.target_standards)},
      batch_(static_cast<std::size_t>(std::min(options.batch, data.size()))),
      slots_(slots_of(data)),
      part_(data) {
  for (Slot& slot : slots_) {
    slot.inputs = allocate_bytes(batch_ * row_bytes(layout_.inputs), data.name);
    slot.targets = allocate_bytes(batch_ * row_bytes(layout_.targets), data.name);
    slot.ids.reserve(batch_);
    slot.rows.reserve(batch_);
  }
  sorted_.reserve(batch_);
  runs_.reserve(batch_);
  part_.source = nullptr;
}

void Prefetcher::start(std::int64_t first, std::int64_t last) {
  stop();
  filled_ = released_ = taken_ = 0;
  end_ = static_cast<std::size_t>(std::max<std::int64_t>(last - first + 1, 0));
  stopping_ = false;
  thread_ = std::thread([this, first, last] { work(first, last); });
}

void Prefetcher::stop() {
  if (!thread_.joinable()) {
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Prefetcher::work(std::int64_t first, std::int64_t last) {
  for (std::int64_t step = first; step <= last; ++step) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopping_ || filled_ - released_ < slots_.size(); });
    if (stopping_) {
      return;
    }
    Slot& slot = slots_[filled_ % slots_.size()];
    lock.unlock();
    slot.failure = nullptr;
    try {
      fill(slot, step);
    } catch (...) {
      slot.failure = std::current_exception();
    }
    const bool failed = slot.failure != nullptr;
    lock.lock();
    ++filled_;
    lock.unlock();
    changed_.notify_all();
    if (failed) {
      return;
    }
  }
}

void Prefetcher::fill(Slot& slot, std::int64_t step) {
  const auto ids = order_.ids_of(step);
  slot.ids.assign(ids.begin(), ids.end());
  sort_into_runs(slot);
  for (const Run& run : runs_) {
    data_.source->announce(run.first, run.count);
  }
  for (const Run& run : runs_) {
    read(slot, run);
  }
}

void Prefetcher::sort_into_runs(Slot& slot) {
  sorted_.resize(slot.ids.size());
  std::iota(sorted_.begin(), sorted_.end(), 0U);
  std::ranges::sort(sorted_, {}, [&](std::uint32_t position) { return slot.ids[position]; });
  slot.rows.resize(slot.ids.size());
  runs_.clear();
  for (std::size_t row = 0; row < sorted_.size(); ++row) {
    const std::int64_t sample = slot.ids[sorted_[row]];
    slot.rows[sorted_[row]] = static_cast<std::uint32_t>(row);
    if (runs_.empty() || runs_.back().first + runs_.back().count != sample) {
      runs_.push_back({sample, 0, row});
    }
    ++runs_.back().count;
  }
}

void Prefetcher::read(Slot& slot, const Run& run) {
  std::byte* const inputs = slot.inputs.get() + run.row * row_bytes(layout_.inputs);
  std::byte* const targets = slot.targets.get() + run.row * row_bytes(layout_.targets);
  data_.source->read(run.first, run.count, inputs, targets);
  point_to(part_.inputs, run.count, inputs);
  point_to(part_.targets, run.count, targets);
  part_.first = run.first;
  data_.source->check(part_);
}

FedBatch Prefetcher::view(const Slot& slot) const {
  FedBatch batch{layout_.inputs, layout_.targets, slot.ids, slot.rows};
  batch.inputs.data = slot.inputs.get();
  batch.targets.data = slot.targets.get();
  batch.inputs.samples = batch.targets.samples = std::ssize(slot.ids);
  return batch;
}

FedBatch Prefetcher::next() {
  std::unique_lock lock(mutex_);
  if (taken_ == end_) {
    throw UsageError(data_.name + ": no batch is left of those that were asked for");
  }
  released_ = taken_ - std::min(taken_, held_batches - 1);
  changed_.notify_all();
  if (filled_ == taken_) {
    const auto begin = std::chrono::steady_clock::now();
    changed_.wait(lock, [&] { return filled_ > taken_; });
    waited_s_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  const Slot& slot = slots_[taken_ % slots_.size()];
  if (slot.failure != nullptr) {
    std::rethrow_exception(slot.failure);
  }
  ++taken_;
  return view(slot);
}

}  // namespace zygos::io
