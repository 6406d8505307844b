// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/shell/command_options.hpp"

#include "app/commands/commands.hpp"
#include "app/starters/starters.hpp"

#include "zygos/lane/lane_set.hpp"
#include "zygos/plan/cards.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace zygos::app {

namespace {

/// Whole numbers, which the help does not repeat beside the option's own text.
CLI::Validator within(std::int64_t least, std::int64_t most) {
  return CLI::Range(least, most).description("");
}

constexpr std::int64_t max_count = std::int64_t{1} << 40;

constexpr std::string_view exit_codes =
    "Exit codes:\n"
    "  0 done    1 bug    2 bad command line or deck    3 bad data    4 checkpoint refused\n"
    "  5 I/O    6 out of memory or over a budget    7 NaN or infinity    8 peer lost\n"
    "  9 self-check failed    75 stopped on request, state saved: run the same command again\n"
    "  130 ended at once by a second Ctrl-C: what came after the last checkpoint is lost\n";

void add_common(CLI::App& command, Invocation& to) {
  auto& console = to.console;
  command.add_flag("--json", console.json,
                   "Print exactly one JSON object on stdout; text for people goes to stderr");
  command.add_flag_callback(
      "-q,--quiet", [&console] { console.verbosity = -1; }, "Results and problems only");
  command.add_flag_callback(
      "-v,--verbose", [&console] { console.verbosity = 1; }, "Say more about what happens");
  const std::map<std::string, ColorChoice> choices{{"auto", ColorChoice::automatic},
                                                   {"never", ColorChoice::never}};
  command
      .add_option("--color", console.color,
                  "Colours: auto (on a terminal, unless NO_COLOR) or never")
      ->transform(CLI::CheckedTransformer(choices).description(""))
      ->type_name("auto|never");
}

void add_target(CLI::App& command, Invocation& to, const std::string& name,
                const std::string& help) {
  command.add_option(name, to.target, help)->required()->type_name("");
}

void add_overrides(CLI::App& command, Invocation& to) {
  command
      .add_option("OVERRIDES", to.overrides,
                  command.get_name() == "sweep"
                      ? "Values to train with, such as optimizer.learning_rate=1e-3,1e-2"
                      : "Deck values to replace, such as train.epochs=20 or "
                        "optimizer.learning_rate=3e-4")
      ->check([takes_decks = command.get_name() == "compare"](const std::string& text) {
        return takes_decks || is_override(text)
                   ? std::string()
                   : "'" + text +
                         "' is an unexpected argument; overrides are written key.path=value, e.g. "
                         "train.epochs=20";
      })
      ->type_name("key.path=value ...");
}

void add_threads(CLI::App& command, Invocation& to) {
  command.add_option("--threads", to.threads, "Threads of the host lane")
      ->check(within(1, lane::max_host_threads))
      ->type_name("N");
}

void add_run_dir(CLI::App& command, Invocation& to, const std::string& help) {
  command.add_option("--run-dir", to.run_dir, help)->type_name("DIR");
}

void add_bench(CLI::App& command, Invocation& to) {
  command.add_option("--steps", to.steps, "Steps to time (100)")
      ->check(within(1, max_count))
      ->type_name("N");
  command.add_option("--warmup", to.warmup, "Untimed steps before them (10)")
      ->check(within(0, max_count))
      ->type_name("N");
  command.add_flag("--forward", to.forward, "Time the forward pass only");
  command
      .add_flag("--ops", to.ops,
                "Also time every layer, and print it beside the peak rates of its lane")
      ->excludes("--forward");
}

void add_predict(CLI::App& command, Invocation& to) {
  command
      .add_option("--input", to.input,
                  "Samples: .h5, .npy or .csv, one a row (the test set of the deck)")
      ->type_name("FILE");
  command
      .add_option("--output", to.output,
                  "Where predictions go: FILE.h5, .csv (both with classes, if the model tells "
                  "them) or .npy")
      ->required()
      ->type_name("FILE");
  command
      .add_option("--dataset", to.dataset,
                  "Array of an HDF5 input (the one that the deck names, or 'inputs')")
      ->type_name("NAME");
  command
      .add_option("--batch", to.batch,
                  "Samples that go through the model at once (train.batch of the deck)")
      ->check(within(1, std::int64_t{1} << 24))
      ->type_name("N");
  command.add_flag("--classes", to.classes,
                   "Write the predicted class of every sample, and nothing else");
  command
      .add_flag("--probabilities", to.probabilities,
                "Write probabilities in place of logits: the softmax of the classes in front of "
                "cross_entropy, the logistic function in front of bce")
      ->excludes("--classes");
}

void add_compare(CLI::App& command, Invocation& to) {
  command
      .add_option(
          "--policies", to.policies,
          "Policies with their options, such as single,gpipe:micro_batches=4,recompute=always; "
          "none: give several decks")
      ->type_name("a,b,c");
  command.add_option("--steps", to.steps, "Steps of each (60)")
      ->check(within(1, max_count))
      ->type_name("N");
}

void add_simulate(CLI::App& command, Invocation& to) {
  command.add_option("--workers", to.workers, "Workers, up to 10,000 (8)")
      ->check(within(1, 10'000))
      ->type_name("N");
  command
      .add_option("--link", to.link,
                  "Link of each worker, like '12 GB/s,5 us' (the lane's own, as measured)")
      ->type_name("BANDWIDTH,LATENCY");
}

void add_schedule(CLI::App& command, Invocation& to) {
  command
      .add_option("--output", to.output,
                  "Where to write it: FILE.svg (a picture), .txt or .json (text on stdout)")
      ->type_name("FILE");
  command.add_flag("--measured", to.measured,
                   "Times predicted from a profile of the lanes, not units of a forward pass");
}

void add_sweep(CLI::App& command, Invocation& to) {
  command.add_option("--seeds", to.seeds, "Runs of each combination, from the deck's seed on (1)")
      ->check(within(1, 1000))
      ->type_name("N");
  command
      .add_option("--runs-dir", to.runs_dir, "Folder of the runs' folders (runs/<deck name>_sweep)")
      ->type_name("DIR");
  command
      .add_option("--jobs", to.jobs, "Runs at a time, which share the cores of the host lane (1)")
      ->check(within(1, 256))
      ->type_name("N");
}

void add_find_rate(CLI::App& command, Invocation& to) {
  command.add_option("--from", to.from, "Rate of the first step (1e-6)")->type_name("RATE");
  command.add_option("--to", to.to, "Rate of the last step (10)")->type_name("RATE");
  command.add_option("--steps", to.steps, "Steps of the test (100)")
      ->check(within(20, 1'000'000))
      ->type_name("N");
}

bool takes_deck(const std::string& name) {
  return name == "train" || name == "sweep" || name == "find-rate" || name == "check" ||
         name == "plan" || name == "compare" || name == "simulate" || name == "schedule" ||
         name == "bench";
}

/// What the command is about: its positional arguments.
void add_subject(CLI::App& command, Invocation& to) {
  const std::string name = command.get_name();
  if (takes_deck(name)) {
    add_target(command, to, "DECK", "Input deck (YAML); -: from stdin");
  } else if (name == "resume") {
    add_target(command, to, "RUN_DIR", "Folder of the run to continue");
  } else if (name == "eval") {
    add_target(command, to, "DECK|RUN_DIR", "Input deck, or the folder of a run");
  } else if (name == "predict") {
    add_target(command, to, "DECK|RUN_DIR|CHECKPOINT|FILE",
               "Input deck, the folder of a run, one of its checkpoints, a .safetensors of zygos "
               "export, or an .onnx");
  } else if (name == "export") {
    add_target(command, to, "DECK|RUN_DIR|CHECKPOINT",
               "Input deck, the folder of a run, or one of its checkpoints");
  } else if (name == "import") {
    add_target(command, to, "FILE.onnx", "Model of another program, in ONNX");
  } else if (name == "inspect") {
    add_target(command, to, "CHECKPOINT|RUN_DIR", "A checkpoint, or the folder of a run");
  } else if (name == "report") {
    add_target(command, to, "RUN_DIR", "Folder of a run, finished or not");
  } else if (name == "explain") {
    command
        .add_option("KEY", to.target,
                    "A key such as optimizer.learning_rate, or words such as batch size; none: all "
                    "keys")
        ->type_name("");
    command.add_option("WORDS", to.words, "More words, to find keys by their descriptions")
        ->type_name("...");
  } else if (name == "init") {
    add_target(command, to, "NAME", "Name of the new deck; NAME.yaml is written");
    std::vector<std::string> kinds;
    std::string about = "What to start from";
    for (const Starter& starter : starters()) {
      kinds.emplace_back(starter.kind);
      about += fmt::format("\n{} ({})", starter.kind, starter.about);
    }
    command.add_option("KIND", to.kind, about)
        ->check(CLI::IsMember(kinds).description(""))
        ->type_name(starter_kinds());
  } else if (name == "completion") {
    command.add_option("SHELL", to.target, "The shell")
        ->required()
        ->check(CLI::IsMember(std::vector<std::string>{"bash", "zsh", "fish"}).description(""))
        ->type_name("bash|zsh|fish");
  }
}

/// Of one command alone.
void add_plan(CLI::App& command, Invocation& to) {
  auto* const trials =
      command
          .add_option("--trials", to.trials,
                      "Train with so many of the ways that are predicted to be fastest, and "
                      "recommend the one that was (0)")
          ->check(within(0, 64))
          ->type_name("N");
  command
      .add_option(
          "--assume", to.assume,
          "Take lanes that are no host for this GPU, by its data sheet: " + plan::card_keywords())
      ->type_name("CARD")
      ->excludes(trials);
}

void add_command_options(CLI::App& command, Invocation& to) {
  const std::string name = command.get_name();
  if (name == "plan") {
    add_plan(command, to);
  }
  if (name == "predict") {
    add_predict(command, to);
  }
  if (name == "export") {
    command
        .add_option(
            "--output", to.output,
            "FILE.safetensors (PyTorch's names and layouts), .npz (Zygos' own) or .onnx (the "
            "whole model)")
        ->required()
        ->type_name("FILE");
  }
  if (name == "import") {
    command
        .add_option("--output", to.output,
                    "DECK.yaml, or the folder it goes to (the model's name, in this folder)")
        ->type_name("FILE");
  }
  if (name == "bench") {
    add_bench(command, to);
  }
  if (name == "sweep") {
    add_sweep(command, to);
  }
  if (name == "find-rate") {
    add_find_rate(command, to);
  }
  if (name == "compare") {
    add_compare(command, to);
  }
  if (name == "simulate") {
    add_simulate(command, to);
  }
  if (name == "schedule") {
    add_schedule(command, to);
  }
}

void add_own_options(CLI::App& command, Invocation& to) {
  const std::string name = command.get_name();
  add_subject(command, to);
  if (name == "report") {
    command.add_option("--output", to.output, "Where to write it (RUN_DIR/report.html)")
        ->type_name("FILE");
    command
        .add_option("--beside", to.beside,
                    "Another run, whose curves and results are shown beside; may be repeated")
        ->type_name("RUN_DIR");
  }
  if (name == "schema") {
    command.add_flag("--markdown", to.markdown, "Print the deck reference as Markdown instead");
  }
  if (takes_deck(name) || name == "resume" || name == "eval" || name == "predict") {
    add_overrides(command, to);
    add_threads(command, to);
  }
  if (name == "train" || name == "eval" || name == "predict" || name == "export") {
    add_run_dir(command, to, "Folder of the run (runs/<deck name>)");
  }
  if (name == "export") {
    add_overrides(command, to);
  }
  if (name == "eval" || name == "predict" || name == "export" || name == "inspect") {
    command.add_flag("--best", to.best,
                     "The best checkpoint of a run with checkpoint.keep_best, not its newest");
  }
  if (name == "train") {
    command.add_flag("--fresh", to.fresh, "Start anew; the old folder is kept under another name");
  }
  if (name == "train" || name == "resume" || name == "plan" || name == "compare" ||
      name == "simulate" || name == "schedule") {
    command.add_flag("--fresh-profile", to.fresh_profile,
                     "Measure the lanes anew instead of using the profile kept from before");
  }
  if (name == "sweep") {
    command.add_flag("--unmeasured", to.unmeasured, "As of zygos train, for every run");
  }
  if (name == "train" || name == "resume") {
    command
        .add_flag(
            "--unmeasured", to.unmeasured,
            "Measure no lanes, before or after the run: no step time is predicted or compared, "
            "and what a profile would decide follows from FLOPs and links")
        ->excludes("--fresh-profile");
  }
  add_command_options(command, to);
}

}  // namespace

std::string_view exit_codes_text() { return exit_codes; }

void describe_commands(CLI::App& app, Invocation& to) {
  app.name("zygos");
  app.require_subcommand(1);
  app.set_version_flag("--version", version_line());
  app.footer("\nzygos COMMAND --help tells more.\n\n" + std::string(exit_codes));
  for (const Command& command : commands()) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    sub->footer(fmt::format("\nExample:\n  {}\n\n{}", command.example, exit_codes));
    add_own_options(*sub, to);
    add_common(*sub, to);
    sub->callback([&to, name = std::string(command.name)] { to.command = name; });
  }
}

}  // namespace zygos::app
