"""Every list and every new verb of the command line, on an empty database and on one with something in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from glisk.cli import person
from glisk.cli.main import app
from tests.commands import glisk
from tests.e2e.test_cli import LARGEST, TOKENS

WALLET = "0x" + "ab" * 20
FILLED = """
    INSERT INTO jobs (workflow, status, error_message, finished_at) VALUES ('simple', 'failed', 'no', now());
    INSERT INTO lanes (lane, max_concurrency) VALUES ('studio', 2);
    INSERT INTO attempts (item_id, step, epoch, provider, model, outcome, cost, worker, finished_at)
    SELECT id, 'generating', 1, 'replicate', 'm', 'done', 0.003, 'w', now() FROM tokens_s0 WHERE token_id = 7"""
LISTS = (
    *("tokens ls", "jobs ls", "jobs dead", "jobs retrying", "lanes ls", "chain status", "chain reorgs", "authors ls"),
    *("keys ls", "workflows ls", "config show", "explain", "spend --by day", "spend --by model", "spend --by author"),
)
SOMETHING = {"tokens ls": 6, "jobs ls": 1, "jobs dead": 1, "lanes ls": 1, "authors ls": 1, "spend --by author": 1}


@pytest.fixture
def place(database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With a database that runs already: the embedded one would start anew for every command."""
    monkeypatch.setenv("GLISK_DATABASE_URL", database_url)
    return tmp_path


def fill(place: Path) -> None:
    filled = glisk("psql", "--", "-v", "ON_ERROR_STOP=1", "-c", TOKENS, "-c", FILLED, cwd=place)
    assert filled.returncode == 0, filled.stderr


def said(command: str) -> str:
    """In this process: a new one takes a second to start."""
    done = CliRunner().invoke(app, command.split())
    assert (done.exit_code, done.exception) == (0, None), command
    return done.stdout


def test_every_list_is_valid_json_empty_and_filled_and_plain_text_in_a_pipe(place: Path) -> None:
    for command in LISTS:
        assert isinstance(json.loads(said(f"{command} --json")), list), command
    fill(place)
    for command in LISTS:
        found = json.loads(said(f"{command} --json"))
        assert len(found) >= SOMETHING.get(command, 0), command
        plain = said(command)
        assert "\x1b" not in plain
        assert len(plain.splitlines()) == len(found) + bool(found), "and the names of the columns"
        assert plain.split("\n")[0] == "\t".join(found[0] if found else [])


def test_keys_are_made_shown_once_listed_and_revoked(place: Path) -> None:
    made = glisk("keys", "create", "anna", cwd=place)
    assert made.stdout.startswith("glk_")
    assert "shown only now" in made.stderr
    (key,) = json.loads(glisk("keys", "ls", "--json", cwd=place).stdout)
    assert (key["name"], key["scope"], key["revoked_at"]) == ("anna", "operator", None)
    assert made.stdout.strip() not in glisk("keys", "ls", cwd=place).stdout
    assert glisk("keys", "revoke", "1", cwd=place).returncode == 2, "nobody is there to say yes"
    assert glisk("keys", "revoke", "1", "--yes", cwd=place).stdout == "Key 1 is revoked.\n"
    again = glisk("keys", "revoke", "1", "--yes", cwd=place)
    assert (again.returncode, again.stderr) == (1, "There is no key 1, or it was revoked before: glisk keys ls\n")
    assert glisk("keys", "create", " ", cwd=place).returncode == 2
    assert glisk("keys", "create", "b", "--scope", "king", cwd=place).returncode == 2
    refused = glisk("keys", "create", "q/r", "--scope", "user", cwd=place)
    assert (refused.returncode, "--user ID" in refused.stderr) == (2, True)


def test_a_key_without_a_name_is_its_makers_and_no_two_have_the_same(place: Path) -> None:
    made = json.loads(glisk("keys", "create", "--json", cwd=place).stdout)
    assert (made["name"], made["scope"], made["key"][:4]) == (person.name(), "operator", "glk_")
    again = glisk("keys", "create", cwd=place)
    assert (again.returncode, again.stdout, again.stderr[:7]) == (1, "", "GLK-815")
    assert "keys create NAME" in again.stderr
    assert glisk("keys", "revoke", "1", "--yes", cwd=place).returncode == 0
    assert glisk("keys", "create", cwd=place).stdout.startswith("glk_")


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("tokens show 9999", "There is no token 9999."),
        ("jobs show 9999", "There is no job 9999."),
        ("keys revoke 9999 --yes", "There is no key 9999, or it was revoked before: glisk keys ls"),
        ("lanes resume nowhere", "There is no lane 'nowhere'. There are: none yet."),
        (f"authors disclose {WALLET} now", f"There is no author {WALLET}: glisk authors ls"),
    ],
)
@pytest.mark.usefixtures("place")
def test_what_is_not_there_is_a_plain_sentence_and_exit_code_1(command: str, sentence: str) -> None:
    done = CliRunner().invoke(app, command.split())
    assert (done.exit_code, done.stdout, done.stderr) == (1, "", f"{sentence}\n")


def test_a_lane_is_held_with_its_reason_said_either_way(place: Path) -> None:
    fill(place)
    assert said("lanes hold studio --reason unpaid") == "studio is held.\n"
    assert json.loads(said("lanes ls --json"))[0]["held_reason"] == "unpaid"
    for wrong in ("lanes hold studio", "lanes hold studio unpaid --reason unpaid"):
        assert CliRunner().invoke(app, wrong.split()).exit_code == 2


def test_an_operator_publishes_a_prompt_for_an_author(place: Path) -> None:
    told = glisk("authors", "set-prompt", WALLET.upper().replace("X", "x"), "A lighthouse", cwd=place)
    assert told.stdout == f"Prompt 1 of {WALLET} is drawn for what is minted from now on.\n"
    again = glisk("authors", "set-prompt", WALLET, "A harbour", "--disclosure", "never", cwd=place)
    assert again.stdout.startswith("Prompt 2 of")
    (author,) = json.loads(glisk("authors", "ls", "--json", cwd=place).stdout)
    assert author["prompt"] == "A harbour"
    assert glisk("authors", "set-prompt", WALLET, "x" * 1001, cwd=place).returncode == 2
    assert glisk("authors", "set-prompt", "0x12", "A harbour", cwd=place).returncode == 2


def test_tokens_are_sent_back_with_the_cost_told_first(place: Path) -> None:
    fill(place)
    cancelled = glisk("tokens", "cancel", LARGEST, "--yes", cwd=place)
    assert cancelled.returncode == 0
    asked = glisk("tokens", "rerun", LARGEST, "--from", "generating", cwd=place)
    assert asked.returncode == 2
    assert asked.stderr.endswith("Each reveal costs gas. Nobody is here to ask: add --yes.\n")
    assert "The pictures cost nothing." in asked.stderr
    refused = glisk("tokens", "rerun", "7", "--from", "pinning", "--yes", cwd=place)
    assert (refused.returncode, refused.stdout) == (1, "")
    told = ["0 of 1 sent back.", "1 not sent back: in review; accept or reject it (7)."]
    assert refused.stderr.splitlines() == told
    done = glisk("tokens", "rerun", LARGEST, "--from", "generating", "--yes", "--reason", "dull", cwd=place)
    assert (done.returncode, done.stdout) == (0, "1 of 1 sent back.\n")
    shown = glisk("tokens", "show", LARGEST, cwd=place).stdout
    assert shown.startswith(f"Token {LARGEST} · 0xc0c0…c0c0 · author 0xabab…abab · detected")
    assert "by hand    cancelled" in shown
    assert "by hand    retried dull" in shown
    assert glisk("tokens", "rerun", "7", "--from", "nowhere", cwd=place).returncode == 2


def test_failed_tokens_are_chosen_by_the_code_of_their_error(place: Path) -> None:
    fill(place)
    sql = "UPDATE tokens_s0 SET generation_error = 'GLK-302: no' WHERE status = 'failed' AND contract_address LIKE '0xd1%'"
    assert glisk("psql", "--", "-c", sql, cwd=place).returncode == 0
    assert glisk("tokens", "retry", "--where", "error=GLK-5xx", "--yes", cwd=place).stdout == "0 of 0 retried.\n"
    assert glisk("tokens", "retry", "--where", "error=GLK-3xx", "--yes", cwd=place).stdout == "1 of 1 retried.\n"
    assert glisk("tokens", "retry", "--where", "colour=red", cwd=place).returncode == 2
    assert glisk("tokens", "retry", "--failed", "--where", "error=GLK-302", cwd=place).returncode == 2


def test_a_token_that_has_ended_is_watched_to_its_end_at_once(place: Path) -> None:
    fill(place)
    watched = glisk("tokens", "watch", "5", "--contract", "1:0x" + "d1" * 20, cwd=place)
    assert (watched.returncode, watched.stdout) == (1, "Token 5 is failed.\n")
    assert glisk("tokens", "watch", "6", cwd=place).returncode == 1


def test_benchmarks_are_said_to_be_in_the_source(place: Path) -> None:
    told = glisk("bench", cwd=place)
    assert told.returncode == 1
    assert "make bench" in told.stderr
