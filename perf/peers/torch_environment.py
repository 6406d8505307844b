# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch and onnxruntime in an environment of their own under the cache folder, and programs against libtorch."""

import hashlib
import os
import pathlib
import subprocess
import sys
import venv

STEP = pathlib.Path(__file__).resolve().parent / "step_libtorch.cpp"
CXX = os.environ.get("CXX", "g++")


def cache_folder():
    return pathlib.Path(os.environ.get("ZYGOS_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "zygos"))


def environment():
    """The Python of PyTorch's environment, made on first use."""
    folder = cache_folder() / "peers-env"
    python = folder / "bin" / "python"
    probe = [str(python), "-c", "import torch, safetensors, yaml, onnx, onnxruntime, onnxscript, h5py"]
    if python.exists() and subprocess.run(probe, capture_output=True).returncode == 0:
        return str(python)
    print(f"making PyTorch's environment in {folder} (once)", file=sys.stderr, flush=True)
    venv.create(folder, with_pip=True)
    subprocess.run([str(python), "-m", "pip", "install", "-q", "torch", "numpy", "safetensors", "pyyaml", "onnx", "onnxruntime",
                    "onnxscript", "h5py"], check=True)
    return str(python)


def libtorch_program(python, source=STEP):
    """A source such as step_libtorch.cpp, compiled on first use with the headers and libraries of the package."""
    ask = ("import os, torch; print(os.path.dirname(torch.__file__), torch.__version__, "
           "int(torch._C._GLIBCXX_USE_CXX11_ABI))")
    package, version, new_abi = subprocess.run(
        [python, "-c", ask], check=True, capture_output=True, text=True).stdout.split()
    compiler = subprocess.run([CXX, "--version"], check=True, capture_output=True).stdout
    key = hashlib.sha256(source.read_bytes() + version.encode() + compiler).hexdigest()[:16]
    program = cache_folder() / "peers-libtorch" / f"{source.stem}-{key}"
    if program.exists():
        return str(program)
    print(f"compiling {source.name} against PyTorch {version} (once)", file=sys.stderr, flush=True)
    program.parent.mkdir(parents=True, exist_ok=True)
    unfinished = program.with_suffix(f".{os.getpid()}")
    subprocess.run(
        [CXX, "-std=c++20", "-O2", f"-D_GLIBCXX_USE_CXX11_ABI={new_abi}", str(source),
         "-o", str(unfinished), "-isystem", f"{package}/include",
         "-isystem", f"{package}/include/torch/csrc/api/include", f"-L{package}/lib",
         f"-Wl,-rpath,{package}/lib", "-Wl,--no-as-needed", "-ltorch_cpu", "-lc10"], check=True)
    unfinished.rename(program)
    return str(program)
