"""Artifacts: files, functions, values, plans, timelines.

SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import tempfile
import unittest

import uattn

EXAMPLES = pathlib.Path(__file__).parent.parent / "Examples"
PROBLEM = uattn.Problem(head_dim=64, lse=True, temp="f32")


class Artifact(unittest.TestCase):
    def setUp(self):
        self.artifact = uattn.compile(PROBLEM, ptxas="none")

    def test_functions_and_values(self):
        self.assertEqual(self.artifact.functions, ("main",))
        self.assertEqual(self.artifact.arguments("main"), PROBLEM.operands)
        out, lse = self.artifact.results()
        self.assertEqual((out.dtype, out.shape), ("bf16", (None, None, None, 64)))
        self.assertEqual((lse.dtype, lse.shape), ("f32", (None, None, None)))

    def test_unknown_function(self):
        with self.assertRaisesRegex(ValueError, "function is 'other': expected main"):
            self.artifact.arguments("other")

    def test_file_round_trip(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "kernels.uattn"
            self.artifact.write(path)
            self.assertEqual(uattn.Artifact.read(path).data, self.artifact.data)
            path.write_bytes(b"no artifact")
            with self.assertRaisesRegex(ValueError, str(path)):
                uattn.Artifact.read(path)

    def test_bytes_that_are_none(self):
        with self.assertRaises((ValueError, OSError)):
            uattn.Artifact(b"")
        with self.assertRaisesRegex(TypeError, "data is a str: expected bytes"):
            uattn.Artifact("text")

    def test_plan(self):
        plan = self.artifact.plan()
        self.assertIn("forward kernel ranker_attention_fwd_bf16_d64", plan)
        self.assertIn("shared memory: ", plan)

    def test_mlir_file_with_two_ops(self):
        artifact = uattn.compile(EXAMPLES / "backward_dense.mlir", ptxas="none")
        self.assertEqual([x.name for x in artifact.arguments()][0], "q")
        self.assertIn("forward kernel", artifact.plan())
        self.assertIn("backward kernel", artifact.plan())

    def test_source_of_another_type(self):
        with self.assertRaisesRegex(TypeError, "source is a int: expected"):
            uattn.compile(3)

    def test_unknown_chip(self):
        with self.assertRaisesRegex(ValueError, "sm_80"):
            uattn.compile(PROBLEM, chip="sm_80")


class Timeline(unittest.TestCase):
    def test_of_a_dynamic_problem(self):
        artifact = uattn.compile(uattn.Problem(head_dim=64), ptxas="none")
        shape = (1, 64, 1, 64)
        svg = uattn.timeline(artifact, {"q": shape, "k": shape, "v": shape})
        self.assertIn("<svg xmlns", svg)

    def test_missing_shape_is_named(self):
        artifact = uattn.compile(uattn.Problem(head_dim=64), ptxas="none")
        with self.assertRaisesRegex(ValueError, r"argument 0 \(q\)"):
            uattn.timeline(artifact)


if __name__ == "__main__":
    unittest.main()
