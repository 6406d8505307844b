// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What each kind of task, and the two ends of each payload, reads and writes: for the rows of
// kinds.cpp.
#pragma once

#include "schedule/kind_rows.hpp"

namespace zygos::schedule::operand_lists {

using enum Fact;

// ---------------------------------------------------------------- operands of tasks, in order

inline constexpr List<Operand, 1> load_reads{{{BufferKind::batch, Extent::caller}}};
inline constexpr List<Operand, 2> load_writes{
    {{BufferKind::inputs, Extent::micro_batch, 0, facts({host_accessible})},
     {BufferKind::staging, Extent::micro_batch, 0, facts({staged})}}};

inline constexpr List<Operand, 1> copy_reads{{{BufferKind::staging, Extent::micro_batch}}};
inline constexpr List<Operand, 1> copy_writes{
    {{BufferKind::inputs, Extent::micro_batch, slot_loaded}}};

inline constexpr List<Operand, 7> forward_reads{
    {{BufferKind::inputs, Extent::micro_batch},
     {BufferKind::weights, Extent::parameters_of_nodes, slot_of_task},
     {BufferKind::boundary, Extent::micro_batch, 0, facts({has_boundary})},
     {BufferKind::activations, Extent::segment, 0, facts({segment_made})},
     {BufferKind::activations, Extent::sources},
     {BufferKind::outputs, Extent::micro_batch, 0, facts({made})},
     {BufferKind::batch_statistics, Extent::divided_nodes}}};
inline constexpr List<Operand, 3> forward_writes{{{BufferKind::activations, Extent::segment},
                                                  {BufferKind::outputs, Extent::micro_batch},
                                                  {BufferKind::scratch, Extent::micro_batch, 1}}};
inline constexpr List<Operand, 6> recompute_reads{
    {{BufferKind::inputs, Extent::micro_batch},
     {BufferKind::weights, Extent::parameters_of_nodes, slot_of_task},
     {BufferKind::boundary, Extent::micro_batch, 0, facts({has_boundary})},
     {BufferKind::activations, Extent::sources, slot_kept},
     {BufferKind::outputs, Extent::micro_batch, 0, facts({made})},
     {BufferKind::batch_statistics, Extent::divided_nodes}}};
inline constexpr List<Operand, 3> recompute_writes{{{BufferKind::activations, Extent::segment, 1},
                                                    {BufferKind::outputs, Extent::micro_batch},
                                                    {BufferKind::scratch, Extent::micro_batch, 1}}};

inline constexpr List<Operand, 2> loss_reads{
    {{BufferKind::inputs, Extent::micro_batch}, {BufferKind::outputs, Extent::micro_batch}}};
inline constexpr List<Operand, 1> loss_writes{
    {{BufferKind::output_gradients, Extent::micro_batch}}};

inline constexpr List<Operand, 11> backward_reads{
    {{BufferKind::inputs, Extent::micro_batch},
     {BufferKind::weights, Extent::parameters_of_nodes, slot_of_task},
     {BufferKind::boundary, Extent::micro_batch, 0, facts({has_boundary})},
     {BufferKind::activations, Extent::segment, slot_kept},
     {BufferKind::activations, Extent::sources, slot_kept},
     {BufferKind::outputs, Extent::micro_batch},
     {BufferKind::output_gradients, Extent::micro_batch, 0, facts({own_gradients})},
     {BufferKind::input_gradients, Extent::micro_batch, 0, facts({passing_gradients})},
     {BufferKind::scratch, Extent::micro_batch, 0, facts({later_nodes})},
     {BufferKind::gradients, Extent::parts_of_nodes, 0, facts({accumulates})},
     {BufferKind::batch_statistics, Extent::divided_nodes, 1}}};
inline constexpr List<Operand, 3> backward_writes{
    {{BufferKind::gradients, Extent::parts_of_nodes},
     {BufferKind::scratch, Extent::micro_batch},
     {BufferKind::input_gradients, Extent::micro_batch, 0, facts({sends_gradients})}}};

inline constexpr List<Operand, 1> all_reduce_reads{
    {{BufferKind::gradients, Extent::parts_of_task}}};
inline constexpr List<Operand, 1> all_reduce_writes{
    {{BufferKind::reduced_gradients, Extent::parts_of_task}}};

inline constexpr List<Operand, 8> statistics_reads{
    {{BufferKind::inputs, Extent::micro_batch},
     {BufferKind::boundary, Extent::micro_batch, 0, facts({has_boundary})},
     {BufferKind::activations, Extent::segment, slot_kept, facts({segment_made})},
     {BufferKind::activations, Extent::sources, slot_kept},
     {BufferKind::outputs, Extent::micro_batch, 0, facts({made})},
     {BufferKind::output_gradients, Extent::micro_batch, 0, facts({of_gradients, own_gradients})},
     {BufferKind::input_gradients, Extent::micro_batch, 0,
      facts({of_gradients, passing_gradients})},
     {BufferKind::scratch, Extent::micro_batch, 0, facts({of_gradients, later_nodes})}}};
inline constexpr List<Operand, 1> statistics_writes{
    {{BufferKind::statistics, Extent::node, slot_of_direction}}};

inline constexpr List<Operand, 1> gathered_statistics{
    {{BufferKind::statistics, Extent::gathered, slot_of_direction}}};
inline constexpr List<Operand, 1> all_gather_writes{
    {{BufferKind::batch_statistics, Extent::update_of_node, slot_of_direction}}};

inline constexpr List<Operand, 2> squares_reads{
    {{BufferKind::reduced_gradients, Extent::parts_of_task, 0, facts({reduced})},
     {BufferKind::gradients, Extent::parts_of_task, 0, facts({unreduced})}}};
inline constexpr List<Operand, 1> squares_writes{{{BufferKind::squares, Extent::parts_of_task}}};

inline constexpr List<Operand, 1> owned_squares{{{BufferKind::squares, Extent::parts_owned}}};
inline constexpr List<Operand, 1> norm_writes{{{BufferKind::norm, Extent::place}}};

inline constexpr List<Operand, 4> compress_reads{
    {{BufferKind::gradients, Extent::parts_of_task},
     {BufferKind::optimizer_state, Extent::parameters_of_task},
     {BufferKind::compression_error, Extent::parts_of_task, 0, facts({unreduced})},
     {BufferKind::sum_error, Extent::parts_of_task, 0, facts({reduced})}}};
inline constexpr List<Operand, 3> compress_writes{
    {{BufferKind::gradients, Extent::parts_of_task},
     {BufferKind::compression_error, Extent::parts_of_task, 0, facts({unreduced})},
     {BufferKind::sum_error, Extent::parts_of_task, 0, facts({reduced})}}};

inline constexpr List<Operand, 5> update_reads{
    {{BufferKind::reduced_gradients, Extent::parts_of_task, 0, facts({reduced})},
     {BufferKind::gradients, Extent::parts_of_task, 0, facts({unreduced})},
     {BufferKind::norm, Extent::place, 0, facts({clips})},
     {BufferKind::weights, Extent::parameters_of_task},
     {BufferKind::optimizer_state, Extent::parameters_of_task}}};
inline constexpr List<Operand, 2> update_writes{
    {{BufferKind::weights, Extent::parameters_of_task},
     {BufferKind::optimizer_state, Extent::parameters_of_task}}};

inline constexpr List<Operand, 4> speculate_reads{
    {{BufferKind::reduced_gradients, Extent::parts_of_task, 0, facts({reduced})},
     {BufferKind::gradients, Extent::parts_of_task, 0, facts({unreduced})},
     {BufferKind::weights, Extent::parameters_of_task},
     {BufferKind::optimizer_state, Extent::parameters_of_task}}};
inline constexpr List<Operand, 4> speculate_writes{
    {{BufferKind::weights, Extent::parameters_of_task},
     {BufferKind::optimizer_state, Extent::parameters_of_task},
     {BufferKind::previous_weights, Extent::parameters_of_task},
     {BufferKind::previous_state, Extent::parameters_of_task}}};
inline constexpr List<Operand, 7> confirm_reads{
    {{BufferKind::reduced_gradients, Extent::parts_of_task, 0, facts({reduced})},
     {BufferKind::gradients, Extent::parts_of_task, 0, facts({unreduced})},
     {BufferKind::norm, Extent::place},
     {BufferKind::weights, Extent::parameters_of_task},
     {BufferKind::optimizer_state, Extent::parameters_of_task},
     {BufferKind::previous_weights, Extent::parameters_of_task},
     {BufferKind::previous_state, Extent::parameters_of_task}}};

inline constexpr List<Operand, 1> current_weights{
    {{BufferKind::weights, Extent::parameters_of_task}}};
inline constexpr List<Operand, 1> weights_in_slot{
    {{BufferKind::weights, Extent::parameters_of_task, slot_of_task}}};
inline constexpr List<Operand, 1> weights_at_rest{
    {{BufferKind::stashed_weights, Extent::parameters_of_task, slot_of_task}}};
inline constexpr List<Operand, 1> fetched_weights{
    {{BufferKind::weights, Extent::parameters_of_task, 1}}};
inline constexpr List<Operand, 1> segment_on_lane{{{BufferKind::activations, Extent::segment}}};
inline constexpr List<Operand, 1> segment_at_rest{
    {{BufferKind::resting_activations, Extent::segment}}};
inline constexpr List<Operand, 1> segment_to_fetch{
    {{BufferKind::resting_activations, Extent::segment, slot_at_rest}}};
inline constexpr List<Operand, 2> segment_to_write{
    {{BufferKind::activations, Extent::segment, 0, facts({host_accessible})},
     {BufferKind::resting_activations, Extent::segment, 0, facts({staged})}}};
inline constexpr List<Operand, 1> segment_in_file{
    {{BufferKind::spilled_activations, Extent::segment}}};
inline constexpr List<Operand, 2> segment_read{
    {{BufferKind::activations, Extent::segment, 1, facts({host_accessible})},
     {BufferKind::resting_activations, Extent::segment, 1, facts({staged})}}};
inline constexpr List<Operand, 1> held_states{
    {{BufferKind::optimizer_state, Extent::parameters_of_task}}};
inline constexpr List<Operand, 1> filed_states{
    {{BufferKind::spilled_state, Extent::parameters_of_task}}};
inline constexpr List<Operand, 2> version_to_write{
    {{BufferKind::weights, Extent::parameters_of_task, 0, facts({host_accessible})},
     {BufferKind::stashed_weights, Extent::parameters_of_task, 1, facts({staged})}}};
inline constexpr List<Operand, 1> version_in_file{
    {{BufferKind::spilled_weights, Extent::parameters_of_task, slot_of_task}}};
inline constexpr List<Operand, 2> version_read{
    {{BufferKind::weights, Extent::parameters_of_task, 1, facts({host_accessible})},
     {BufferKind::stashed_weights, Extent::parameters_of_task, 1, facts({staged})}}};
inline constexpr List<Operand, 1> segment_fetched{{{BufferKind::activations, Extent::segment, 1}}};
inline constexpr List<Operand, 2> average_reads{{{BufferKind::weights, Extent::parameters_of_task},
                                                 {BufferKind::weights, Extent::kept_versions}}};

// ---------------------------------------------------------------- operands of payloads

inline constexpr List<Operand, 1> stage_outputs{{{BufferKind::outputs, Extent::micro_batch}}};
inline constexpr List<Operand, 1> stage_inputs{{{BufferKind::boundary, Extent::micro_batch}}};
inline constexpr List<Operand, 1> own_input_gradients{
    {{BufferKind::input_gradients, Extent::micro_batch}}};
inline constexpr List<Operand, 2> later_gradients{
    {{BufferKind::output_gradients, Extent::micro_batch, 0, facts({peer_has_own})},
     {BufferKind::input_gradients, Extent::micro_batch, 0, facts({peer_has_passing})}}};
inline constexpr List<Operand, 1> own_gradient{{{BufferKind::gradients, Extent::parts_of_task}}};

}  // namespace zygos::schedule::operand_lists
