// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/run/resume_rules.hpp"

#include "app/text.hpp"

#include "zygos/core/error.hpp"

#include <fmt/format.h>

#include <string_view>

namespace zygos::app {

namespace {

/// What decides the numbers a run learns, and which of them are best. Everything else (threads,
/// reports, checkpoints, length) may change on the way.
const std::vector<std::string>& binding_keys() {
  static const std::vector<std::string> keys{
      "seed",          "precision",       "data",         "model",
      "optimizer",     "policy",          "train.batch",  "train.accumulate",
      "train.shuffle", "train.drop_last", "train.strict", "train.best_by",
      "link_precision"};
  return keys;
}

bool is_float(std::string_view precision) { return precision == "float32" || precision == "tf32"; }

/// Within them, what only says how samples come into memory, or where weights rest; and in
/// checkpoints from before there was `link_precision`, messages were exact.
bool is_free(const deck::Difference& change) {
  const bool was_exact = change.key.starts_with("link_precision.") && change.after == "exact" &&
                         change.before == "(absent)";
  // Likewise samples were as they lie in files.
  const bool was_plain =
      change.before == "(absent)" && ((change.key == "data.normalise" && change.after == "none") ||
                                      (change.key == "data.validation" && change.after == "0"));
  // And the best was that by score, and labels were not smoothed.
  const bool was_sharp = change.before == "(absent)" &&
                         change.key == "model.loss.label_smoothing" && change.after == "0";
  // On lanes that have tf32 the bits that follow differ, but a checkpoint is that of a float run.
  const bool stays_float =
      change.key == "precision" && is_float(change.before) && is_float(change.after);
  const bool was_by_score =
      change.before == "(absent)" && change.key == "train.best_by" && change.after == "score";
  return was_exact || was_plain || was_sharp || stays_float || was_by_score ||
         change.key == "data.in_memory" || change.key == "data.prefetch" ||
         change.key == "policy.stash";
}

}  // namespace

bool was_written_out(const deck::Difference& change, const std::string& policy) {
  const bool undivided = policy == "single" || policy == "data_parallel";
  const std::string_view fallback = undivided ? "1" : policy == "hippie" ? "4" : "8";
  const bool of_policy =
      change.key == "policy.micro_batches" || change.key == "policy.pipeline.micro_batches";
  return of_policy && change.before == fallback && change.after == "(absent)";
}

std::filesystem::path folder_of(const load::CheckedDeck& checked, const std::string& run_dir) {
  if (!run_dir.empty()) {
    return run_dir;
  }
  return checked.spec.run_dir.value_or(std::filesystem::path("runs") / checked.spec.name);
}

void make_room(RunFolder& folder, bool fresh, Console& console) {
  if (!folder.used() || (!fresh && !folder.finished())) {
    return;
  }
  const bool finished = folder.finished();
  const auto other = folder.set_aside();
  console.note(fmt::format("the {} run that was in {} is kept as {}",
                           finished ? "finished" : "unfinished", folder.path().string(),
                           other.string()));
}

std::optional<io::Checkpoint> newest_checkpoint(const std::filesystem::path& checkpoints,
                                                Console& console) {
  return io::CheckpointStore(checkpoints, 1, console.sink()).load_newest();
}

io::Checkpoint best_checkpoint(const std::filesystem::path& checkpoints, Console& console) {
  return io::CheckpointStore(checkpoints, 1, console.sink()).load_best();
}

std::string nothing_left(const RunFolder& folder, const io::Checkpoint& checkpoint,
                         std::int64_t total_steps) {
  const bool beyond = checkpoint.step > total_steps;
  if (checkpoint.step < total_steps || (!beyond && !folder.finished())) {
    return {};
  }
  return fmt::format(
      "nothing left to do: {} has done {} steps, and the deck asks for {}; nothing was written. "
      "Prolong it with a larger train.epochs or train.steps: zygos resume {} train.steps=N",
      folder.path().string(), text_of_count(checkpoint.step), text_of_count(total_steps),
      folder.path().string());
}

void refuse_changed_deck(const load::CheckedDeck& checked, const io::Checkpoint& checkpoint,
                         Elastic elastic) {
  std::vector<std::string> keys = binding_keys();
  if (elastic == Elastic::policy) {
    std::erase(keys, "policy");
    std::erase(keys, "train.accumulate");
  }
  auto changes = deck::differences(checkpoint.fact("deck"), checked.deck.resolved(), keys);
  const std::string policy = checked.spec.policy.text("type");
  std::erase_if(changes, [&](const deck::Difference& change) {
    return is_free(change) || was_written_out(change, policy);
  });
  if (changes.empty()) {
    return;
  }
  std::string text =
      fmt::format("{} belongs to a run with another deck. What differs (then -> now):",
                  checkpoint.path.string());
  for (const deck::Difference& change : changes) {
    text += fmt::format("\n  {}: {} -> {}", change.key, change.before, change.after);
  }
  throw CheckpointError(text +
                        "\nPut the old values back to go on, give --fresh to start anew (the old "
                        "folder is kept), or choose another folder with --run-dir. Another policy "
                        "or other lanes may be given to `zygos resume RUN_DIR`");
}

}  // namespace zygos::app
