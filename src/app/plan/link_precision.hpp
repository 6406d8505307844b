// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// `link_precision` of a deck: in what precision messages travel, and how a run says so.
#pragma once

#include "zygos/deck/run_schema.hpp"
#include "zygos/schedule/codec.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace zygos::app {

/// Activations that are bf16 in memory travel as they are.
schedule::LinkCodecs codecs_of(const deck::RunSpec& spec);
/// "gradients, activations as bf16"; empty if everything is exact.
std::string text_of(const schedule::LinkCodecs& codecs);
/// {"gradients": "bf16", ...}: every payload that may have a codec.
nlohmann::json json_of(const schedule::LinkCodecs& codecs);

}  // namespace zygos::app
