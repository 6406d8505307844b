/* SPDX-FileCopyrightText: 2026 The Zygos authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Training inside a simulation, from C: a network that learns from the program's own arrays, in the
 * time that the program can spare, and is asked instead of a solver once its error is small.
 *
 *   zygos_surrogate_options options = {0};
 *   options.inputs = 6, options.outputs = 3;
 *   options.hidden = (const int64_t[]){64, 64}, options.hidden_count = 2;
 *   zygos_surrogate_create(session, &options, &net, &error);
 *   while (running) {
 *     zygos_surrogate_add(net, &x, 1, &f, 1, &error);
 *     zygos_surrogate_train(net, 500e-6, 0, NULL, &error);
 *     zygos_surrogate_validate(net, &validation, NULL, 0, &error);
 *     if (validation.relative_error < 0.01) {
 *       zygos_surrogate_predict(net, &x, 1, &f, 1, &error);
 *     }
 *   }
 *   zygos_surrogate_free(net);
 *
 * Errors, sessions and arrays are those of zygos/zygos.h. What a surrogate does is told in
 * docs/insitu.md.
 *
 * Threads. A surrogate is used by one thread at a time; a second one is refused with
 * ZYGOS_ERROR_USAGE. No thread is started: those of OpenMP's pool work, for the length of a call.
 * Within a parallel region of OpenMP surrogates of one thread work, others are refused.
 *
 * Lifetimes. Free all surrogates before zygos_finalize(), and before Kokkos is finalised by the
 * caller. Everything that a call is given is borrowed until it returns. */
#ifndef ZYGOS_ZYGOS_INSITU_H
#define ZYGOS_ZYGOS_INSITU_H

#include "zygos/zygos.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------ creation */

/* A network, its optimizer, and the samples that it learns from, in host memory. */
typedef struct zygos_surrogate zygos_surrogate;

typedef enum zygos_activation {
  ZYGOS_TANH = 0,
  ZYGOS_RELU = 1,
  ZYGOS_SIGMOID = 2,
  ZYGOS_GELU = 3,
  ZYGOS_LINEAR = 4
} zygos_activation;

/* Which samples stay when there is no room left. */
typedef enum zygos_keep {
  ZYGOS_KEEP_UNIFORM = 0, /* each that was ever added with the same probability */
  ZYGOS_KEEP_NEWEST = 1
} zygos_keep;

/* A multilayer perceptron, trained with Adam on the mean squared error. 0 and NULL stand for the
 * default of all but the first two. */
typedef struct zygos_surrogate_options {
  int64_t inputs;         /* numbers of a sample */
  int64_t outputs;        /* numbers that are predicted of it */
  const int64_t* hidden;  /* widths of the hidden layers */
  int32_t hidden_count;   /* 0: none, the network is linear */
  int32_t activation;     /* zygos_activation of hidden layers */
  double learning_rate;   /* 0: 0.001 */
  int64_t batch;          /* samples of a step; 0: 256 */
  int64_t min_samples;    /* training waits for so many; 0: a batch */
  int64_t block;          /* most samples that are predicted at once; 0: as fit into a cache */
  int32_t precision;      /* zygos_type of activations; ZYGOS_TYPE_NONE: ZYGOS_FLOAT32 */
  int32_t own_units;      /* 1: samples are taken as they are, not standardised */
  int64_t seed;           /* of weights and of what is drawn; 0: 1 */
  int64_t capacity;       /* samples to train on that are kept; 0: 100000 */
  int64_t validate_every; /* one of so many samples is held out for the validation error; 0: 10;
                           * -1: none is */
  int32_t keep;           /* zygos_keep */
  int32_t stored;  /* ZYGOS_FLOAT32 or ZYGOS_FLOAT64, what samples are stored as; ZYGOS_TYPE_NONE:
                    * ZYGOS_FLOAT64 */
  int32_t threads; /* that work; 0: those of the session. 1: the calling thread alone */
  int32_t members; /* networks of an ensemble, which zygos_surrogate_predict_spread() asks; 0: 1 */
} zygos_surrogate_options;

/* All memory but that for other numbers of samples is allocated here. */
int zygos_surrogate_create(zygos_session* session, const zygos_surrogate_options* options,
                           zygos_surrogate** surrogate, zygos_error* error);

/* The same from the section `surrogate` of a YAML file, the simulation's own input, whose other
 * sections are not looked at. `threads` as in the options. */
int zygos_surrogate_load_spec(zygos_session* session, const char* path, int32_t threads,
                              zygos_surrogate** surrogate, zygos_error* error);

/* The same from the text of such a file. */
int zygos_surrogate_parse_spec(zygos_session* session, const char* text, int32_t threads,
                               zygos_surrogate** surrogate, zygos_error* error);

/* NULL is allowed. */
void zygos_surrogate_free(zygos_surrogate* surrogate);

/* ------------------------------------------------------------------------------------ learning */

/* Adds as many samples as the arrays' first dimensions say. Inputs and targets are up to eight
 * arrays each, of the shape of a sample or flat; several lie side by side along its first axis. A
 * sample with a value that is NaN or infinite is left out and counted. */
int zygos_surrogate_add(zygos_surrogate* surrogate, const zygos_array* inputs, int32_t inputs_count,
                        const zygos_array* targets, int32_t targets_count, zygos_error* error);

typedef struct zygos_training {
  int64_t steps;          /* that were applied */
  int64_t refused;        /* steps whose loss or gradient was not finite: not applied */
  double loss;            /* mean over the steps, each before its update, of standardised targets */
  double seconds;         /* of the call */
  double step_seconds;    /* what a step is expected to take */
  int32_t rolled_back;    /* 1: weights went back to those of the last good step of before */
  int32_t restandardised; /* 1: samples have changed, and are standardised anew */
} zygos_training;

/* Trains on samples drawn from those that are kept. A step begins only if it is expected to end
 * within `budget_seconds` of wall time, 0: no limit, and at most `max_steps` are made, 0: no limit.
 * Both 0: those of the input file, ZYGOS_ERROR_USAGE if there is none. Makes no step while there
 * are less than min_samples. `training` may be NULL. */
int zygos_surrogate_train(zygos_surrogate* surrogate, double budget_seconds, int64_t max_steps,
                          zygos_training* training, zygos_error* error);

/* On held-out samples, which no step has seen. */
typedef struct zygos_validation {
  int64_t samples;       /* 0: there are none yet, and the errors are infinite */
  double loss;           /* mean, of standardised targets */
  double relative_error; /* root of the sum of squared errors over that of squared deviations of
                          * targets from their mean: 1 is no better than predicting the mean */
} zygos_validation;

/* The error by which to choose between surrogate and solver. `root_mean_squares` gets the error of
 * each output in its own unit: `count` is the number of outputs. NULL and 0: not wanted. */
int zygos_surrogate_validate(zygos_surrogate* surrogate, zygos_validation* validation,
                             double* root_mean_squares, int64_t count, zygos_error* error);

/* outputs(i, ...) = network(inputs(i, ...)) for all samples i, in the samples' own units. Arrays as
 * those of zygos_surrogate_add(). Inputs that are NaN or infinite are not refused. */
int zygos_surrogate_predict(zygos_surrogate* surrogate, const zygos_array* inputs,
                            int32_t inputs_count, const zygos_array* outputs, int32_t outputs_count,
                            zygos_error* error);

/* The same of an ensemble, an `options.members` of 2 or more: outputs are the mean of its networks,
 * and spread(i), an array of one number a sample, is the standard deviation between them, each
 * output in units of its target's deviation, root mean square over the outputs. It compares with
 * relative_error, and is NaN where a prediction is: write !(spread < limit) for the samples that
 * need the solver. ZYGOS_ERROR_USAGE for a surrogate of one network. */
int zygos_surrogate_predict_spread(zygos_surrogate* surrogate, const zygos_array* inputs,
                                   int32_t inputs_count, const zygos_array* outputs,
                                   int32_t outputs_count, const zygos_array* spread,
                                   zygos_error* error);

/* Weights and optimizer states as they were before the first good step of the last training that
 * had one. */
int zygos_surrogate_rollback(zygos_surrogate* surrogate, zygos_error* error);

/* ------------------------------------------------------------------------------------- restart */

/* Size of the buffer that zygos_surrogate_save_state() fills. It depends on the options alone. */
int zygos_surrogate_state_bytes(zygos_surrogate* surrogate, int64_t* bytes, zygos_error* error);

/* Everything that a restart needs, samples included. `size` must be that size. */
int zygos_surrogate_save_state(zygos_surrogate* surrogate, void* buffer, int64_t size,
                               zygos_error* error);

/* Goes on from there with the bits of an undisturbed run, where max_steps alone limits training.
 * ZYGOS_ERROR_CHECKPOINT for a buffer that is damaged or of a surrogate with other options; this
 * one is then as it was before. The buffer has no checksum. */
int zygos_surrogate_restore_state(zygos_surrogate* surrogate, const void* buffer, int64_t size,
                                  zygos_error* error);

/* ------------------------------------------------------------------------------------- queries */

typedef struct zygos_surrogate_info {
  int32_t input_rank;  /* of a sample */
  int32_t output_rank; /* of a sample */
  int64_t input[ZYGOS_MAX_RANK];
  int64_t output[ZYGOS_MAX_RANK];
  int32_t precision;       /* zygos_type of activations */
  int32_t threads;         /* that work */
  int64_t steps;           /* that were applied */
  int64_t steps_refused;   /* that were not, because of a value that is not finite */
  int64_t samples_seen;    /* that were ever added, those left out included */
  int64_t samples_refused; /* that were left out */
  int64_t training;        /* samples to train on that are kept now */
  int64_t validation;      /* samples that are held out now */
  int64_t bytes;           /* of memory, samples included */
  int64_t members;         /* networks; steps are summed over them */
} zygos_surrogate_info;

int zygos_surrogate_get_info(zygos_surrogate* surrogate, zygos_surrogate_info* info,
                             zygos_error* error);

#ifdef __cplusplus
}
#endif

#endif
