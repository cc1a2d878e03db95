"""The documentation as a site: it builds without a warning, needs nothing from elsewhere, and no link in it is dead."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from outside_tools import tool

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built strictly: a warning is an error."""
    folder = tmp_path_factory.mktemp("site")
    code = tmp_path_factory.mktemp("sources") / "not there yet, as in a fresh clone"
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "GPUNET_SITE_SOURCES": str(code)}
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


class Page(HTMLParser):
    """What a page points to, what it loads, and what can be pointed to in it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.names: set[str] = set()
        self.words = ""
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value for name, value in attrs if value}
        self.names |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif tag == "link" and "href" in found:
            self.loaded.append(found["href"])
        if "src" in found:
            self.loaded.append(found["src"])

    def handle_data(self, data: str) -> None:
        self.words += data


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    """Every page of the site but the one for wrong addresses, whose links are those of a server."""
    return {path: Page(path) for path in sorted(site.rglob("*.html")) if path.name != "404.html"}


def test_every_page_of_the_folder_is_on_the_site_and_can_be_reached(pages: dict[Path, Page], site: Path) -> None:
    """From the first page on; also the cases, which stand in a folder of their own."""
    first = site / "index.html"
    reached, waiting = {first}, [first]
    while waiting:
        here = waiting.pop()
        for link in pages[here].links:
            there = (here.parent / unquote(urlsplit(link).path)).resolve()
            if not urlsplit(link).scheme and there in pages and there not in reached:
                reached.add(there)
                waiting.append(there)
    written = {site / f"{'index' if path.stem == 'README' else path.stem}.html" for path in DOCS.glob("*.md")}
    assert len(written) > 20
    assert written | {site / "cases/index.html", site / "catalogs/index.html"} <= reached
    assert reached == set(pages)


def test_no_link_is_dead(pages: dict[Path, Page]) -> None:
    """Every link within the site leads to a file of it, and to a place within that file where it names one."""
    dead, followed = [], 0
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            followed += 1
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            known = pages[there].names if there in pages else set()
            if not there.is_file() or (parts.fragment and unquote(parts.fragment) not in known):
                dead.append(f"{path.name}: {link}")
    assert followed > 1000
    assert dead == []


def test_nothing_is_loaded_from_elsewhere(pages: dict[Path, Page], site: Path) -> None:
    """No font, style, script or picture of another server; everything a page loads is a file of the site."""
    loaded = {(path, name) for path, page in pages.items() for name in page.loaded}
    assert len(loaded) > 50
    assert [name for _, name in loaded if urlsplit(name).scheme not in ("", "data") or name.startswith("//")] == []
    missing = [
        f"{path.name}: {name}"
        for path, name in loaded
        if urlsplit(name).scheme != "data" and not (path.parent / unquote(urlsplit(name).path)).is_file()
    ]
    assert missing == []
    styles = [style.read_text("utf-8") for style in site.rglob("*.css")]
    assert not any("url(http" in style or "@import" in style for style in styles)


def test_the_reference_holds_what_it_refers_to(pages: dict[Path, Page], site: Path) -> None:
    """The Python page has every public function with its text; the page of families has every family with its code."""
    import gpunet
    from gpunet.solver.program import FAMILIES

    python = pages[site / "python.html"]
    public = [name for name in gpunet.__all__ if not name.startswith("_")]
    assert {f"gpunet.{name}" for name in public} <= python.names
    assert "The best network for a case, proven and verified." in " ".join(python.words.split())
    families = pages[site / "families.html"]
    assert {family.name for family in FAMILIES} <= families.names
    assert all(f"def {family.build.__name__}(" in families.words for family in FAMILIES)


class _Quiet(SimpleHTTPRequestHandler):
    """Serves a folder without a word."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """The site on a server of this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A browser without a screen."""
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = tool("chromium")
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(tool("chromedriver")))
    driver.set_script_timeout(60)
    try:
        yield driver
    finally:
        driver.quit()


SEARCH = """
const done = arguments[0], field = document.querySelector("input[name=query]");
field.focus(); field.value = "oversubscription"; field.dispatchEvent(new KeyboardEvent("keyup", {bubbles: true}));
const look = () => {
  const found = document.querySelectorAll(".md-search-result__link");
  if (found.length) done([...found].map((link) => link.href)); else setTimeout(look, 100);
};
look();
"""


def test_it_works_in_a_browser(chromium: Any, address: str) -> None:
    """No error, nothing asked of another server, a search that finds pages, and no page wider than a phone."""
    chromium.get(f"{address}/index.html")
    found = chromium.execute_async_script(SEARCH)
    assert f"{address}/case-file.html" in {link.partition("?")[0].partition("#")[0] for link in found}
    screen = {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    for name in ("index", "rules-of-thumb", "families", "commands"):
        chromium.get(f"{address}/{name}.html")
        assert chromium.execute_script("return document.documentElement.scrollWidth") <= screen["width"], name
    assert [entry for entry in chromium.get_log("browser") if entry["level"] == "SEVERE"] == []
    events = [json.loads(entry["message"])["message"] for entry in chromium.get_log("performance")]
    asked = {e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"}
    assert f"{address}/search/search_index.json" in asked
    assert [url for url in asked if not url.startswith((address, "data:", "blob:", "chrome:"))] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_read_it(chromium: Any, address: str, scheme: str) -> None:
    """axe-core finds nothing serious or critical on pages of every kind."""
    from axe_core_python.selenium import Axe

    features = [{"name": "prefers-color-scheme", "value": scheme}]
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    for name in ("index", "tutorial", "rules-of-thumb", "families", "commands", "python"):
        # The theme keeps the scheme it showed last.
        chromium.get(f"{address}/site.css")
        chromium.execute_script("localStorage.clear()")
        chromium.get(f"{address}/{name}.html")
        assert chromium.execute_script("return document.body.dataset.mdColorMedia").endswith(f"{scheme})")
        found = Axe().run(chromium)["violations"]
        assert [(name, x["id"]) for x in found if x["impact"] in ("serious", "critical")] == []


@pytest.fixture(scope="module")
def hooks() -> Any:
    """The hooks of the site, loaded as mkdocs loads them."""
    spec = importlib.util.spec_from_file_location("site_hooks", DOCS / "site_hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("page", "text", "expected"),
    [
        ("README.md", "[cases](../cases/README.md#more)", "[cases](cases/README.md#more)"),
        ("cases/README.md", "[method](../docs/method.md)", "[method](../method.md)"),
        ("formulation.md", "see [`program`](../solver/program.py).", "see `program`."),
        ("method.md", "[missing](missing.md)", None),
        ("method.md", "[here](optics.md#rules) and [there](https://a.example/b)", None),
        ("method.md", "[below](#below), ![drawn](../x.svg)", None),
    ],
)
def test_links_out_of_the_folder_stay_on_the_site(hooks: Any, page: str, text: str, expected: str | None) -> None:
    """What the site has is linked there; what it has not is named without a link; all else is left alone."""
    known = {"cases/README.md", "method.md", "optics.md"}
    on_site = SimpleNamespace(get_file_from_path=lambda path: path if path in known else None)
    here = SimpleNamespace(file=SimpleNamespace(src_uri=page))
    assert hooks.on_page_markdown(text, here, None, on_site) == (expected or text)


def test_a_page_that_the_navigation_forgets_is_found_under_more(
    hooks: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages named are left where they are; the others come last."""
    monkeypatch.setenv(hooks.SOURCES, str(tmp_path / "sources"))
    for name in ("one.md", "two.md", "three.md"):
        (tmp_path / name).touch()
    config = SimpleNamespace(nav=[{"Part": [{"First": "one.md"}]}, "two.md"], docs_dir=str(tmp_path))
    assert hooks.on_config(config).nav[2:] == [{"More": ["three.md"]}]
