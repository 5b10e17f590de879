"""Writes a folder that a GPU machine without LLVM can check: every case's .ttgir
and .json, ttgir_cuda_test.py and what it needs. uattn-opt is called by name.

usage: ttgir_folder.py FOLDER
then, there: python3 FOLDER/ttgir_cuda_test.py FOLDER/*.ttgir
SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import shutil
import sys

import ttgir_testing as testing


def main(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for case in testing.cases():
        testing.emit(case, folder)
    here = pathlib.Path(__file__).resolve().parent
    for name in ("ttgir_cuda_test.py", "ttgir_testing.py"):
        shutil.copy(here / name, folder)
    print(f"{len(testing.cases())} cases in {folder}")


if __name__ == "__main__":
    main(sys.argv[1])
