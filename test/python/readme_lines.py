"""Runs the README's lines of Python that import a module.

Usage: readme_lines.py README MODULE
SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re
import sys

text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
(lines,) = (block for block in blocks if f"from {sys.argv[2]} import" in block)
exec(compile(lines, sys.argv[1], "exec"))
