// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "schedule/kind_rows.hpp"

#include <array>

namespace zygos::schedule {
namespace {

using memory::Category;
using enum TaskKind;
using enum Fact;

// ---------------------------------------------------------------- operands of tasks, in order

constexpr List<Operand, 1> load_reads{{{BufferKind::batch, Extent::caller}}};
constexpr List<Operand, 2> load_writes{
    {{BufferKind::inputs, Extent::micro_batch, 0, facts({host_accessible})},
     {BufferKind::staging, Extent::micro_batch, 0, facts({staged})}}};

constexpr List<Operand, 1> copy_reads{{{BufferKind::staging, Extent::micro_batch}}};
constexpr List<Operand, 1> copy_writes{{{BufferKind::inputs, Extent::micro_batch}}};

constexpr List<Operand, 7> forward_reads{
    {{BufferKind::inputs, Extent::micro_batch},
     {BufferKind::weights, Extent::parameters_of_nodes, slot_of_task},
     {BufferKind::boundary, Extent::micro_batch, 0, facts({has_boundary})},
     {BufferKind::activations, Extent::segment, 0, facts({segment_made})},
     {BufferKind::activations, Extent::sources},
     {BufferKind::outputs, Extent::micro_batch, 0, facts({made})},
     {BufferKind::batch_statistics, Extent::divided_nodes}}};
constexpr List<Operand, 3> forward_writes{{{BufferKind::activations, Extent::segment},
                                           {BufferKind::outputs, Extent::micro_batch},
                                           {BufferKind::scratch, Extent::micro_batch, 1}}};
constexpr List<Operand, 6> recompute_reads{
    {{BufferKind::inputs, Extent::micro_batch},
     {BufferKind::weights, Extent::parameters_of_nodes, slot_of_task},
     {BufferKind::boundary, Extent::micro_batch, 0, facts({has_boundary})},
     {BufferKind::activations, Extent::sources, slot_kept},
     {BufferKind::outputs, Extent::micro_batch, 0, facts({made})},
     {BufferKind::batch_statistics, Extent::divided_nodes}}};
constexpr List<Operand, 3> recompute_writes{{{BufferKind::activations, Extent::segment, 1},
                                             {BufferKind::outputs, Extent::micro_batch},
                                             {BufferKind::scratch, Extent::micro_batch, 1}}};

constexpr List<Operand, 2> loss_reads{
    {{BufferKind::inputs, Extent::micro_batch}, {BufferKind::outputs, Extent::micro_batch}}};
constexpr List<Operand, 1> loss_writes{{{BufferKind::output_gradients, Extent::micro_batch}}};

constexpr List<Operand, 11> backward_reads{
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
constexpr List<Operand, 3> backward_writes{
    {{BufferKind::gradients, Extent::parts_of_nodes},
     {BufferKind::scratch, Extent::micro_batch},
     {BufferKind::input_gradients, Extent::micro_batch, 0, facts({sends_gradients})}}};

constexpr List<Operand, 1> all_reduce_reads{{{BufferKind::gradients, Extent::parts_of_task}}};
constexpr List<Operand, 1> all_reduce_writes{
    {{BufferKind::reduced_gradients, Extent::parts_of_task}}};

constexpr List<Operand, 8> statistics_reads{
    {{BufferKind::inputs, Extent::micro_batch},
     {BufferKind::boundary, Extent::micro_batch, 0, facts({has_boundary})},
     {BufferKind::activations, Extent::segment, slot_kept, facts({segment_made})},
     {BufferKind::activations, Extent::sources, slot_kept},
     {BufferKind::outputs, Extent::micro_batch, 0, facts({made})},
     {BufferKind::output_gradients, Extent::micro_batch, 0, facts({of_gradients, own_gradients})},
     {BufferKind::input_gradients, Extent::micro_batch, 0,
      facts({of_gradients, passing_gradients})},
     {BufferKind::scratch, Extent::micro_batch, 0, facts({of_gradients, later_nodes})}}};
constexpr List<Operand, 1> statistics_writes{
    {{BufferKind::statistics, Extent::node, slot_of_direction}}};

constexpr List<Operand, 1> gathered_statistics{
    {{BufferKind::statistics, Extent::gathered, slot_of_direction}}};
constexpr List<Operand, 1> all_gather_writes{
    {{BufferKind::batch_statistics, Extent::update_of_node, slot_of_direction}}};

constexpr List<Operand, 2> squares_reads{
    {{BufferKind::reduced_gradients, Extent::parts_of_task, 0, facts({reduced})},
     {BufferKind::gradients, Extent::parts_of_task, 0, facts({unreduced})}}};
constexpr List<Operand, 1> squares_writes{{{BufferKind::squares, Extent::parts_of_task}}};

constexpr List<Operand, 1> owned_squares{{{BufferKind::squares, Extent::parts_owned}}};
constexpr List<Operand, 1> norm_writes{{{BufferKind::norm, Extent::place}}};

constexpr List<Operand, 4> compress_reads{
    {{BufferKind::gradients, Extent::parts_of_task},
     {BufferKind::optimizer_state, Extent::parameters_of_task},
     {BufferKind::compression_error, Extent::parts_of_task, 0, facts({unreduced})},
     {BufferKind::sum_error, Extent::parts_of_task, 0, facts({reduced})}}};
constexpr List<Operand, 3> compress_writes{
    {{BufferKind::gradients, Extent::parts_of_task},
     {BufferKind::compression_error, Extent::parts_of_task, 0, facts({unreduced})},
     {BufferKind::sum_error, Extent::parts_of_task, 0, facts({reduced})}}};

constexpr List<Operand, 5> update_reads{
    {{BufferKind::reduced_gradients, Extent::parts_of_task, 0, facts({reduced})},
     {BufferKind::gradients, Extent::parts_of_task, 0, facts({unreduced})},
     {BufferKind::norm, Extent::place, 0, facts({clips})},
     {BufferKind::weights, Extent::parameters_of_task},
     {BufferKind::optimizer_state, Extent::parameters_of_task}}};
constexpr List<Operand, 2> update_writes{
    {{BufferKind::weights, Extent::parameters_of_task},
     {BufferKind::optimizer_state, Extent::parameters_of_task}}};

constexpr List<Operand, 4> speculate_reads{
    {{BufferKind::reduced_gradients, Extent::parts_of_task, 0, facts({reduced})},
     {BufferKind::gradients, Extent::parts_of_task, 0, facts({unreduced})},
     {BufferKind::weights, Extent::parameters_of_task},
     {BufferKind::optimizer_state, Extent::parameters_of_task}}};
constexpr List<Operand, 4> speculate_writes{
    {{BufferKind::weights, Extent::parameters_of_task},
     {BufferKind::optimizer_state, Extent::parameters_of_task},
     {BufferKind::previous_weights, Extent::parameters_of_task},
     {BufferKind::previous_state, Extent::parameters_of_task}}};
constexpr List<Operand, 7> confirm_reads{
    {{BufferKind::reduced_gradients, Extent::parts_of_task, 0, facts({reduced})},
     {BufferKind::gradients, Extent::parts_of_task, 0, facts({unreduced})},
     {BufferKind::norm, Extent::place},
     {BufferKind::weights, Extent::parameters_of_task},
     {BufferKind::optimizer_state, Extent::parameters_of_task},
     {BufferKind::previous_weights, Extent::parameters_of_task},
     {BufferKind::previous_state, Extent::parameters_of_task}}};

constexpr List<Operand, 1> current_weights{{{BufferKind::weights, Extent::parameters_of_task}}};
constexpr List<Operand, 1> weights_in_slot{
    {{BufferKind::weights, Extent::parameters_of_task, slot_of_task}}};
constexpr List<Operand, 1> weights_at_rest{
    {{BufferKind::stashed_weights, Extent::parameters_of_task, slot_of_task}}};
constexpr List<Operand, 1> fetched_weights{{{BufferKind::weights, Extent::parameters_of_task, 1}}};
constexpr List<Operand, 1> segment_on_lane{{{BufferKind::activations, Extent::segment}}};
constexpr List<Operand, 1> segment_at_rest{{{BufferKind::resting_activations, Extent::segment}}};
constexpr List<Operand, 1> segment_to_fetch{
    {{BufferKind::resting_activations, Extent::segment, slot_at_rest}}};
constexpr List<Operand, 2> segment_to_write{
    {{BufferKind::activations, Extent::segment, 0, facts({host_accessible})},
     {BufferKind::resting_activations, Extent::segment, 0, facts({staged})}}};
constexpr List<Operand, 1> segment_in_file{{{BufferKind::spilled_activations, Extent::segment}}};
constexpr List<Operand, 2> segment_read{
    {{BufferKind::activations, Extent::segment, 1, facts({host_accessible})},
     {BufferKind::resting_activations, Extent::segment, 1, facts({staged})}}};
constexpr List<Operand, 1> held_states{{{BufferKind::optimizer_state, Extent::parameters_of_task}}};
constexpr List<Operand, 1> filed_states{{{BufferKind::spilled_state, Extent::parameters_of_task}}};
constexpr List<Operand, 1> segment_fetched{{{BufferKind::activations, Extent::segment, 1}}};
constexpr List<Operand, 2> average_reads{{{BufferKind::weights, Extent::parameters_of_task},
                                          {BufferKind::weights, Extent::kept_versions}}};

// ---------------------------------------------------------------- operands of payloads

constexpr List<Operand, 1> stage_outputs{{{BufferKind::outputs, Extent::micro_batch}}};
constexpr List<Operand, 1> stage_inputs{{{BufferKind::boundary, Extent::micro_batch}}};
constexpr List<Operand, 1> own_input_gradients{
    {{BufferKind::input_gradients, Extent::micro_batch}}};
constexpr List<Operand, 2> later_gradients{
    {{BufferKind::output_gradients, Extent::micro_batch, 0, facts({peer_has_own})},
     {BufferKind::input_gradients, Extent::micro_batch, 0, facts({peer_has_passing})}}};
constexpr List<Operand, 1> own_gradient{{{BufferKind::gradients, Extent::parts_of_task}}};

// ---------------------------------------------------------------- payloads and stand-ins of tasks

constexpr List<Payload, 4> to_one{Payload::activations, Payload::activation_gradients,
                                  Payload::gradients, Payload::weights};
constexpr List<Payload, 6> to_all{Payload::activations, Payload::activation_gradients,
                                  Payload::gradients,   Payload::weights,
                                  Payload::statistics,  Payload::squares};
constexpr List<Payload, 1> only_gradients{Payload::gradients};
constexpr List<Payload, 1> only_statistics{Payload::statistics};
constexpr List<Payload, 1> only_squares{Payload::squares};

constexpr List<TaskKind, 3> like_send{broadcast, copy, send};
constexpr List<TaskKind, 2> like_broadcast{send, copy};
constexpr List<TaskKind, 3> like_receive{copy, send, receive};
constexpr List<TaskKind, 1> like_write{read_activations};
constexpr List<TaskKind, 1> like_read{write_activations};
constexpr List<TaskKind, 3> like_write_states{write_activations, read_states, read_activations};
constexpr List<TaskKind, 3> like_read_states{read_activations, write_states, write_activations};
constexpr List<TaskKind, 1> like_reduce{all_reduce};
constexpr List<TaskKind, 1> like_all_reduce{reduce};
constexpr List<TaskKind, 1> like_update{update};

// ---------------------------------------------------------------- the table

/// Rows as the table reads: what a field is called stands in TaskTraits.
constexpr List<TaskTraits, task_kind_count> task_rows{{
    {.kind = load,
     .name = "load",
     .cost = CostFamily::staging,
     .of_samples = true,
     .evaluation = Evaluation::kept,
     .reads = load_reads,
     .writes = load_writes},
    {.kind = copy,
     .name = "copy",
     .cost = CostFamily::staging,
     .of_samples = true,
     .evaluation = Evaluation::kept,
     .reads = copy_reads,
     .writes = copy_writes},
    {.kind = forward,
     .name = "forward",
     .cost = CostFamily::pass,
     .computes = true,
     .of_samples = true,
     .shows_version = true,
     .evaluation = Evaluation::kept,
     .nodes = Nodes::part_of_segment,
     .reads = forward_reads,
     .writes = forward_writes},
    {.kind = recompute,
     .name = "recompute",
     .cost = CostFamily::pass,
     .computes = true,
     .of_samples = true,
     .shows_version = true,
     .nodes = Nodes::whole_segment,
     .reads = recompute_reads,
     .writes = recompute_writes},
    {.kind = loss,
     .name = "loss",
     .cost = CostFamily::samples,
     .computes = true,
     .of_samples = true,
     .of_update = true,
     .evaluation = Evaluation::kept,
     .reads = loss_reads,
     .writes = loss_writes},
    {.kind = backward,
     .name = "backward",
     .cost = CostFamily::pass,
     .computes = true,
     .of_samples = true,
     .shows_version = true,
     .nodes = Nodes::part_of_segment,
     .reads = backward_reads,
     .writes = backward_writes},
    {.kind = send,
     .name = "send",
     .queue = Queue::outgoing,
     .cost = CostFamily::transfer,
     .sends = true,
     .names_peer = true,
     .evaluation = Evaluation::kept_for_activations,
     .elements = Elements::carried,
     .payloads = to_one,
     .priced_as = like_send},
    {.kind = broadcast,
     .name = "broadcast",
     .queue = Queue::outgoing,
     .cost = CostFamily::transfer,
     .sends = true,
     .elements = Elements::carried,
     .payloads = to_all,
     .priced_as = like_broadcast},
    {.kind = receive,
     .name = "receive",
     .queue = Queue::incoming,
     .cost = CostFamily::transfer,
     .messages = Reads::one_message,
     .names_peer = true,
     .evaluation = Evaluation::kept_for_activations,
     .elements = Elements::carried,
     .payloads = to_one,
     .priced_as = like_receive},
    {.kind = reduce,
     .name = "reduce",
     .queue = Queue::incoming,
     .cost = CostFamily::transfer,
     .messages = Reads::one_message,
     .names_peer = true,
     .elements = Elements::carried,
     .lands = true,
     .payloads = only_gradients,
     .priced_as = like_reduce,
     .reads = own_gradient},
    {.kind = all_reduce,
     .name = "all_reduce",
     .cost = CostFamily::transfer,
     .messages = Reads::any_messages,
     .elements = Elements::whole_stage,
     .lands = true,
     .payloads = only_gradients,
     .priced_as = like_all_reduce,
     .reads = all_reduce_reads,
     .writes = all_reduce_writes},
    {.kind = statistics,
     .name = "statistics",
     .cost = CostFamily::in_pass,
     .computes = true,
     .of_samples = true,
     .of_update = true,
     .nodes = Nodes::one_with_statistics,
     .reads = statistics_reads,
     .writes = statistics_writes},
    {.kind = all_gather,
     .name = "all_gather",
     .cost = CostFamily::in_pass,
     .messages = Reads::any_messages,
     .payloads = only_statistics,
     .reads = gathered_statistics,
     .writes = all_gather_writes},
    {.kind = squares,
     .name = "squares",
     .cost = CostFamily::elements,
     .computes = true,
     .of_update = true,
     .elements = Elements::updated,
     .reads = squares_reads,
     .writes = squares_writes},
    {.kind = norm,
     .name = "norm",
     .cost = CostFamily::transfer,
     .messages = Reads::any_messages,
     .payloads = only_squares,
     .reads = owned_squares,
     .writes = norm_writes},
    {.kind = compress,
     .name = "compress",
     .cost = CostFamily::elements,
     .computes = true,
     .elements = Elements::one_part,
     .priced_as = like_update,
     .reads = compress_reads,
     .writes = compress_writes},
    {.kind = update,
     .name = "update",
     .cost = CostFamily::elements,
     .computes = true,
     .of_update = true,
     .shows_version = true,
     .elements = Elements::updated,
     .reads = update_reads,
     .writes = update_writes},
    {.kind = speculate,
     .name = "speculate",
     .cost = CostFamily::elements,
     .computes = true,
     .of_update = true,
     .shows_version = true,
     .elements = Elements::updated,
     .priced_as = like_update,
     .reads = speculate_reads,
     .writes = speculate_writes},
    {.kind = confirm,
     .name = "confirm",
     .cost = CostFamily::in_pass,
     .computes = true,
     .of_update = true,
     .shows_version = true,
     .elements = Elements::updated,
     .reads = confirm_reads,
     .writes = update_writes},
    {.kind = stash,
     .name = "stash",
     .cost = CostFamily::duplicate,
     .shows_version = true,
     .elements = Elements::whole_stage,
     .reads = current_weights,
     .writes = weights_in_slot},
    {.kind = offload,
     .name = "offload",
     .queue = Queue::outgoing,
     .cost = CostFamily::transfer,
     .shows_version = true,
     .elements = Elements::whole_stage,
     .priced_as = like_send,
     .reads = current_weights,
     .writes = weights_at_rest},
    {.kind = fetch,
     .name = "fetch",
     .queue = Queue::incoming,
     .cost = CostFamily::transfer,
     .shows_version = true,
     .elements = Elements::whole_stage,
     .priced_as = like_receive,
     .reads = weights_at_rest,
     .writes = fetched_weights},
    {.kind = offload_activations,
     .name = "offload_activations",
     .queue = Queue::outgoing,
     .cost = CostFamily::transfer,
     .of_samples = true,
     .nodes = Nodes::whole_segment,
     .priced_as = like_send,
     .reads = segment_on_lane,
     .writes = segment_at_rest},
    {.kind = fetch_activations,
     .name = "fetch_activations",
     .queue = Queue::incoming,
     .cost = CostFamily::transfer,
     .of_samples = true,
     .nodes = Nodes::whole_segment,
     .priced_as = like_receive,
     .reads = segment_to_fetch,
     .writes = segment_fetched},
    {.kind = write_activations,
     .name = "write_activations",
     .queue = Queue::file,
     .cost = CostFamily::transfer,
     .of_samples = true,
     .nodes = Nodes::whole_segment,
     .priced_as = like_write,
     .reads = segment_to_write,
     .writes = segment_in_file},
    {.kind = read_activations,
     .name = "read_activations",
     .queue = Queue::file,
     .cost = CostFamily::transfer,
     .of_samples = true,
     .nodes = Nodes::whole_segment,
     .priced_as = like_read,
     .reads = segment_in_file,
     .writes = segment_read},
    {.kind = write_states,
     .name = "write_states",
     .queue = Queue::file,
     .cost = CostFamily::transfer,
     .elements = Elements::updated,
     .priced_as = like_write_states,
     .reads = held_states,
     .writes = filed_states},
    {.kind = read_states,
     .name = "read_states",
     .queue = Queue::file,
     .cost = CostFamily::transfer,
     .elements = Elements::updated,
     .priced_as = like_read_states,
     .reads = filed_states,
     .writes = held_states},
    {.kind = average,
     .name = "average",
     .cost = CostFamily::elements,
     .computes = true,
     .shows_version = true,
     .elements = Elements::whole_stage,
     .reads = average_reads,
     .writes = current_weights},
}};

constexpr List<PayloadTraits, payload_count> payload_rows{{
    {.payload = Payload::none, .name = "none"},
    {.payload = Payload::activations,
     .name = "activations",
     .of_samples = true,
     .along_links = true,
     .source = stage_outputs,
     .target = stage_inputs},
    {.payload = Payload::activation_gradients,
     .name = "activation_gradients",
     .of_samples = true,
     .along_links = true,
     .source = own_input_gradients,
     .target = later_gradients},
    {.payload = Payload::gradients,
     .name = "gradients",
     .of_elements = true,
     .read_in_place = true,
     .source = own_gradient,
     .target = own_gradient},
    {.payload = Payload::weights,
     .name = "weights",
     .of_elements = true,
     .read_in_place = true,
     .source = current_weights,
     .target = weights_in_slot},
    {.payload = Payload::statistics,
     .name = "statistics",
     .of_update = true,
     .source = gathered_statistics},
    {.payload = Payload::squares,
     .name = "squares",
     .of_update = true,
     .across_stages = true,
     .source = owned_squares},
}};

static_assert(in_order(task_rows, &TaskTraits::kind),
              "a row for each kind of task, in their order");
static_assert(in_order(payload_rows, &PayloadTraits::payload), "a row for each payload, likewise");

constexpr List<std::string_view, queue_count> queues{"compute", "outgoing", "incoming", "file"};

}  // namespace

const TaskTraits& traits_of(TaskKind kind) { return row_of(task_rows, kind, "kind of task"); }
const PayloadTraits& traits_of(Payload payload) { return row_of(payload_rows, payload, "payload"); }
std::string_view name_of(Queue queue) { return row_of(queues, queue, "queue"); }
std::span<const TaskTraits> all_task_kinds() { return task_rows; }

}  // namespace zygos::schedule
