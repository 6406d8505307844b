// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// What becomes of activations between forward and backward: kept in lane memory, dropped and
// recomputed (Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016), offloaded to
// host memory and fetched back (Rhu et al., "vDNN", MICRO 2016), or spilled to a file (Rajbhandari
// et al., "ZeRO-Infinity", SC 2021).
#pragma once

#include "zygos/schedule/task.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace zygos::schedule {

struct Schedule;
struct ModelOutline;
struct StageLink;

enum class Keeping : std::uint8_t {
  kept,        ///< in lane memory
  recomputed,  ///< dropped, and computed again before backward needs them
  offloaded,   ///< copied to host memory after forward and fetched before backward; on a place that
               ///< reads host memory itself: kept
  spilled,     ///< written to the place's file after forward and read before backward, through host
               ///< memory where the place does not read that itself
};
std::string_view name_of(Keeping keeping);

/// A choice for consecutive nodes of the model. Those that are named by none are kept.
struct KeptNodes {
  NodeRange nodes;
  Keeping keeping = Keeping::kept;
  friend bool operator==(const KeptNodes&, const KeptNodes&) = default;
};

/// Consecutive nodes of one stage whose activations are one buffer.
struct Segment {
  NodeRange nodes;
  Keeping keeping = Keeping::kept;
  std::int64_t bytes = 0;             ///< of the activations of one sample
  std::vector<std::int32_t> sources;  ///< earlier segments of the stage whose outputs it reads
};

/// The segments of all stages. None where everything is kept: then a stage is one segment.
std::vector<Segment> cut_into_segments(const ModelOutline& model,
                                       const std::vector<NodeRange>& stages,
                                       const std::vector<StageLink>& links,
                                       const std::vector<KeptNodes>& choices);

/// Index of the segment that has the node; 0 in a schedule without segments.
std::int32_t segment_of(const Schedule& schedule, std::int32_t node);
/// The nodes of that segment; `stage` in a schedule without segments.
NodeRange segment_nodes(const Schedule& schedule, std::int32_t node, NodeRange stage);
/// Segments that it reads from, none in a schedule without segments.
const std::vector<std::int32_t>& sources_of(const Schedule& schedule, std::int32_t segment);
Keeping keeping_on(const Schedule& schedule, Place place, std::int32_t segment);
/// Copied away and back: such a segment's buffers are on their way while others are computed.
constexpr bool leaves(Keeping keeping) {
  return keeping == Keeping::offloaded || keeping == Keeping::spilled;
}
/// A range of nodes cut where segments end.
std::vector<NodeRange> cut_at_segments(const Schedule& schedule, NodeRange nodes);

}  // namespace zygos::schedule
