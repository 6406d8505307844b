// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs every fuzz target over its seeds and some thousand changes of them, the same in every run:
//   fuzz_corpus [--mutations N] [--seed N] [--corpus DIR] [TARGET...]   DIR/TARGET: more seeds
//   fuzz_corpus --write-seeds DIR    for libFuzzer: a folder of files for each target
//   fuzz_corpus --file TARGET FILE   one input
// An input with which a target fails is left in fuzz-failing-TARGET in the working directory.
#include "fuzz/fuzz_target.hpp"
#include "fuzz/mutation.hpp"
#include "fuzz/seeds.hpp"
#include "fuzz/targets.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <iterator>
#include <string>
#include <vector>

namespace zygos::fuzz {
namespace {

/// What is being tried, for whoever has to write it down in a signal handler.
struct Current {
  Bytes input;
  std::array<char, 128> file{};
};
Current current;

void keep_input() {
  const int out = ::open(current.file.data(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
  if (out >= 0) {
    static_cast<void>(::write(out, current.input.data(), current.input.size()));
    ::close(out);
  }
}

extern "C" void keep_input_and_die(int signal) {
  keep_input();
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

struct Outcome {
  std::size_t inputs = 0;
  double slowest_s = 0.0;
  double total_s = 0.0;
};

/// Throws what the target throws, with the input kept.
void try_input(Target target, const std::string& input, Outcome& outcome) {
  current.input = {reinterpret_cast<const std::uint8_t*>(input.data()), input.size()};
  const auto begin = std::chrono::steady_clock::now();
  try {
    target(current.input);
  } catch (...) {
    keep_input();
    throw;
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  outcome.slowest_s = std::max(outcome.slowest_s, taken.count());
  outcome.total_s += taken.count();
  ++outcome.inputs;
}

struct Options {
  std::size_t mutations = 1000;
  std::uint64_t seed = 1;
  std::filesystem::path corpus{};
  std::vector<std::string> targets{};
};

/// Each input of these starts child processes.
std::size_t mutations_of(const std::string& name, const Options& options) {
  const bool slow = name == "hdf5" || name == "graph" || name == "checkpoint_image";
  return slow ? options.mutations / 10 : options.mutations;
}

Outcome run(const std::string& name, Target target, const Options& options) {
  const std::string file = "fuzz-failing-" + name;
  std::ranges::copy(file, current.file.begin());
  current.file[file.size()] = '\0';
  std::vector<std::string> seeds = seeds_of(name);
  if (!options.corpus.empty()) {
    std::ranges::move(corpus_of(options.corpus, name), std::back_inserter(seeds));
  }
  Outcome outcome;
  for (const std::string& seed : seeds) {
    try_input(target, seed, outcome);
  }
  Mutation mutation(options.seed);
  for (std::size_t i = mutations_of(name, options); i > 0; --i) {
    try_input(target, mutation.of(seeds), outcome);
  }
  return outcome;
}

/// Ends with 1 where a target failed or had no seed.
int run_all(const Options& options) {
  bool good = true;
  fmt::print("| target | inputs | a second | slowest (ms) |\n| --- | --- | --- | --- |\n");
  for (const auto& [name, target] : all_targets()) {
    const auto& wanted = options.targets;
    if (!wanted.empty() && std::ranges::find(wanted, name) == wanted.end()) {
      continue;
    }
    try {
      const Outcome outcome = run(name, target, options);
      const double rate = static_cast<double>(outcome.inputs) / outcome.total_s;
      fmt::print("| {} | {} | {:.0f} | {:.1f} |\n", name, outcome.inputs, rate,
                 outcome.slowest_s * 1e3);
      good = good && outcome.inputs > mutations_of(name, options);
    } catch (const std::exception& error) {
      fmt::print("{} has failed: {}\n", name, error.what());
      good = false;
    }
    std::fflush(stdout);
  }
  return good ? 0 : 1;
}

void write_seeds(const std::filesystem::path& folder) {
  for (const auto& [name, target] : all_targets()) {
    std::filesystem::create_directories(folder / name);
    std::size_t number = 0;
    for (const std::string& seed : seeds_of(name)) {
      std::ofstream(folder / name / fmt::format("seed-{}", number++), std::ios::binary) << seed;
    }
  }
}

int run_file(const std::string& target, const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string input{std::istreambuf_iterator<char>(in), {}};
  Outcome outcome;
  try_input(all_targets().at(target), input, outcome);
  return 0;
}

int main_of(const std::vector<std::string>& words) {
  if (words.size() == 2 && words[0] == "--write-seeds") {
    write_seeds(words[1]);
    return 0;
  }
  if (words.size() == 3 && words[0] == "--file") {
    return run_file(words[1], words[2]);
  }
  Options options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--mutations" && i + 1 < words.size()) {
      options.mutations = std::stoul(words[++i]);
    } else if (words[i] == "--seed" && i + 1 < words.size()) {
      options.seed = std::stoul(words[++i]);
    } else if (words[i] == "--corpus" && i + 1 < words.size()) {
      options.corpus = words[++i];
    } else {
      options.targets.push_back(words[i]);
    }
  }
  return run_all(options);
}

}  // namespace
}  // namespace zygos::fuzz

int main(int argc, char** argv) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    ::signal(signal, zygos::fuzz::keep_input_and_die);
  }
  return zygos::fuzz::main_of({argv + 1, argv + argc});
}
