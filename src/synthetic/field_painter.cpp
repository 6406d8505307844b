// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Like glyphs.cpp: only operations whose every bit IEEE 754 fixes, compiled without contraction.
#include "synthetic/field_painter.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace zygos::synthetic {
namespace {

/// Random values of a smooth field, along each axis.
constexpr std::int64_t knots = 4;

/// Weights of the three knots around a coordinate: the uniform quadratic B-spline.
struct Spline {
  std::int64_t first;
  std::array<float, 3> weights;

  Spline(std::int64_t cell, std::int64_t cells) {
    first = cell * knots / cells;
    const auto t = static_cast<float>(cell * knots - first * cells) / static_cast<float>(cells);
    weights = {0.5F * (1.0F - t) * (1.0F - t), 0.5F + t * (1.0F - t), 0.5F * t * t};
  }
  std::size_t knot(std::size_t i) const {
    return (static_cast<std::size_t>(first) + i) % static_cast<std::size_t>(knots);
  }
};

constexpr float viscosity = 0.01F;
constexpr float end_time = 0.15F;
constexpr float steep = 5.0F;

/// d^2 = 1 on the border.
struct Ellipse {
  float x, y, cosine, sine, along, across, brightness;

  Ellipse(SampleRandom& random, float side) {
    x = random.between(0.15F, 0.85F) * side;
    y = random.between(0.15F, 0.85F) * side;
    // Half-angle form of the rotation: no sine, so no library whose last bit may differ.
    const float t = random.around(1.0F);
    cosine = (1.0F - t * t) / (1.0F + t * t);
    sine = 2.0F * t / (1.0F + t * t);
    along = 1.0F / (random.between(0.08F, 0.22F) * side);
    across = 1.0F / (random.between(0.08F, 0.22F) * side);
    brightness = random.between(0.4F, 1.0F);
  }
  float squared_distance(float px, float py) const {
    const float u = (cosine * (px - x) + sine * (py - y)) * along;
    const float v = (cosine * (py - y) - sine * (px - x)) * across;
    return u * u + v * v;
  }
};

}  // namespace

FieldPainter::FieldPainter(std::int64_t side)
    : side_(side), next_(static_cast<std::size_t>(side * side)) {}

void FieldPainter::smooth_field(SampleRandom& random, float amplitude, std::span<float> field) {
  std::array<float, knots * knots> values{};
  for (float& value : values) {
    value = random.around(amplitude);
  }
  for (std::int64_t row = 0; row < side_; ++row) {
    const Spline down(row, side_);
    for (std::int64_t column = 0; column < side_; ++column) {
      const Spline right(column, side_);
      float sum = 0.0F;
      for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 3; ++j) {
          sum += down.weights[i] * right.weights[j] * values[down.knot(i) * knots + right.knot(j)];
        }
      }
      field[at(row, column)] = sum;
    }
  }
}

/// First-order upwind in space, explicit in time, with steps short enough to stay between the
/// field's extremes.
void FieldPainter::advance(std::span<float> field) {
  const auto cells = static_cast<float>(side_);  // in a length of one
  const float fastest = 0.8F / (2.0F * cells + 4.0F * viscosity * cells * cells);
  const auto steps = static_cast<std::int64_t>(end_time / fastest) + 1;
  const float step = end_time / static_cast<float>(steps);
  for (std::int64_t i = 0; i < steps; ++i) {
    for (std::int64_t row = 0; row < side_; ++row) {
      const std::int64_t above = (row + side_ - 1) % side_;
      const std::int64_t below = (row + 1) % side_;
      for (std::int64_t column = 0; column < side_; ++column) {
        const float u = field[at(row, column)];
        const float up = field[at(above, column)];
        const float down = field[at(below, column)];
        const float left = field[at(row, (column + side_ - 1) % side_)];
        const float right = field[at(row, (column + 1) % side_)];
        const float slopes = u > 0.0F ? (u - left) + (u - up) : (right - u) + (down - u);
        const float curvature = left + right + up + down - 4.0F * u;
        next_[at(row, column)] =
            u + step * (viscosity * cells * cells * curvature - cells * u * slopes);
      }
    }
    std::copy(next_.begin(), next_.end(), field.begin());
  }
}

void FieldPainter::burgers(SampleRandom& random, std::span<float> before, std::span<float> after) {
  smooth_field(random, 1.0F, before);
  std::copy(before.begin(), before.end(), after.begin());
  advance(after);
}

void FieldPainter::fronts(SampleRandom& random, std::span<float> before, std::span<float> mask) {
  burgers(random, before, mask);
  const float least = 2.0F * steep / static_cast<float>(side_);
  for (std::int64_t row = 0; row < side_; ++row) {
    for (std::int64_t column = 0; column < side_; ++column) {
      const float across =
          mask[at(row, (column + 1) % side_)] - mask[at(row, (column + side_ - 1) % side_)];
      const float along =
          mask[at((row + 1) % side_, column)] - mask[at((row + side_ - 1) % side_, column)];
      next_[at(row, column)] = std::abs(across) + std::abs(along) > least ? 1.0F : 0.0F;
    }
  }
  std::copy(next_.begin(), next_.end(), mask.begin());
}

void FieldPainter::blobs(SampleRandom& random, std::span<float> image, std::span<float> mask) {
  smooth_field(random, 0.5F, image);
  std::fill(mask.begin(), mask.end(), 0.0F);
  const std::uint32_t count = 1 + (random.word() >> 30);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Ellipse ellipse(random, static_cast<float>(side_));
    for (std::int64_t row = 0; row < side_; ++row) {
      for (std::int64_t column = 0; column < side_; ++column) {
        const float distance =
            ellipse.squared_distance(static_cast<float>(column), static_cast<float>(row));
        // Bright inside, fading around the border.
        const float light = std::clamp((1.3F - distance) / 0.6F, 0.0F, 1.0F);
        image[at(row, column)] += light * ellipse.brightness;
        mask[at(row, column)] = distance < 1.0F ? 1.0F : mask[at(row, column)];
      }
    }
  }
}

}  // namespace zygos::synthetic
