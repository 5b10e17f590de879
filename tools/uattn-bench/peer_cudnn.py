#!/usr/bin/env python3
"""Times cuDNN by the peers' script of torch's attention, without its other
backend. A worker for their runner: the current folder holds its modules.
SPDX-License-Identifier: Apache-2.0
"""

import os
import sys

sys.path.insert(0, os.getcwd())

import peer_sdpa  # noqa: E402

if __name__ == "__main__":
    del peer_sdpa.BACKENDS["flash"]
    peer_sdpa.main()
