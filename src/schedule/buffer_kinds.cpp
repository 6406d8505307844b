// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// The table of kinds of buffers.
#include "schedule/kind_rows.hpp"

#include <initializer_list>

namespace zygos::schedule {
namespace {

using memory::Category;

using B = BufferTraits;
constexpr auto per_task = Lifetime::task;
constexpr auto per_step = Lifetime::step;
constexpr auto per_run = Lifetime::run;
constexpr auto on_lane = Tier::lane;
constexpr auto on_host = Tier::host;
constexpr auto in_file = Tier::file;

constexpr B row(BufferKind kind, std::string_view name, Lifetime lifetime, Tier tier,
                Category category, std::initializer_list<bool B::*> flags) {
  B traits{.kind = kind, .name = name, .lifetime = lifetime, .tier = tier, .category = category};
  for (bool B::*const flag : flags) {
    traits.*flag = true;
  }
  return traits;
}

constexpr List<BufferTraits, buffer_kind_count> buffer_rows{{
    row(BufferKind::batch, "batch", per_run, on_host, Category::inputs, {&B::exists_before}),
    row(BufferKind::staging, "staging", per_step, on_host, Category::communication,
        {&B::of_samples}),
    row(BufferKind::inputs, "inputs", per_step, on_lane, Category::inputs, {&B::of_samples}),
    row(BufferKind::boundary, "boundary", per_step, on_lane, Category::activations,
        {&B::of_samples}),
    row(BufferKind::activations, "activations", per_step, on_lane, Category::activations,
        {&B::of_samples, &B::by_segment}),
    row(BufferKind::outputs, "outputs", per_step, on_lane, Category::activations, {&B::of_samples}),
    row(BufferKind::scratch, "scratch", per_step, on_lane, Category::workspace, {&B::of_samples}),
    row(BufferKind::output_gradients, "output_gradients", per_step, on_lane, Category::activations,
        {&B::of_samples}),
    row(BufferKind::input_gradients, "input_gradients", per_step, on_lane, Category::activations,
        {&B::of_samples}),
    row(BufferKind::message, "message", per_step, on_host, Category::communication,
        {&B::written_once}),
    row(BufferKind::gradients, "gradients", per_run, on_lane, Category::gradients,
        {&B::of_elements, &B::slots_as_one, &B::by_part}),
    row(BufferKind::reduced_gradients, "reduced_gradients", per_run, on_lane,
        Category::communication, {&B::of_elements, &B::by_part}),
    row(BufferKind::statistics, "statistics", per_run, on_lane, Category::workspace,
        {&B::of_samples, &B::for_node, &B::written_once}),
    row(BufferKind::batch_statistics, "batch_statistics", per_run, on_lane, Category::workspace,
        {&B::for_node, &B::written_once}),
    row(BufferKind::squares, "squares", per_run, on_lane, Category::workspace, {&B::by_part}),
    row(BufferKind::norm, "norm", per_run, on_lane, Category::workspace, {}),
    row(BufferKind::weights, "weights", per_run, on_lane, Category::weights,
        {&B::of_elements, &B::by_owner, &B::exists_before}),
    row(BufferKind::optimizer_state, "optimizer_state", per_run, on_lane, Category::optimizer_state,
        {&B::of_elements, &B::slots_as_one, &B::by_owner, &B::exists_before}),
    row(BufferKind::previous_weights, "previous_weights", per_run, on_lane, Category::stash,
        {&B::of_elements, &B::by_owner}),
    row(BufferKind::previous_state, "previous_state", per_run, on_lane, Category::stash,
        {&B::of_elements, &B::slots_as_one, &B::by_owner}),
    row(BufferKind::resting_activations, "resting_activations", per_step, on_host,
        Category::activations, {&B::of_samples, &B::by_segment}),
    row(BufferKind::spilled_activations, "spilled_activations", per_step, in_file,
        Category::activations, {&B::of_samples, &B::by_segment}),
    row(BufferKind::spilled_state, "spilled_state", per_run, in_file, Category::optimizer_state,
        {&B::of_elements, &B::slots_as_one, &B::by_owner, &B::exists_before}),
    row(BufferKind::compression_error, "compression_error", per_run, on_lane,
        Category::optimizer_state, {&B::of_elements, &B::by_part, &B::exists_before}),
    row(BufferKind::sum_error, "sum_error", per_run, on_lane, Category::optimizer_state,
        {&B::of_elements, &B::by_part, &B::exists_before}),
    row(BufferKind::stashed_weights, "stashed_weights", per_run, on_host, Category::stash,
        {&B::of_elements, &B::by_owner}),
    row(BufferKind::spilled_weights, "spilled_weights", per_run, in_file, Category::stash,
        {&B::of_elements, &B::by_owner}),
    row(BufferKind::constants, "constants", per_run, on_lane, Category::weights,
        {&B::for_node, &B::exists_before}),
    row(BufferKind::decay_mask, "decay_mask", per_run, on_lane, Category::optimizer_state,
        {&B::of_elements, &B::by_owner, &B::exists_before}),
    row(BufferKind::landing, "landing", per_task, on_lane, Category::communication, {}),
    row(BufferKind::coded_message, "coded_message", per_task, on_lane, Category::communication, {}),
    row(BufferKind::gradient_flag, "gradient_flag", per_run, on_lane, Category::workspace, {}),
    row(BufferKind::loss_totals, "loss_totals", per_run, on_lane, Category::workspace, {}),
    row(BufferKind::staged_flag, "staged_flag", per_run, on_host, Category::communication, {}),
    row(BufferKind::staged_totals, "staged_totals", per_run, on_host, Category::communication, {}),
    row(BufferKind::step_scalars, "step_scalars", per_run, on_lane, Category::workspace, {}),
    row(BufferKind::staged_scalars, "staged_scalars", per_run, on_host, Category::communication,
        {}),
}};

static_assert(in_order(buffer_rows, &BufferTraits::kind),
              "a row for each kind of buffer, in their order");

}  // namespace

const BufferTraits& traits_of(BufferKind kind) {
  return row_of(buffer_rows, kind, "kind of buffer");
}
std::span<const BufferTraits> all_buffer_kinds() { return buffer_rows; }

}  // namespace zygos::schedule
