# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Median seconds of a prediction of MODEL.onnx in onnxruntime, one thread, input and output bound once.

Usage: infer_onnxruntime.py MODEL.onnx SAMPLES CALLS

A call goes through Python, which a single sample pays for: about a microsecond, printed as the second number.
"""

import statistics
import sys
import time

import numpy
import onnxruntime


def median_of(call, calls):
    seconds = []
    for _ in range(calls + 10):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds[10:])


def main():
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
    samples = numpy.random.default_rng(1).random((int(sys.argv[2]), 6), dtype="float32")
    binding = session.io_binding()
    binding.bind_cpu_input("input", samples)
    outputs = onnxruntime.OrtValue.ortvalue_from_numpy(numpy.zeros((len(samples), 3), "float32"))
    binding.bind_ortvalue_output("output", outputs)
    run = session._sess.run_with_iobinding  # without the checks of the Python wrapper
    bound = binding._iobinding
    print(median_of(lambda: run(bound, None), int(sys.argv[3])), median_of(lambda: None, 10000))


if __name__ == "__main__":
    main()
