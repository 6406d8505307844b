# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Does what docs/tutorial.md says to copy a layer, in a folder with the two files that it takes.

    python3 tests/docs/copy_layer.py SOURCE_FOLDER FOLDER
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path


def main(source, folder):
    layers = Path(folder, "src/nn/layers")
    layers.mkdir(parents=True, exist_ok=True)
    for name in ("leaky_relu.cpp", "registry.inc"):
        shutil.copyfile(Path(source, "src/nn/layers", name), layers / name)
    section = Path(source, "docs/tutorial.md").read_text().split("\n## 7.", 1)[1]
    commands = re.search(r"^```\n(.*?)^```", section, re.S | re.M).group(1)
    copied = commands.split("./bootstrap")[0]  # what follows builds the whole
    subprocess.run(["bash", "-euc", copied], cwd=folder, check=True)
    if "\nZYGOS_LAYER(steep_relu)" not in (layers / "registry.inc").read_text():
        sys.exit("the registry does not name the new layer")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
