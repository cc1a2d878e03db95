"""Programs from outside Python that some tests try an output on: browser, office, subnet manager, Graphviz.

A machine without them still passes the tests, which then say what they left out. Where the environment variable
``GPUNET_ALL_TOOLS`` is set, a missing program is a failure.
"""

from __future__ import annotations

import os
import shutil

import pytest

SEARCHED = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
"""Debian keeps the tools of a subnet manager off the path of ordinary users."""


def tool(name: str) -> str:
    """Where a program is; the test that asks is left out, or fails, where there is none."""
    found = shutil.which(name, path=SEARCHED)
    if found is None:
        if os.environ.get("GPUNET_ALL_TOOLS"):
            pytest.fail(f"{name} is not installed, and GPUNET_ALL_TOOLS asks for it")
        pytest.skip(f"{name} is not installed")
    return found
