// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/io/batch_feed.hpp"

#include "io/batch_order.hpp"
#include "io/prefetcher.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace zygos::io {

std::int64_t batches_per_epoch(std::int64_t samples, std::int64_t batch, bool drop_last) {
  const std::int64_t whole = samples / batch;
  return drop_last || samples % batch == 0 ? whole : whole + 1;
}

std::size_t feed_bytes(const Dataset& data, const FeedOptions& options) {
  const std::size_t read = data.source == nullptr ? 0 : prefetch_bytes(data, options.batch);
  return read + augmentation_bytes(data, options.augmentation, options.batch);
}

class BatchFeed::Impl {
 public:
  virtual ~Impl() = default;
  virtual void seek(std::int64_t first, std::int64_t last) = 0;
  virtual FedBatch next() = 0;
  virtual double waited_s() const = 0;
};

class BatchFeed::InMemory final : public Impl {
 public:
  InMemory(const Dataset& data, const FeedOptions& options)
      : data_(data), rows_(rows_of(data)), order_(data.size(), options) {
    for (std::vector<std::uint32_t>& ids : ids_) {
      ids.reserve(static_cast<std::size_t>(std::min(options.batch, data.size())));
    }
  }

  void seek(std::int64_t first, std::int64_t last) override {
    step_ = first;
    last_ = last;
  }
  FedBatch next() override {
    if (step_ > last_) {
      throw UsageError(data_.name + ": no batch is left of those that were asked for");
    }
    std::vector<std::uint32_t>& ids = ids_[static_cast<std::size_t>(step_) % ids_.size()];
    const auto found = order_.ids_of(step_++);
    ids.assign(found.begin(), found.end());
    return {rows_.inputs, rows_.targets, ids, {}};
  }
  double waited_s() const override { return 0.0; }

 private:
  const Dataset& data_;
  DatasetRows rows_;
  BatchOrder order_;
  std::array<std::vector<std::uint32_t>, 2> ids_;  ///< of the last two batches
  std::int64_t step_ = 1;
  std::int64_t last_ = 0;
};

class BatchFeed::FromFile final : public Impl {
 public:
  FromFile(const Dataset& data, const FeedOptions& options) : prefetcher_(data, options) {}

  void seek(std::int64_t first, std::int64_t last) override { prefetcher_.start(first, last); }
  FedBatch next() override { return prefetcher_.next(); }
  double waited_s() const override { return prefetcher_.waited_s(); }

 private:
  Prefetcher prefetcher_;
};

BatchFeed::BatchFeed(const Dataset& data, const FeedOptions& options)
    : batches_(options.batch < 1
                   ? 0
                   : batches_per_epoch(data.size(), options.batch, options.drop_last)) {
  if (batches_ < 1) {
    throw UsageError(data.name + ": no batch of " + std::to_string(options.batch) + " fits " +
                     std::to_string(data.size()) + " samples");
  }
  if (data.source != nullptr) {
    impl_ = std::make_unique<FromFile>(data, options);
  } else {
    impl_ = std::make_unique<InMemory>(data, options);
  }
  if (options.augmentation.any()) {
    augmentation_.emplace(data, options.augmentation, options.batch, options.seed);
  }
  bytes_ = feed_bytes(data, options);
}

BatchFeed::~BatchFeed() = default;

void BatchFeed::seek(std::int64_t first, std::int64_t last) {
  impl_->seek(first, last);
  step_ = first;
}

FedBatch BatchFeed::next() {
  const FedBatch batch = impl_->next();
  const std::int64_t epoch = (step_++ - 1) / batches_;
  return augmentation_ ? augmentation_->change(batch, epoch) : batch;
}

double BatchFeed::waited_s() const {
  return impl_->waited_s() + (augmentation_ ? augmentation_->seconds() : 0.0);
}

}  // namespace zygos::io
