"""What the project's own files promise: fresh pages, numbered migrations, exact and anonymous locks."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks import page
from glisk import reference
from glisk.db.server import SCRIPTS

ROOT = Path(__file__).parents[3]
NPM_FOLDERS = ["contracts", "backend/tests/browser"]
LOCKS = sorted((ROOT / "backend").glob("requirements*.txt"))


def test_the_page_of_benchmarks_shows_the_last_results() -> None:
    assert page.PAGE.read_text() == page.rendered(json.loads(page.RESULTS.read_text()))


@pytest.mark.parametrize("path", reference.documents(), ids=str)
def test_a_page_made_from_the_code_is_fresh(path: Path) -> None:
    assert (ROOT / path).read_text() == reference.documents()[path], "run `make docs`"


def test_migrations_are_numbered_without_a_gap() -> None:
    names = sorted(file.name for file in (SCRIPTS / "versions").glob("*.py"))
    assert names[0] == "000_migrations.py"
    assert [name[:4] for name in names] == [f"{n:03}_" for n in range(len(names))]


def test_the_schema_changes_nowhere_but_in_migrations() -> None:
    sources = (ROOT / "backend" / "src").rglob("*.py")
    assert not [path for path in sources if re.search(r"create_all|CREATE TABLE|ALTER TABLE", path.read_text())]


def test_nobody_waits_in_a_way_that_can_swallow_being_cancelled() -> None:
    """Until Python 3.12 asyncio.wait_for does, when what it waits for ends in the same moment: asyncio.timeout never does."""
    sources = (ROOT / "backend" / "src").rglob("*.py")
    assert not [path for path in sources if "asyncio.wait_for" in path.read_text()]


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_a_lock_has_a_hash_for_every_package_and_no_address(lock: Path) -> None:
    text = lock.read_text()
    assert not re.search(r"https?:|--(extra-)?index|--find-links|file:", text)
    assert all("--hash=sha256:" in entry for entry in re.split(r"\n(?=\S)", text.strip()))


@pytest.mark.parametrize("folder", NPM_FOLDERS)
def test_npm_parts_have_exact_versions_and_no_lock_file(folder: str) -> None:
    package = json.loads((ROOT / folder / "package.json").read_text())
    versions = {**package["devDependencies"], **package["overrides"]}
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in versions.values())
    assert not (ROOT / folder / "package-lock.json").exists()


@pytest.mark.parametrize("folder", NPM_FOLDERS)
def test_installed_npm_parts_are_those_that_were_asked_for(folder: str) -> None:
    package = json.loads((ROOT / folder / "package.json").read_text())
    for name, version in {**package["devDependencies"], **package["overrides"]}.items():
        installed = json.loads((ROOT / folder / "node_modules" / name / "package.json").read_text())
        assert installed["version"] == version
