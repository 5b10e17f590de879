"""Compiles one file as pkg-config says.

Usage: build_with_pkg_config.py C_COMPILER PREFIX PACKAGE SOURCE OUTPUT
SPDX-License-Identifier: Apache-2.0
"""

import os
import subprocess
import sys

compiler, prefix, package, source, output = sys.argv[1:]
environment = dict(os.environ, PKG_CONFIG_PATH=prefix + "/lib/pkgconfig")
flags = subprocess.run(
    ["pkg-config", "--cflags", "--libs", package], env=environment, check=True,
    capture_output=True, text=True).stdout.split()
subprocess.run([compiler, source, "-o", output] + flags, check=True)
