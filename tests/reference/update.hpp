// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// Optimizers in double, one parameter at a time, as their papers write them.
#pragma once

#include <cmath>
#include <cstdint>

namespace zygos::reference {

struct Sgd {
  double rate = 0.01;
  double momentum = 0.0;
  double decay = 0.0;
  double velocity = 0.0;

  void update(double& w, double gradient) {
    velocity = momentum * velocity + (gradient + decay * w);
    w -= rate * velocity;
  }
};

struct Adam {
  double rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double decay = 0.0;
  bool decoupled = false;
  double m = 0.0;
  double v = 0.0;
  int step = 0;

  void update(double& w, double gradient) {
    ++step;
    const double g = decoupled ? gradient : gradient + decay * w;
    m = beta1 * m + (1.0 - beta1) * g;
    v = beta2 * v + (1.0 - beta2) * g * g;
    const double corrected_m = m / (1.0 - std::pow(beta1, step));
    const double corrected_v = v / (1.0 - std::pow(beta2, step));
    const double shrink = decoupled ? rate * decay * w : 0.0;
    w = w - shrink - rate * corrected_m / (std::sqrt(corrected_v) + epsilon);
  }
};

struct Adagrad {
  double rate = 0.01;
  double epsilon = 1e-10;
  double decay = 0.0;
  double sum = 0.0;

  void update(double& w, double gradient) {
    const double g = gradient + decay * w;
    sum += g * g;
    w -= rate * g / (std::sqrt(sum) + epsilon);
  }
};

struct Rmsprop {
  double rate = 0.01;
  double alpha = 0.99;
  double epsilon = 1e-8;
  double momentum = 0.0;
  double decay = 0.0;
  double mean_square = 0.0;
  double velocity = 0.0;

  void update(double& w, double gradient) {
    const double g = gradient + decay * w;
    mean_square = alpha * mean_square + (1.0 - alpha) * g * g;
    velocity = momentum * velocity + g / (std::sqrt(mean_square) + epsilon);
    w -= rate * velocity;
  }
};

}  // namespace zygos::reference
