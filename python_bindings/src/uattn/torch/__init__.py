"""uattn in PyTorch: ranker attention with gradients, under torch.compile, vmap
and CUDA graphs.

On CUDA tensors the op runs as compiled Hopper kernels on the current stream, on
CPU tensors as threaded float32 code; the Python code is the same.
SPDX-License-Identifier: Apache-2.0
"""

from ._attention import ranker_attention
from ._segments import bounds_from_segment_ids, check_segment_ids

__all__ = ["bounds_from_segment_ids", "check_segment_ids", "ranker_attention"]
