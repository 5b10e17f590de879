"""uattn: ranker attention and its gradients as Hopper kernels.

    problem = uattn.Problem(head_dim=128, causal=True, lse=True)
    artifact = uattn.compile(problem)
    program = uattn.load(artifact)                        # on GPU 0
    program.launch([q, k, v], [out, lse], stream=stream)  # DLPack tensors

Without a GPU, `emulate` executes the same kernel on numpy arrays and
`run_reference` computes the op in float64.
SPDX-License-Identifier: Apache-2.0
"""

from ._arrays import from_bf16, to_bf16
from ._cache import cache_dir
from .artifact import Artifact, compile, prebuild
from .emulator import emulate
from .problem import Cap, Problem, TensorSpec
from .program import Program, load
from .reference import run_reference
from .timeline import timeline

__version__ = "0.1.0"

__all__ = [
    "Artifact",
    "Cap",
    "Problem",
    "Program",
    "TensorSpec",
    "cache_dir",
    "compile",
    "emulate",
    "from_bf16",
    "load",
    "prebuild",
    "run_reference",
    "timeline",
    "to_bf16",
]
