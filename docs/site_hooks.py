"""What the site needs beyond the pages in this folder: the cases, and links that lead out of the folder."""

from __future__ import annotations

import os
import posixpath
import re
import shutil
from pathlib import Path
from typing import Literal

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
SOURCES = "GPUNET_SITE_SOURCES"
"""Environment variable: the folder in which the code is laid out as it is installed."""
LAYERS = ("models", "catalogs", "solver")
ALSO = {"cases": "*.[ym][ad]*", "catalogs": "README.md"}
"""Folders beside this one that the site has as well, and which of their files."""
_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]+)\]\((?P<target>(?![a-z]+:|#)[^)#\s]+)(?P<heading>#[^)]*)?\)")


def on_startup(command: Literal["build", "gh-deploy", "serve"], dirty: bool) -> None:
    """Lays out the code before the configuration is read, for a folder that is not there by then is passed over."""
    del command, dirty
    _lay_out_as_installed()


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Puts every page that the navigation does not name under a heading of its own, so that none is lost."""
    named = str(config.nav)
    pages = sorted(path.name for path in Path(config.docs_dir).glob("*.md"))
    more = [name for name in pages if f"'{name}'" not in named]
    if more and config.nav is not None:
        config.nav.append({"More": more})
    return config


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Gives the search field of the theme the name that a screen reader says."""
    del page, config
    dialog = 'data-md-component="search" role="dialog"'
    return output.replace(dialog, f'{dialog} aria-label="Search"')


def _lay_out_as_installed() -> None:
    """Copies the code to where it is installed, for the reference of the Python interface is read from its text."""
    package = ROOT / os.environ.get(SOURCES, "build/as-installed") / "gpunet"
    shutil.rmtree(package, ignore_errors=True)
    for folder, place in (("gpunet", package), *((layer, package / layer) for layer in LAYERS)):
        shutil.copytree(ROOT / folder, place, ignore=shutil.ignore_patterns("__pycache__", "*.yaml"))


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the cases and the page of the catalogue's folder."""
    for folder, pattern in ALSO.items():
        for path in sorted((ROOT / folder).glob(pattern)):
            name = path.relative_to(ROOT).as_posix()
            files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turns links to files beside this folder into links within the site; what the site has not, is named only."""
    del config
    here = posixpath.dirname(page.file.src_uri)
    in_repository = here if here in ALSO else posixpath.join("docs", here)

    def moved(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(in_repository, link["target"]))
        on_site = target.removeprefix("docs/")
        if files.get_file_from_path(on_site) is not None:
            return f"[{link['text']}]({posixpath.relpath(on_site, here or '.')}{link['heading'] or ''})"
        # A page of this folder that is missing is a mistake, which the build reports.
        return link[0] if target.startswith("docs/") else link["text"]

    return _LINK.sub(moved, markdown)
