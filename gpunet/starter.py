"""Helps to write a case: a commented one to start from, and a JSON Schema for editors."""

from __future__ import annotations

from importlib import resources
from typing import Any

from gpunet.models.case import Case


def starter_case() -> str:
    """A case file of the smallest case, with every setting and its default in comments.

    A comment with one space after its ``#`` is prose. Any other comment at the start of a line is a setting: without
    its ``#`` it is valid, alone under its headings or all together.
    """
    return resources.files("gpunet").joinpath("starter-case.yaml").read_text(encoding="utf-8")


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a case file. Part ids are plain text in it, for they depend on the catalogue."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "gpunet case",
    } | {key: value for key, value in Case.model_json_schema().items() if key != "title"}
