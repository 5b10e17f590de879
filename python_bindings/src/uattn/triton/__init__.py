"""uattn's kernels in Triton: its loader, its launcher, its compiler's stages.

    from uattn.triton import launch, stub
    launch(artifact, [q, k, v], [out, lse])      # Triton's loader and launcher

    attention = stub(problem)                    # a @triton.jit function
    attention.run(q, k, v, out, lse)             # through Triton's compiler
    attention.kernel[attention.grid(q, k, v, out, lse)](
        *attention.arguments(q, k, v, out, lse), **attention.constexprs)

Both enqueue on the stream that Triton's own kernels go to, so that they may
stand between such. Imports triton, which `import uattn` does not.
SPDX-License-Identifier: Apache-2.0
"""

from ._hook import install
from ._loader import launch
from ._stub import Stub, StubKernel, stub

__all__ = ["Stub", "StubKernel", "install", "launch", "stub"]
