// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// step_torch.py's surrogate_mlp and closure_mlp in PyTorch's C++ interface: what a simulation code
// would link. Prints one JSON object. compare.py compiles it against the Python package.
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

namespace {

struct Peer {
  std::vector<std::int64_t> widths;
  std::function<torch::nn::AnyModule()> activation;
  std::function<torch::Tensor(const torch::Tensor&, const torch::Tensor&)> loss;
  double learning_rate;
};

Peer peer_named(const std::string& model) {
  if (model == "surrogate_mlp") {
    return {{6, 64, 64, 64, 3},
            [] { return torch::nn::AnyModule(torch::nn::Tanh()); },
            [](const auto& y, const auto& target) { return torch::mse_loss(y, target); },
            0.002};
  }
  if (model == "closure_mlp") {
    return {{6, 256, 256, 256, 256, 256, 2},
            [] { return torch::nn::AnyModule(torch::nn::ReLU()); },
            [](const auto& y, const auto& target) { return torch::l1_loss(y, target); },
            0.001};
  }
  std::cerr << "there is no model '" << model << "'; there are surrogate_mlp and closure_mlp\n";
  std::exit(2);
}

torch::nn::Sequential stack_of(const Peer& peer) {
  torch::nn::Sequential model;
  for (std::size_t i = 0; i + 1 < peer.widths.size(); ++i) {
    model->push_back(torch::nn::Linear(peer.widths[i], peer.widths[i + 1]));
    if (i + 2 < peer.widths.size()) {
      model->push_back(peer.activation());
    }
  }
  return model;
}

/// Seconds of every step after the first `warmup`.
std::vector<double> time_steps(const Peer& peer, torch::nn::Sequential& model, std::int64_t batch,
                               int warmup, int steps) {
  torch::optim::Adam optimizer(model->parameters(), peer.learning_rate);
  std::vector<std::pair<torch::Tensor, torch::Tensor>> batches;
  for (int i = 0; i < 8; ++i) {
    batches.emplace_back(torch::rand({batch, peer.widths.front()}),
                         torch::rand({batch, peer.widths.back()}));
  }
  std::vector<double> seconds;
  for (int step = 0; step < warmup + steps; ++step) {
    const auto& [inputs, targets] = batches[static_cast<std::size_t>(step) % batches.size()];
    const auto start = std::chrono::steady_clock::now();
    optimizer.zero_grad();
    peer.loss(model->forward(inputs), targets).backward();
    optimizer.step();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    if (step >= warmup) {
      seconds.push_back(taken.count());
    }
  }
  return seconds;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::cerr << "usage: step_libtorch MODEL BATCH STEPS WARMUP THREADS\n";
    return 2;
  }
  torch::set_num_threads(std::atoi(argv[5]));
  torch::manual_seed(1);
  const Peer peer = peer_named(argv[1]);
  torch::nn::Sequential model = stack_of(peer);
  std::int64_t parameters = 0;
  for (const torch::Tensor& tensor : model->parameters()) {
    parameters += tensor.numel();
  }
  auto seconds =
      time_steps(peer, model, std::atoll(argv[2]), std::atoi(argv[4]), std::atoi(argv[3]));
  std::sort(seconds.begin(), seconds.end());
  std::cout << "{\"median_step_s\": " << seconds.at(seconds.size() / 2)
            << ", \"min_step_s\": " << seconds.front() << ", \"steps\": " << seconds.size()
            << ", \"threads\": " << torch::get_num_threads() << ", \"parameters\": " << parameters
            << ", \"version\": \"" << TORCH_VERSION << "\"}\n";
}
