"""How commands speak: what anybody may have written must not steer the terminal, nor break a line in a pipe."""

from __future__ import annotations

import getpass
import json
import os

import pytest

from glisk.cli import output, person

WILD = "a [/red] cat :smile:\x1b[2J\x07\tnow\nlater"


def test_on_a_terminal_a_text_is_only_a_text(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "100")
    output.rows([{"prompt": WILD}], as_json=False, empty="")
    shown = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert shown[-2:] == ["a [/red] cat :smile:\\x1b[2J\\x07\\tnow", "later"]


def test_on_a_narrow_terminal_nothing_is_cut_off(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    output.rows([{"token_id": str(2**256 - 1)}], as_json=False, empty="")
    _, *folded = capsys.readouterr().out.splitlines()
    assert "".join(line.strip() for line in folded) == str(2**256 - 1)


def test_in_a_pipe_a_record_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    output.rows([{"prompt": WILD, "data": {"reason": "ü"}}], as_json=False, empty="")
    assert capsys.readouterr().out == 'a [/red] cat :smile:\\x1b[2J\\x07\\tnow\\nlater\t{"reason": "ü"}\n'


def test_one_thing_as_json_has_its_history_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    output.one({"prompt": WILD}, {"timeline": [{"data": {"reason": "x"}}], "attempts": []}, as_json=True)
    assert json.loads(capsys.readouterr().out) == {
        "prompt": WILD,
        "timeline": [{"data": {"reason": "x"}}],
        "attempts": [],
    }


@pytest.mark.parametrize("error", [KeyError, OSError])
def test_a_user_without_a_name_has_a_number(error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    def nameless() -> str:
        raise error("getpwuid(): uid not found")

    assert person.name() == getpass.getuser()
    monkeypatch.setattr(getpass, "getuser", nameless)
    assert person.name() == f"user {os.getuid()}"
