// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Predictions of the surrogate 6-64-64-64-3 (tanh) in PyTorch's C++ interface, as a simulation code
// would make them: inference mode, one thread. Prints median seconds of a call.
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: infer_libtorch SAMPLES CALLS\n";
    return 2;
  }
  torch::set_num_threads(1);
  const c10::InferenceMode inference;
  torch::nn::Sequential model(torch::nn::Linear(6, 64), torch::nn::Tanh(), torch::nn::Linear(64, 64),
                              torch::nn::Tanh(), torch::nn::Linear(64, 64), torch::nn::Tanh(),
                              torch::nn::Linear(64, 3));
  model->eval();
  const torch::Tensor inputs = torch::rand({std::atoi(argv[1]), 6});
  const int calls = std::atoi(argv[2]);
  std::vector<double> seconds;
  float sum = 0.0F;
  for (int call = 0; call < calls + 10; ++call) {
    const auto start = std::chrono::steady_clock::now();
    const torch::Tensor outputs = model->forward(inputs);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    sum += outputs.data_ptr<float>()[0];
    if (call >= 10) {
      seconds.push_back(taken.count());
    }
  }
  std::ranges::nth_element(seconds, seconds.begin() + calls / 2);
  std::cout << seconds[static_cast<std::size_t>(calls) / 2] << '\n';
  return sum == sum ? 0 : 1;
}
