"""How commands speak: what anybody may have written must not steer the terminal, nor break a line in a pipe."""

from __future__ import annotations

import getpass
import json
import os
from typing import Any

import pytest

from glisk.cli import output, person

PLAIN: Any = {"as_json": False, "empty": "There is none."}
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
    told = 'prompt\tdata\na [/red] cat :smile:\\x1b[2J\\x07\\tnow\\nlater\t{"reason": "ü"}\n'
    assert capsys.readouterr().out == told


def test_in_a_pipe_columns_have_names_and_values_are_no_python(capsys: pytest.CaptureFixture[str]) -> None:
    output.rows([{"is_on": True, "by": None, "of": ["a", None]}, {"is_on": False, "by": "b", "of": []}], **PLAIN)
    assert capsys.readouterr().out == "is_on\tby\tof\nyes\t\ta, \nno\tb\t\n"


def test_in_a_pipe_that_there_is_nothing_is_said_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    output.rows([], **PLAIN)
    assert capsys.readouterr() == ("", "There is none.\n")
    output.rows([], as_json=True, empty="There is none.")
    assert capsys.readouterr() == ("[]\n", "")


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
