#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Zygos authors
# SPDX-License-Identifier: Apache-2.0
"""Makes a picture of one section of a report's page, with Chromium.

Usage: docs/draw_report.py REPORT.html SECTION OUTPUT.png [--width PIXELS]

Those of the tutorials, from the folders in which their commands have run:

    docs/draw_report.py both.html learning docs/tutorial_csv_learning.png
    docs/draw_report.py both.html runs docs/tutorial_csv_runs.png
    docs/draw_report.py runs/mnist_mlp/report.html timeline docs/tutorial_timeline.png --width 760
"""

import argparse
import pathlib
import re
import subprocess
import tempfile


def chromium(page, section, *options):
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
             f"--user-data-dir={profile}", *options, f"file://{page.resolve()}#theme=light&only={section}"],
            check=True, capture_output=True, text=True)
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("section")
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--width", type=int, default=860)
    options = parser.parse_args()
    dom = chromium(options.page, options.section, "--dump-dom", f"--window-size={options.width},1000")
    height = int(re.search(r'data-height="(\d+)"', dom).group(1))
    chromium(options.page, options.section, f"--screenshot={options.output.resolve()}",
             f"--window-size={options.width},{height}")
    print(f"{options.output}: {options.output.stat().st_size} bytes")


if __name__ == "__main__":
    main()
