// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
//
// An MLP in KANN: predictions, or training steps as kann_train_fnn1 makes them. kann_program.py
// compiles it together with KANN's sources. `infer` prints the median seconds of a call of one
// thread, `step` one JSON object.
#include "kann.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { max_widths = 16, extra_calls = 10, batches = 8 };

static const char usage[] =
    "usage: kann_mlp infer WIDTHS ACTIVATION SAMPLES BLOCK CALLS\n"
    "       kann_mlp step WIDTHS ACTIVATION LOSS BATCH STEPS WARMUP THREADS\n"
    "WIDTHS: as 6,64,3; ACTIVATION: tanh or relu; BLOCK: samples evaluated at once;\n"
    "LOSS: mse or cross_entropy\n";

static void fail(const char* reason, const char* found) {
  fprintf(stderr, "kann_mlp: %s '%s'\n%s", reason, found, usage);
  exit(2);
}

static int positive(const char* text) {
  char* end;
  const long value = strtol(text, &end, 10);
  if (end == text || *end != '\0' || value < 1 || value > 1000000000) {
    fail("a positive integer is required, found", text);
  }
  return (int)value;
}

static int loss_named(const char* name) {
  if (strcmp(name, "mse") == 0) {
    return KANN_C_MSE;
  }
  if (strcmp(name, "cross_entropy") != 0) {
    fail("the loss is mse or cross_entropy, found", name);
  }
  return KANN_C_CEM;
}

static kann_t* mlp_of(const char* text, const char* activation, int loss) {
  int widths[max_widths], count = 0;
  char* list = strdup(text);
  for (char* word = strtok(list, ","); word; word = strtok(NULL, ",")) {
    if (count == max_widths) {
      fail("at most 16 widths are allowed, found", text);
    }
    widths[count++] = positive(word);
  }
  free(list);
  if (count < 2) {
    fail("at least two widths are required, found", text);
  }
  const int is_tanh = strcmp(activation, "tanh") == 0;
  if (!is_tanh && strcmp(activation, "relu") != 0) {
    fail("the activation is tanh or relu, found", activation);
  }
  kad_node_t* layer = kann_layer_input(widths[0]);
  for (int i = 1; i + 1 < count; ++i) {
    layer = kann_layer_dense(layer, widths[i]);
    layer = is_tanh ? kad_tanh(layer) : kad_relu(layer);
  }
  return kann_new(kann_layer_cost(layer, widths[count - 1], loss), 0);
}

static float* random_values(int count) {
  float* values = malloc((size_t)count * sizeof(float));
  for (int i = 0; i < count; ++i) {
    values[i] = (float)kann_drand();
  }
  return values;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void predict(kann_t* model, float* x, float* y, int samples, int block) {
  const int in = kann_dim_in(model), out = kann_dim_out(model);
  if (samples == 1) {
    memcpy(y, kann_apply1(model, x), (size_t)out * sizeof(float));
    return;
  }
  const float* outputs = NULL;
  for (int first = 0; first < samples; first += block) {
    const int count = samples - first < block ? samples - first : block;
    float* rows = x + (size_t)first * in;
    kann_set_batch_size(model, count);
    kann_feed_bind(model, KANN_F_IN, 0, &rows);
    kann_eval_out(model);
    outputs = model->v[kann_find(model, KANN_F_OUT, 0)]->x;
    memcpy(y + (size_t)first * out, outputs, (size_t)count * out * sizeof(float));
  }
}

static int infer(char** words) {
  kann_t* model = mlp_of(words[0], words[1], KANN_C_MSE);
  const int samples = positive(words[2]), block = positive(words[3]), calls = positive(words[4]);
  float* x = random_values(samples * kann_dim_in(model));
  float* y = random_values(samples * kann_dim_out(model));
  double* seconds = malloc((size_t)calls * sizeof(double));
  kann_switch(model, 0);
  for (int call = -extra_calls; call < calls; ++call) {
    const double start = now();
    predict(model, x, y, samples, block);
    const double taken = now() - start;
    if (call >= 0) {
      seconds[call] = taken;
    }
  }
  qsort(seconds, (size_t)calls, sizeof(double), by_value);
  printf("%.9g\n", seconds[calls / 2]);
  const int good = isfinite(y[0]);
  free(seconds), free(y), free(x), kann_delete(model);
  return good ? 0 : 1;
}

struct Training {
  kann_t* model;
  int batch, in, out;
  float *x, *y;          // of all samples
  float *rows, *truths;  // of one batch
  float* memory;         // of RMSprop
  int* order;
};

// The statements of kann_train_fnn1's loop over batches.
static float train_step(struct Training* t, int step) {
  for (int b = 0; b < t->batch; ++b) {
    const size_t sample = (size_t)t->order[step % batches * t->batch + b];
    memcpy(t->rows + (size_t)b * t->in, t->x + sample * t->in, (size_t)t->in * sizeof(float));
    memcpy(t->truths + (size_t)b * t->out, t->y + sample * t->out, (size_t)t->out * sizeof(float));
  }
  kann_set_batch_size(t->model, t->batch);
  const float cost = kann_cost(t->model, 0, 1);
  int base = 0;
  kann_class_error(t->model, &base);
  kann_RMSprop(kann_size_var(t->model), 0.001F, 0, 0.9F, t->model->g, t->model->x, t->memory);
  return cost;
}

static float* targets(int loss, int samples, int out) {
  float* y = random_values(samples * out);
  if (loss == KANN_C_CEM) {
    for (int i = 0; i < samples; ++i) {
      const int label = (int)(kann_drand() * out);
      memset(y + (size_t)i * out, 0, (size_t)out * sizeof(float));
      y[(size_t)i * out + label] = 1.0F;
    }
  }
  return y;
}

static struct Training prepare(kann_t* model, int loss, int batch, int threads) {
  const int samples = batches * batch, in = kann_dim_in(model), out = kann_dim_out(model);
  struct Training t = {model,
                       batch,
                       in,
                       out,
                       random_values(samples * in),
                       targets(loss, samples, out),
                       random_values(batch * in),
                       random_values(batch * out),
                       calloc(kann_size_var(model), sizeof(float)),
                       malloc((size_t)samples * sizeof(int))};
  kann_shuffle(samples, t.order);
  kann_mt(model, threads, batch);
  kann_feed_bind(model, KANN_F_IN, 0, &t.rows);
  kann_feed_bind(model, KANN_F_TRUTH, 0, &t.truths);
  kann_switch(model, 1);
  return t;
}

static int step(char** words) {
  const int loss = loss_named(words[2]), threads = positive(words[6]);
  const int steps = positive(words[4]), warmup = positive(words[5]);
  struct Training t = prepare(mlp_of(words[0], words[1], loss), loss, positive(words[3]), threads);
  double* seconds = malloc((size_t)steps * sizeof(double));
  float first = 0.0F, last = 0.0F;
  for (int i = -warmup; i < steps; ++i) {
    const double start = now();
    last = train_step(&t, i + warmup);
    const double taken = now() - start;
    if (i == -warmup) {
      first = last;
    }
    if (i >= 0) {
      seconds[i] = taken;
    }
  }
  qsort(seconds, (size_t)steps, sizeof(double), by_value);
  printf("{\"median_step_s\": %.9g, \"min_step_s\": %.9g, \"steps\": %d, \"threads\": %d, ",
         seconds[steps / 2], seconds[0], steps, threads);
  printf("\"parameters\": %d, \"first_loss\": %.6g, \"last_loss\": %.6g, \"version\": \"%s\"}\n",
         kann_size_var(t.model), first, last, KANN_VERSION);
  kann_delete(t.model);
  free(seconds), free(t.order), free(t.memory), free(t.truths), free(t.rows), free(t.y), free(t.x);
  return isfinite(last) ? 0 : 1;
}

int main(int argc, char** argv) {
  kann_srand(11);
  if (argc == 7 && strcmp(argv[1], "infer") == 0) {
    return infer(argv + 2);
  }
  if (argc == 9 && strcmp(argv[1], "step") == 0) {
    return step(argv + 2);
  }
  fputs(usage, stderr);
  return 2;
}
