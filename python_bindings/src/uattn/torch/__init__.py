"""uattn in PyTorch: ranker attention with gradients, under torch.compile, vmap
and CUDA graphs, on DTensors.

On CUDA tensors the op runs as compiled Hopper kernels on the current stream, on
CPU tensors as threaded float32 code; the Python code is the same.
SPDX-License-Identifier: Apache-2.0
"""

import torch as _torch

# torch's version compares as one, not as the str that it is too.
if _torch.__version__ < "2.6":
    raise ImportError(f"torch is {_torch.__version__}: expected 2.6 or newer")

from . import _sharding as _sharding
from ._attention import ranker_attention
from ._segments import bounds_from_segment_ids, check_segment_ids

__all__ = ["bounds_from_segment_ids", "check_segment_ids", "ranker_attention"]
