# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""kann_mlp.c, compiled with KANN's sources once for each set of compiler flags.

KANN has no package of its own: its folder is given with --kann or the environment variable KANN, and is otherwise peers-kann in
the cache folder (`git clone https://github.com/attractivechaos/kann`; only kann.c, kann.h, kautodiff.c and kautodiff.h are read).
Its matrix products are its own, and with --cblas also those of a serial OpenBLAS, as `make CBLAS=FOLDER` does in KANN. An OpenBLAS
that does not know the processor needs OPENBLAS_CORETYPE (SKYLAKEX for AVX-512) in the environment.
"""

import hashlib
import os
import pathlib
import subprocess
import sys

from torch_environment import cache_folder

SOURCE = pathlib.Path(__file__).resolve().parent / "kann_mlp.c"
CC = os.environ.get("CC", "gcc")

# KANN's Makefile has -O2. -Ofast vectorises its exponential function, which the others call for each element.
FLAGS = ("-O2", "-O3 -march=native", "-Ofast -march=native")


def add_options(parser):
    parser.add_argument("--kann", type=pathlib.Path, metavar="FOLDER", default=os.environ.get("KANN"),
                        help="KANN's sources; default: the environment variable KANN, or peers-kann in the cache folder")
    parser.add_argument("--cblas", type=pathlib.Path, metavar="FOLDER",
                        help="measure KANN with the serial OpenBLAS of include/ and lib/ in this folder, too")


def sources(folder):
    return [folder / name for name in ("kann.c", "kautodiff.c", "kann.h", "kautodiff.h")]


def found(folder):
    """KANN's folder; None if none was named and the default one is absent. Ends the script if the named one lacks a source."""
    default = cache_folder() / "peers-kann"
    chosen = pathlib.Path(folder or default)
    missing = [file.name for file in sources(chosen) if not file.exists()]
    if not missing:
        return chosen.resolve()
    how = f"git clone https://github.com/attractivechaos/kann {default}"
    if folder:
        sys.exit(f"{chosen} has no {', '.join(missing)}; --kann and KANN name a folder with KANN's sources, as from: {how}")
    print(f"KANN is left out: it is not in {default}. To add it: {how}", file=sys.stderr, flush=True)
    return None


def programs(options):
    """By peer and flags: the executable; none without KANN."""
    folder = found(options.kann)
    if not folder:
        return {}
    peers = {"KANN": ([], [])}
    if options.cblas:
        blas = options.cblas.resolve()
        if not (blas / "include/cblas.h").exists() or not (blas / "lib/libopenblas.so").exists():
            sys.exit(f"{options.cblas} lacks include/cblas.h or lib/libopenblas.so; --cblas names a folder with both, such as where "
                     "OpenBLAS was installed with PREFIX=FOLDER")
        peers["KANN with OpenBLAS"] = (["-DHAVE_CBLAS", f"-I{blas}/include"],
                                       [f"-L{blas}/lib", f"-Wl,-rpath,{blas}/lib", "-lopenblas"])
    return {(peer, flags): compiled(folder, [*flags.split(), *further], libraries)
            for peer, (further, libraries) in peers.items() for flags in FLAGS}


def fastest(seconds):
    """By peer: the flags with the least seconds, from seconds by peer and flags (or what else tells variants of a peer apart)."""
    return {peer: min((variant for other, variant in seconds if other == peer), key=lambda variant: seconds[peer, variant])
            for peer in dict.fromkeys(peer for peer, _ in seconds)}


def compiled(folder, flags, libraries):
    target = [CC, *flags, "-Q", "--help=target"]  # what "native" means here
    compiler = b"".join(subprocess.run(command, check=True, capture_output=True).stdout
                        for command in ([CC, "--version"], target))
    key = hashlib.sha256(b"".join(file.read_bytes() for file in [SOURCE, *sources(folder)]) + compiler + repr((flags, libraries)).encode())
    program = cache_folder() / "peers-kann-programs" / f"kann_mlp-{key.hexdigest()[:16]}"
    if program.exists():
        return str(program)
    print(f"compiling KANN with {' '.join(flags)} (once)", file=sys.stderr, flush=True)
    program.parent.mkdir(parents=True, exist_ok=True)
    main, unfinished = (program.with_suffix(f".{os.getpid()}{end}") for end in (".o", ""))
    # The flags are for KANN: with -Ofast, kann_mlp.c could not tell whether a loss is finite.
    subprocess.run([CC, "-O2", "-Wall", "-Wextra", f"-I{folder}", "-c", str(SOURCE), "-o", str(main)], check=True)
    subprocess.run([CC, *flags, "-w", "-DHAVE_PTHREAD", f"-I{folder}", *map(str, sources(folder)[:2]), str(main),
                    "-o", str(unfinished), *libraries, "-lpthread", "-lm"], check=True)
    main.unlink()
    unfinished.rename(program)
    return str(program)
