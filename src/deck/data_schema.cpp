// SPDX-FileCopyrightText: 2026 The Zygos authors
// SPDX-License-Identifier: Apache-2.0
#include "deck/data_schema.hpp"

#include "deck/graph_data.hpp"

namespace zygos::deck {
namespace {

void add_scaling(Schema& schema) {
  schema
      .real("scale",
            "Scale factor: the model sees value * scale + offset; auto: 1/255 for bytes, else 1.")
      .or_word("auto")
      .fallback("auto");
  schema.real("offset", "Offset added after scaling.").fallback(0.0);
  schema
      .choice("normalise", {"none", "standard", "minmax"},
              "Normalisation; standard: every input to mean 0 and standard deviation 1; minmax: "
              "from 0 to 1. Images by channel. So are targets that are numbers of any size, and "
              "predictions come back in the targets' own units. By the training samples alone; "
              "kept in checkpoints.")
      .fallback("none");
}

void add_augmentation(Schema& schema) {
  Schema augment(
      "augment",
      "Random changes of the samples that are trained on, never of those that are "
      "evaluated on or predicted: of each sample anew in every epoch, by the run's seed.");
  augment
      .choice(
          "flip", {"none", "horizontal", "vertical", "both"},
          "Images are mirrored, with probability 1/2 along each axis: horizontal swaps left and "
          "right, vertical top and bottom.")
      .fallback("none");
  augment
      .integer("crop",
               "Pixels of padding, of stored value 0, on every side of an image, of which a random "
               "window of the image's size is cut; 0: none.")
      .in_range(0, 1e6)
      .fallback(0);
  augment
      .real("noise",
            "Standard deviation of Gaussian noise on every input as the model sees it: scaled and "
            "normalised; 0: none.")
      .at_least(0.0)
      .fallback(0.0);
  schema.section("augment", augment).optional().example("{flip: horizontal, crop: 4}");
}

void add_validation(Schema& schema) {
  schema
      .real("validation",
            "Validation split: share of the training samples, drawn with the run's seed, that is "
            "evaluated on while training and not trained on; 0: none. Then test is for zygos eval "
            "and predict.")
      .at_least(0.0)
      .below(1.0)
      .fallback(0.0)
      .example("0.1");
}

void add_classes(Schema& schema) {
  schema.integer("classes", "Number of classes (labels); auto: the largest label + 1.")
      .in_range(2, 1e6)
      .or_word("auto")
      .fallback("auto");
}

Schema idx_files(const char* name, const char* doc) {
  Schema schema(name, doc);
  schema.path("images", "IDX file of the inputs, plain or gzip.")
      .required()
      .example("data/mnist/train-images-idx3-ubyte.gz");
  schema.path("labels", "IDX file of the labels, plain or gzip.")
      .required()
      .example("data/mnist/train-labels-idx1-ubyte.gz");
  return schema;
}

/// Two arrays by name in one file.
Schema named_arrays(const char* name, const char* doc, const char* file_doc,
                    const char* file_example) {
  Schema schema(name, doc);
  schema.path("file", file_doc).required().example(file_example);
  schema.text("inputs", "Array of the inputs: samples first.").fallback("inputs");
  schema.text("targets", "Array of the labels (integers) or target values.").fallback("targets");
  return schema;
}

Schema hdf5_files(const char* name, const char* doc) {
  return named_arrays(name, doc, "HDF5 file with both arrays.", "data/train.h5");
}

Schema npz_files(const char* name, const char* doc) {
  return named_arrays(name, doc, "File of numpy.savez with both arrays.", "data/train.npz");
}

Schema npy_files(const char* name, const char* doc) {
  Schema schema(name, doc);
  schema.path("inputs", "File of numpy.save with the inputs: samples first.")
      .required()
      .example("data/inputs.npy");
  schema.path("targets", "File of numpy.save with the labels (integers) or target values.")
      .required()
      .example("data/targets.npy");
  return schema;
}

Schema csv_files(const char* name, const char* doc) {
  Schema schema(name, doc);
  schema.path("file", "CSV file: a table of text, plain or gzip.")
      .required()
      .example("data/train.csv");
  return schema;
}

constexpr const char* train_doc = "Training set: what is trained on.";
constexpr const char* test_doc = "Test set: what is evaluated on.";

void add_files(Schema& schema, Schema (*files)(const char*, const char*), const char* example) {
  schema.section("train", files("train", train_doc)).example(example);
  schema.section("test", files("test", test_doc)).optional();
  add_validation(schema);
}

/// A format whose keys are those of every file of samples.
Schema samples_schema(const char* format, const char* doc,
                      Schema (*files)(const char*, const char*), const char* example) {
  Schema schema(format, doc);
  add_files(schema, files, example);
  add_scaling(schema);
  add_augmentation(schema);
  add_classes(schema);
  return schema;
}

Schema idx_schema() {
  return samples_schema("idx", "IDX files, the format of MNIST.", idx_files,
                        "{images: images.idx, labels: labels.idx}");
}

Schema csv_schema() {
  Schema schema("csv",
                "A table of text: one sample a line, its numbers separated by commas, semicolons "
                "or tabs. Lines that begin with # are passed over.");
  add_files(schema, csv_files, "{file: train.csv}");
  schema
      .texts("inputs",
             "Input columns, by the names in the first line or by numbers from 1; default: all but "
             "the targets.")
      .optional()
      .example("[length, width]");
  schema
      .texts("targets",
             "Target columns, likewise; default: the last one. With a loss that takes labels one "
             "column, of whole numbers from 0 or of texts, which are numbered in their order.")
      .or_single()
      .optional()
      .example("[species]");
  schema
      .boolean("header",
               "Header line: whether the first line has the names of columns; auto: if no field of "
               "it is a number, or it has all columns that are named here.")
      .or_word("auto")
      .fallback("auto");
  add_scaling(schema);
  add_augmentation(schema);
  add_classes(schema);
  return schema;
}

Schema npy_schema() {
  return samples_schema("npy", "Arrays in files of numpy.save.", npy_files,
                        "{inputs: inputs.npy, targets: targets.npy}");
}

Schema npz_schema() {
  return samples_schema("npz", "Arrays in files of numpy.savez.", npz_files, "{file: train.npz}");
}

Schema hdf5_schema() {
  Schema schema("hdf5", "Arrays in HDF5 files.");
  add_files(schema, hdf5_files, "{file: train.h5}");
  schema
      .boolean("in_memory",
               "In-memory data set; true: load all samples before training; false: read each batch "
               "from the file, ahead of its step; auto: false for sets of more than half of the "
               "machine's memory. The numbers are the same.")
      .or_word("auto")
      .fallback("auto");
  schema
      .integer("prefetch",
               "Prefetch depth: batches read ahead of their steps, where they are not in memory.")
      .in_range(1, 1000)
      .fallback(4);
  add_scaling(schema);
  add_augmentation(schema);
  add_classes(schema);
  return schema;
}

Schema cifar10_schema() {
  Schema schema("cifar10", "CIFAR-10 in its binary version.");
  schema
      .path("folder",
            "Folder with data_batch_1.bin and so on, all of which are trained on, and "
            "test_batch.bin.")
      .required()
      .example("data/cifar-10-batches-bin");
  add_validation(schema);
  add_scaling(schema);
  add_augmentation(schema);
  return schema;
}

Schema glyphs_schema() {
  Schema schema("glyphs", "Synthetic digits, drawn on the fly; needs no file.");
  schema.integer("samples", "Number of training samples.").in_range(1, 1e8).fallback(60000);
  schema.integer("test_samples", "Number of test samples; 0: no test set.")
      .in_range(0, 1e8)
      .fallback(10000);
  schema.integer("classes", "Number of classes (digits).").in_range(2, 10).fallback(10);
  schema.integer("size", "Image size: width and height in pixels.").in_range(8, 256).fallback(28);
  schema
      .integer("channels",
               "Number of channels: the same strokes in so many, with ink and noise of their own.")
      .in_range(1, 16)
      .fallback(1);
  schema.real("jitter", "Jitter: how much a glyph is bent, turned, scaled and shifted.")
      .in_range(0, 2)
      .fallback(1.0);
  schema.real("noise", "Noise amplitude, in every pixel.").in_range(0, 1).fallback(0.25);
  schema.integer("seed", "Random seed of the images; independent of the run's.")
      .at_least(0)
      .fallback(1);
  add_scaling(schema);
  add_augmentation(schema);
  return schema;
}

Schema synthetic_schema() {
  Schema schema("synthetic", "Inputs and what a function makes of them; needs no file.");
  schema
      .choice("function", {"invariants", "smagorinsky", "burgers", "fronts", "blobs"},
              "Target function; invariants: 3 of a symmetric tensor; smagorinsky: eddy viscosity "
              "and dissipation of a rate of strain; burgers: a field after some time; fronts: "
              "where it is steep by then; blobs: the mask of bright ellipses.")
      .required()
      .example("burgers");
  schema.integer("samples", "Number of training samples.").in_range(1, 1e8).fallback(10000);
  schema.integer("test_samples", "Number of test samples; 0: no test set.")
      .in_range(0, 1e8)
      .fallback(1000);
  schema.integer("size", "Image size: width and height of a field or image; tensors have none.")
      .in_range(8, 512)
      .fallback(32);
  schema.real("noise", "Noise amplitude, in every input; targets have none.")
      .in_range(0, 10)
      .fallback(0.0);
  schema.integer("seed", "Random seed of the samples; independent of the run's.")
      .at_least(0)
      .fallback(1);
  add_scaling(schema);
  add_augmentation(schema);
  return schema;
}

Schema text_schema() {
  Schema schema("text", "A text, plain or gzip: sequences of tokens, each followed by the next.");
  schema.path("file", "Text file.").required().example("data/tinyshakespeare.txt");
  schema
      .choice("vocabulary", {"characters", "bytes", "words"},
              "Vocabulary, what a token is: a character of UTF-8 that occurs, in their order; one "
              "of 256 bytes; a word, a mark or a line end, the most frequent first, behind one "
              "token for all others.")
      .fallback("characters");
  schema.integer("most_words", "Vocabulary size: number of tokens that words may have.")
      .in_range(2, 1 << 24)
      .fallback(10000);
  schema.integer("sequence", "Sequence length: tokens of a sample.").in_range(1, 1e6).fallback(128);
  schema
      .integer("stride",
               "Stride: tokens from the beginning of a training sample to that of the next one.")
      .at_least(1)
      .or_word("sequence")
      .fallback("sequence");
  schema
      .real("validation",
            "Validation split: part of the text, at its end, that is evaluated on and not trained "
            "on; 0: none.")
      .at_least(0.0)
      .below(1.0)
      .fallback(0.1);
  return schema;
}

Schema tokens_schema() {
  Schema schema("tokens",
                "Synthetic sequences of tokens, drawn on the fly; needs no file. After each, four "
                "are possible, with probabilities 1/2, 1/4, 1/8 and 1/8: no loss is below 1.213.");
  schema.integer("samples", "Number of training samples.").in_range(1, 1e8).fallback(10000);
  schema.integer("test_samples", "Number of test samples; 0: no test set.")
      .in_range(0, 1e8)
      .fallback(1000);
  schema.integer("sequence", "Sequence length: tokens of a sample.").in_range(1, 1e6).fallback(128);
  schema.integer("vocabulary", "Vocabulary size: number of tokens.")
      .in_range(2, 1 << 24)
      .fallback(64);
  schema.integer("seed", "Random seed of the sequences; independent of the run's.")
      .at_least(0)
      .fallback(1);
  return schema;
}

}  // namespace

std::vector<Schema> data_schemas() {
  return {idx_schema(),  hdf5_schema(),    csv_schema(),    npy_schema(),
          npz_schema(),  cifar10_schema(), glyphs_schema(), synthetic_schema(),
          text_schema(), tokens_schema(),  graph_schema(),  power_law_graph_schema()};
}

}  // namespace zygos::deck
