"""Compares the layouts of uattn._abi with those that a C compiler gives.

Usage: abi_layout_test.py INCLUDE_FOLDER, with the compiler in $CC.
SPDX-License-Identifier: Apache-2.0
"""

import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from uattn import _abi

INCLUDE = sys.argv.pop(1)


def python_facts():
    for structs in _abi.STRUCTS.values():
        for name, struct in structs:
            yield f"sizeof({name})", ctypes.sizeof(struct)
            for field in struct._fields_:
                yield f"offsetof({name}, {field[0]})", getattr(struct, field[0]).offset


def c_facts(expressions):
    includes = "".join(f'#include "uattn/{header}"\n' for header in _abi.STRUCTS)
    prints = "".join(f'  printf("%zu\\n", {text});\n' for text in expressions)
    source = f"#include <stdio.h>\n{includes}int main(void) {{\n{prints}}}\n"
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "layout.c"
        program = path.with_suffix("")
        path.write_text(source)
        subprocess.run([os.environ["CC"], "-I", INCLUDE, path, "-o", program], check=True)
        done = subprocess.run([program], check=True, stdout=subprocess.PIPE)
    return [int(line) for line in done.stdout.split()]


class AbiLayout(unittest.TestCase):
    def test_structs_are_those_of_the_headers(self):
        facts = dict(python_facts())
        self.assertEqual(facts, dict(zip(facts, c_facts(facts))))


if __name__ == "__main__":
    unittest.main()
