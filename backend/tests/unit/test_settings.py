"""Settings: empty means embedded, and every problem is told at once, with no secret in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from glisk import settings
from glisk.errors import BadSettings


def problems(root: Path) -> list[str]:
    with pytest.raises(BadSettings) as caught:
        settings.load(root)
    return [str(problem) for problem in caught.value.problems]


def test_nothing_set_means_everything_embedded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GLISK_DATA_DIR")
    found = settings.load(tmp_path)
    assert found.real_parts() == {}
    assert found.data_dir == tmp_path / ".glisk"


def test_an_empty_value_is_the_default(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("GLISK_DATABASE_URL=\nGLISK_PORT=\n")
    assert settings.load(tmp_path).port == 8000


def test_the_environment_stands_above_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("GLISK_PORT=8001\nGLISK_LOG_LEVEL=debug\n")
    monkeypatch.setenv("GLISK_PORT", "8002")
    found = settings.load(tmp_path)
    assert (found.port, found.log_level) == (8002, "debug")


def test_all_problems_come_at_once_with_name_value_and_wish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLISK_PORT", "99999")
    monkeypatch.setenv("GLISK_LOG_LEVEL", "loud")
    (tmp_path / ".env").write_text("GLISK_DATABSE_URL=x\n")
    assert problems(tmp_path) == [
        "GLISK_DATABSE_URL is not a setting: did you mean GLISK_DATABASE_URL?",
        "GLISK_PORT is '99999': Input should be less than or equal to 65535",
        "GLISK_LOG_LEVEL is 'loud': Input should be 'debug', 'info', 'warning' or 'error'",
    ]


@pytest.mark.parametrize(
    "url", ["mysql://glisk:hunter2@db/x", "hunter2", "//u:hunter2@db", "x://h/d?user=u&password=hunter2&a=b"]
)
def test_a_secret_is_masked_in_the_complaint(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLISK_DATABASE_URL", url)
    (problem,) = problems(tmp_path)
    assert problem.startswith("GLISK_DATABASE_URL")
    assert "hunter2" not in problem


def test_a_given_database_is_a_real_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLISK_DATABASE_URL", "postgresql://glisk:hunter2@db/glisk")
    found = settings.load(tmp_path)
    assert found.real_parts() == {"PostgreSQL": "GLISK_DATABASE_URL"}
    assert settings.masked(found.database_url) == "'postgresql://glisk:***@db/glisk'"


@pytest.mark.parametrize("folder", [".", "..", "/"])
def test_the_project_itself_is_no_data_directory(folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLISK_DATA_DIR", folder)
    (problem,) = problems(tmp_path)
    assert problem.startswith("GLISK_DATA_DIR")


def test_an_unreadable_file_is_a_problem_like_any_other(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"GLISK_PORT=\xff\xfe")
    (problem,) = problems(tmp_path)
    assert ".env is unreadable" in problem


def test_settings_are_those_of_the_project_from_any_folder_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GLISK_DATA_DIR")
    (tmp_path / "backend" / "src").mkdir(parents=True)
    (tmp_path / "backend" / "alembic.ini").touch()
    (tmp_path / ".env").write_text("GLISK_PORT=8123\n")
    monkeypatch.chdir(tmp_path / "backend" / "src")
    found = settings.load()
    assert (found.port, found.data_dir) == (8123, tmp_path / ".glisk")
