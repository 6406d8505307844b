// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/io/augmentation.hpp"

#include "zygos/core/error.hpp"
#include "zygos/core/philox.hpp"
#include "zygos/io/batch_feed.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numbers>
#include <numeric>
#include <string>

namespace zygos::io {
namespace {

struct Image {
  std::int64_t channels = 1;
  std::int64_t height = 0;
  std::int64_t width = 0;
};

/// Where the pixels of one sample go: pixel (y, x) of the result is the one at
/// (y or height - 1 - y) + down, (x or width - 1 - x) + right.
struct Move {
  bool mirrored = false;
  bool upside_down = false;
  std::int64_t down = 0;
  std::int64_t right = 0;
};

bool is_image(const Shape& shape) { return shape.rank() == 2 || shape.rank() == 3; }

Image image_of(const Shape& shape) {
  const std::size_t rank = shape.rank();
  return {
      .channels = rank == 3 ? shape[0] : 1, .height = shape[rank - 2], .width = shape[rank - 1]};
}

const Shape& image_shape(const AugmentationOptions& options, const Shape& sample) {
  return options.image.rank() == 0 ? sample : options.image;
}

bool chance(std::uint32_t word) { return (word >> 31) != 0; }

/// Uniform in [-most, most]: each value comes of 2^32 / (2 most + 1) words, rounded up or down.
std::int64_t shift(std::uint32_t word, std::int64_t most) {
  const auto values = static_cast<std::uint64_t>(2 * most + 1);
  return static_cast<std::int64_t>((std::uint64_t{word} * values) >> 32) - most;
}

/// Block 0 of the sample's stream; noise begins at block 1.
Move move_of(const AugmentationOptions& options, const RngKey& key, std::uint32_t id) {
  const PhiloxBlock block = random_block(key, id, 0);
  const bool sideways = options.flip == Flip::horizontal || options.flip == Flip::both;
  const bool upwards = options.flip == Flip::vertical || options.flip == Flip::both;
  return {.mirrored = sideways && chance(block.v[0]),
          .upside_down = upwards && chance(block.v[1]),
          .down = shift(block.v[2], options.crop),
          .right = shift(block.v[3], options.crop)};
}

/// A row of pixels of SIZE bytes each.
template <std::size_t Size>
void move_line(const std::byte* source, const Move& move, std::int64_t width, std::byte* out) {
  constexpr auto size = static_cast<std::int64_t>(Size);
  // Pixels [begin, end) of the result lie within the image.
  const std::int64_t begin = std::max<std::int64_t>(0, move.mirrored ? move.right : -move.right);
  const std::int64_t end = std::min(width, width + (move.mirrored ? move.right : -move.right));
  std::memset(out, 0, static_cast<std::size_t>(begin * size));
  std::memset(out + end * size, 0, static_cast<std::size_t>((width - end) * size));
  if (!move.mirrored) {
    std::memcpy(out + begin * size, source + (begin + move.right) * size,
                static_cast<std::size_t>((end - begin) * size));
    return;
  }
  for (std::int64_t x = begin; x < end; ++x) {
    std::memcpy(out + x * size, source + (width - 1 - x + move.right) * size, Size);
  }
}

template <std::size_t Size>
void move_image(const std::byte* source, const Move& move, const Image& image, std::byte* out) {
  const std::int64_t line = image.width * static_cast<std::int64_t>(Size);
  for (std::int64_t channel = 0; channel < image.channels; ++channel) {
    for (std::int64_t y = 0; y < image.height; ++y) {
      const std::int64_t from = (move.upside_down ? image.height - 1 - y : y) + move.down;
      if (from < 0 || from >= image.height) {
        std::memset(out, 0, static_cast<std::size_t>(line));
      } else {
        move_line<Size>(source + from * line, move, image.width, out);
      }
      out += line;
    }
    source += image.height * line;
  }
}

void move_image(DType dtype, const std::byte* source, const Move& move, const Image& image,
                std::byte* out) {
  switch (size_of(dtype)) {
    case 1:
      return move_image<1>(source, move, image, out);
    case 4:
      return move_image<4>(source, move, image, out);
    case 8:
      return move_image<8>(source, move, image, out);
    default:
      throw InternalError("samples of a dtype that no file holds");
  }
}

/// Adds standard normal numbers times `deviation` (Box and Muller, 1958): four of a block.
template <class T>
void add_noise(double deviation, const RngKey& key, std::uint32_t id, std::int64_t count, T* out) {
  const auto sigma = static_cast<float>(deviation);
  constexpr float turn = 2.0F * std::numbers::pi_v<float>;
  std::uint32_t minor = 1;
  for (std::int64_t k = 0; k < count; k += 4, ++minor) {
    const PhiloxBlock block = random_block(key, id, minor);
    std::array<float, 4> normal{};
    for (std::size_t pair = 0; pair < 4; pair += 2) {
      // 1 - u is in (0, 1], so the logarithm is finite.
      const float radius = std::sqrt(-2.0F * std::log(1.0F - uniform_float(block.v[pair])));
      const float angle = turn * uniform_float(block.v[pair + 1]);
      normal[pair] = radius * std::cos(angle);
      normal[pair + 1] = radius * std::sin(angle);
    }
    for (std::int64_t i = 0; i < std::min<std::int64_t>(4, count - k); ++i) {
      out[k + i] += static_cast<T>(sigma * normal[static_cast<std::size_t>(i)]);
    }
  }
}

/// The one sample at `data` as a model sees it, with noise.
template <class T>
void write_noisy(const Rows& rows, const std::byte* data, double deviation, const RngKey& key,
                 std::uint32_t id, T* out) {
  constexpr std::array<std::uint32_t, 1> first{0};
  Rows row = rows;
  row.data = data;
  row.samples = 1;
  gather(row, first, out);
  add_noise(deviation, key, id, rows.row_elements, out);
}

/// Of changed samples: with noise floats, which hold bytes exactly, but not all integers.
DType written_type(const AugmentationOptions& options, DType stored) {
  const DType floats = stored == DType::u8 || stored == DType::f32 ? DType::f32 : DType::f64;
  return options.noise > 0.0 ? floats : stored;
}

const std::byte* row_at(const Rows& rows, std::uint32_t row) {
  return static_cast<const std::byte*>(rows.data) +
         std::int64_t{row} * rows.sample_stride * static_cast<std::int64_t>(size_of(rows.dtype));
}

/// Densely from `data`.
Rows written_rows(const Rows& rows, const std::byte* data, std::int64_t samples) {
  Rows written = rows;
  written.data = data;
  written.samples = samples;
  written.sample_stride = rows.row_elements;
  return written;
}

}  // namespace

void require_augmentable(const AugmentationOptions& options, const Shape& sample) {
  if (!std::isfinite(options.noise) || options.noise < 0.0) {
    throw UsageError("the noise's standard deviation is " + std::to_string(options.noise) +
                     "; allowed are finite numbers of at least 0");
  }
  if (options.crop < 0) {
    throw UsageError("crop is " + std::to_string(options.crop) + "; allowed are 0 and more pixels");
  }
  if (!options.moves()) {
    return;
  }
  const Shape& shape = image_shape(options, sample);
  if (!is_image(shape) || shape.size() != sample.size()) {
    throw UsageError(
        "flip and crop take images, [height, width] or [channels, height, width]; "
        "samples are " +
        shape.text());
  }
  const Image image = image_of(shape);
  const std::int64_t least = std::min(image.height, image.width);
  if (options.crop >= least) {
    throw UsageError("a crop of " + std::to_string(options.crop) + " pixels could cut all of " +
                     shape.text() + " away; allowed are 0 to " + std::to_string(least - 1));
  }
}

std::size_t augmentation_bytes(const Dataset& data, const AugmentationOptions& options,
                               std::int64_t batch) {
  if (!options.any()) {
    return 0;
  }
  const DType stored = data.inputs.dtype;
  const DType written = written_type(options, stored);
  const auto samples = static_cast<std::size_t>(std::min(batch, data.size()));
  const auto elements = static_cast<std::size_t>(data.sample_shape().size());
  const auto targets = static_cast<std::size_t>(data.target_shape().size());
  const std::size_t sample = elements * size_of(written) + targets * size_of(data.targets.dtype);
  return buffers_of_an_augmentation * samples * sample + elements * size_of(stored);
}

Augmentation::Augmentation(const Dataset& data, const AugmentationOptions& options,
                           std::int64_t batch, std::uint64_t seed)
    : options_(options),
      seed_(seed),
      stored_(data.inputs.dtype),
      written_(written_type(options, stored_)),
      row_elements_(data.sample_shape().size()),
      target_bytes_(static_cast<std::size_t>(data.target_shape().size()) *
                    size_of(data.targets.dtype)) {
  require_augmentable(options, data.sample_shape());
  options_.image = image_shape(options, data.sample_shape());
  const auto samples = static_cast<std::size_t>(std::min(batch, data.size()));
  const auto elements = static_cast<std::size_t>(row_elements_);
  const auto allocate = [&](std::size_t bytes) { return allocate_bytes(bytes, data.name); };
  for (Buffer& buffer : buffers_) {
    buffer.inputs = allocate(samples * elements * size_of(written_));
    buffer.targets = allocate(samples * target_bytes_);
  }
  row_ = allocate(elements * size_of(stored_));
  rows_.resize(samples);
  std::iota(rows_.begin(), rows_.end(), 0U);
}

void Augmentation::require_fit(const FedBatch& batch) const {
  const std::size_t target_bytes =
      static_cast<std::size_t>(batch.targets.row_elements) * size_of(batch.targets.dtype);
  if (batch.inputs.dtype != stored_ || batch.inputs.row_elements != row_elements_ ||
      target_bytes != target_bytes_ || batch.inputs.element_stride != 1 ||
      batch.targets.element_stride != 1) {
    throw UsageError("a batch was given to change whose rows are not those of the data set");
  }
  if (batch.ids.size() > rows_.size()) {
    throw UsageError("a batch of " + std::to_string(batch.ids.size()) +
                     " samples was given to change; there is room for " +
                     std::to_string(rows_.size()));
  }
}

void Augmentation::write_inputs(const FedBatch& batch, std::int64_t epoch, std::byte* out) {
  const RngKey key{seed_, RngPurpose::augmentation, static_cast<std::uint32_t>(epoch)};
  const Image image = options_.moves() ? image_of(options_.image) : Image{};
  const bool noise = options_.noise > 0.0;
  const auto places = batch.rows.empty() ? batch.ids : batch.rows;
  const std::size_t row_bytes = static_cast<std::size_t>(row_elements_) * size_of(written_);
  for (std::size_t i = 0; i < places.size(); ++i, out += row_bytes) {
    const std::uint32_t id = batch.ids[i];
    const std::byte* source = row_at(batch.inputs, places[i]);
    if (options_.moves()) {
      std::byte* const moved = noise ? row_.get() : out;
      move_image(stored_, source, move_of(options_, key, id), image, moved);
      source = moved;
    }
    if (noise && written_ == DType::f32) {
      write_noisy(batch.inputs, source, options_.noise, key, id, reinterpret_cast<float*>(out));
    } else if (noise) {
      write_noisy(batch.inputs, source, options_.noise, key, id, reinterpret_cast<double*>(out));
    } else if (!options_.moves()) {
      std::memcpy(out, source, row_bytes);
    }
  }
}

FedBatch Augmentation::change(const FedBatch& batch, std::int64_t epoch) {
  const auto begin = std::chrono::steady_clock::now();
  require_fit(batch);
  const Buffer& buffer = buffers_[turn_++ % buffers_.size()];
  write_inputs(batch, epoch, buffer.inputs.get());
  const auto places = batch.rows.empty() ? batch.ids : batch.rows;
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::memcpy(buffer.targets.get() + i * target_bytes_, row_at(batch.targets, places[i]),
                target_bytes_);
  }
  const std::int64_t samples = std::ssize(batch.ids);
  FedBatch changed{written_rows(batch.inputs, buffer.inputs.get(), samples),
                   written_rows(batch.targets, buffer.targets.get(), samples), batch.ids,
                   std::span<const std::uint32_t>(rows_).first(batch.ids.size())};
  if (options_.noise > 0.0) {
    changed.inputs.dtype = written_;
    changed.inputs.scale = 1.0;
    changed.inputs.offset = 0.0;
    changed.inputs.standards = nullptr;
  }
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return changed;
}

}  // namespace zygos::io
