// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/data_spec.hpp"

#include "deck/graph_data.hpp"

#include <cstdint>
#include <string>

namespace zygos::deck {
namespace {

std::uint64_t seed_of(const Section& section) {
  return static_cast<std::uint64_t>(section.integer("seed"));
}

DataFiles files_of(const Section& section, DataFormat format) {
  if (format == DataFormat::idx || format == DataFormat::npy) {
    const bool idx = format == DataFormat::idx;
    const char* const inputs = idx ? "images" : "inputs";
    const char* const targets = idx ? "labels" : "targets";
    return {.inputs = section.path(inputs),
            .targets = section.path(targets),
            .inputs_dataset = {},
            .targets_dataset = {},
            .inputs_position = section.position(inputs),
            .targets_position = section.position(targets)};
  }
  const bool csv = format == DataFormat::csv;
  return {.inputs = section.path("file"),
          .targets = section.path("file"),
          .inputs_dataset = csv ? std::string() : section.text("inputs"),
          .targets_dataset = csv ? std::string() : section.text("targets"),
          .inputs_position = section.position("file"),
          .targets_position = section.position("file")};
}

CsvSpec csv_of(const Section& section) {
  CsvSpec csv;
  if (section.has("inputs")) {
    csv.inputs = section.texts("inputs");
  }
  if (section.has("targets")) {
    csv.targets = section.texts("targets");
  }
  if (!section.is_word("header", "auto")) {
    csv.header = section.boolean("header");
  }
  return csv;
}

AugmentSpec augment_of(const Section& section) {
  return {.flip = section.text("flip"),
          .crop = section.integer("crop"),
          .noise = section.real("noise"),
          .flip_position = section.position("flip"),
          .crop_position = section.position("crop"),
          .noise_position = section.position("noise")};
}

GlyphSpec glyphs_of(const Section& section) {
  return {.samples = section.integer("samples"),
          .test_samples = section.integer("test_samples"),
          .size = section.integer("size"),
          .channels = section.integer("channels"),
          .jitter = section.real("jitter"),
          .noise = section.real("noise"),
          .seed = seed_of(section)};
}

SyntheticSpec synthetic_of(const Section& section) {
  return {.function = section.text("function"),
          .samples = section.integer("samples"),
          .test_samples = section.integer("test_samples"),
          .size = section.integer("size"),
          .noise = section.real("noise"),
          .seed = seed_of(section)};
}

TextSpec text_of(const Section& section) {
  return {.file = section.path("file"),
          .file_position = section.position("file"),
          .unit = section.text("vocabulary"),
          .max_words = section.integer("most_words"),
          .sequence = section.integer("sequence"),
          .stride = section.is_word("stride", "sequence") ? 0 : section.integer("stride"),
          .validation = section.real("validation")};
}

TokenSpec tokens_of(const Section& section) {
  return {.samples = section.integer("samples"),
          .test_samples = section.integer("test_samples"),
          .sequence = section.integer("sequence"),
          .vocabulary = section.integer("vocabulary"),
          .seed = seed_of(section)};
}

DataFormat format_named(const std::string& keyword) {
  return keyword == "idx"               ? DataFormat::idx
         : keyword == "hdf5"            ? DataFormat::hdf5
         : keyword == "csv"             ? DataFormat::csv
         : keyword == "npy"             ? DataFormat::npy
         : keyword == "npz"             ? DataFormat::npz
         : keyword == "cifar10"         ? DataFormat::cifar10
         : keyword == "synthetic"       ? DataFormat::synthetic
         : keyword == "text"            ? DataFormat::text
         : keyword == "tokens"          ? DataFormat::tokens
         : keyword == "graph"           ? DataFormat::graph
         : keyword == "power_law_graph" ? DataFormat::power_law_graph
                                        : DataFormat::glyphs;
}

Normalise normalise_named(const std::string& word) {
  return word == "standard" ? Normalise::standard
         : word == "minmax" ? Normalise::minmax
                            : Normalise::none;
}

/// Where arrays are read from.
void add_files(const Section& section, DataSpec& data) {
  data.validation = section.real("validation");
  if (data.format == DataFormat::cifar10) {
    data.folder = section.path("folder");
    data.folder_position = section.position("folder");
    return;
  }
  if (data.format == DataFormat::hdf5) {
    if (!section.is_word("in_memory", "auto")) {
      data.in_memory = section.boolean("in_memory");
    }
    data.prefetch = section.integer("prefetch");
  }
  if (data.format == DataFormat::csv) {
    data.csv = csv_of(section);
  }
  data.train = files_of(section.section("train"), data.format);
  if (section.has("test")) {
    data.test = files_of(section.section("test"), data.format);
  }
}

}  // namespace

DataSpec data_of(const Section& section) {
  DataSpec data;
  data.format = format_named(section.text("format"));
  data.position = section.position();
  if (data.format == DataFormat::text) {
    data.text = text_of(section);
    return data;
  }
  if (data.format == DataFormat::tokens) {
    data.tokens = tokens_of(section);
    return data;
  }
  if (data.format == DataFormat::graph || data.format == DataFormat::power_law_graph) {
    data.graph = graph_spec_of(section);
    return data;
  }
  if (!section.is_word("scale", "auto")) {
    data.scale = section.real("scale");
  }
  data.offset = section.real("offset");
  data.normalise = normalise_named(section.text("normalise"));
  if (section.has("augment")) {
    data.augment = augment_of(section.section("augment"));
  }
  if (section.has("classes") && !section.is_word("classes", "auto")) {
    data.classes = section.integer("classes");
  }
  if (data.format == DataFormat::glyphs) {
    data.glyphs = glyphs_of(section);
  } else if (data.format == DataFormat::synthetic) {
    data.synthetic = synthetic_of(section);
  } else {
    add_files(section, data);
  }
  return data;
}

}  // namespace zygos::deck
