// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Like glyphs.cpp: only operations whose every bit IEEE 754 fixes, compiled without contraction.
#include "zygos/synthetic/functions.hpp"

#include "synthetic/field_painter.hpp"

#include "zygos/core/error.hpp"

#include <cmath>
#include <span>
#include <string>
#include <utility>

namespace zygos::synthetic {
namespace {

/// Components of a symmetric tensor.
struct Symmetric {
  float xx, yy, zz, xy, xz, yz;

  explicit Symmetric(std::span<const float> values)
      : xx(values[0]), yy(values[1]), zz(values[2]), xy(values[3]), xz(values[4]), yz(values[5]) {}
  float trace() const { return xx + yy + zz; }
  float second_invariant() const {
    return xx * yy + yy * zz + zz * xx - xy * xy - xz * xz - yz * yz;
  }
  float determinant() const {
    return xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz);
  }
  /// Of a rate of strain.
  float magnitude() const {
    const float normal = xx * xx + yy * yy + zz * zz;
    const float shear = xy * xy + xz * xz + yz * yz;
    return std::sqrt(2.0F * (normal + 2.0F * shear));
  }
};

std::string_view name_of(Function function) {
  switch (function) {
    case Function::invariants:
      return "invariants";
    case Function::smagorinsky:
      return "smagorinsky";
    case Function::burgers:
      return "burgers";
    case Function::fronts:
      return "fronts";
    case Function::blobs:
      return "blobs";
  }
  throw InternalError("a function without a name");
}

struct SampleShapes {
  Shape input;
  Shape target;
};

SampleShapes shapes_of(const SyntheticOptions& options) {
  switch (options.function) {
    case Function::invariants:
      return {Shape{6}, Shape{3}};
    case Function::smagorinsky:
      return {Shape{6}, Shape{2}};
    default:
      return {Shape{1, options.size, options.size}, Shape{1, options.size, options.size}};
  }
}

void draw_tensor(Function function, SampleRandom& random, std::span<float> input,
                 std::span<float> target) {
  for (float& component : input) {
    component = random.around(1.0F);
  }
  const Symmetric tensor(input);
  if (function == Function::invariants) {
    target[0] = tensor.trace();
    target[1] = tensor.second_invariant();
    target[2] = tensor.determinant();
    return;
  }
  const float magnitude = tensor.magnitude();
  target[0] = 0.1F * magnitude;
  target[1] = 0.1F * magnitude * magnitude * magnitude;
}

void draw(Function function, FieldPainter& painter, SampleRandom& random, std::span<float> input,
          std::span<float> target) {
  switch (function) {
    case Function::burgers:
      return painter.burgers(random, input, target);
    case Function::fronts:
      return painter.fronts(random, input, target);
    case Function::blobs:
      return painter.blobs(random, input, target);
    default:
      return draw_tensor(function, random, input, target);
  }
}

void require(bool condition, const SyntheticOptions& options, const std::string& message) {
  if (!condition) {
    throw UsageError("synthetic " + std::string(name_of(options.function)) + ": found " + message);
  }
}

void require_options(const SyntheticOptions& options) {
  require(options.samples >= 1 && options.samples <= 0xFFFFFFFFLL, options,
          std::to_string(options.samples) + " samples; allowed are 1 to 4294967295");
  require(options.first >= 0, options,
          "first sample " + std::to_string(options.first) + "; allowed are 0 and more");
  require(options.size >= 8 && options.size <= 512, options,
          "a size of " + std::to_string(options.size) + " cells; allowed are 8 to 512");
  require(options.noise >= 0.0 && options.noise <= 10.0, options,
          "a noise of " + std::to_string(options.noise) + "; allowed are 0 to 10");
}

}  // namespace

io::Dataset make_synthetic(const SyntheticOptions& options) {
  require_options(options);
  const auto [input, target] = shapes_of(options);
  const auto inputs = static_cast<std::size_t>(input.size());
  const auto targets = static_cast<std::size_t>(target.size());
  const auto samples = static_cast<std::size_t>(options.samples);
  auto input_bytes = io::allocate_bytes(samples * inputs * sizeof(float), "synthetic");
  auto target_bytes = io::allocate_bytes(samples * targets * sizeof(float), "synthetic");
  FieldPainter painter(options.size);
  const auto amplitude = static_cast<float>(options.noise);
  for (std::size_t i = 0; i < samples; ++i) {
    const std::uint64_t sample = static_cast<std::uint64_t>(options.first) + i;
    SampleRandom random(options.seed, RngPurpose::data, sample);
    const std::span x(reinterpret_cast<float*>(input_bytes.get()) + i * inputs, inputs);
    draw(options.function, painter, random, x,
         {reinterpret_cast<float*>(target_bytes.get()) + i * targets, targets});
    SampleRandom noise(options.seed, RngPurpose::noise, sample);
    for (float& value : x) {
      value += amplitude > 0.0F ? noise.around(amplitude) : 0.0F;
    }
  }
  io::Dataset data;
  data.name = name_of(options.function);
  data.inputs = {DType::f32, input.with_leading(options.samples), std::move(input_bytes)};
  data.targets = {DType::f32, target.with_leading(options.samples), std::move(target_bytes)};
  return data;
}

}  // namespace zygos::synthetic
