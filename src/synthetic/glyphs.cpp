// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Only +, -, *, / and comparisons on floats, and this file is compiled without contraction of
// a*b+c: so IEEE 754 fixes every bit of every image.
#include "zygos/synthetic/glyphs.hpp"

#include "synthetic/sample_random.hpp"

#include "zygos/core/error.hpp"
#include "zygos/core/philox.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace zygos::synthetic {
namespace {

struct Point {
  float x;  // to the right, 0 to 1
  float y;  // downwards, 0 to 1
};

constexpr std::array<Point, 9> zero{{{.50F, .08F},
                                     {.75F, .20F},
                                     {.82F, .50F},
                                     {.75F, .80F},
                                     {.50F, .92F},
                                     {.25F, .80F},
                                     {.18F, .50F},
                                     {.25F, .20F},
                                     {.50F, .08F}}};
constexpr std::array<Point, 3> one{{{.35F, .25F}, {.55F, .08F}, {.55F, .92F}}};
constexpr std::array<Point, 7> two{{{.22F, .28F},
                                    {.35F, .10F},
                                    {.62F, .08F},
                                    {.78F, .25F},
                                    {.70F, .48F},
                                    {.22F, .90F},
                                    {.80F, .90F}}};
constexpr std::array<Point, 9> three{{{.22F, .12F},
                                      {.62F, .08F},
                                      {.77F, .25F},
                                      {.65F, .45F},
                                      {.42F, .48F},
                                      {.68F, .53F},
                                      {.80F, .72F},
                                      {.65F, .90F},
                                      {.22F, .88F}}};
constexpr std::array<Point, 4> four{{{.62F, .92F}, {.62F, .08F}, {.18F, .65F}, {.85F, .65F}}};
constexpr std::array<Point, 8> five{{{.76F, .08F},
                                     {.28F, .08F},
                                     {.25F, .45F},
                                     {.60F, .42F},
                                     {.78F, .62F},
                                     {.68F, .86F},
                                     {.45F, .93F},
                                     {.20F, .85F}}};
constexpr std::array<Point, 9> six{{{.68F, .10F},
                                    {.40F, .25F},
                                    {.23F, .60F},
                                    {.32F, .88F},
                                    {.60F, .92F},
                                    {.77F, .75F},
                                    {.68F, .55F},
                                    {.45F, .50F},
                                    {.25F, .65F}}};
constexpr std::array<Point, 3> seven{{{.20F, .10F}, {.80F, .10F}, {.42F, .92F}}};
constexpr std::array<Point, 11> eight{{{.50F, .48F},
                                       {.27F, .30F},
                                       {.38F, .10F},
                                       {.62F, .10F},
                                       {.73F, .30F},
                                       {.50F, .48F},
                                       {.24F, .70F},
                                       {.36F, .92F},
                                       {.64F, .92F},
                                       {.76F, .70F},
                                       {.50F, .48F}}};
constexpr std::array<Point, 9> nine{{{.75F, .35F},
                                     {.55F, .50F},
                                     {.32F, .45F},
                                     {.25F, .25F},
                                     {.42F, .08F},
                                     {.68F, .10F},
                                     {.75F, .35F},
                                     {.70F, .70F},
                                     {.55F, .92F}}};

constexpr std::size_t max_points = 11;

std::span<const Point> strokes_of(std::int64_t digit) {
  const std::array<std::span<const Point>, 10> digits{
      {zero, one, two, three, four, five, six, seven, eight, nine}};
  return digits[static_cast<std::size_t>(digit)];
}

struct Pen {
  float inner;  // full ink up to this distance from the stroke's middle, in pixels
  float outer;  // none from here on
};

class Canvas {
 public:
  explicit Canvas(std::int64_t side)
      : side_(side), ink_(static_cast<std::size_t>(side * side), 0.0F) {}

  void clear() { std::fill(ink_.begin(), ink_.end(), 0.0F); }
  /// Ink is the larger of what is there and what the segment brings.
  void draw(Point from, Point to, Pen pen);
  std::span<const float> ink() const { return ink_; }

 private:
  std::int64_t clamped(float position) const {
    return std::clamp(static_cast<std::int64_t>(position), std::int64_t{0}, side_ - 1);
  }

  std::int64_t side_;
  std::vector<float> ink_;
};

void Canvas::draw(Point from, Point to, Pen pen) {
  const float dx = to.x - from.x;
  const float dy = to.y - from.y;
  const float inverse = 1.0F / std::max(dx * dx + dy * dy, 1e-6F);
  const float outer = pen.outer * pen.outer;
  const float slope = 1.0F / (outer - pen.inner * pen.inner);
  const std::int64_t left = clamped(std::min(from.x, to.x) - pen.outer);
  const std::int64_t right = clamped(std::max(from.x, to.x) + pen.outer + 1.0F);
  const std::int64_t top = clamped(std::min(from.y, to.y) - pen.outer);
  const std::int64_t bottom = clamped(std::max(from.y, to.y) + pen.outer + 1.0F);
  for (std::int64_t row = top; row <= bottom; ++row) {
    const float py = static_cast<float>(row) - from.y;
    float* line = ink_.data() + row * side_;
    for (std::int64_t column = left; column <= right; ++column) {
      const float px = static_cast<float>(column) - from.x;
      const float along = std::clamp((px * dx + py * dy) * inverse, 0.0F, 1.0F);
      const float ax = px - along * dx;
      const float ay = py - along * dy;
      const float covered = std::min((outer - (ax * ax + ay * ay)) * slope, 1.0F);
      line[column] = std::max(line[column], covered);
    }
  }
}

/// A random affine map from the unit square to pixels.
struct Placement {
  float xx, xy, yx, yy;
  Point centre;

  Point operator()(Point p) const {
    const float x = p.x - 0.5F;
    const float y = p.y - 0.5F;
    return {centre.x + xx * x + xy * y, centre.y + yx * x + yy * y};
  }
};

Placement random_placement(SampleRandom& dice, float side, float jitter) {
  // Half-angle form of the rotation: no sine, so no library whose last bit may differ.
  const float t = dice.around(0.13F * jitter);
  const float cosine = (1.0F - t * t) / (1.0F + t * t);
  const float sine = 2.0F * t / (1.0F + t * t);
  const float size = 0.72F * side;
  const float width = size * (0.85F + dice.around(0.20F * jitter));
  const float height = size * (1.0F + dice.around(0.15F * jitter));
  const float shear = dice.around(0.30F * jitter);
  const float middle = 0.5F * (side - 1.0F);
  const float reach = 0.085F * side * jitter;
  const float x = middle + dice.around(reach);
  const float y = middle + dice.around(reach);
  return {cosine * width,
          (cosine * shear - sine) * height,
          sine * width,
          (sine * shear + cosine) * height,
          {x, y}};
}

std::int32_t draw_glyph(const GlyphOptions& options, SampleRandom& dice, Canvas& canvas) {
  const auto side = static_cast<float>(options.side);
  const auto jitter = static_cast<float>(options.jitter);
  const auto digit = static_cast<std::int64_t>(
      (std::uint64_t{dice.word()} * static_cast<std::uint64_t>(options.classes)) >> 32);
  const Placement place = random_placement(dice, side, jitter);
  const float radius = side / 28.0F * (1.15F + dice.around(0.45F) * std::min(jitter, 1.0F));
  const Pen pen{std::max(radius - 0.6F, 0.0F), radius + 0.6F};
  const auto strokes = strokes_of(digit);
  std::array<Point, max_points> points{};
  for (std::size_t i = 0; i < strokes.size(); ++i) {
    const float x = strokes[i].x + dice.around(0.045F * jitter);
    const float y = strokes[i].y + dice.around(0.045F * jitter);
    points[i] = place({x, y});
  }
  canvas.clear();
  for (std::size_t i = 1; i < strokes.size(); ++i) {
    canvas.draw(points[i - 1], points[i], pen);
  }
  return static_cast<std::int32_t>(digit);
}

/// Ink and noise of a channel as bytes; the noise has a stream for each, 16 pixels to a block.
void develop(const GlyphOptions& options, std::uint64_t sample, std::int64_t channel, float full,
             std::span<const float> ink, std::uint8_t* out) {
  const RngKey key{options.seed, RngPurpose::noise, static_cast<std::uint32_t>(channel)};
  const auto amplitude = static_cast<float>(options.noise);
  PhiloxBlock block{};
  for (std::size_t i = 0; i < ink.size(); ++i) {
    const std::size_t lane = i % 16;
    if (lane == 0) {
      block = random_block(key, sample, static_cast<std::uint32_t>(i / 16));
    }
    const std::uint32_t byte = (block.v[lane / 4] >> (8 * (lane % 4))) & 255U;
    const float noise = amplitude * (static_cast<float>(byte) - 127.5F) * 2.0F;
    const float value = std::clamp(full * ink[i] + noise, 0.0F, 255.0F);
    out[i] = static_cast<std::uint8_t>(value + 0.5F);
  }
}

void require(bool condition, const std::string& message) {
  if (!condition) {
    throw UsageError("glyphs: found " + message);
  }
}

void require_options(const GlyphOptions& options) {
  require(options.samples >= 1 && options.samples <= 0xFFFFFFFFLL,
          std::to_string(options.samples) + " samples; allowed are 1 to 4294967295");
  require(options.first >= 0,
          "first sample " + std::to_string(options.first) + "; allowed are 0 and more");
  require(options.classes >= 2 && options.classes <= 10,
          std::to_string(options.classes) + " classes; allowed are 2 to 10");
  require(options.side >= 8 && options.side <= 256,
          "a side of " + std::to_string(options.side) + " pixels; allowed are 8 to 256");
  require(options.channels >= 1 && options.channels <= 16,
          std::to_string(options.channels) + " channels; allowed are 1 to 16");
  require(options.jitter >= 0.0 && options.jitter <= 2.0,
          "a jitter of " + std::to_string(options.jitter) + "; allowed are 0 to 2");
  require(options.noise >= 0.0 && options.noise <= 1.0,
          "a noise of " + std::to_string(options.noise) + "; allowed are 0 to 1");
}

}  // namespace

io::Dataset make_glyphs(const GlyphOptions& options) {
  require_options(options);
  const auto pixels = static_cast<std::size_t>(options.side * options.side);
  const auto samples = static_cast<std::size_t>(options.samples);
  const auto channels = static_cast<std::size_t>(options.channels);
  auto images = io::allocate_bytes(samples * channels * pixels, "glyphs");
  auto labels = io::allocate_bytes(samples * sizeof(std::int32_t), "glyphs");
  Canvas canvas(options.side);
  for (std::size_t i = 0; i < samples; ++i) {
    const std::uint64_t sample = static_cast<std::uint64_t>(options.first) + i;
    SampleRandom dice(options.seed, RngPurpose::data, sample);
    reinterpret_cast<std::int32_t*>(labels.get())[i] = draw_glyph(options, dice, canvas);
    for (std::int64_t channel = 0; channel < options.channels; ++channel) {
      const float full = 255.0F * dice.between(0.65F, 1.0F);
      develop(options, sample, channel, full, canvas.ink(),
              reinterpret_cast<std::uint8_t*>(images.get()) +
                  (i * channels + static_cast<std::size_t>(channel)) * pixels);
    }
  }
  io::Dataset data;
  data.name = "glyphs";
  const Shape shape = options.channels == 1
                          ? Shape{options.samples, options.side, options.side}
                          : Shape{options.samples, options.channels, options.side, options.side};
  data.inputs = {DType::u8, shape, std::move(images)};
  data.targets = {DType::i32, Shape{options.samples}, std::move(labels)};
  data.classes = options.classes;
  data.input_scale = 1.0 / 255.0;
  return data;
}

}  // namespace zygos::synthetic
