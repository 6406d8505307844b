// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// A surrogate of C has the bits of the one of C++ for the same calls, and of its own restart.
#include "support/temporary_folder.hpp"
#include "surrogate_samples.hpp"

#include "zygos/insitu/deck.hpp"
#include "zygos/insitu/ensemble.hpp"

#include <catch2/generators/catch_generators.hpp>

#include <cmath>
#include <fstream>
#include <string>

namespace zygos::test_c_surrogate {
using namespace zygos::test;

namespace {

/// What C++ makes of the same options.
struct Reference {
  explicit Reference(int threads, insitu::Options options = {})
      : exec(threads == 1 ? lane::Execution(Kokkos::Serial(Kokkos::NewInstance{}))
                          : lane::Execution(Kokkos::OpenMP(threads))),
        net(insitu::Surrogate::mlp_graph({.in = 6, .hidden = {24, 24}, .out = 2}), exec,
            with_batch(std::move(options))),
        samples(net.reservoir({.capacity = 300, .seed = seed})) {}

  insitu::Options with_batch(insitu::Options options) {
    options.batch = 32;
    seed = options.seed;
    return options;
  }
  template <class P>
  void add(const P& particles, std::size_t begin, std::size_t end) {
    const auto [inputs, targets] = particles.part(begin, end);
    samples.add_samples(exec, insitu::samples_of_views(inputs), insitu::samples_of_views(targets));
  }
  std::vector<std::byte> saved() const {
    insitu::State state = net.state();
    state += samples.state();
    return insitu::to_bytes(state);
  }

  std::uint64_t seed = 1;
  lane::Execution exec;
  insitu::Surrogate net;
  insitu::Reservoir samples;
};

constexpr const char* input = R"(# Two-phase flow
mesh: {cells: [128, 128], anything: !ours 7}
surrogate:
  inputs: 6
  outputs: 2
  hidden: [24, 24]
  batch: 32
  max_steps: 7
  reservoir: {capacity: 300}
)";

}  // namespace

TEST_CASE("A surrogate of C learns with the bits of C++", "[c][insitu]") {
  const int threads = GENERATE(1, 2);
  const auto precision = GENERATE(ZYGOS_TYPE_NONE, ZYGOS_FLOAT64);
  const Session session;
  zygos_surrogate_options options = small_options();
  options.threads = threads;
  options.precision = precision;
  options.learning_rate = 3e-3;
  options.seed = 5;
  const SurrogateHandle net = create(session, options);
  Reference reference(threads, {.learning_rate = 3e-3,
                                .dtype = precision == ZYGOS_FLOAT64 ? DType::f64 : DType::f32,
                                .seed = 5});
  const Particles<double, Kokkos::LayoutLeft> particles(500);

  for (std::int64_t period = 0; period < 5; ++period) {
    const std::int64_t begin = 100 * period;
    add(net, particles, begin, begin + 100);
    reference.add(particles, static_cast<std::size_t>(begin),
                  static_cast<std::size_t>(begin) + 100);
    const zygos_training training = learn(net, 20);
    const auto report = reference.net.train(reference.samples, {.max_steps = 20});
    CHECK(training.steps == 20);
    CHECK(training.loss == report.loss);
    CHECK(training.restandardised == (report.restandardised ? 1 : 0));
  }

  zygos_validation validation{};
  std::array<double, 2> errors{};
  ZYGOS_TEST_OK(zygos_surrogate_validate(net.get(), &validation, errors.data(), 2, &error));
  const auto expected_validation = reference.net.validate(reference.samples);
  CHECK(validation.samples == expected_validation.samples);
  CHECK(validation.loss == expected_validation.loss);
  CHECK(validation.relative_error == expected_validation.relative_error);
  CHECK(errors[0] == expected_validation.root_mean_squares[0]);
  CHECK(errors[1] == expected_validation.root_mean_squares[1]);
  CHECK((saved(net) == reference.saved()));
  Matrix<double> expected_out("zygos::test::out", 130, 2);
  const auto [inputs, targets] = particles.part(0, 130);
  reference.net.predict_samples(reference.exec, insitu::samples_of_views(inputs),
                                insitu::samples_of_views(expected_out));
  const auto out = predicted(net, particles, 130);
  CHECK(std::equal(out.begin(), out.end(), expected_out.data()));
}

TEST_CASE("An ensemble of C predicts the mean and the spread of the one of C++", "[c][insitu]") {
  const Session session;
  zygos_surrogate_options options = small_options();
  options.threads = 2;
  options.members = 3;
  const SurrogateHandle net = create(session, options);
  const Kokkos::OpenMP exec(2);
  const Particles<double> particles(200);
  auto made =
      insitu::Ensemble::mlp({.in = 6, .hidden = {24, 24}, .out = 2}, exec, 3, {.batch = 32});
  auto samples = made.reservoir({.capacity = 300});
  const auto [inputs, targets] = particles.part(0, 200);
  samples.add(exec, inputs, targets);
  made.train(samples, {.max_steps = 10});
  const Matrix<double> mean("zygos::test::mean", 200, 2);
  const Kokkos::View<double*, Kokkos::HostSpace> spread("zygos::test::spread", 200);
  made.predict(exec, inputs, mean, spread);

  add(net, particles, 0, 200);
  CHECK(learn(net, 10).steps == 30);
  const Part part(particles, 0, 200);
  std::vector<double> out(400), apart(200);
  const zygos_array output = array_of(out.data(), {200, 2});
  const zygos_array distance = array_of(apart.data(), {200});
  ZYGOS_TEST_OK(zygos_surrogate_predict_spread(net.get(), part.inputs.data(), 2, &output, 1,
                                               &distance, &error));

  CHECK(std::equal(out.begin(), out.end(), mean.data()));
  CHECK(std::equal(apart.begin(), apart.end(), spread.data()));
  CHECK(predicted(net, particles, 200) == out);
  CHECK(info_of(net).members == 3);
  CHECK(info_of(net).steps == 30);
  const SurrogateHandle restored = create(session, options);
  const auto bytes = saved(net);
  ZYGOS_TEST_OK(
      zygos_surrogate_restore_state(restored.get(), bytes.data(), std::ssize(bytes), &error));
  CHECK(predicted(restored, particles, 200) == out);
}

TEST_CASE("Options of C are those of C++", "[c][insitu]") {
  const Session session;
  zygos_surrogate_options options = small_options();
  options.activation = ZYGOS_GELU;
  options.own_units = 1;
  options.min_samples = 40;
  options.validate_every = -1;
  options.keep = ZYGOS_KEEP_NEWEST;
  options.stored = ZYGOS_FLOAT32;
  options.threads = 2;
  const SurrogateHandle net = create(session, options);
  const Kokkos::OpenMP exec(2);
  const Particles<double> particles(50);
  auto made = insitu::Surrogate::mlp(
      {.in = 6, .hidden = {24, 24}, .out = 2, .activation = nn::Activation::gelu}, exec,
      {.batch = 32, .min_samples = 40, .standardise = false});
  auto samples = made.reservoir(
      {.capacity = 300, .validate_every = 0, .keep = insitu::Keep::newest, .stored = DType::f32});

  add(net, particles, 0, 39);
  CHECK(learn(net, 3).steps == 0);
  add(net, particles, 39, 50);
  CHECK(learn(net, 3).steps == 3);

  for (const auto& [inputs, targets] : {particles.part(0, 39), particles.part(39, 50)}) {
    samples.add(exec, inputs, targets);
  }
  made.train(samples, {.max_steps = 3});
  insitu::State state = made.state();
  state += samples.state();
  CHECK((saved(net) == insitu::to_bytes(state)));
}

TEST_CASE("What is 0 is a default, and the info says what became of it", "[c][insitu]") {
  const Session session;
  zygos_surrogate_options options{};
  options.inputs = 6;
  options.outputs = 2;
  const SurrogateHandle net = create(session, options);
  const Particles<double> particles(1000);

  add(net, particles, 0, 1000);
  learn(net, 4);

  const zygos_surrogate_info info = info_of(net);
  CHECK(info.input_rank == 1);
  CHECK(info.input[0] == 6);
  CHECK(info.output_rank == 1);
  CHECK(info.output[0] == 2);
  CHECK(info.precision == ZYGOS_FLOAT32);
  CHECK(info.threads == 2);
  CHECK(info.steps == 4);
  CHECK(info.steps_refused == 0);
  CHECK(info.samples_seen == 1000);
  CHECK(info.samples_refused == 0);
  CHECK(info.training == 900);
  CHECK(info.validation == 100);
  CHECK(info.bytes > 100'000 * 8 * 8);
}

TEST_CASE("A restart from bytes goes on with the bits of the run", "[c][insitu]") {
  const Session session;
  const Particles<double> particles(600);
  const SurrogateHandle net = create(session, small_options());
  add(net, particles, 0, 400);
  learn(net, 15);
  const auto bytes = saved(net);
  const SurrogateHandle restarted = create(session, small_options());
  ZYGOS_TEST_OK(
      zygos_surrogate_restore_state(restarted.get(), bytes.data(), std::ssize(bytes), &error));
  CHECK((saved(restarted) == bytes));

  for (const SurrogateHandle* one : {&net, &restarted}) {
    add(*one, particles, 400, 600);
    learn(*one, 15);
  }

  CHECK((saved(restarted) == saved(net)));
  CHECK(predicted(restarted, particles, 100) == predicted(net, particles, 100));
}

TEST_CASE("A rollback undoes the last training", "[c][insitu]") {
  const Session session;
  const Particles<double> particles(200);
  const SurrogateHandle net = create(session, small_options());
  add(net, particles, 0, 200);
  learn(net, 10);
  const auto before = predicted(net, particles, 50);
  learn(net, 10);
  CHECK(predicted(net, particles, 50) != before);

  ZYGOS_TEST_OK(zygos_surrogate_rollback(net.get(), &error));

  CHECK(predicted(net, particles, 50) == before);
}

TEST_CASE("A NaN never enters what is trained on", "[c][insitu]") {
  const Session session;
  const Particles<double> particles(200);
  particles.x(17, 1) = std::numeric_limits<double>::quiet_NaN();
  particles.f(90, 0) = std::numeric_limits<double>::infinity();
  const SurrogateHandle net = create(session, small_options());

  add(net, particles, 0, 200);
  const zygos_training training = learn(net, 50);

  CHECK(training.steps == 50);
  CHECK(training.refused == 0);
  CHECK(std::isfinite(training.loss));
  CHECK(info_of(net).samples_refused == 2);
  CHECK(info_of(net).samples_seen == 200);
  for (const double value : predicted(net, particles, 17)) {
    CHECK(std::isfinite(value));
  }
}

TEST_CASE("A surrogate of an input file is that of C++, with its limits", "[c][insitu]") {
  const TemporaryFolder folder("c-surrogate");
  const std::string file = (folder.path() / "flow.yaml").string();
  std::ofstream(file) << input;
  const Session session;
  zygos_surrogate* of_file = nullptr;
  zygos_surrogate* of_text = nullptr;
  ZYGOS_TEST_OK(zygos_surrogate_load_spec(session.session, file.c_str(), 0, &of_file, &error));
  const SurrogateHandle one(of_file);
  ZYGOS_TEST_OK(zygos_surrogate_parse_spec(session.session, input, 2, &of_text, &error));
  const SurrogateHandle two(of_text);
  const SurrogateHandle plain = create(session, small_options());
  const Particles<double> particles(100);

  for (const SurrogateHandle* net : {&one, &two, &plain}) {
    add(*net, particles, 0, 100);
    learn(*net, net == &plain ? 7 : 0);
  }

  CHECK(info_of(one).steps == 7);
  CHECK((saved(one) == saved(plain)));
  CHECK((saved(two) == saved(plain)));
  CHECK(learn(two, 3).steps == 3);
}

TEST_CASE("A budget in seconds is kept", "[c][insitu]") {
  const Session session;
  zygos_surrogate_options options = small_options();
  options.threads = 1;
  const SurrogateHandle net = create(session, options);
  const Particles<double> particles(200);
  add(net, particles, 0, 200);
  learn(net, 20);
  zygos_training training{};

  ZYGOS_TEST_OK(zygos_surrogate_train(net.get(), 0.05, 0, &training, &error));
  CHECK(training.steps > 10);
  CHECK(training.seconds < 0.5);  // of a machine that others use
  ZYGOS_TEST_OK(zygos_surrogate_train(net.get(), 1e-9, 0, &training, &error));
  CHECK(training.steps == 0);
}

}  // namespace zygos::test_c_surrogate
