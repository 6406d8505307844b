// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "app/commands/commands.hpp"

#include <array>

namespace zygos::app {

std::span<const Command> commands() {
  static constexpr std::array<Command, 22> table{{
      {"train", "Train a deck; continues by itself where an unfinished run left off",
       "zygos train inputs/mnist_mlp.yaml train.epochs=10", nullptr, run_train},
      {"resume", "Continue the run in a folder from its newest checkpoint",
       "zygos resume runs/mnist_mlp train.epochs=20", nullptr, run_resume},
      {"eval", "Measure the newest checkpoint of a run on its test set",
       "zygos eval runs/mnist_mlp", run_eval},
      {"predict", "Predict with a trained run: a file of samples, or its test set",
       "zygos predict runs/mnist_mlp --input digits.npy --output digits.csv", run_predict},
      {"export", "Write a trained model as .onnx, or its weights for PyTorch or NumPy",
       "zygos export runs/mnist_mlp --output mnist.safetensors", run_export},
      {"import", "Write a deck from an .onnx of another program, which begins with its weights",
       "zygos import resnet.onnx --output resnet.yaml", run_import},
      {"sweep", "Train a deck with every combination of values, a run each, and compare them",
       "zygos sweep inputs/wide_mnist.yaml variables.width=32,64,128 --seeds 3", run_sweep},
      {"find-rate", "Find a learning rate: train while it grows, and see when the loss falls",
       "zygos find-rate inputs/mnist_mlp.yaml --from 1e-5 --to 1", run_find_rate},
      {"check", "Check a deck, its shapes and its memory without training",
       "zygos check inputs/mnist_mlp.yaml", run_check},
      {"plan", "Predict every policy from a profile of the lanes and recommend one",
       "zygos plan inputs/mnist_mlp.yaml train.batch=256", run_plan},
      {"schedule", "Print, or draw as a picture, what the deck's policy does in a step",
       "zygos schedule inputs/gpipe.yaml --output gpipe.svg policy.micro_batches=4", run_schedule},
      {"compare", "Train several policies side by side, predicted beside measured",
       "zygos compare inputs/mnist_mlp.yaml --policies single,coarse_split,gpipe:micro_batches=4",
       run_compare},
      {"simulate", "Predict the deck on many workers like the fastest lane",
       "zygos simulate inputs/mlp_deep.yaml --workers 16 --link '12 GB/s,5 us'", run_simulate},
      {"bench", "Time training steps with the data already in memory",
       "zygos bench inputs/mnist_mlp.yaml --steps 500 policy.type=single", run_bench},
      {"inspect", "Verify a checkpoint and list its tensors", "zygos inspect runs/mnist_mlp",
       run_inspect},
      {"report", "Write a run as one HTML page: curves, timeline, memory, deck",
       "zygos report runs/mnist_mlp", run_report},
      {"info", "Show versions, execution spaces, processor, libraries and devices",
       "zygos info --json", run_info},
      {"schema", "Print the JSON Schema of decks, for editors", "zygos schema > zygos.schema.json",
       run_schema},
      {"explain", "Explain a deck key: meaning, type, default, range",
       "zygos explain optimizer.learning_rate", run_explain},
      {"init",
       "Write a commented starter deck: of classes, numbers, images, text, a graph, own data",
       "zygos init first regression", run_init},
      {"completion", "Print a script that completes commands and options in a shell",
       "eval \"$(zygos completion bash)\"", run_completion},
      {"man", "Print the manual page", "zygos man > ~/.local/share/man/man1/zygos.1", run_man},
  }};
  return table;
}

}  // namespace zygos::app
