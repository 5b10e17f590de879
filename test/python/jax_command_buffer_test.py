"""The op inside XLA's command buffers: captured once, replayed with new data
in the same and in other buffers.

SPDX-License-Identifier: Apache-2.0
"""

import os
import pathlib
import tempfile
import unittest

DUMP = tempfile.TemporaryDirectory()
os.environ["XLA_FLAGS"] = " ".join([
    os.environ.get("XLA_FLAGS", ""),
    "--xla_gpu_enable_command_buffer=FUSION,CUBLAS,CUBLASLT,CUSTOM_CALL",
    "--xla_gpu_graph_min_graph_size=1",
    f"--xla_dump_to={DUMP.name}",
    "--xla_dump_hlo_as_text",
])

import jax
import jax.numpy as jnp
import uattn.jax
from jax_testing import check_forward, check_gradients, draw, normal, temperatures

CAP = uattn.Cap("tanh", 5.0)


def captured_calls(text):
    """Custom calls in the command buffers of a sequence of thunks, which stand
    indented below theirs."""
    calls, is_inside = 0, False
    for line in text.splitlines():
        if not line.startswith(" "):
            is_inside = "kCommandBuffer" in line
        calls += is_inside and "kCustomCall" in line
    return calls


class CommandBuffers(unittest.TestCase):
    def test_captured_step(self):
        @jax.jit
        def step(q, k, v, temp, dout):
            (out, lse), pull = jax.vjp(
                lambda *x: uattn.jax.ranker_attention(*x, cap=CAP), q, k, v, temp)
            return (out, lse), pull((dout, jnp.zeros_like(lse)))

        def inputs(seed):
            q, k, v = draw(seed=seed)
            return q, k, v, temperatures(q, seed), normal(seed + 9, q.shape)

        kept = []  # keeps memory, so that later calls get other buffers
        for seed in (0, 0, 100, 200, 300):
            given = inputs(seed)
            results, gradients = step(*given)
            check_forward(self, given[:4], results, cap=CAP)
            check_gradients(self, given[:4],
                            dict(zip(("dq", "dk", "dv", "dtemp"), gradients)),
                            given[4], cap=CAP)
            kept.append((given, results, gradients))
        (thunks,) = pathlib.Path(DUMP.name).glob(
            "*jit_step.thunk_sequence_after_thunk_passes.txt")
        self.assertEqual(captured_calls(thunks.read_text()), 2)


if __name__ == "__main__":
    unittest.main()
