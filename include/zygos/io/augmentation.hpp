// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Data augmentation: random changes of the inputs of a batch that is trained on. What becomes of a
// sample is a pure function of seed, epoch and sample id, whatever lane, thread, rank or order
// asks.
#pragma once

#include "zygos/io/dataset.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace zygos::io {

struct FedBatch;  // zygos/io/batch_feed.hpp

/// Along which axes an image is mirrored, each with probability 1/2.
enum class Flip { none, horizontal, vertical, both };

struct AugmentationOptions {
  Flip flip = Flip::none;
  /// Pixels of padding on every side, of which a random window of the image's size is cut: shifts
  /// of -crop to crop pixels along both axes, all with the same probability. What lies outside of
  /// the image has the stored value 0. Below the image's height and width.
  std::int64_t crop = 0;
  /// Standard deviation of the Gaussian noise that is added to every input as the model sees it:
  /// after scale, offset and standardisation.
  double noise = 0.0;
  /// [height, width] or [channels, height, width], how flip and crop take a sample; rank 0: the
  /// sample shape of the data set.
  Shape image{};

  /// Whether elements change their places.
  bool moves() const { return flip != Flip::none || crop > 0; }
  bool any() const { return moves() || noise > 0.0; }
};

/// Throws UsageError that says what was found and what is allowed: flip or crop of samples that are
/// no images, a crop that is negative or not below height and width, noise that is negative or not
/// finite.
void require_augmentable(const AugmentationOptions& options, const Shape& sample);

/// A batch's changed samples stay while the next batch is changed.
inline constexpr std::size_t buffers_of_an_augmentation = 2;

/// Host memory that an Augmentation takes, in bytes.
std::size_t augmentation_bytes(const Dataset& data, const AugmentationOptions& options,
                               std::int64_t batch);

/// Writes the changed samples of a batch into buffers of its own.
class Augmentation {
 public:
  /// For batches of up to `batch` samples of `data`, as a BatchFeed gives them. Allocates all it
  /// will ever need: two buffers. Throws as require_augmentable() does, MemoryError.
  Augmentation(const Dataset& data, const AugmentationOptions& options, std::int64_t batch,
               std::uint64_t seed);

  /// The samples of `batch` as epoch `epoch` (from 0) has them, with the same ids and targets;
  /// valid until the next but one call. Allocates nothing. Throws UsageError for a batch that is
  /// larger, or rows of another type, size or layout than those of the data set.
  FedBatch change(const FedBatch& batch, std::int64_t epoch);

  /// Total seconds that change() has taken.
  double seconds() const noexcept { return seconds_; }

 private:
  struct Buffer {
    std::shared_ptr<std::byte> inputs;
    std::shared_ptr<std::byte> targets;
  };

  void require_fit(const FedBatch& batch) const;
  void write_inputs(const FedBatch& batch, std::int64_t epoch, std::byte* out);

  AugmentationOptions options_;
  std::uint64_t seed_;
  DType stored_;                    ///< of the data set's inputs
  DType written_;                   ///< of the changed ones: floats where there is noise
  std::int64_t row_elements_ = 0;   ///< of a sample's inputs
  std::size_t target_bytes_ = 0;    ///< of a sample
  std::shared_ptr<std::byte> row_;  ///< one sample that was moved and gets noise
  std::array<Buffer, buffers_of_an_augmentation> buffers_;
  std::vector<std::uint32_t> rows_;  ///< 0, 1, 2, ...
  std::size_t turn_ = 0;
  double seconds_ = 0.0;
};

}  // namespace zygos::io
