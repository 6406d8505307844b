// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/core/error.hpp"
#include "zygos/synthetic/glyphs.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace zygos::test_glyphs {
namespace {

using Catch::Matchers::Message;
using zygos::io::Dataset;
using zygos::synthetic::GlyphOptions;
using zygos::synthetic::make_glyphs;

std::uint64_t hash(std::span<const std::uint8_t> bytes) {
  std::uint64_t state = 0xCBF29CE484222325ULL;  // FNV-1a
  for (const std::uint8_t byte : bytes) {
    state = (state ^ byte) * 0x100000001B3ULL;
  }
  return state;
}

GlyphOptions some(std::int64_t samples) {
  GlyphOptions options;
  options.samples = samples;
  return options;
}

/// Where in `train` the image nearest to `image` stands.
std::size_t nearest(std::span<const std::uint8_t> train, std::span<const std::uint8_t> image) {
  const std::size_t pixels = image.size();
  std::size_t best = 0;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < train.size() / pixels; ++i) {
    std::int64_t distance = 0;
    for (std::size_t k = 0; k < pixels; ++k) {
      const int difference = int{train[i * pixels + k]} - int{image[k]};
      distance += std::int64_t{difference} * difference;
    }
    if (distance < least) {
      least = distance;
      best = i;
    }
  }
  return best;
}

TEST_CASE("Glyphs are bytes with labels, ready for a model") {
  const Dataset data = make_glyphs(some(100));

  CHECK(data.inputs.shape == zygos::Shape{100, 28, 28});
  CHECK(data.inputs.dtype == zygos::DType::u8);
  CHECK(data.classes == 10);
  CHECK(data.input_scale == 1.0 / 255.0);
  CHECK_NOTHROW(zygos::io::check(data));
}

TEST_CASE("Glyphs have the same bits everywhere and always") {
  const Dataset data = make_glyphs(some(20));

  const auto labels = data.targets.as<std::int32_t>();
  CHECK(std::vector<std::int32_t>(labels.begin(), labels.begin() + 12) ==
        std::vector<std::int32_t>{7, 9, 1, 1, 2, 3, 6, 1, 8, 7, 2, 8});
  CHECK(hash(data.inputs.as<std::uint8_t>()) == 0x97B740B470DA6C09ULL);
}

TEST_CASE(
    "The first channel of glyphs is what there is with one, the others have the same strokes") {
  GlyphOptions options = some(6);
  const Dataset one = make_glyphs(options);
  options.channels = 3;
  const Dataset three = make_glyphs(options);
  const auto of = [](const Dataset& data, std::size_t image) {
    return data.inputs.as<std::uint8_t>().subspan(image * 784, 784);
  };

  CHECK(three.inputs.shape == zygos::Shape{6, 3, 28, 28});
  CHECK(std::ranges::equal(of(three, 0), of(one, 0)));
  CHECK(std::ranges::equal(of(three, 15), of(one, 5)));
  CHECK_FALSE(std::ranges::equal(of(three, 1), of(three, 0)));
  CHECK_FALSE(std::ranges::equal(of(three, 1), of(three, 2)));
  for (std::size_t i = 0; i < 784; ++i) {
    // Full ink stands out from noise in every channel.
    const int first = of(three, 0)[i];
    CHECK((first < 160 || of(three, 1)[i] > 90));
  }
}

TEST_CASE("A glyph depends on its place in the stream alone") {
  GlyphOptions options = some(5);
  options.first = 10;
  const Dataset whole = make_glyphs(some(15));
  const Dataset part = make_glyphs(options);

  const auto tail = whole.inputs.as<std::uint8_t>().subspan(10 * 784);
  const auto images = part.inputs.as<std::uint8_t>();
  CHECK(std::equal(tail.begin(), tail.end(), images.begin(), images.end()));
  CHECK(whole.targets.as<std::int32_t>()[12] == part.targets.as<std::int32_t>()[2]);
}

TEST_CASE("Another seed gives other glyphs") {
  GlyphOptions options = some(20);
  options.seed = 2;

  CHECK(hash(make_glyphs(options).inputs.as<std::uint8_t>()) !=
        hash(make_glyphs(some(20)).inputs.as<std::uint8_t>()));
}

TEST_CASE("All classes of glyphs are about equally frequent") {
  GlyphOptions options = some(5000);
  options.classes = 5;
  options.side = 8;
  std::array<int, 5> count{};

  const Dataset data = make_glyphs(options);
  for (const std::int32_t label : data.targets.as<std::int32_t>()) {
    ++count.at(static_cast<std::size_t>(label));
  }

  CHECK(std::all_of(count.begin(), count.end(), [](int n) { return n > 900 && n < 1100; }));
}

TEST_CASE("Without jitter and noise a digit looks always the same, in any size") {
  for (const std::int64_t side : {8, 28, 33, 256}) {
    GlyphOptions options = some(30);
    options.side = side;
    options.jitter = 0.0;
    options.noise = 0.0;
    const Dataset data = make_glyphs(options);
    const auto labels = data.targets.as<std::int32_t>();
    const auto pixels = static_cast<std::size_t>(side * side);
    const auto image = [&](std::size_t i) {
      return data.inputs.as<std::uint8_t>().subspan(i * pixels, pixels);
    };

    for (std::size_t i = 1; i < 30; ++i) {
      if (labels[i] == labels[0]) {
        // The same pixels are inked; only the ink's strength differs.
        CHECK(std::equal(image(i).begin(), image(i).end(), image(0).begin(),
                         [](int a, int b) { return (a > 8) == (b > 8) || a + b < 32; }));
      }
    }
    const auto inked =
        std::count_if(image(0).begin(), image(0).end(), [](int v) { return v > 99; });
    CHECK(inked > side * side / 50);
    CHECK(inked < side * side / 2);
  }
}

TEST_CASE("Glyphs can be told apart, but not too easily") {
  const Dataset train = make_glyphs(some(3000));
  GlyphOptions options = some(200);
  options.first = 3000;
  const Dataset test = make_glyphs(options);
  const auto train_labels = train.targets.as<std::int32_t>();
  const auto test_labels = test.targets.as<std::int32_t>();
  std::vector<std::uint8_t> means(std::size_t{10} * 784);
  for (std::int32_t digit = 0; digit < 10; ++digit) {
    std::array<std::int64_t, 784> sum{};
    std::int64_t count = 0;
    for (std::size_t i = 0; i < 3000; ++i) {
      if (train_labels[i] == digit) {
        ++count;
        for (std::size_t k = 0; k < 784; ++k) {
          sum[k] += train.inputs.as<std::uint8_t>()[i * 784 + k];
        }
      }
    }
    for (std::size_t k = 0; k < 784; ++k) {
      means[static_cast<std::size_t>(digit) * 784 + k] = static_cast<std::uint8_t>(sum[k] / count);
    }
  }

  int by_neighbour = 0;
  int by_mean = 0;
  for (std::size_t i = 0; i < 200; ++i) {
    const auto image = test.inputs.as<std::uint8_t>().subspan(i * 784, 784);
    const std::size_t neighbour = nearest(train.inputs.as<std::uint8_t>(), image);
    by_neighbour += train_labels[neighbour] == test_labels[i] ? 1 : 0;
    by_mean += nearest(means, image) == static_cast<std::size_t>(test_labels[i]) ? 1 : 0;
  }

  // The nearest mean is a linear classifier.
  CHECK(by_neighbour >= 170);
  CHECK(by_mean >= 100);
  CHECK(by_mean <= 180);
}

TEST_CASE("Impossible options of glyphs are refused") {
  const auto with = [](auto change) {
    GlyphOptions options = some(1);
    change(options);
    return make_glyphs(options);
  };

  CHECK_THROWS_MATCHES(with([](auto& o) { o.classes = 11; }), zygos::UsageError,
                       Message("glyphs: found 11 classes; allowed are 2 to 10"));
  CHECK_THROWS_MATCHES(with([](auto& o) { o.side = 7; }), zygos::UsageError,
                       Message("glyphs: found a side of 7 pixels; allowed are 8 to 256"));
  CHECK_THROWS_MATCHES(with([](auto& o) { o.channels = 0; }), zygos::UsageError,
                       Message("glyphs: found 0 channels; allowed are 1 to 16"));
  CHECK_THROWS_AS(with([](auto& o) { o.samples = 0; }), zygos::UsageError);
  CHECK_THROWS_AS(with([](auto& o) { o.first = -1; }), zygos::UsageError);
  CHECK_THROWS_AS(with([](auto& o) { o.noise = 1.5; }), zygos::UsageError);
  CHECK_THROWS_AS(with([](auto& o) { o.jitter = -0.1; }), zygos::UsageError);
  CHECK_THROWS_AS(with([](auto& o) { o.jitter = std::numeric_limits<double>::quiet_NaN(); }),
                  zygos::UsageError);
}

}  // namespace

}  // namespace zygos::test_glyphs
