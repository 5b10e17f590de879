"""uattn in JAX: ranker attention under jit, grad, vmap and sharding.

On the CUDA platform the op runs as compiled Hopper kernels on XLA's stream, on
the CPU platform as threaded float32 code; the Python code is the same.
SPDX-License-Identifier: Apache-2.0
"""

from ._attention import ranker_attention
from ._context_parallel import context_parallel_attention
from ._segments import bounds_from_segment_ids, check_segment_ids
from ._targets import write_artifacts
from ._unified import CapParams, KernelConfig, unified_attention

__all__ = [
    "CapParams",
    "KernelConfig",
    "bounds_from_segment_ids",
    "check_segment_ids",
    "context_parallel_attention",
    "ranker_attention",
    "unified_attention",
    "write_artifacts",
]
