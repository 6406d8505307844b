/* SPDX-FileCopyrightText: 2026 The Zygos authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Inference from C, and from whatever calls C: a trained network predicts on arrays of the caller.
 *
 *   zygos_session* session = NULL;
 *   zygos_model* model = NULL;
 *   zygos_error error;
 *   if (zygos_initialize(0, &session, &error) != ZYGOS_OK ||
 *       zygos_load(session, "runs/surrogate", NULL, &model, &error) != ZYGOS_OK) {
 *     fprintf(stderr, "%s\n", error.message);
 *   }
 *   zygos_array x = {tensors, ZYGOS_FLOAT64, 2, {cells, 6}, {0}};
 *   zygos_array y = {invariants, ZYGOS_FLOAT64, 2, {cells, 3}, {0}};
 *   zygos_predict(model, &x, 1, &y, &error);
 *   zygos_free(model);
 *   zygos_finalize(session, &error);
 *
 * Errors. Functions that can fail return a zygos_code and take a zygos_error last, which may be
 * NULL. They return ZYGOS_OK and leave the error as it was, or return another code, describe the
 * failure in the error, and leave everything else as it was: outputs of a failed prediction are
 * untouched where the arguments are at fault. No C++ exception leaves a function.
 *
 * Threads. A session may be used by several threads at once. A model is used by one thread at a
 * time: a second one is refused with ZYGOS_ERROR_USAGE. Give each thread its own by zygos_share(),
 * which copies no weights. zygos_share(), zygos_assign() and zygos_reload() may be called while
 * another thread predicts with the same model.
 *
 * Lifetimes. Free all models before zygos_finalize(), and before Kokkos is finalised by the caller.
 * Arrays, names and texts are borrowed until the call returns; see zygos_predict_on_stream() for
 * the one exception.
 */
#ifndef ZYGOS_ZYGOS_H
#define ZYGOS_ZYGOS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a failure means: the exit codes of the program zygos. */
typedef enum zygos_code {
  ZYGOS_OK = 0,
  ZYGOS_ERROR_BUG = 1,        /* of this library */
  ZYGOS_ERROR_USAGE = 2,      /* an argument, a deck or a model that the caller can correct */
  ZYGOS_ERROR_DATA = 3,       /* a file of data is not what it claims to be */
  ZYGOS_ERROR_CHECKPOINT = 4, /* a checkpoint is damaged, incomplete or missing */
  ZYGOS_ERROR_IO = 5,         /* the operating system refused to read or write */
  ZYGOS_ERROR_MEMORY = 6,     /* the machine has no memory left */
  ZYGOS_ERROR_NUMERIC = 7     /* a weight is NaN or infinite */
} zygos_code;

#define ZYGOS_MESSAGE_LENGTH 1024

/* The last failure that a function described here. UTF-8, ends with a zero byte; longer texts are
 * cut and end with "...". */
typedef struct zygos_error {
  int32_t code; /* zygos_code */
  char message[ZYGOS_MESSAGE_LENGTH];
} zygos_error;

/* ------------------------------------------------------------------------------------- session */

/* The use of Kokkos by this library. */
typedef struct zygos_session zygos_session;

/* Makes a session, and initialises Kokkos if the program has not done so: then zygos_finalize() of
 * this session finalises it, so it must be the last one, and Kokkos can't be initialised again.
 * Kokkos of the caller is only used, never finalised.
 *
 * `threads`: of the predictions of each model that does not ask for another number; 0: as many as
 * Kokkos has, which are those of OMP_NUM_THREADS or all cores. Does not launch anything. Must not
 * be called in a parallel region of OpenMP. */
int zygos_initialize(int32_t threads, zygos_session** session, zygos_error* error);

/* Frees the session, which may be NULL. Refused with ZYGOS_ERROR_USAGE while it has models. */
int zygos_finalize(zygos_session* session, zygos_error* error);

/* Threads of a model that does not ask for another number. 0 for NULL. */
int32_t zygos_threads(const zygos_session* session);

/* "0.1.0"; valid as long as the program runs. */
const char* zygos_version(void);

/* -------------------------------------------------------------------------------------- arrays */

typedef enum zygos_type {
  ZYGOS_TYPE_NONE = 0,
  ZYGOS_FLOAT32 = 1,
  ZYGOS_FLOAT64 = 2,
  ZYGOS_BFLOAT16 = 3 /* upper half of a float32 */
} zygos_type;

#define ZYGOS_MAX_RANK 7

/* An array in memory of the caller. The first dimension counts samples, the others are those of a
 * sample, or one for a sample given flat: (N, 784) for a model of (1, 28, 28). Rank 1 are N samples
 * of one element.
 *
 * Strides count elements, may be negative, and `data` is the element with all indices 0. All of
 * them 0, as an initialiser leaves them: dense, row major, the last index is the fastest. Column
 * major data (n, 6), as Fortran's x(n, 6), have the strides {1, n}. */
typedef struct zygos_array {
  void* data;   /* of inputs only read */
  int32_t type; /* zygos_type; need not be the one that the model computes in */
  int32_t rank; /* 1 to ZYGOS_MAX_RANK */
  int64_t dimensions[ZYGOS_MAX_RANK];
  int64_t strides[ZYGOS_MAX_RANK];
} zygos_array;

/* Elements of a named parameter, dense and row major, such as "fc1/kernel" with (inputs, units):
 * see zygos_get_parameter(). Another floating-point type than the model's is converted. */
typedef struct zygos_weight {
  const char* name;
  zygos_array values;
} zygos_weight;

/* -------------------------------------------------------------------------------------- models */

/* A network with its weights and a workspace. Layers are in evaluation mode. */
typedef struct zygos_model zygos_model;

/* All zero are the defaults, and so is NULL instead of options. */
typedef struct zygos_options {
  int32_t best;      /* 1: the best checkpoint of a run with checkpoint.keep_best; 0: the newest */
  int32_t precision; /* zygos_type that the model computes in; ZYGOS_TYPE_NONE: that of the deck */
  int64_t block;   /* larger batches are cut into blocks of so many samples; 0: chosen by the model,
                    * the deck's train.batch at least. That number itself gives the bits of
                    * `zygos predict`. */
  int32_t threads; /* that predict; 0: those of the session. 1: the calling thread alone */
} zygos_options;

/* A model from a run's folder, its folder of checkpoints, or one checkpoint: of several checkpoints
 * the newest that is sound, or the best one; or from a .safetensors of `zygos export`, or
 * an .onnx, also of another program. The network is that of the deck, or of the operators, in
 * there. */
int zygos_load(zygos_session* session, const char* path, const zygos_options* options,
               zygos_model** model, zygos_error* error);

/* A network in memory. */
typedef struct zygos_network {
  const char*
      deck;     /* text of a complete deck, of which `model`, `precision` and `train.batch` count */
  int32_t rank; /* of a sample, 0 to 6 */
  int32_t weights_count;
  int64_t dimensions[ZYGOS_MAX_RANK]; /* of a sample */
  const zygos_weight* weights;        /* of every parameter, in any order */
} zygos_network;

/* A model without files. Networks whose layers work on a graph of samples (graph_conv) need that of
 * their data and are refused. options->best has no meaning here. */
int zygos_create(zygos_session* session, const zygos_network* network, const zygos_options* options,
                 zygos_model** model, zygos_error* error);

/* Another model of the same weights, for another thread; new weights of either reach both. Free it
 * as any other, in any order. `threads`: that predict; 0: as many as of `model`. */
int zygos_share(const zygos_model* model, int32_t threads, zygos_model** shared,
                zygos_error* error);

/* NULL is allowed. Waits for predictions that it has enqueued on a stream. */
void zygos_free(zygos_model* model);

/* --------------------------------------------------------------------------------- predictions */

/* output(i, ...) = network(inputs(i, ...)) for all samples i, in host memory; returns when the
 * output is complete. With several inputs, each is a piece of a sample, one behind the other along
 * its first axis: (N, 3) positions and (N, 3) velocities for a model of 6 elements. An input may be
 * the output.
 *
 * Values are those that the network sees: where the deck has data.scale and data.offset, scaled
 * ones. The prediction is what the loss would see: logits in front of cross_entropy. Inputs that
 * are NaN or infinite are not refused.
 *
 * The first call allocates a workspace, later ones of at most as many samples nothing. Within a
 * parallel region of OpenMP the calling thread computes alone. */
int zygos_predict(zygos_model* model, const zygos_array* inputs, int32_t inputs_count,
                  const zygos_array* output, zygos_error* error);

/* The same in device memory. `stream` is a cudaStream_t on which the work is enqueued: the arrays'
 * data must live until it is done, and the stream until the model is freed or used with another
 * one. NULL: on a stream of the model, and the call returns when the output is complete; the inputs
 * must be complete when it is made. ZYGOS_ERROR_USAGE in a build without CUDA. */
int zygos_predict_on_stream(zygos_model* model, void* stream, const zygos_array* inputs,
                            int32_t inputs_count, const zygos_array* output, zygos_error* error);

/* Allocates now what zygos_predict() of up to `samples` samples needs. */
int zygos_prepare(zygos_model* model, int64_t samples, zygos_error* error);

/* ------------------------------------------------------------------------------------- weights */

/* Replaces all weights, of `model` and of all that share them, from their next prediction on;
 * predictions in progress end with the old ones. On failure the old ones stay. */
int zygos_assign(zygos_model* model, const zygos_weight* weights, int32_t count,
                 zygos_error* error);

/* The same with those of a checkpoint, found as zygos_load() finds it: of a run that is still
 * training, say. `best` as in zygos_options. */
int zygos_reload(zygos_model* model, const char* path, int32_t best, zygos_error* error);

/* ------------------------------------------------------------------------------------- queries */

typedef struct zygos_info {
  int32_t input_rank;  /* of a sample */
  int32_t output_rank; /* of a sample */
  int64_t input[ZYGOS_MAX_RANK];
  int64_t output[ZYGOS_MAX_RANK];
  int32_t precision;       /* zygos_type that the model computes in */
  int32_t threads;         /* that predict on the host */
  int64_t block;           /* most samples of one pass through the layers */
  int64_t parameters;      /* number of named parameters */
  int64_t weight_bytes;    /* once for all models that share them */
  int64_t workspace_bytes; /* of this model, as it is now */
} zygos_info;

int zygos_get_info(const zygos_model* model, zygos_info* info, zygos_error* error);

typedef struct zygos_parameter {
  const char* name; /* valid as long as the model */
  int32_t rank;
  int64_t dimensions[ZYGOS_MAX_RANK];
} zygos_parameter;

/* Parameter `index`, from 0 to zygos_info.parameters - 1. */
int zygos_get_parameter(const zygos_model* model, int64_t index, zygos_parameter* parameter,
                        zygos_error* error);

#ifdef __cplusplus
}
#endif

#endif
