// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/insitu/reservoir.hpp"

#include "insitu/reservoir_store.hpp"

namespace zygos::insitu {

Reservoir::Reservoir(const lane::Execution& execution, const Shape& input, const Shape& target,
                     const ReservoirOptions& options)
    : store_(std::make_unique<ReservoirStore>(execution, input, target, options)) {}
Reservoir::Reservoir(Reservoir&&) noexcept = default;
Reservoir& Reservoir::operator=(Reservoir&&) noexcept = default;
Reservoir::~Reservoir() = default;

void Reservoir::add_samples(const lane::Execution& execution,
                            std::span<const infer::Samples> inputs,
                            std::span<const infer::Samples> targets) {
  store_->add(execution, inputs, targets);
}

const Shape& Reservoir::input_shape() const noexcept { return store_->input(); }
const Shape& Reservoir::target_shape() const noexcept { return store_->target(); }
std::int64_t Reservoir::seen() const noexcept { return store_->seen(); }
std::int64_t Reservoir::training() const noexcept { return store_->training(); }
std::int64_t Reservoir::validation() const noexcept { return store_->validation(); }
std::int64_t Reservoir::refused() const { return store_->refused(); }
std::size_t Reservoir::bytes() const noexcept { return store_->bytes(); }
State Reservoir::state() const { return store_->state(); }
void Reservoir::restore(const State& state) { store_->restore(state); }

}  // namespace zygos::insitu
