"""Catalogue folders of a user: parts added and replaced, the version, and mistakes told at their place."""

from __future__ import annotations

from datetime import date
from importlib.resources import files
from pathlib import Path

import pytest

from gpunet.catalogs import find_part, load_catalog
from gpunet.catalogs.check import Level, check_catalog
from gpunet.models.parts import (
    Catalog,
    Fibre,
)
from gpunet.models.problems import InputError

TODAY = date(2026, 12, 2)


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return load_catalog()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A user's folder with a source, a new fibre and a changed one."""
    (tmp_path / "sources.yaml").write_text("quote-1: {at: quotation 1, date: 2026-11-30}\n")
    (tmp_path / "fibres.yaml").write_text(FIBRES)
    return tmp_path


FIBRES = """\
nv-mfp7e30:
  vendor: nvidia
  model: MFP7E30, quoted
  kind: jumper
  grade: OS2
  fibres: 8
  connector_a: {kind: MPO-12, polish: APC}
  connector_b: {kind: MPO-12, polish: APC}
  lengths:
  - {length_m: 250, price: {mid_usd: 400, how: read, src: quote-1}}
my-jumper:
  vendor: acme
  model: jumper
  kind: jumper
  grade: OS2
  fibres: 8
  connector_a: {kind: MPO-12, polish: APC}
  connector_b: {kind: MPO-12, polish: APC}
  lengths:
  - {length_m: 500, price: {mid_usd: 900, how: read, src: quote-1}}
"""


def test_a_folder_adds_and_replaces_parts(catalog: Catalog, folder: Path) -> None:
    """Known ids are replaced as a whole, new ones are added, the rest stays, and nothing is wrong with it."""
    own = load_catalog([folder])
    assert [stock.length_m for stock in own.fibres["nv-mfp7e30"].lengths] == [250]
    assert isinstance(find_part(own, "my-jumper-n500"), Fibre)
    assert own.sources["quote-1"].date == "2026-11-30"
    assert own.switches == catalog.switches
    assert [f.render() for f in check_catalog(own, TODAY) if f.level is Level.ERROR] == []
    assert "my-jumper" not in load_catalog().fibres


def test_later_folders_win(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Folders lie on top of each other in the order given."""
    second = tmp_path_factory.mktemp("second")
    (second / "fibres.yaml").write_text(FIBRES.replace("mid_usd: 900", "mid_usd: 800"))
    assert load_catalog([folder, second]).fibres["my-jumper"].lengths[0].price.mid_usd == 800
    assert load_catalog([second, folder]).fibres["my-jumper"].lengths[0].price.mid_usd == 900


def test_version_is_a_hash_of_the_content(catalog: Catalog, folder: Path) -> None:
    """Equal content has an equal version, whatever the layout and the place; other content has another."""
    version = load_catalog([folder]).version
    assert version != catalog.version
    assert len(version) == len(catalog.version) == 12
    copied = folder / "elsewhere"
    copied.mkdir()
    for name in ("sources.yaml", "fibres.yaml"):
        text = (folder / name).read_text()
        (copied / name).write_text("# a comment\n" + text)
    assert load_catalog([copied]).version == version
    (copied / "fibres.yaml").write_text(FIBRES.replace("900", "901"))
    assert load_catalog([copied]).version != version


def test_shipped_files_given_as_a_folder_change_nothing(catalog: Catalog, tmp_path: Path) -> None:
    """Both readers understand the shipped files alike, so a copied file is the same catalogue."""
    for stem in ("servers", "fibres", "sources"):
        with files("gpunet.catalogs").joinpath(f"{stem}.yaml").open("rb") as shipped:
            (tmp_path / f"{stem}.yaml").write_bytes(shipped.read())
    own = load_catalog([tmp_path])
    assert own.version == catalog.version
    assert own == catalog


def test_mistakes_of_a_user_are_placed(folder: Path) -> None:
    """Every mistake is reported at once, each with file, line and column."""
    text = FIBRES.replace("grade: OS2", "grades: OS2", 1).replace("kind: jumper", "kind: jumpr", 1)
    (folder / "fibres.yaml").write_text(text)
    with pytest.raises(InputError) as caught:
        load_catalog([folder])
    shown = caught.value.render()
    assert f"{folder / 'fibres.yaml'}:4:9: nv-mfp7e30.kind: found 'jumpr'" in shown
    assert "nearest: jumper" in shown
    assert "fibres.yaml:5:3: nv-mfp7e30.grades: found an unknown field" in shown


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("fibre.yaml", "{}", "nearest: fibres.yaml"),
        ("fibres.yaml", "- a\n", "expected a mapping from ids to entries"),
        ("fibres.yaml", FIBRES.replace("my-jumper:", "my-jumper:\n  id: other"), "expected no id, or 'my-jumper'"),
        ("fibres.yaml", FIBRES.replace("my-jumper", "my-jumper-n030"), "may not end like a stock length"),
        ("fibres.yaml", FIBRES.replace("my-jumper", "ib-qm9700"), "switches.yaml has a part of this id"),
        ("fibres.yaml", "a: [", "fibres.yaml"),
    ],
)
def test_folders_that_cannot_be_used(folder: Path, name: str, text: str, says: str) -> None:
    """Unknown file names, wrong shapes and ids that collide are refused in plain words."""
    (folder / "fibres.yaml").unlink()
    (folder / name).write_text(text)
    with pytest.raises(InputError, match="1 problem") as caught:
        load_catalog([folder])
    assert says in caught.value.render()


def test_references_must_exist(tmp_path: Path) -> None:
    """A module of an unknown interface and a server of an unknown adapter are refused where they are named."""
    for stem, key, wrong, right in (
        ("modules", "osfp56-400g-2fr4", "interface: 200G-FR5", "interface: 200G-FR4"),
        ("servers", "mi300x-8", "nic: thor3", "nic: thor2"),
    ):
        entry = shipped_entry(stem, key)
        (tmp_path / f"{stem}.yaml").write_text(entry.replace(right, wrong), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_catalog([tmp_path])
    shown = caught.value.render()
    assert "osfp56-400g-2fr4.interface: found '200G-FR5', expected an optical interface" in shown
    assert "nearest: 200G-FR4" in shown
    assert "mi300x-8.cages[0].nic: found 'thor3', expected a NIC of the catalogue; nearest: thor2" in shown


def shipped_entry(stem: str, key: str) -> str:
    """The text of one entry of a shipped file."""
    text = files("gpunet.catalogs").joinpath(f"{stem}.yaml").read_text(encoding="utf-8")
    (entry,) = [block for block in text.split("\n\n") if block.startswith(f"{key}:")]
    return entry + "\n"


def test_a_folder_must_exist_and_hold_something(tmp_path: Path) -> None:
    """A folder that is missing or empty is a mistake, not an empty catalogue."""
    with pytest.raises(InputError, match="found no folder"):
        load_catalog([tmp_path / "nowhere"])
    with pytest.raises(InputError, match="found no catalogue file"):
        load_catalog([tmp_path])


def test_an_empty_mapping_adds_nothing(catalog: Catalog, tmp_path: Path) -> None:
    """A file without entries leaves everything as shipped."""
    (tmp_path / "switches.yaml").write_text("{}\n")
    assert load_catalog([str(tmp_path)]) == catalog
