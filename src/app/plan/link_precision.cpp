// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/plan/link_precision.hpp"

#include <nlohmann/json.hpp>

#include <array>

namespace zygos::app {
namespace {

using schedule::Codec;
using schedule::Payload;

constexpr std::array payloads{Payload::gradients, Payload::activations,
                              Payload::activation_gradients};

}  // namespace

schedule::LinkCodecs codecs_of(const deck::RunSpec& spec) {
  const deck::LinkPrecisionSpec& precision = spec.link_precision;
  const bool narrow = spec.precision == DType::bf16;
  const auto codec = [](bool rounded) { return rounded ? Codec::bf16 : Codec::exact; };
  return {.activations = codec(precision.activations && !narrow),
          .activation_gradients = codec(precision.activation_gradients && !narrow),
          .gradients = codec(precision.gradients)};
}

std::string text_of(const schedule::LinkCodecs& codecs) {
  std::string text;
  for (const Payload payload : payloads) {
    if (codecs.of(payload) != Codec::exact) {
      text += (text.empty() ? "" : ", ") + std::string(name_of(payload));
    }
  }
  return text.empty() ? text : text + " as bf16";
}

nlohmann::json json_of(const schedule::LinkCodecs& codecs) {
  nlohmann::json json = nlohmann::json::object();
  for (const Payload payload : payloads) {
    json[std::string(name_of(payload))] = name_of(codecs.of(payload));
  }
  return json;
}

}  // namespace zygos::app
