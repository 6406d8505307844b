// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Every failure of a surrogate is a code and a message, and leaves it as it was.
#include "c/insitu/surrogate.hpp"
#include "surrogate_samples.hpp"

#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <omp.h>

#include <cmath>
#include <functional>
#include <string>

namespace zygos::test_c_surrogate_errors {
using namespace zygos::test;
using Catch::Matchers::ContainsSubstring;

namespace {

using E = zygos_error*;

/// Calls f(error), checks that it fails so, and returns the message.
template <class F>
std::string refusal(zygos_code code, const F& f) {
  zygos_error error{};
  CHECK(f(&error) == code);
  CHECK(error.code == code);
  CHECK(f(static_cast<E>(nullptr)) == code);
  return error.message;
}

struct Learning {
  Learning() {
    add(net, particles, 0, 100);
    learn(net, 5);
  }

  Session session;
  SurrogateHandle net = create(session, small_options());
  Particles<double> particles{100};
  Part<Particles<double>> part{particles, 0, 100};
  zygos_surrogate* s = net.get();
};

}  // namespace

TEST_CASE("Options of a surrogate that make no sense are refused by name", "[c][insitu]") {
  const Session session;
  const auto refused = [&](const std::function<void(zygos_surrogate_options&)>& change) {
    zygos_surrogate_options options = small_options();
    change(options);
    zygos_surrogate* made = nullptr;
    const std::string message = refusal(ZYGOS_ERROR_USAGE, [&](E e) {
      return zygos_surrogate_create(session.session, &options, &made, e);
    });
    CHECK(made == nullptr);
    return message;
  };
  using O = zygos_surrogate_options;
  CHECK_THAT(refused([](O& o) { o.inputs = 0; }), ContainsSubstring("0 inputs"));
  CHECK_THAT(refused([](O& o) { o.outputs = -1; }), ContainsSubstring("-1 outputs"));
  CHECK(refused([](O& o) { o.hidden = nullptr; }) == "hidden is NULL");
  CHECK_THAT(refused([](O& o) { o.hidden_count = -2; }), ContainsSubstring("-2 hidden layers"));
  CHECK_THAT(refused([](O& o) { o.activation = 9; }), ContainsSubstring("activation is 9"));
  CHECK_THAT(refused([](O& o) { o.learning_rate = -1.0; }), ContainsSubstring("learning rate"));
  CHECK_THAT(refused([](O& o) { o.learning_rate = std::numeric_limits<double>::quiet_NaN(); }),
             ContainsSubstring("learning rate"));
  CHECK_THAT(refused([](O& o) { o.batch = -1; }), ContainsSubstring("batch -1"));
  CHECK_THAT(refused([](O& o) { o.min_samples = -1; }), ContainsSubstring("min_samples -1"));
  CHECK_THAT(refused([](O& o) { o.block = -1; }), ContainsSubstring("block"));
  CHECK_THAT(refused([](O& o) { o.precision = 9; }), ContainsSubstring("precision"));
  CHECK_THAT(refused([](O& o) { o.capacity = -1; }), ContainsSubstring("capacity -1"));
  CHECK_THAT(refused([](O& o) { o.validate_every = -2; }), ContainsSubstring("validate_every"));
  CHECK_THAT(refused([](O& o) { o.validate_every = 1; }), ContainsSubstring("validate_every"));
  CHECK_THAT(refused([](O& o) { o.keep = 2; }), ContainsSubstring("keep is 2"));
  CHECK_THAT(refused([](O& o) { o.stored = ZYGOS_BFLOAT16; }), ContainsSubstring("f32 or f64"));
  CHECK_THAT(refused([](O& o) { o.threads = -1; }), ContainsSubstring("-1 threads"));
  CHECK_THAT(refused([](O& o) { o.members = -1; }), ContainsSubstring("-1 members"));
}

TEST_CASE("A surrogate of one network has no spread, and an ensemble's has a number a sample",
          "[c][insitu]") {
  const Session session;
  const Particles<double> particles(20);
  const Part part(particles, 0, 20);
  std::vector<double> out(40), apart(20);
  const zygos_array output = array_of(out.data(), {20, 2});
  const auto refused = [&](const SurrogateHandle& net, const zygos_array* spread) {
    return refusal(ZYGOS_ERROR_USAGE, [&](E e) {
      return zygos_surrogate_predict_spread(net.get(), part.inputs.data(), 2, &output, 1, spread,
                                            e);
    });
  };
  const zygos_array right = array_of(apart.data(), {20});
  const zygos_array wide = array_of(out.data(), {20, 2});
  CHECK_THAT(refused(create(session, small_options()), &right),
             ContainsSubstring("one network has no spread"));
  zygos_surrogate_options options = small_options();
  options.members = 2;
  const SurrogateHandle net = create(session, options);
  CHECK_THAT(refused(net, &wide), ContainsSubstring("spread"));
  CHECK(refused(net, nullptr) == "spread is NULL");
  CHECK(out == std::vector<double>(40));
}

TEST_CASE("An input file that describes no surrogate is refused with its line", "[c][insitu]") {
  const Session session;
  zygos_surrogate* made = nullptr;
  const auto parse = [&](const char* text) {
    return refusal(ZYGOS_ERROR_USAGE, [&](E e) {
      return zygos_surrogate_parse_spec(session.session, text, 0, &made, e);
    });
  };
  CHECK_THAT(parse("mesh: 3\n"), ContainsSubstring("no section 'surrogate:'"));
  CHECK_THAT(parse("a: 1\nsurrogate:\n  inputs: 6\n  outputs: 2\n  hiden: 3\n  max_steps: 1\n"
                   "  reservoir: {capacity: 9}\n"),
             ContainsSubstring(":5:3") && ContainsSubstring("did you mean 'hidden'"));
  CHECK_THAT(refusal(ZYGOS_ERROR_USAGE,
                     [&](E e) {
                       return zygos_surrogate_load_spec(session.session, "nowhere.yaml", 0, &made,
                                                        e);
                     }),
             ContainsSubstring("nowhere.yaml"));
  CHECK(made == nullptr);
}

TEST_CASE("Arguments of a surrogate that are NULL are named", "[c][insitu]") {
  Learning p;
  const zygos_surrogate_options options = small_options();
  zygos_surrogate* made = nullptr;
  const zygos_array* const x = p.part.inputs.data();
  const zygos_array* const f = &p.part.target;
  zygos_validation v{};
  zygos_surrogate_info info{};
  std::int64_t size = 0;
  auto* const none = static_cast<zygos_surrogate*>(nullptr);
  auto* const session = p.session.session;
  const auto usage = [](const auto& call) { return refusal(ZYGOS_ERROR_USAGE, call); };
  const std::string no_surrogate = "surrogate is NULL";
  CHECK(usage([&](E e) { return zygos_surrogate_create(nullptr, &options, &made, e); }) ==
        "session is NULL");
  CHECK(usage([&](E e) { return zygos_surrogate_create(session, nullptr, &made, e); }) ==
        "options is NULL");
  CHECK_THAT(usage([&](E e) { return zygos_surrogate_create(session, &options, nullptr, e); }),
             ContainsSubstring("is NULL"));
  CHECK(usage([&](E e) { return zygos_surrogate_load_spec(session, nullptr, 0, &made, e); }) ==
        "path is NULL");
  CHECK(usage([&](E e) { return zygos_surrogate_parse_spec(session, nullptr, 0, &made, e); }) ==
        "text is NULL");
  CHECK(usage([&](E e) { return zygos_surrogate_add(none, x, 2, f, 1, e); }) == no_surrogate);
  CHECK(usage([&](E e) { return zygos_surrogate_add(p.s, nullptr, 2, f, 1, e); }) ==
        "inputs is NULL");
  CHECK(usage([&](E e) { return zygos_surrogate_add(p.s, x, 2, nullptr, 1, e); }) ==
        "targets is NULL");
  CHECK(usage([&](E e) { return zygos_surrogate_train(none, 0, 1, nullptr, e); }) == no_surrogate);
  CHECK(usage([&](E e) { return zygos_surrogate_validate(none, &v, nullptr, 0, e); }) ==
        no_surrogate);
  CHECK(usage([&](E e) { return zygos_surrogate_validate(p.s, nullptr, nullptr, 0, e); }) ==
        "validation is NULL");
  CHECK(usage([&](E e) { return zygos_surrogate_validate(p.s, &v, nullptr, 2, e); }) ==
        "root_mean_squares is NULL");
  CHECK(usage([&](E e) { return zygos_surrogate_predict(none, x, 2, f, 1, e); }) == no_surrogate);
  CHECK(usage([&](E e) { return zygos_surrogate_predict(p.s, x, 2, nullptr, 1, e); }) ==
        "outputs is NULL");
  CHECK(usage([&](E e) { return zygos_surrogate_rollback(none, e); }) == no_surrogate);
  CHECK(usage([&](E e) { return zygos_surrogate_state_bytes(none, &size, e); }) == no_surrogate);
  CHECK(usage([&](E e) { return zygos_surrogate_state_bytes(p.s, nullptr, e); }) ==
        "bytes is NULL");
  CHECK(usage([&](E e) { return zygos_surrogate_save_state(p.s, nullptr, 1, e); }) ==
        "buffer is NULL");
  CHECK(usage([&](E e) { return zygos_surrogate_restore_state(p.s, nullptr, 1, e); }) ==
        "buffer is NULL");
  CHECK(usage([&](E e) { return zygos_surrogate_get_info(none, &info, e); }) == no_surrogate);
  CHECK(usage([&](E e) { return zygos_surrogate_get_info(p.s, nullptr, e); }) == "info is NULL");
  zygos_surrogate_free(nullptr);
}

TEST_CASE("Calls that a surrogate cannot make are refused, and nothing changes", "[c][insitu]") {
  Learning p;
  const auto before = saved(p.net);
  const zygos_array* const x = p.part.inputs.data();
  const zygos_array* const f = &p.part.target;
  zygos_validation v{};
  std::array<double, 3> errors{};
  const auto usage = [](const auto& call) { return refusal(ZYGOS_ERROR_USAGE, call); };
  CHECK_THAT(usage([&](E e) { return zygos_surrogate_add(p.s, x, 1, f, 1, e); }),
             ContainsSubstring("3 numbers a sample"));
  CHECK(usage([&](E e) { return zygos_surrogate_add(p.s, x, 0, f, 1, e); }) ==
        "0 inputs; there must be 1 or more");
  CHECK(usage([&](E e) { return zygos_surrogate_add(p.s, x, 2, f, -1, e); }) ==
        "-1 targets; there must be 1 or more");
  zygos_array few = *f;
  few.dimensions[0] = 99;
  CHECK_THAT(usage([&](E e) { return zygos_surrogate_add(p.s, x, 2, &few, 1, e); }),
             ContainsSubstring("99"));
  few = *f;
  few.type = 0;
  CHECK_THAT(usage([&](E e) { return zygos_surrogate_add(p.s, x, 2, &few, 1, e); }),
             ContainsSubstring("the target has the type 0"));
  CHECK_THAT(usage([&](E e) { return zygos_surrogate_predict(p.s, x, 2, x, 1, e); }),
             ContainsSubstring("3 numbers a sample"));
  CHECK_THAT(usage([&](E e) { return zygos_surrogate_train(p.s, 0.0, 0, nullptr, e); }),
             ContainsSubstring("without an end"));
  CHECK_THAT(usage([&](E e) { return zygos_surrogate_train(p.s, -1.0, 0, nullptr, e); }),
             ContainsSubstring("budget of -1"));
  CHECK_THAT(usage([&](E e) { return zygos_surrogate_train(p.s, NAN, 0, nullptr, e); }),
             ContainsSubstring("budget of nan"));
  CHECK_THAT(usage([&](E e) { return zygos_surrogate_train(p.s, 1.0, -1, nullptr, e); }),
             ContainsSubstring("-1 steps"));
  CHECK_THAT(usage([&](E e) { return zygos_surrogate_validate(p.s, &v, errors.data(), 3, e); }),
             ContainsSubstring("errors of 3 outputs; the surrogate has 2"));
  CHECK_THAT(usage([&](E e) { return zygos_finalize(p.session.session, e); }),
             ContainsSubstring("zygos_surrogate_free()"));
  CHECK((saved(p.net) == before));
}

TEST_CASE("A state that is damaged or of another surrogate is refused as a whole", "[c][insitu]") {
  Learning p;
  const auto before = saved(p.net);
  const auto size = std::ssize(before);
  zygos_surrogate_options options = small_options();
  options.capacity = 301;
  const auto other_samples = saved(create(p.session, options));
  options = small_options();
  options.activation = ZYGOS_GELU;
  options.hidden_count = 1;
  const auto other_net = saved(create(p.session, options));
  const auto restore = [&](const std::vector<std::byte>& bytes, std::int64_t length) {
    return [&, length](E e) { return zygos_surrogate_restore_state(p.s, bytes.data(), length, e); };
  };
  CHECK_THAT(refusal(ZYGOS_ERROR_CHECKPOINT, restore(before, size - 1)),
             ContainsSubstring("cut off"));
  CHECK_THAT(refusal(ZYGOS_ERROR_CHECKPOINT, restore(before, 0)), ContainsSubstring("not a state"));
  CHECK_THAT(refusal(ZYGOS_ERROR_USAGE, restore(before, -1)), ContainsSubstring("-1 bytes"));
  CHECK_THAT(refusal(ZYGOS_ERROR_CHECKPOINT, restore(other_samples, std::ssize(other_samples))),
             ContainsSubstring("another capacity"));
  // The samples fit, the network does not: neither is taken.
  refusal(ZYGOS_ERROR_CHECKPOINT, restore(other_net, std::ssize(other_net)));
  std::vector<std::byte> room(before.size() + 1);
  for (const std::int64_t wrong : {size - 1, size + 1, std::int64_t{-1}}) {
    CHECK_THAT(refusal(ZYGOS_ERROR_USAGE,
                       [&](E e) { return zygos_surrogate_save_state(p.s, room.data(), wrong, e); }),
               ContainsSubstring("says " + std::to_string(size)));
  }
  CHECK((room == std::vector<std::byte>(before.size() + 1)));
  CHECK((saved(p.net) == before));
}

TEST_CASE("A surrogate that a thread uses is refused to another one", "[c][insitu]") {
  Learning p;
  const zygos_array* const x = p.part.inputs.data();
  {
    const c::InUse elsewhere = p.s->use();
    CHECK_THAT(refusal(ZYGOS_ERROR_USAGE,
                       [&](E e) { return zygos_surrogate_add(p.s, x, 2, &p.part.target, 1, e); }),
               ContainsSubstring("another thread uses this surrogate"));
    CHECK(zygos_surrogate_train(p.s, 0.0, 1, nullptr, nullptr) == ZYGOS_ERROR_USAGE);
    CHECK(zygos_surrogate_rollback(p.s, nullptr) == ZYGOS_ERROR_USAGE);
  }
  CHECK(learn(p.net, 1).steps == 1);
}

TEST_CASE("Within a parallel region surrogates of one thread work, others are refused",
          "[c][insitu]") {
  Learning p;
  zygos_surrogate_options options = small_options();
  options.threads = 1;
  const SurrogateHandle alone = create(p.session, options);
  add(alone, p.particles, 0, 100);
  int code_of_team = ZYGOS_OK;
  int code_alone = ZYGOS_ERROR_BUG;
  zygos_error error{};

#pragma omp parallel num_threads(2)
  {
#pragma omp single
    {
      code_of_team = zygos_surrogate_train(p.s, 0.0, 1, nullptr, &error);
      code_alone = zygos_surrogate_train(alone.get(), 0.0, 1, nullptr, nullptr);
    }
  }

  CHECK(code_of_team == ZYGOS_ERROR_USAGE);
  CHECK_THAT(std::string(error.message), ContainsSubstring("parallel region"));
  CHECK(code_alone == ZYGOS_OK);
  CHECK(info_of(alone).steps == 1);
  CHECK(info_of(p.net).steps == 5);
}

}  // namespace zygos::test_c_surrogate_errors
