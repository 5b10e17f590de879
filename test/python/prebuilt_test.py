"""Prebuilt artifacts, with and without the compiler.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import tempfile
import unittest
from unittest import mock

import uattn
from uattn import _files

PROBLEM = uattn.Problem(head_dim=64, causal=True)


def without_compiler():
    found = _files.program

    def program(name):
        if name == "uattn-compile":
            raise FileNotFoundError("no compiler")
        return found(name)

    return mock.patch.object(_files, "program", program)


class Prebuilt(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def path(self, *folders):
        value = os.pathsep.join(map(str, folders))
        return mock.patch.dict(os.environ, {"UATTN_PREBUILT_PATH": value})

    def test_serves_without_the_compiler(self):
        (file,) = uattn.prebuild([PROBLEM], self.folder, ptxas="none")
        with without_compiler(), self.path("/nowhere", self.folder):
            self.assertEqual(uattn.compile(PROBLEM).data, file.read_bytes())
            self.assertEqual(uattn.compile(PROBLEM.mlir()).data, file.read_bytes())

    def test_what_is_missing_is_named(self):
        (file,) = uattn.prebuild([PROBLEM], self.folder, ptxas="none")
        file.unlink()
        with without_compiler(), self.path(self.folder):
            with self.assertRaisesRegex(FileNotFoundError, file.name):
                uattn.compile(PROBLEM)

    def test_torn_file_is_named(self):
        (file,) = uattn.prebuild([PROBLEM], self.folder, ptxas="none")
        file.write_bytes(file.read_bytes()[:50])
        with self.path(self.folder):
            with self.assertRaisesRegex(ValueError, file.name):
                uattn.compile(PROBLEM)


if __name__ == "__main__":
    unittest.main()
