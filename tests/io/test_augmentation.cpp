// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Random changes of samples: what they do to an image that is checked by hand, and that they are
// functions of seed, epoch and sample id.
#include "support/allocation_counter.hpp"
#include "support/temporary_folder.hpp"

#include "zygos/core/error.hpp"
#include "zygos/io/augmentation.hpp"
#include "zygos/io/batch_feed.hpp"
#include "zygos/io/hdf5_dataset.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace zygos::io::test_augmentation {

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;

namespace {

using Pixels = std::vector<double>;

/// The same image so many times, labelled by its number.
template <class T>
Dataset copies(std::int64_t samples, const Shape& sample, const Pixels& image) {
  Dataset data;
  data.name = "images";
  std::vector<T> values;
  std::vector<std::int32_t> labels;
  for (std::int64_t i = 0; i < samples; ++i) {
    for (const double pixel : image) {
      values.push_back(static_cast<T>(pixel));
    }
    labels.push_back(static_cast<std::int32_t>(i));
  }
  data.inputs = make_array<T>(sample.with_leading(samples), values);
  data.targets = make_array<std::int32_t>(Shape{samples}, labels);
  data.classes = samples;
  return data;
}

/// What a model sees of every sample of a batch.
std::vector<Pixels> seen(const FedBatch& batch) {
  const auto places = batch.rows.empty() ? batch.ids : batch.rows;
  const auto width = static_cast<std::size_t>(batch.inputs.row_elements);
  Pixels all(places.size() * width);
  gather(batch.inputs, places, all.data());
  std::vector<Pixels> samples;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(i * width);
    samples.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(width));
  }
  return samples;
}

/// All samples of the data set as epoch `epoch` has them, in their order.
std::vector<Pixels> augmented(const Dataset& data, const AugmentationOptions& options,
                              std::int64_t epoch = 0, std::uint64_t seed = 1) {
  BatchFeed feed(data, {.batch = data.size(), .seed = seed, .augmentation = options});
  feed.seek(epoch + 1, epoch + 1);
  return seen(feed.next());
}

/// How often each result occurs.
std::map<Pixels, int> counted(const std::vector<Pixels>& samples) {
  std::map<Pixels, int> counts;
  for (const Pixels& sample : samples) {
    ++counts[sample];
  }
  return counts;
}

/// All `expected` occur and nothing else, each about as often: within 6 standard deviations.
void check_equally_frequent(const std::vector<Pixels>& samples,
                            const std::vector<Pixels>& expected) {
  const auto counts = counted(samples);
  const double share = 1.0 / static_cast<double>(expected.size());
  const auto total = static_cast<double>(samples.size());
  const double deviation = std::sqrt(total * share * (1.0 - share));
  CHECK(counts.size() == expected.size());
  for (const Pixels& pixels : expected) {
    CAPTURE(pixels);
    const auto found = counts.find(pixels);
    REQUIRE(found != counts.end());
    CHECK(found->second == Approx(total * share).margin(6.0 * deviation));
  }
}

const Pixels two_rows{1, 2, 3, 4, 5, 6};
const Pixels square{1, 2, 3, 4, 5, 6, 7, 8, 9};

/// `square` shifted by one pixel or none, padded with zeros.
const std::vector<Pixels> shifted_squares{{0, 0, 0, 0, 1, 2, 0, 4, 5},
                                          {0, 0, 0, 1, 2, 3, 4, 5, 6},
                                          {0, 0, 0, 2, 3, 0, 5, 6, 0},
                                          {0, 1, 2, 0, 4, 5, 0, 7, 8},
                                          square,
                                          {2, 3, 0, 5, 6, 0, 8, 9, 0},
                                          {0, 4, 5, 0, 7, 8, 0, 0, 0},
                                          {4, 5, 6, 7, 8, 9, 0, 0, 0},
                                          {5, 6, 0, 8, 9, 0, 0, 0, 0}};

Pixels mirrored(const Pixels& pixels) {
  return {pixels[2], pixels[1], pixels[0], pixels[5], pixels[4],
          pixels[3], pixels[8], pixels[7], pixels[6]};
}

/// Images [2, 5, 4] of bytes, all different.
Dataset various(std::int64_t samples) {
  Dataset data;
  data.name = "various";
  std::vector<std::uint8_t> values(static_cast<std::size_t>(samples * 40));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::uint8_t>(1 + 31 * i % 255);
  }
  std::vector<std::int32_t> labels(static_cast<std::size_t>(samples));
  std::iota(labels.begin(), labels.end(), 0);
  data.inputs = make_array<std::uint8_t>(Shape{samples, 2, 5, 4}, values);
  data.targets = make_array<std::int32_t>(Shape{samples}, labels);
  data.classes = samples;
  data.input_scale = 0.5;
  data.input_offset = -3.0;
  return data;
}

const AugmentationOptions all_changes{.flip = Flip::both, .crop = 2, .noise = 0.25};

/// By id, whatever the order.
std::map<std::uint32_t, Pixels> of_steps(BatchFeed& feed, std::int64_t steps) {
  std::map<std::uint32_t, Pixels> found;
  for (std::int64_t step = 0; step < steps; ++step) {
    const FedBatch batch = feed.next();
    const auto samples = seen(batch);
    std::vector<std::int32_t> labels(batch.ids.size());
    gather_labels(batch.targets, batch.rows.empty() ? batch.ids : batch.rows, labels.data());
    for (std::size_t i = 0; i < samples.size(); ++i) {
      CHECK(labels[i] == static_cast<std::int32_t>(batch.ids[i]));  // targets stay with samples
      found[batch.ids[i]] = samples[i];
    }
  }
  return found;
}

}  // namespace

TEST_CASE("An image is mirrored about half of the time, along the axes that are asked for") {
  const Dataset data = copies<std::uint8_t>(4000, Shape{2, 3}, two_rows);
  const Pixels horizontal{3, 2, 1, 6, 5, 4};
  const Pixels vertical{4, 5, 6, 1, 2, 3};
  const Pixels both{6, 5, 4, 3, 2, 1};
  check_equally_frequent(augmented(data, {.flip = Flip::horizontal}), {two_rows, horizontal});
  check_equally_frequent(augmented(data, {.flip = Flip::vertical}), {two_rows, vertical});
  check_equally_frequent(augmented(data, {.flip = Flip::both}),
                         {two_rows, horizontal, vertical, both});
}

TEST_CASE("All shifts of a crop occur equally often, padded with zeros, for elements of any size") {
  check_equally_frequent(augmented(copies<std::uint8_t>(9000, Shape{3, 3}, square), {.crop = 1}),
                         shifted_squares);
  check_equally_frequent(augmented(copies<float>(9000, Shape{3, 3}, square), {.crop = 1}),
                         shifted_squares);
  check_equally_frequent(augmented(copies<double>(9000, Shape{1, 3, 3}, square), {.crop = 1}),
                         shifted_squares);
}

TEST_CASE("Flips and shifts are drawn independently of each other") {
  std::vector<Pixels> expected = shifted_squares;
  for (const Pixels& pixels : shifted_squares) {
    expected.push_back(mirrored(pixels));
  }
  const Dataset data = copies<std::uint8_t>(18000, Shape{3, 3}, square);
  check_equally_frequent(augmented(data, {.flip = Flip::horizontal, .crop = 1}), expected);
}

TEST_CASE("All channels of an image are changed alike") {
  Pixels channels = square;
  for (const double pixel : square) {
    channels.push_back(100.0 + pixel);
  }
  const Dataset data = copies<float>(500, Shape{2, 3, 3}, channels);
  for (const Pixels& pixels : augmented(data, {.flip = Flip::both, .crop = 2})) {
    for (std::size_t i = 0; i < square.size(); ++i) {
      CHECK(pixels[9 + i] == (pixels[i] == 0.0 ? 0.0 : 100.0 + pixels[i]));
    }
  }
}

TEST_CASE("A sample that lies flat is changed as the image that it is said to be") {
  const Dataset data = copies<float>(400, Shape{6}, two_rows);
  check_equally_frequent(augmented(data, {.flip = Flip::vertical, .image = Shape{2, 3}}),
                         {two_rows, {4, 5, 6, 1, 2, 3}});
}

TEST_CASE("Moved bytes stay bytes; padding is what the model sees of a stored zero") {
  Dataset data = copies<std::uint8_t>(50, Shape{3, 3}, square);
  data.input_scale = 2.0;
  data.input_offset = 7.0;
  BatchFeed feed(data, {.batch = 50, .augmentation = {.crop = 1}});
  feed.seek(1, 1);
  const FedBatch batch = feed.next();
  CHECK(batch.inputs.dtype == DType::u8);
  for (const auto& [pixels, count] : counted(seen(batch))) {
    CHECK(pixels[4] != 7.0);  // no shift of one pixel pads the middle
    for (const double pixel : pixels) {
      CHECK(pixel >= 7.0);
      CHECK(pixel <= 25.0);
    }
  }
}

TEST_CASE("Noise has the mean 0 and the deviation asked for, in the units that the model sees") {
  Dataset data = copies<std::uint8_t>(2000, Shape{7}, {10, 10, 10, 10, 10, 10, 10});
  data.input_scale = 0.1;
  data.input_offset = 2.0;
  const auto moments = [](const std::vector<Pixels>& samples) {
    double sum = 0.0;
    double squares = 0.0;
    double count = 0.0;
    for (const Pixels& pixels : samples) {
      for (const double pixel : pixels) {
        sum += pixel;
        squares += pixel * pixel;
        count += 1.0;
      }
    }
    return std::pair(sum / count, std::sqrt(squares / count - sum / count * (sum / count)));
  };
  const auto scaled = moments(augmented(data, {.noise = 0.5}));
  CHECK(scaled.first == Approx(3.0).margin(0.025));  // 6 deviations of the mean of 14,000
  CHECK(scaled.second == Approx(0.5).margin(0.02));

  data.input_standards = std::make_shared<const Standards>(
      Standards{std::vector<double>(7, 1.0), std::vector<double>(7, 4.0)});
  const auto standardised = moments(augmented(data, {.noise = 0.5}));
  CHECK(standardised.first == Approx(0.5).margin(0.025));  // (3 - 1) / 4
  CHECK(standardised.second == Approx(0.5).margin(0.02));
}

TEST_CASE("Every element gets noise of its own, in double where samples are stored so") {
  const auto noisy = augmented(copies<double>(30, Shape{9}, square), {.noise = 1.0});
  std::map<double, int> values;
  for (const Pixels& pixels : noisy) {
    for (std::size_t k = 0; k < pixels.size(); ++k) {
      ++values[pixels[k] - square[k]];
    }
  }
  CHECK(values.size() > 260);  // of 270: equal ones are rare

  const Pixels fine{1.0 + 1e-12};
  const Dataset data = copies<double>(1, Shape{1}, fine);
  BatchFeed feed(data, {.batch = 1, .augmentation = {.noise = 1e-30}});
  feed.seek(1, 1);
  const FedBatch batch = feed.next();
  CHECK(batch.inputs.dtype == DType::f64);
  CHECK(seen(batch).front() == fine);
}

TEST_CASE("A sample's changes depend on seed, epoch and id, and on nothing else") {
  const Dataset data = various(60);
  const auto whole = augmented(data, all_changes, 2, 9);
  for (const std::int64_t batch : {1, 7, 60}) {
    for (const bool shuffle : {false, true}) {
      CAPTURE(batch, shuffle);
      BatchFeed feed(data,
                     {.batch = batch, .shuffle = shuffle, .seed = 9, .augmentation = all_changes});
      const std::int64_t steps = batches_per_epoch(60, batch, false);
      feed.seek(2 * steps + 1, 3 * steps);  // the third epoch, as a resumed run would begin it
      const auto found = of_steps(feed, steps);
      REQUIRE(found.size() == 60);
      for (const auto& [id, pixels] : found) {
        CHECK(pixels == whole[id]);
      }
    }
  }
  CHECK(augmented(data, all_changes, 3, 9) != whole);
  CHECK(augmented(data, all_changes, 2, 10) != whole);
}

TEST_CASE("A feed goes from one epoch to the next with other draws") {
  const Dataset data = copies<std::uint8_t>(64, Shape{2, 3}, two_rows);
  BatchFeed feed(data, {.batch = 32, .augmentation = {.flip = Flip::horizontal}});
  feed.seek(1, 4);
  const auto first = of_steps(feed, 2);
  const auto second = of_steps(feed, 2);
  CHECK(first != second);
  feed.seek(1, 2);
  CHECK(of_steps(feed, 2) == first);
}

TEST_CASE("Samples that are read from a file are changed to the same bits") {
  const test::TemporaryFolder folder("augmentation");
  const Dataset here = various(50);
  const auto file = folder.path() / "set.h5";
  write_hdf5_dataset(file, here);
  LoadOptions load;
  load.classes = 50;
  load.input_scale = here.input_scale;
  load.input_offset = here.input_offset;
  const Dataset there = open_hdf5_dataset({file, "inputs"}, {file, "targets"}, load);
  const FeedOptions options{.batch = 8, .shuffle = true, .seed = 3, .augmentation = all_changes};
  BatchFeed memory(here, options);
  BatchFeed read(there, options);
  memory.seek(3, 20);
  read.seek(3, 20);
  for (int step = 3; step <= 20; ++step) {
    CAPTURE(step);
    CHECK(of_steps(read, 1) == of_steps(memory, 1));
  }
}

TEST_CASE("A changed batch stays until the next but one, and none is allocated") {
  const Dataset data = various(40);
  BatchFeed feed(data, {.batch = 8, .shuffle = true, .augmentation = all_changes});
  feed.seek(1, 12);
  const FedBatch first = feed.next();
  const auto pixels = seen(first);
  feed.next();
  CHECK(seen(first) == pixels);
  const long before = testing::allocations();
  for (int step = 3; step <= 12; ++step) {
    feed.next();
  }
  CHECK(testing::allocations() == before);
  // Two batches of floats and labels, and one image of bytes.
  CHECK(feed.bytes() == 2 * 8 * (40 * 4 + 4) + 40);
  CHECK(feed.waited_s() > 0.0);
}

TEST_CASE("Without augmentation a feed has no buffers, and samples are those at rest") {
  const Dataset data = various(10);
  BatchFeed feed(data, {.batch = 10});
  feed.seek(1, 1);
  CHECK(feed.next().inputs.data == data.inputs.data.get());
  CHECK(feed.bytes() == 0);
}

TEST_CASE("Changes that samples do not take are refused") {
  const auto refusal = [](const AugmentationOptions& options, const Shape& sample) {
    try {
      require_augmentable(options, sample);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(refusal({.flip = Flip::horizontal}, Shape{12}),
             ContainsSubstring("[height, width]") && ContainsSubstring("[12]"));
  CHECK_THAT(refusal({.crop = 1}, Shape{2, 2, 2, 2}), ContainsSubstring("[2, 2, 2, 2]"));
  CHECK_THAT(refusal({.crop = 3}, Shape{1, 3, 8}),
             ContainsSubstring("a crop of 3") && ContainsSubstring("allowed are 0 to 2"));
  CHECK_THAT(refusal({.crop = -1}, Shape{3, 3}), ContainsSubstring("crop is -1"));
  CHECK_THAT(refusal({.noise = -0.5}, Shape{3}), ContainsSubstring("standard deviation"));
  CHECK_THAT(refusal({.noise = std::numeric_limits<double>::infinity()}, Shape{3}),
             ContainsSubstring("finite"));
  CHECK(refusal({.crop = 2}, Shape{1, 3, 8}).empty());
  CHECK(refusal({.noise = 0.5}, Shape{12}).empty());

  const Dataset vectors = copies<float>(4, Shape{6}, two_rows);
  CHECK_THROWS_AS(BatchFeed(vectors, {.batch = 2, .augmentation = {.crop = 1}}), UsageError);
}

}  // namespace zygos::io::test_augmentation
