"""The ledger as tables for pandas and spreadsheets: a CSV or Parquet file for every kind of row, and back again."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_type_hints

from gpunet.design_file import EVERY_TABLE, PLANT_TABLES, TABLES, tables_of
from gpunet.files import Content
from gpunet.models.design import Design
from gpunet.models.ledger import Ledger
from gpunet.models.parts import Catalog
from gpunet.models.problems import InputError, Problem, quoted


def csv_files(design: Design, catalog: Catalog) -> Mapping[str, Content]:
    """``places.csv``, ``devices.csv``, ``adapters.csv``, ``seats.csv``, ``links.csv``: every row of the ledger.

    With panels also ``panels.csv`` and ``channels.csv``.
    """
    del catalog
    return {f"{name}.csv": _csv(columns(design.ledger, name)) for name in tables_of(design.ledger)}


def parquet_files(design: Design, catalog: Catalog) -> Mapping[str, Content]:
    """The same tables as Parquet files, with the type of every column. Raises ``ExportError`` without pyarrow."""
    from gpunet.export import ExportError

    del catalog
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise ExportError("Parquet needs pyarrow; install it with: pip install gpunet[parquet]") from None
    tables = tables_of(design.ledger)
    return {f"{name}.parquet": _parquet(columns(design.ledger, name), types(name)) for name in tables}


def types(table: str) -> dict[str, type]:
    """Columns of a table, each ``str``, ``int`` or ``float``."""
    hints = get_type_hints(EVERY_TABLE[table])
    return {field: hints[field] for field in EVERY_TABLE[table]._fields}


def columns(ledger: Ledger, table: str) -> dict[str, list[Any]]:
    """A table by columns, every value of the type of its column: a whole number of metres is a float like the rest."""
    rows = getattr(ledger, table)
    whole = list(zip(*rows, strict=True)) if rows else [()] * len(types(table))
    return {
        field: list(map(float, values)) if kind is float else list(values)
        for (field, kind), values in zip(types(table).items(), whole, strict=True)
    }


def ledger_of(tables: Mapping[str, Mapping[str, Sequence[Any]]]) -> Ledger:
    """The ledger from tables by columns, as ``columns`` gives them."""
    made = Ledger()
    for name, row in EVERY_TABLE.items():
        if name in PLANT_TABLES and name not in tables:
            continue
        table = tables[name]
        setattr(made, name, list(map(row._make, zip(*(table[field] for field in row._fields), strict=True))))
    return made


def texts(table: Mapping[str, Sequence[Any]], made: Callable[[str, Any], str]) -> Iterator[str]:
    """A text for every row: what ``made`` makes of column and value, joined.

    Made once for each: the few values of a column stand in half a million rows.
    """

    class Words(dict[Any, str]):
        def __init__(self, column: str) -> None:
            self.column = column

        def __missing__(self, value: Any) -> str:
            text = self[value] = made(self.column, value)
            return text

    return map("".join, zip(*(map(Words(c).__getitem__, values) for c, values in table.items()), strict=True))


# --- CSV --------------------------------------------------------------------------------------------------------------


def _csv(table: Mapping[str, Sequence[object]]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(table)
            writer.writerows(zip(*table.values(), strict=True))

    return write


def read_csv(folder: Path) -> Ledger:
    """The ledger in a folder of CSV files. Raises ``InputError``."""
    return ledger_of({name: _read_csv(folder / f"{name}.csv", types(name)) for name in _there(folder, "csv")})


def _there(folder: Path, ending: str) -> list[str]:
    """Tables to read from a folder: those of panels where they are."""
    return [*TABLES, *(name for name in PLANT_TABLES if (folder / f"{name}.{ending}").exists())]


def _read_csv(path: Path, wanted: Mapping[str, type]) -> dict[str, list[Any]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            head, *rows = list(csv.reader(stream)) or [[]]
    except OSError as error:
        raise InputError([Problem(str(path), message=f"cannot be read: {(error.strerror or '').lower()}")]) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError([Problem(str(path), expected="CSV in UTF-8", message=str(error))]) from None
    if head != list(wanted):
        raise InputError([Problem(str(path), 1, found=", ".join(head), expected=", ".join(wanted))])
    short = next((i for i, row in enumerate(rows) if len(row) != len(head)), None)
    if short is not None:
        found, expected = f"{len(rows[short])} values", f"{len(head)} values"
        raise InputError([Problem(str(path), short + 2, found=found, expected=expected)])
    table: dict[str, list[Any]] = {}
    for number, (field, kind) in enumerate(wanted.items()):
        try:
            table[field] = [kind(row[number]) for row in rows]
        except ValueError:
            raise InputError([_no_number(path, field, kind, [row[number] for row in rows])]) from None
    return table


def _no_number(path: Path, field: str, kind: type, values: Sequence[str]) -> Problem:
    """The first value of a column that is no number of its kind."""
    for number, value in enumerate(values):
        try:
            kind(value)
        except ValueError:
            expected = "a whole number" if kind is int else "a number"
            return Problem(str(path), number + 2, path=field, found=quoted(value), expected=expected)
    raise AssertionError("every value is a number")


# --- Parquet ----------------------------------------------------------------------------------------------------------


def _parquet(table: Mapping[str, Sequence[object]], wanted: Mapping[str, type]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        import pyarrow
        from pyarrow import parquet

        kinds = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64()}
        schema = pyarrow.schema([(field, kinds[kind]) for field, kind in wanted.items()])
        parquet.write_table(pyarrow.table(dict(table), schema=schema), path)

    return write


def read_parquet(folder: Path) -> Ledger:
    """The ledger in a folder of Parquet files. Raises ``InputError``."""
    return ledger_of(
        {name: _read_parquet(folder / f"{name}.parquet", types(name)) for name in _there(folder, "parquet")}
    )


def _read_parquet(path: Path, wanted: Mapping[str, type]) -> dict[str, list[Any]]:
    import pyarrow
    from pyarrow import parquet

    try:
        found: dict[str, list[Any]] = parquet.read_table(path).to_pydict()
    except OSError as error:
        raise InputError([Problem(str(path), message=f"cannot be read: {(error.strerror or '').lower()}")]) from None
    except pyarrow.ArrowException as error:
        raise InputError([Problem(str(path), expected="a Parquet file", message=str(error))]) from None
    if list(found) != list(wanted):
        raise InputError([Problem(str(path), found=", ".join(found), expected=", ".join(wanted))])
    return found
