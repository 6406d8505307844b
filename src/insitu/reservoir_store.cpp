// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "insitu/reservoir_store.hpp"

#include "insitu/fit.hpp"

#include "zygos/core/error.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace zygos::insitu {
namespace {

Placement placement_of(const ReservoirOptions& options) {
  const auto refuse = [](const std::string& what, std::int64_t found, const char* allowed) {
    throw UsageError("a reservoir with " + what + " " + std::to_string(found) + "; allowed is " +
                     allowed);
  };
  if (options.capacity < 1) {
    refuse("capacity", options.capacity, "1 or more");
  }
  if (options.validate_every < 0 || options.validate_every == 1) {
    refuse("validate_every", options.validate_every, "2 or more, or 0 to hold out none");
  }
  if (options.stored != DType::f32 && options.stored != DType::f64) {
    throw UsageError("a reservoir stores f32 or f64, not " + std::string(name_of(options.stored)));
  }
  const std::int64_t held_out =
      options.validate_every == 0
          ? 0
          : std::max<std::int64_t>(options.capacity / (options.validate_every - 1), 1);
  return {options.capacity, held_out, options.validate_every, options.keep, options.seed};
}

}  // namespace

ReservoirStore::ReservoirStore(const lane::Execution& execution, const Shape& input,
                               const Shape& target, const ReservoirOptions& options)
    : input_(input),
      target_(target),
      placement_(placement_of(options)),
      instance_(execution),
      refused_(instance_.allocate_shared(sizeof(std::int64_t), "zygos::insitu::refused")) {
  if (input.size() < 1 || target.size() < 1) {
    throw UsageError("a reservoir of samples " + input.text() + " with targets " + target.text() +
                     "; both must have numbers");
  }
  lay_out(options.stored);
}

void ReservoirStore::lay_out(DType stored) {
  using memory::Category;
  memory::ArenaLayout layout;
  const auto add = [&](const char* name, std::int64_t count, std::size_t unit) {
    return layout.add(Category::inputs, name, static_cast<std::size_t>(count) * unit);
  };
  const std::size_t inputs = add("inputs", slot_count() * input_.size(), size_of(stored));
  const std::size_t targets = add("targets", slot_count() * target_.size(), size_of(stored));
  const std::size_t owners = add("owners", slot_count(), sizeof(std::int64_t));
  const std::size_t running = add("moments", width(), sizeof(Moments));
  const std::size_t scratch = add("scratch", scratch_of_moments(width()), sizeof(Moments));
  arena_ =
      memory::Arena(std::move(layout), "reservoir", 0, [&](std::size_t bytes, const std::string&) {
        return instance_.allocate(bytes, "zygos::insitu::reservoir");
      });
  slots_ = {{arena_.at(inputs), stored, input_.size()},
            {arena_.at(targets), stored, target_.size()},
            reinterpret_cast<std::int64_t*>(arena_.at(owners))};
  running_ = reinterpret_cast<Moments*>(arena_.at(running));
  scratch_ = reinterpret_cast<Moments*>(arena_.at(scratch));
  clear_owners(*instance_, slots_.owners, slot_count());
}

void ReservoirStore::add(const lane::Execution& execution, std::span<const infer::Samples> inputs,
                         std::span<const infer::Samples> targets) {
  const std::int64_t count = count_of("inputs", inputs);
  require_fit("inputs", inputs, input_, count);
  require_fit("targets", targets, target_, count);
  if (count == 0) {
    return;
  }
  enter(execution);
  const Columns input = columns_of(inputs);
  const Columns target = columns_of(targets);
  add_samples(execution, placement_, seen_, input, target, slots_, refused_count());
  add_moments(execution, input, scratch_, running_);
  add_moments(execution, target, scratch_, running_ + input_.size());
  seen_ += count;
}

std::int64_t ReservoirStore::training() const {
  return std::min(placement_.capacity, seen_ - placement_.validated_of(seen_));
}

std::int64_t ReservoirStore::validation() const {
  return std::min(placement_.held_out, placement_.validated_of(seen_));
}

std::int64_t ReservoirStore::refused() const {
  instance_.wait("zygos::insitu::refused");
  return *refused_count();
}

namespace {

constexpr const char* inputs_name = "reservoir/inputs";
constexpr const char* targets_name = "reservoir/targets";
constexpr const char* owners_name = "reservoir/owners";
constexpr const char* moments_name = "reservoir/moments";
constexpr const char* reservoir_counters_name = "reservoir/counters";
constexpr const char* options_name = "reservoir/options";

/// A tensor that describes itself by what lies where.
struct Piece {
  const char* name;
  DType dtype;
  Shape shape;
  void* data;

  std::size_t bytes() const { return static_cast<std::size_t>(shape.size()) * size_of(dtype); }
};

std::array<Piece, 4> pieces_of(const ReservoirStore& store, std::int64_t slots) {
  const Slots& held = store.slots();
  return {
      Piece{inputs_name, held.inputs.dtype, Shape{slots, held.inputs.width}, held.inputs.data},
      Piece{targets_name, held.targets.dtype, Shape{slots, held.targets.width}, held.targets.data},
      Piece{owners_name, DType::i64, Shape{slots}, held.owners},
      Piece{moments_name, DType::f64, Shape{store.width(), 3}, store.moments()}};
}

StoredTensor numbers(const char* name, std::span<const std::int64_t> values) {
  StoredTensor tensor{name, DType::i64, Shape{std::ssize(values)}, {}};
  tensor.bytes.resize(values.size_bytes());
  std::memcpy(tensor.bytes.data(), values.data(), values.size_bytes());
  return tensor;
}

std::vector<std::int64_t> numbers_in(const StoredTensor& tensor) {
  std::vector<std::int64_t> values(tensor.bytes.size() / sizeof(std::int64_t));
  std::memcpy(values.data(), tensor.bytes.data(), values.size() * sizeof(std::int64_t));
  return values;
}

}  // namespace

std::vector<std::int64_t> ReservoirStore::identity() const {
  return {placement_.capacity, placement_.held_out, placement_.period,
          static_cast<std::int64_t>(placement_.keep), static_cast<std::int64_t>(placement_.seed)};
}

State ReservoirStore::state() const {
  State state;
  for (const Piece& piece : pieces_of(*this, slot_count())) {
    StoredTensor tensor{piece.name, piece.dtype, piece.shape,
                        std::vector<std::byte>(piece.bytes())};
    instance_.copy_out(tensor.bytes.data(), piece.data, piece.bytes(), "zygos::insitu::state");
    state.tensors.push_back(std::move(tensor));
  }
  state.tensors.push_back(numbers(reservoir_counters_name, std::array{seen_, refused()}));
  state.tensors.push_back(numbers(options_name, identity()));
  return state;
}

void ReservoirStore::restore(const State& state) {
  const std::vector<std::int64_t> own = identity();
  const auto saved = numbers_in(state.tensor(options_name, DType::i64, Shape{std::ssize(own)}));
  if (saved != own) {
    throw CheckpointError(
        "the saved reservoir has another capacity, validate_every, keep or seed than this one; "
        "make it with the same options");
  }
  const auto counters = numbers_in(state.tensor(reservoir_counters_name, DType::i64, Shape{2}));
  const auto pieces = pieces_of(*this, slot_count());
  for (const Piece& piece : pieces) {
    static_cast<void>(state.tensor(piece.name, piece.dtype, piece.shape));
  }
  instance_.wait("zygos::insitu::restore");
  for (const Piece& piece : pieces) {
    const StoredTensor& tensor = state.tensor(piece.name, piece.dtype, piece.shape);
    instance_.copy_in(piece.data, tensor.bytes.data(), piece.bytes(), "zygos::insitu::restore");
  }
  seen_ = counters[0];
  *refused_count() = counters[1];
}

}  // namespace zygos::insitu
