// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "zygos/insitu/deck.hpp"

#include "zygos/core/error.hpp"
#include "zygos/deck/deck.hpp"
#include "zygos/nn/losses.hpp"
#include "zygos/nn/registry.hpp"

#include <cctype>
#include <cmath>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace zygos::insitu {
namespace {

using deck::Schema;
using deck::Section;
constexpr std::string_view section_name = "surrogate";

template <class Product>
std::vector<Schema> schemas_of(const std::vector<nn::Entry<Product>>& registry) {
  std::vector<Schema> schemas;
  for (const auto& entry : registry) {
    schemas.push_back(entry.schema);
  }
  return schemas;
}

/// The losses that want no labels.
std::vector<nn::Entry<nn::LossPtr>> losses() {
  auto all = nn::loss_registry();
  std::erase_if(all, [](const auto& entry) { return entry.schema.name() == "cross_entropy"; });
  return all;
}

/// The schedules that need no evaluations.
std::vector<nn::Entry<nn::RateSchedulePtr>> rate_schedules() {
  auto all = nn::rate_schedule_registry();
  std::erase_if(all, [](const auto& entry) { return entry.needs_evaluations; });
  return all;
}

template <class Registry>
auto made_from(const Registry& registry, const Section& options) {
  for (const auto& entry : registry) {
    if (entry.schema.name() == options.text("type")) {
      return entry.make(options);
    }
  }
  throw InternalError("no '" + options.text("type") +
                      "' in the table the section was checked with");
}

void add_network_keys(Schema& schema) {
  schema.integers("inputs", "Input shape of one sample: a number, or several dimensions.")
      .at_least(1)
      .length(1, 5)
      .or_single()
      .required()
      .example("6");
  schema.integer("outputs", "Output features: numbers that the network predicts, with `hidden`.")
      .at_least(1)
      .optional()
      .example("3");
  schema.integers("hidden", "Widths of hidden dense layers; `outputs` says that of the last one.")
      .at_least(1)
      .or_single()
      .optional()
      .example("[64, 64, 64]");
  schema
      .choice("activation", {"none", "relu", "tanh", "sigmoid", "gelu"},
              "Activation function of hidden layers.")
      .fallback("tanh")
      .advice("other functions are layers: list 'layers' in place of 'hidden' and 'outputs'");
  std::vector<Schema> layers = schemas_of(nn::layer_registry());
  for (Schema& layer : layers) {
    layer.text("name", "Layer name in messages and states; default: type and number.").optional();
    layer
        .texts("inputs",
               "Input layers: those that feed this one, or `input`; default: the layer before.")
        .optional()
        .length(1, 1024);
  }
  schema.variants("layers", "type", layers, "Any layers in order, instead of `hidden`.")
      .optional()
      .length(1)
      .named_by("name");
  schema.variant("loss", "type", schemas_of(losses()), "Loss function to minimise.")
      .fallback("mse");
}

void add_training_keys(Schema& schema) {
  std::vector<Schema> optimizers = schemas_of(nn::optimizer_registry());
  for (Schema& optimizer : optimizers) {
    optimizer
        .variant(
            "schedule", "type", schemas_of(rate_schedules()),
            "Learning rate schedule: how the rate changes, counted in steps; default: it stays.")
        .optional();
  }
  schema.variant("optimizer", "type", optimizers, "Optimizer: how weights follow gradients.")
      .fallback("{type: adam, learning_rate: 0.001}");
  schema.choice("precision", {"f32", "f64", "bf16"}, "Floating-point precision of activations.")
      .fallback("f32");
  schema.integer("batch", "Batch size: samples of a step.").at_least(1).fallback(256);
  schema.integer("min_samples", "Number of samples that training waits for; 0: a batch.")
      .at_least(0)
      .fallback(0);
  schema
      .boolean("standardise",
               "Standardisation: inputs and targets less their mean over their deviation.")
      .fallback(true);
  schema.integer("seed", "Random seed of weights and of what the reservoir draws.")
      .at_least(0)
      .fallback(1);
  schema
      .integer("members",
               "Number of networks of an ensemble, which tell by their spread where the solver is "
               "needed; 1: "
               "one network.")
      .at_least(1)
      .at_most(1024)
      .fallback(1);
  schema
      .quantity("budget", deck::Unit::seconds,
                "Time budget: wall time that a call of training may take.")
      .optional()
      .example("500 us");
  schema.integer("max_steps", "Number of steps that a call of training may make.")
      .at_least(1)
      .optional();
}

Schema reservoir_schema() {
  Schema schema("reservoir", "Samples that are kept to train on.");
  schema.integer("capacity", "Number of samples to train on.")
      .at_least(1)
      .required()
      .example("100000");
  schema.integer("validate_every", "One of so many samples is held out; 0: none.")
      .at_least(0)
      .fallback(10);
  schema.choice("keep", {"uniform", "newest"}, "Kept samples: which stay when there is no room.")
      .fallback("uniform");
  schema.choice("stored", {"f32", "f64"}, "Storage type of values.").fallback("f64");
  return schema;
}

/// The text with every line outside of the section made empty, so that lines keep their numbers.
std::string only_section(std::string_view text, std::string_view name) {
  std::string out;
  bool inside = false;
  bool found = false;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const bool begins_key =
        !line.empty() && std::isspace(static_cast<unsigned char>(line[0])) == 0 && line[0] != '#';
    if (begins_key) {
      const std::size_t colon = line.find(':');
      inside = line.substr(0, colon) == section_name && colon != std::string_view::npos;
      found = found || inside;
    }
    out.append(inside ? line : std::string_view());
    out += '\n';
  }
  if (!found) {
    throw UsageError(std::string(name) + " has no section '" + std::string(section_name) +
                     ":' at the beginning of a line");
  }
  return out;
}

nn::Activation activation_of(const std::string& word) {
  const std::vector<std::pair<std::string, nn::Activation>> words{
      {"none", nn::Activation::none},
      {"relu", nn::Activation::relu},
      {"tanh", nn::Activation::tanh},
      {"sigmoid", nn::Activation::sigmoid},
      {"gelu", nn::Activation::gelu}};
  return std::ranges::find(words, word, &std::pair<std::string, nn::Activation>::first)->second;
}

void require_one_way(const Section& section, deck::Findings& findings) {
  const bool layers = section.has("layers");
  if (layers && (section.has("hidden") || section.has("outputs"))) {
    findings.error(section.position("layers"),
                   "'layers' and 'hidden' or 'outputs' exclude each other",
                   "say the whole network with one of both");
  } else if (!layers && !section.has("outputs")) {
    findings.error(section.position(), "'surrogate' has neither 'outputs' nor 'layers'",
                   "add 'outputs: 3' and 'hidden: [64, 64]', or a list of layers");
  }
  if (!section.has("budget") && !section.has("max_steps")) {
    findings.error(section.position(), "'surrogate' has neither 'budget' nor 'max_steps'",
                   "add 'budget: 500 us'");
  }
  findings.throw_if_any();
}

Shape input_of(const Section& section) { return Shape(section.integers("inputs")); }

graph::Graph graph_of_layers(const Section& section, deck::Findings& findings) {
  const auto registry = nn::layer_registry();
  graph::Graph graph(input_of(section), made_from(losses(), section.section("loss")));
  for (const Section& layer : section.sections("layers")) {
    try {
      const auto inputs = layer.has("inputs") ? layer.texts("inputs") : std::vector<std::string>();
      graph.add(layer.text("name"), made_from(registry, layer), inputs);
    } catch (const UsageError& refusal) {
      findings.error(layer.position(), refusal.what());
      findings.throw_if_any();
    }
  }
  return graph;
}

graph::Graph graph_of(const Section& section, deck::Findings& findings) {
  if (section.has("layers")) {
    return graph_of_layers(section, findings);
  }
  MlpOptions network{.in = input_of(section).size(),
                     .out = section.integer("outputs"),
                     .activation = activation_of(section.text("activation")),
                     .loss = made_from(losses(), section.section("loss"))};
  if (section.has("hidden")) {
    network.hidden = section.integers("hidden");
  }
  return Surrogate::mlp_graph(network);
}

Options options_of(const Section& section) {
  Options options;
  const Section optimizer = section.section("optimizer");
  options.optimizer = made_from(nn::optimizer_registry(), optimizer);
  if (optimizer.has("schedule")) {
    options.rates = made_from(rate_schedules(), optimizer.section("schedule"));
    static_cast<void>(options.rates->factor({}));  // refuses one that counts epochs
  }
  options.dtype = dtype_from_name(section.text("precision"));
  options.batch = section.integer("batch");
  options.min_samples = section.integer("min_samples");
  options.standardise = section.boolean("standardise");
  options.seed = static_cast<std::uint64_t>(section.integer("seed"));
  return options;
}

ReservoirOptions reservoir_of(const Section& section, std::uint64_t seed) {
  return {.capacity = section.integer("capacity"),
          .validate_every = section.integer("validate_every"),
          .keep = section.text("keep") == "newest" ? Keep::newest : Keep::uniform,
          .stored = dtype_from_name(section.text("stored")),
          .seed = seed};
}

TrainOptions train_of(const Section& section) {
  TrainOptions train;
  if (section.has("budget")) {
    train.budget = std::chrono::nanoseconds(std::llround(section.seconds("budget") * 1e9));
  }
  train.max_steps = section.has("max_steps") ? section.integer("max_steps") : 0;
  return train;
}

SurrogateSpec spec_of(std::string_view text, const std::filesystem::path& name) {
  const deck::Deck read =
      deck::Deck::parse(only_section(text, name.string()), name, surrogate_schema());
  const Section section = read.root().section(section_name);
  deck::Findings findings = read.findings();
  require_one_way(section, findings);
  try {
    Options options = options_of(section);
    const std::uint64_t seed = options.seed;
    return {graph_of(section, findings), std::move(options),
            reservoir_of(section.section("reservoir"), seed), train_of(section),
            section.integer("members")};
  } catch (const deck::DeckError&) {
    throw;
  } catch (const UsageError& refusal) {
    findings.error(section.position(), refusal.what());
    findings.throw_if_any();
    throw;
  }
}

}  // namespace

deck::Schema surrogate_schema() {
  Schema section(std::string(section_name), "A network that is trained inside a simulation.");
  add_network_keys(section);
  add_training_keys(section);
  section.section("reservoir", reservoir_schema()).required();
  Schema root("input", "The section that Zygos reads of a simulation's input file.");
  root.section(std::string(section_name), std::move(section)).required();
  return root;
}

SurrogateSpec surrogate_spec(std::string_view text, std::string_view name) {
  return spec_of(text, std::filesystem::path(name));
}

SurrogateSpec load_surrogate_spec(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream) {
    throw UsageError("can't read the input file " + file.string() +
                     ": there is no such file, or it may not be read");
  }
  return spec_of(text, file);
}

}  // namespace zygos::insitu
