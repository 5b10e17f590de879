"""Runs a command; fails unless it ends with the given exit code.

Usage: expect_exit.py CODE PROGRAM [ARGUMENT]...
SPDX-License-Identifier: Apache-2.0
"""

import subprocess
import sys

wanted = int(sys.argv[1])
found = subprocess.run(sys.argv[2:], check=False).returncode
if found != wanted:
    sys.exit(f"expect_exit: found exit code {found}, wanted {wanted}")
