// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/read/quantities.hpp"

#include "zygos/deck/units.hpp"

#include <catch2/catch_test_macros.hpp>

#include <string>
#include <utility>
#include <vector>

namespace zygos::test_units {
using namespace zygos::deck;

namespace {

const std::vector<Unit> all = {Unit::bytes, Unit::seconds, Unit::bandwidth, Unit::steps,
                               Unit::epochs};

}  // namespace

TEST_CASE("every unit means what it says", "[deck]") {
  const std::vector<std::pair<std::string, Quantity>> cases = {
      {"7 B", {7, Unit::bytes}},
      {"3 KiB", {3072, Unit::bytes}},
      {"2 MiB", {2097152, Unit::bytes}},
      {"1.5 GiB", {1610612736, Unit::bytes}},
      {"1 TiB", {1099511627776, Unit::bytes}},
      {"3 kB", {3000, Unit::bytes}},
      {"2MB", {2e6, Unit::bytes}},
      {"0.5 GB", {5e8, Unit::bytes}},
      {"1 TB", {1e12, Unit::bytes}},
      {"20 us", {20 * 1e-6, Unit::seconds}},
      {"5 ms", {5 * 1e-3, Unit::seconds}},
      {"1e-3 s", {1e-3, Unit::seconds}},
      {"10 min", {600, Unit::seconds}},
      {"2 h", {7200, Unit::seconds}},
      {"12 GB/s", {12e9, Unit::bandwidth}},
      {"800 MB/s", {8e8, Unit::bandwidth}},
      {"1 GiB/s", {1073741824, Unit::bandwidth}},
      {"500 steps", {500, Unit::steps}},
      {"1 step", {1, Unit::steps}},
      {"2 epochs", {2, Unit::epochs}},
      {"1 epoch", {1, Unit::epochs}},
  };

  for (const auto& [text, expected] : cases) {
    INFO(text);
    const Reading<Quantity> reading = read_quantity(text, all);
    REQUIRE(reading.value.has_value());
    CHECK(*reading.value == expected);
  }
}

TEST_CASE("a quantity is printed so that it reads back as itself", "[deck]") {
  CHECK(text_of(Quantity{2147483648.0, Unit::bytes}) == "2 GiB");
  CHECK(text_of(Quantity{1000, Unit::bytes}) == "1 kB");
  CHECK(text_of(Quantity{600, Unit::seconds}) == "10 min");
  CHECK(text_of(Quantity{12e9, Unit::bandwidth}) == "12 GB/s");
  CHECK(text_of(Quantity{1, Unit::epochs}) == "1 epoch");
  CHECK(text_of(Quantity{500, Unit::steps}) == "500 steps");

  for (double value = 1.0; value < 1e12; value *= 3.7) {
    const auto whole = static_cast<double>(static_cast<long long>(value));
    for (const Quantity& quantity :
         {Quantity{whole, Unit::bytes}, Quantity{value * 1e-6, Unit::seconds},
          Quantity{value, Unit::bandwidth}, Quantity{whole, Unit::steps}}) {
      INFO(text_of(quantity));
      CHECK(read_quantity(text_of(quantity), all).value == quantity);
    }
  }
}

TEST_CASE("a number without a unit is refused with the units that fit", "[deck]") {
  const std::vector<Unit> allowed = {Unit::steps, Unit::seconds};

  const Reading<Quantity> bare = read_quantity("10", allowed);
  const Reading<Quantity> wrong = read_quantity("10 MiB", allowed);
  const Reading<Quantity> unknown = read_quantity("10 mins", allowed);
  const Reading<Quantity> text = read_quantity("often", allowed);

  CHECK(bare.problem == "needs a unit, found '10'");
  CHECK(bare.advice == "write '10 steps' or '10 s'");
  CHECK(wrong.problem ==
        "must be a count like '500 steps' or a time like '10 min', found the size '10 MiB'");
  CHECK(unknown.problem == "has the unknown unit 'mins' in '10 mins'");
  CHECK(unknown.advice == "did you mean 'min'?");
  CHECK_FALSE(text.value.has_value());
  CHECK_FALSE(read_quantity("-1 s", allowed).value.has_value());
  CHECK_FALSE(read_quantity("1e300 s", allowed).value.has_value());
  CHECK_FALSE(read_quantity("0.5 steps", allowed).value.has_value());
}

TEST_CASE("integers are decimal and nothing else", "[deck]") {
  CHECK(read_integer("42").value == 42);
  CHECK(read_integer("-7").value == -7);
  CHECK(read_integer("+7").value == 7);
  CHECK(read_integer("0").value == 0);
  CHECK(read_integer("9223372036854775807").value == 9223372036854775807);
  for (const char* text : {"", "-", "007", "0x1F", "0o17", "1_000", "1.5", "1e3", "ten", "+-1",
                           "9223372036854775808", " 1", "1 "}) {
    INFO(text);
    CHECK_FALSE(read_integer(text).value.has_value());
  }
  CHECK(read_integer("007").advice.ends_with("write 7"));
  CHECK(read_integer("1e3").advice == "write 1000");
  CHECK(read_integer("1_000").advice == "write 1000");
}

TEST_CASE("numbers may have a fraction and an exponent but are finite", "[deck]") {
  CHECK(read_real("1e-3").value == 1e-3);
  CHECK(read_real("-2.5E+2").value == -250.0);
  CHECK(read_real(".5").value == 0.5);
  CHECK(read_real("5.").value == 5.0);
  CHECK(read_real("3").value == 3.0);
  for (const char* text :
       {"", ".", "e3", "1e", "nan", "inf", ".inf", "0x1p3", "1,5", "1e999", "1 s"}) {
    INFO(text);
    CHECK_FALSE(read_real(text).value.has_value());
  }
  CHECK(text_of(0.001) == "0.001");
  CHECK(text_of(1e6) == "1000000");
  CHECK(read_real(text_of(1e-8)).value == 1e-8);
}

}  // namespace zygos::test_units
