// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/load/data.hpp"

#include "load/from_registry.hpp"
#include "load/graph_data.hpp"

#include "zygos/io/cifar10.hpp"
#include "zygos/io/csv_dataset.hpp"
#include "zygos/io/hdf5_dataset.hpp"
#include "zygos/io/idx.hpp"
#include "zygos/io/normalise.hpp"
#include "zygos/io/numpy_dataset.hpp"
#include "zygos/io/split.hpp"
#include "zygos/io/text_data.hpp"
#include "zygos/nn/registry.hpp"
#include "zygos/synthetic/functions.hpp"
#include "zygos/synthetic/glyphs.hpp"
#include "zygos/synthetic/token_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <utility>

namespace zygos::load {

namespace {

void require_file(const std::filesystem::path& file, const deck::Position& where,
                  deck::Findings& findings) {
  // A folder or a pipe is no mistake of the deck's, but bad data: its reader says so.
  std::error_code unknown;
  if (std::filesystem::status(file, unknown).type() == std::filesystem::file_type::not_found) {
    findings.error(where, fmt::format("there is no file '{}'", file.string()),
                   "a relative path starts at the deck's folder");
  }
}

void require_folder(const std::filesystem::path& folder, const deck::Position& where,
                    deck::Findings& findings) {
  std::error_code unreadable;
  if (!std::filesystem::is_directory(folder, unreadable)) {
    findings.error(where, fmt::format("there is no directory '{}'", folder.string()),
                   "unpack CIFAR-10's binary version (https://www.cs.toronto.edu/~kriz/cifar.html) "
                   "there, or name another folder: data.folder=PATH");
  }
}

void require_files(const deck::DataSpec& spec, deck::Findings& findings) {
  if (spec.format == deck::DataFormat::glyphs || spec.format == deck::DataFormat::synthetic ||
      spec.format == deck::DataFormat::tokens || spec.format == deck::DataFormat::power_law_graph) {
    return;
  }
  if (spec.format == deck::DataFormat::graph) {
    require_file(spec.graph.file, spec.graph.file_position, findings);
    return findings.throw_if_any();
  }
  if (spec.format == deck::DataFormat::text) {
    require_file(spec.text.file, spec.text.file_position, findings);
    return findings.throw_if_any();
  }
  if (spec.format == deck::DataFormat::cifar10) {
    require_folder(spec.folder, spec.folder_position, findings);
    return findings.throw_if_any();
  }
  require_file(spec.train.inputs, spec.train.inputs_position, findings);
  require_file(spec.train.targets, spec.train.targets_position, findings);
  if (spec.test) {
    require_file(spec.test->inputs, spec.test->inputs_position, findings);
    require_file(spec.test->targets, spec.test->targets_position, findings);
  }
  findings.throw_if_any();
}

io::Hdf5Location inputs_of(const deck::DataFiles& files) {
  return {files.inputs, files.inputs_dataset};
}

io::Hdf5Location targets_of(const deck::DataFiles& files) {
  return {files.targets, files.targets_dataset};
}

std::uint64_t bytes_of(const deck::DataFiles& files) {
  return io::hdf5_bytes(inputs_of(files)) + io::hdf5_bytes(targets_of(files));
}

bool is_in_memory(const deck::DataSpec& spec, std::uint64_t memory) {
  if (spec.in_memory) {
    return *spec.in_memory;
  }
  return bytes_of(spec.train) + (spec.test ? bytes_of(*spec.test) : 0) <= memory / 2;
}

io::LoadOptions load_options(const deck::DataSpec& spec, std::int64_t classes, std::int64_t most) {
  return {.classes = classes,
          .input_scale = spec.scale,
          .input_offset = spec.offset,
          .max_samples = most};
}

/// `known`: what the training set says of columns and classes, for a test set.
io::Dataset read_csv(const deck::DataSpec& spec, const deck::DataFiles& files,
                     const io::LoadOptions& options, const io::Dataset* known) {
  io::CsvOptions columns{.inputs = spec.csv.inputs,
                         .targets = spec.csv.targets,
                         .header = spec.csv.header,
                         .labels = options.labels.value_or(false),
                         .categories = {}};
  if (known != nullptr) {
    columns.categories = known->class_names;
    if (!known->input_names.empty()) {
      columns.inputs = known->input_names;
    }
  }
  return io::load_csv_dataset(files.inputs, columns, options);
}

/// `known`: null, or the training set that a test set goes with. A label that training never saw is
/// an error in the test set, not a further class.
io::Dataset read_files(const deck::DataSpec& spec, const deck::DataFiles& files, bool labels,
                       const io::Dataset* known, std::uint64_t memory, std::int64_t most = 0) {
  io::LoadOptions options =
      load_options(spec, known == nullptr ? spec.classes : known->classes, most);
  options.labels = labels;
  switch (spec.format) {
    case deck::DataFormat::idx:
      return io::load_idx(files.inputs, files.targets, options);
    case deck::DataFormat::csv:
      return read_csv(spec, files, options, known);
    case deck::DataFormat::npy:
      return io::load_npy_dataset(files.inputs, files.targets, options);
    case deck::DataFormat::npz:
      return io::load_npz_dataset(files.inputs, files.inputs_dataset, files.targets_dataset,
                                  options);
    default:
      break;
  }
  if (is_in_memory(spec, memory)) {
    return io::load_hdf5_dataset(inputs_of(files), targets_of(files), options);
  }
  io::Dataset data = io::open_hdf5_dataset(inputs_of(files), targets_of(files), options);
  data.prefetch = spec.prefetch;
  return data;
}

io::Dataset draw_glyphs(const deck::DataSpec& spec, std::int64_t first, std::int64_t samples) {
  synthetic::GlyphOptions options{.samples = samples,
                                  .first = first,
                                  .side = spec.glyphs.size,
                                  .channels = spec.glyphs.channels,
                                  .seed = spec.glyphs.seed,
                                  .jitter = spec.glyphs.jitter,
                                  .noise = spec.glyphs.noise};
  options.classes = spec.classes > 0 ? spec.classes : options.classes;
  io::Dataset data = synthetic::make_glyphs(options);
  data.input_scale = spec.scale.value_or(data.input_scale);
  data.input_offset = spec.offset;
  return data;
}

synthetic::Function function_named(const std::string& word) {
  return word == "invariants"    ? synthetic::Function::invariants
         : word == "smagorinsky" ? synthetic::Function::smagorinsky
         : word == "burgers"     ? synthetic::Function::burgers
         : word == "fronts"      ? synthetic::Function::fronts
                                 : synthetic::Function::blobs;
}

io::Dataset draw_synthetic(const deck::DataSpec& spec, std::int64_t first, std::int64_t samples) {
  io::Dataset data = synthetic::make_synthetic({.function = function_named(spec.synthetic.function),
                                                .samples = samples,
                                                .first = first,
                                                .size = spec.synthetic.size,
                                                .noise = spec.synthetic.noise,
                                                .seed = spec.synthetic.seed});
  data.input_scale = spec.scale.value_or(data.input_scale);
  data.input_offset = spec.offset;
  return data;
}

std::int64_t enough(std::int64_t samples, std::int64_t most) {
  return most > 0 ? std::min(samples, most) : samples;
}

/// Training samples, and test samples from the same stream further on.
template <class Draw>
RunData drawn(const deck::DataSpec& spec, std::int64_t samples, std::int64_t test_samples,
              std::int64_t most, const Draw& draw) {
  RunData result{draw(spec, 0, enough(samples, most)), std::nullopt};
  if (test_samples > 0 && most == 0) {
    result.test = draw(spec, samples, test_samples);
  }
  return result;
}

io::TextUnit unit_named(const std::string& name) {
  return name == "bytes"   ? io::TextUnit::bytes
         : name == "words" ? io::TextUnit::words
                           : io::TextUnit::characters;
}

RunData read_text(const deck::TextSpec& spec) {
  io::TextData data = io::load_text(spec.file, {.sequence = spec.sequence,
                                                .stride = spec.stride,
                                                .unit = unit_named(spec.unit),
                                                .max_words = spec.max_words,
                                                .validation = spec.validation});
  return {std::move(data.training), std::move(data.validation)};
}

RunData draw_tokens(const deck::TokenSpec& spec, std::int64_t most) {
  const auto draw = [&](std::int64_t first, std::int64_t samples) {
    return synthetic::make_token_chain({.samples = samples,
                                        .first = first,
                                        .sequence = spec.sequence,
                                        .vocabulary = spec.vocabulary,
                                        .seed = spec.seed});
  };
  RunData result{draw(0, enough(spec.samples, most)), std::nullopt};
  if (spec.test_samples > 0 && most == 0) {
    result.test = draw(spec.samples, spec.test_samples);
  }
  return result;
}

RunData read_cifar10(const deck::DataSpec& spec, std::int64_t most) {
  const io::LoadOptions options = load_options(spec, 0, most);
  const io::Cifar10Files files = io::find_cifar10(spec.folder);
  RunData result{io::load_cifar10(files.training, options), std::nullopt};
  if (!files.test.empty() && most == 0) {
    result.test = io::load_cifar10(files.test, options);
  }
  return result;
}

RunData read_data(const deck::RunSpec& spec, std::int64_t most, std::uint64_t memory) {
  const deck::DataSpec& data = spec.data;
  if (data.format == deck::DataFormat::glyphs) {
    return drawn(data, data.glyphs.samples, data.glyphs.test_samples, most, draw_glyphs);
  }
  if (data.format == deck::DataFormat::synthetic) {
    return drawn(data, data.synthetic.samples, data.synthetic.test_samples, most, draw_synthetic);
  }
  if (data.format == deck::DataFormat::cifar10) {
    return read_cifar10(data, most);
  }
  if (data.format == deck::DataFormat::text) {
    return read_text(data.text);
  }
  if (data.format == deck::DataFormat::tokens) {
    return draw_tokens(data.tokens, most);
  }
  if (samples_are_graphs(data)) {
    return load_graph(data);
  }
  const deck::Section& loss = spec.model.loss;
  const bool labels = made_from(nn::loss_registry(), loss.text("type"), loss)->wants_labels();
  RunData result{read_files(data, data.train, labels, nullptr, memory, most), std::nullopt};
  if (data.test && most == 0) {
    result.test = read_files(data, *data.test, labels, &result.training, memory);
  }
  return result;
}

}  // namespace

RunData load_data(const deck::RunSpec& spec, deck::Findings findings, std::int64_t most,
                  std::uint64_t memory) {
  require_files(spec.data, findings);
  RunData data = read_data(spec, most, memory);
  if (spec.data.validation > 0.0 && most == 0) {
    io::SplitDataset parts = io::split(data.training, spec.data.validation, spec.seed);
    data.training = std::move(parts.training);
    data.validation = std::move(parts.validation);
  }
  return data;
}

void normalise(const deck::DataSpec& spec, const nn::Loss& loss, RunData& data) {
  if (spec.normalise == deck::Normalise::none) {
    return;
  }
  const io::Normalisation how = spec.normalise == deck::Normalise::standard
                                    ? io::Normalisation::standard
                                    : io::Normalisation::minmax;
  const auto inputs = std::make_shared<const Standards>(io::input_standards(data.training, how));
  const auto targets =
      loss.wants_labels() || loss.target_range()
          ? nullptr
          : std::make_shared<const Standards>(io::target_standards(data.training, how));
  const auto give = [&](io::Dataset& part) {
    part.input_standards = inputs;
    part.target_standards = targets;
  };
  give(data.training);
  for (std::optional<io::Dataset>* part : {&data.test, &data.validation}) {
    if (part->has_value()) {
      give(**part);
    }
  }
}

void require_tokens(const graph::Graph& graph, const io::Dataset& data) {
  for (const graph::Node& node : graph.nodes()) {
    if (const std::int64_t limit = node.layer->token_limit(); limit > 0) {
      io::require_tokens(data, limit, fmt::format("layer '{}'", node.name));
    }
  }
}

}  // namespace zygos::load
