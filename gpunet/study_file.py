"""Reads the answer of a study back from a file: what ``gpunet sensitivity --json`` and its like wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from gpunet.models.problems import InputError, Problem, quoted

if TYPE_CHECKING:
    from gpunet.models.study import Study


def study_models() -> dict[str, type[Study]]:
    """The model of every study by the name that its file carries."""
    from gpunet.models.study_alternatives import Alternatives
    from gpunet.models.study_ceiling import Ceiling
    from gpunet.models.study_compare import Comparison
    from gpunet.models.study_explain import Explanation
    from gpunet.models.study_frontier import Frontier
    from gpunet.models.study_rivals import Rivals
    from gpunet.models.study_sensitivity import Sensitivity

    return {
        "alternatives": Alternatives,
        "ceiling": Ceiling,
        "compare": Comparison,
        "explain": Explanation,
        "frontier": Frontier,
        "rivals": Rivals,
        "sensitivity": Sensitivity,
    }


def read_study(path: str | Path) -> Study:
    """The study in a file. Raises ``InputError`` for whatever keeps the file from being one."""
    from pydantic import ValidationError

    file = str(path)
    try:
        data = json.loads(Path(path).read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        raise InputError([Problem(file, message="no such file")]) from None
    except OSError as error:
        raise InputError([Problem(file, message=f"cannot be read: {(error.strerror or str(error)).lower()}")]) from None
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        raise InputError([Problem(file, expected="the JSON of a study, such as gpunet compare --json")]) from None
    models = study_models()
    name = data.get("study") if isinstance(data, dict) else None
    if not isinstance(name, str) or name not in models:
        found = quoted(name) if isinstance(name, str) else "no study"
        expected = f"the JSON of one of {', '.join(models)}, such as gpunet compare --json"
        raise InputError([Problem(file, path="study", found=found, expected=expected)])
    try:
        return models[name].model_validate(data)
    except ValidationError as error:
        problems = [
            Problem(file, path=".".join(map(str, found["loc"])), message=found["msg"].lower())
            for found in error.errors()[:5]
        ]
        raise InputError(problems) from None
