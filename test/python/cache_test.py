"""The disk cache: what its names depend on, and what may happen to its files.

SPDX-License-Identifier: Apache-2.0
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import uattn
from uattn import _compiler

PROBLEM = uattn.Problem(head_dim=64)
COMPILE = """
import sys, uattn
problem = uattn.Problem(head_dim=64)
sys.stdout.buffer.write(uattn.compile(problem, ptxas="none").data)
"""


class Cache(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name) / "cache"
        environment = {"UATTN_CACHE_DIR": str(self.folder)}
        patch = mock.patch.dict(os.environ, environment)
        patch.start()
        self.addCleanup(patch.stop)
        run = mock.patch.object(
            _compiler, "compile_text", wraps=_compiler.compile_text
        )
        self.compile_text = run.start()
        self.addCleanup(run.stop)

    def files(self):
        return sorted(self.folder.iterdir())

    def compile(self, problem=PROBLEM, **options):
        return uattn.compile(problem, **({"ptxas": "none"} | options))

    def test_second_compilation_is_read(self):
        first, second = self.compile(), self.compile()
        self.assertEqual(first.data, second.data)
        self.assertEqual(self.compile_text.call_count, 1)
        self.assertEqual(len(self.files()), 1)

    def test_key_holds_the_text(self):
        self.compile()
        self.compile(uattn.Problem(head_dim=64, causal=True))
        self.assertEqual(len(self.files()), 2)

    def test_key_holds_the_compiler(self):
        self.compile()
        with mock.patch.object(_compiler, "version", return_value="another"):
            self.compile()
        self.assertEqual(self.compile_text.call_count, 2)
        self.assertEqual(len(self.files()), 2)

    def test_key_holds_the_assembler(self):
        self.compile()
        with mock.patch.object(
            _compiler, "assembler_version", return_value="another"
        ):
            self.compile()
        self.assertEqual(self.compile_text.call_count, 2)

    def test_use_cache_false_leaves_the_folder_alone(self):
        self.compile(use_cache=False)
        self.assertFalse(self.folder.exists())

    def test_torn_and_altered_files_are_replaced(self):
        whole = self.compile().data
        (path,) = self.files()
        altered = bytearray(whole)
        altered[len(whole) // 2] ^= 1
        for spoilt in (b"", whole[:100], bytes(altered), b"something else"):
            path.write_bytes(spoilt)
            self.assertEqual(self.compile().data, whole)
            self.assertEqual(path.read_bytes(), whole)

    def test_wrong_module_is_not_cached(self):
        with self.assertRaisesRegex(ValueError, "<source>:1:"):
            self.compile("nonsense\n")
        self.assertFalse(self.folder.exists())

    def test_folder_that_cannot_be_made_is_a_warning(self):
        self.folder.write_text("a file\n")
        with self.assertWarnsRegex(RuntimeWarning, "nothing is cached"):
            self.compile()

    def test_processes_share_the_folder(self):
        def run(_):
            return subprocess.run(
                [sys.executable, "-c", COMPILE], check=True, stdout=subprocess.PIPE
            ).stdout

        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            found = set(pool.map(run, range(6)))
        self.assertEqual(len(found), 1)
        (path,) = self.files()  # and no scratch file is left
        self.assertEqual({path.read_bytes()}, found)


if __name__ == "__main__":
    unittest.main()
