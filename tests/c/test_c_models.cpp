// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Models from memory, new weights, and what models can be asked.
#include "c_samples.hpp"

#include <string>

namespace zygos::test_c_models {
using namespace zygos::test;

namespace {

/// The weights of a checkpoint as a caller of C has them: names and arrays.
struct Weights {
  explicit Weights(const io::Checkpoint& checkpoint_) : checkpoint(checkpoint_) {
    for (const infer::Weight& weight : load::weights_of(checkpoint)) {
      names.push_back(std::make_unique<std::string>(weight.name));
      zygos_weight& out = list.emplace_back();
      out.name = names.back()->c_str();
      out.values.data = const_cast<void*>(weight.data);
      out.values.type = weight.dtype == DType::f64 ? ZYGOS_FLOAT64 : ZYGOS_FLOAT32;
      out.values.rank = static_cast<std::int32_t>(weight.shape.rank());
      std::ranges::copy(weight.shape.dimensions(), out.values.dimensions);
    }
  }

  zygos_network network(const char* deck) const {
    zygos_network network{};
    network.deck = deck;
    network.rank = 1;
    network.dimensions[0] = features;
    network.weights = list.data();
    network.weights_count = static_cast<std::int32_t>(list.size());
    return network;
  }

  io::Checkpoint checkpoint;
  std::vector<std::unique_ptr<std::string>> names{};
  std::vector<zygos_weight> list{};
};

zygos_info info_of(const Handle& model) {
  zygos_info info{};
  ZYGOS_TEST_OK(zygos_get_info(model.get(), &info, &error));
  return info;
}

}  // namespace

TEST_CASE("A model from a deck's text and named weights predicts as the one from files", "[c]") {
  const SavedRun run("c-create");
  const Session session;
  const Handle loaded = session.load(run.folder.path());
  const Weights weights(load::load_checkpoint(run.folder.path()));
  const zygos_network network = weights.network(saved_run_deck);
  const zygos_options options = Options{.precision = ZYGOS_FLOAT64}.c();
  zygos_model* created = nullptr;

  ZYGOS_TEST_OK(zygos_create(session.session, &network, &options, &created, &error));

  const Handle model(created);
  CHECK(predicted(model, 40) == predicted(loaded, 40));
  CHECK(info_of(model).block == info_of(loaded).block);
}

TEST_CASE("A network in memory is refused where deck, weights or shape are at fault", "[c]") {
  const SavedRun run("c-create-refused");
  const Session session;
  const Weights weights(load::load_checkpoint(run.folder.path()));
  zygos_model* model = nullptr;
  const auto message = [&](const zygos_network& network) {
    zygos_error error{};
    CHECK(zygos_create(session.session, &network, nullptr, &model, &error) == ZYGOS_ERROR_USAGE);
    CHECK(model == nullptr);
    return std::string(error.message);
  };

  CHECK(message(weights.network("model: {layers: []}")).find("zygos_create.yaml") !=
        std::string::npos);
  CHECK(message(weights.network(nullptr)) == "the deck is NULL");
  zygos_network fewer = weights.network(saved_run_deck);
  fewer.weights_count = 3;
  CHECK(message(fewer).find("no weight is called 'out/bias'") != std::string::npos);
  zygos_network other = weights.network(saved_run_deck);
  other.dimensions[0] = 5;
  CHECK(message(other).find("'h/kernel' has the shape [6, 20]") != std::string::npos);
}

TEST_CASE("New weights reach all models that share them, from a caller's arrays or a run", "[c]") {
  SavedRun run("c-assign");
  const Session session;
  const Handle model = session.load(run.folder.path());
  const Handle other = share(model, 1);
  const Weights first(load::load_checkpoint(run.folder.path()));
  const auto before = predicted(model, 40);
  run.step();
  run.store.write(2, run.engine->snapshot(), first.checkpoint.facts);

  ZYGOS_TEST_OK(zygos_reload(other.get(), run.folder.path().c_str(), 0, &error));

  infer::Model reference = load::load_model(run.folder.path());
  const auto after = expected(reference, 40);
  CHECK(after != before);
  CHECK(predicted(model, 40) == after);
  CHECK(predicted(other, 40) == after);

  ZYGOS_TEST_OK(zygos_assign(model.get(), first.list.data(), 4, &error));
  CHECK(predicted(other, 40) == before);
  CHECK(zygos_assign(model.get(), first.list.data(), 3, nullptr) == ZYGOS_ERROR_USAGE);
  CHECK(zygos_reload(model.get(), "nowhere", 0, nullptr) == ZYGOS_ERROR_USAGE);
  CHECK(predicted(model, 40) == before);
}

TEST_CASE("A model says its shapes, precision, block, threads, bytes and parameters", "[c]") {
  const SavedRun run("c-info");
  const Session session(3);
  const Handle model = session.load(run.folder.path(), {.block = 32});
  CHECK(zygos_threads(session.session) == 3);
  CHECK(std::string(zygos_version()).starts_with("0."));

  zygos_info info = info_of(model);
  CHECK(info.input_rank == 1);
  CHECK(info.input[0] == features);
  CHECK(info.output_rank == 1);
  CHECK(info.output[0] == targets);
  CHECK(info.precision == ZYGOS_FLOAT64);
  CHECK(info.threads == 3);
  CHECK(info.block == 32);
  CHECK(info.weight_bytes >= (6 * 20 + 20 + 20 * 3 + 3) * 8);
  CHECK(info.workspace_bytes == 0);
  REQUIRE(info.parameters == 4);
  zygos_parameter parameter{};
  ZYGOS_TEST_OK(zygos_get_parameter(model.get(), 0, &parameter, &error));
  CHECK(std::string(parameter.name) == "h/kernel");
  CHECK(parameter.rank == 2);
  CHECK(parameter.dimensions[0] == 6);
  CHECK(parameter.dimensions[1] == 20);
  CHECK(zygos_get_parameter(model.get(), 4, &parameter, nullptr) == ZYGOS_ERROR_USAGE);
  CHECK(zygos_get_parameter(model.get(), -1, &parameter, nullptr) == ZYGOS_ERROR_USAGE);

  ZYGOS_TEST_OK(zygos_prepare(model.get(), 32, &error));
  CHECK(info_of(model).workspace_bytes > 0);
  CHECK(info_of(share(model)).threads == 3);
  CHECK(info_of(share(model, 1)).threads == 1);
}

}  // namespace zygos::test_c_models
