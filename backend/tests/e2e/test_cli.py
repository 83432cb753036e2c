"""The commands as a person or a script sees them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from glisk.dev import postgres
from glisk.workflows import WORKFLOWS
from tests.builders import BEFORE, HEAD, REVISIONS
from tests.commands import GLISK, a_free_port, glisk


def test_help_lists_the_commands_and_the_exit_codes(tmp_path: Path) -> None:
    shown = glisk("--help", cwd=tmp_path)
    assert shown.returncode == 0
    assert all(word in shown.stdout for word in ["up", "migrate", "explain", "Exit codes"])


def test_bad_settings_are_all_told_with_exit_code_2_and_no_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLISK_PORT", "many")
    (tmp_path / ".env").write_text("GLISK_DATABASE_URL=mysql://glisk:hunter2@db/x\nGLISK_PROT=1\n")
    refused = glisk("up", cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    for part in ("GLISK_PORT is 'many'", "GLISK_DATABASE_URL is 'mysql://glisk:***@db/x'", "did you mean GLISK_PORT?"):
        assert part in refused.stderr
    assert "hunter2" not in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_server_that_does_not_answer_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLISK_DATABASE_URL", "postgresql://glisk:hunter2@127.0.0.1:1/x")
    refused = glisk("migrate", cwd=tmp_path)
    assert refused.returncode == 1
    assert refused.stderr.startswith("GLK-701")
    assert "hunter2" not in refused.stderr
    assert "Traceback" not in refused.stderr
    assert "Traceback" in glisk("--debug", "migrate", cwd=tmp_path).stderr


def test_migrate_downgrade_migrate_with_the_embedded_database(tmp_path: Path) -> None:
    assert glisk("migrate", cwd=tmp_path).stdout == f"The schema is at {HEAD}.\n"
    assert glisk("migrate", "down", cwd=tmp_path).returncode == 2  # nobody is there to say yes
    assert glisk("migrate", "down", "--yes", cwd=tmp_path).stdout == f"The schema is at {BEFORE}.\n"
    assert glisk("migrate", cwd=tmp_path).stdout == f"The schema is at {HEAD}.\n"
    runs = json.loads(glisk("migrate", "status", "--json", cwd=tmp_path).stdout)
    assert [(run["name"], run["direction"], run["ok"]) for run in runs[-2:]] == [
        (REVISIONS[-1], "down", True),
        (REVISIONS[-1], "up", True),
    ]
    plain = glisk("migrate", "status", cwd=tmp_path).stdout
    assert plain.splitlines()[1].split("\t")[:2] == ["000_migrations", "up"]


def test_two_first_migrations_at_once_share_the_embedded_database(tmp_path: Path) -> None:
    both = [
        subprocess.Popen([*GLISK, "migrate"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    results = [process.communicate() for process in both]
    assert [out for out, _ in results] == 2 * [f"The schema is at {HEAD}.\n"], results


@pytest.mark.parametrize("code", ["GLK-703", "glk-703", "703"])
def test_explain_tells_what_a_code_means(code: str, tmp_path: Path) -> None:
    shown = glisk("explain", code, cwd=tmp_path)
    assert shown.stdout.startswith("GLK-703  The database's schema is older")
    assert "make migrate" in shown.stdout


def test_explain_knows_when_it_does_not_know(tmp_path: Path) -> None:
    assert glisk("explain", "GLK-999", cwd=tmp_path).returncode == 2
    assert len(json.loads(glisk("explain", "--json", cwd=tmp_path).stdout)) > 10


def test_config_shows_what_is_in_force_without_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLISK_DATABASE_URL", "postgresql://glisk:hunter2@db/x")
    shown = json.loads(glisk("config", "show", "--json", cwd=tmp_path).stdout)
    assert {"variable": "GLISK_DATABASE_URL", "value": "postgresql://glisk:***@db/x"} in shown
    assert {"variable": "GLISK_PORT", "value": "8000"} in shown


def test_an_example_of_all_settings_is_a_valid_env_file(tmp_path: Path) -> None:
    example = glisk("config", "example", cwd=tmp_path).stdout
    (tmp_path / ".env").write_text(example.replace("# GLISK_", "GLISK_"))
    shown = glisk("config", "show", cwd=tmp_path)
    assert shown.returncode == 0
    assert "GLISK_TOKEN_NAME\t{collection} #{token_id}\n" in shown.stdout, "a # is no comment there"


def test_clean_wipes_what_is_embedded(tmp_path: Path) -> None:
    assert glisk("migrate", cwd=tmp_path).returncode == 0
    assert glisk("clean", cwd=tmp_path).returncode == 2  # nobody is there to say yes
    assert glisk("clean", "--yes", cwd=tmp_path).stdout == "Wiped glisk.\n"
    assert not (tmp_path / "glisk").exists()
    assert glisk("clean", "--yes", cwd=tmp_path).stdout == "There is no glisk.\n"


def test_a_dump_reads_back_into_an_empty_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert glisk("migrate", cwd=tmp_path).returncode == 0
    insert = "INSERT INTO authors (wallet_address) VALUES ('0x' || repeat('a', 40))"
    assert glisk("psql", "--", "-c", insert, cwd=tmp_path).returncode == 0
    programs = postgres.binaries().parents[2]  # of this very version, as those of another would be given
    assert glisk("dump", "all of it.sql", "--programs", str(programs), cwd=tmp_path).returncode == 0
    monkeypatch.setenv("GLISK_DATA_DIR", str(tmp_path / "new"))
    read = glisk("psql", "--", "--quiet", "-v", "ON_ERROR_STOP=1", "--file", "all of it.sql", cwd=tmp_path)
    assert read.returncode == 0, read.stderr
    assert glisk("migrate", cwd=tmp_path).stdout == f"The schema is at {HEAD}.\n"
    assert glisk("psql", "--", "-Atc", "SELECT count(*) FROM authors", cwd=tmp_path).stdout == "1\n"
    granted = "SELECT has_table_privilege('glisk_user', 'jobs', 'SELECT')"
    assert glisk("psql", "--", "-Atc", granted, cwd=tmp_path).stdout == "t\n"


def test_a_database_that_cannot_be_reached_is_not_remembered_as_paid_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLISK_DATABASE_URL", "postgresql://glisk:hunter2@127.0.0.1:1/x")
    monkeypatch.setenv("GLISK_PORT", str(a_free_port()))
    refused = glisk("up", cwd=tmp_path)
    assert refused.stderr.startswith("GLK-701")
    assert "✓" not in refused.stdout
    monkeypatch.delenv("GLISK_DATABASE_URL")
    assert glisk("clean", "--yes", cwd=tmp_path).returncode == 0


def test_clean_refuses_when_a_part_is_real(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "glisk").mkdir()
    monkeypatch.setenv("GLISK_DATABASE_URL", "postgresql://glisk:hunter2@db/x")
    refused = glisk("clean", "--yes", cwd=tmp_path)
    assert refused.returncode == 2
    assert refused.stderr.startswith("GLK-105")
    assert "PostgreSQL (GLISK_DATABASE_URL)" in refused.stderr
    assert "FORCE=1" in refused.stderr
    assert glisk("clean", "--yes", "--force", cwd=tmp_path).stdout == "Wiped glisk.\n"


def test_a_workflow_is_shown_as_a_table_and_as_a_diagram(tmp_path: Path) -> None:
    steps = json.loads(glisk("workflows", "show", "image_generation", "--json", cwd=tmp_path).stdout)
    assert [(step["waiting"], step["active"], step["failure"]) for step in steps] == [
        ("pending", "generating", "pending"),
        ("ready-for-uploading", "uploading", "ready-for-uploading-failed"),
    ]
    diagram = glisk("workflows", "show", "image_generation", "--mermaid", cwd=tmp_path).stdout
    assert diagram.startswith("stateDiagram-v2")
    assert "uploading --> ready_for_uploading_failed: failure" in diagram
    assert len(json.loads(glisk("workflows", "ls", "--json", cwd=tmp_path).stdout)) == len(WORKFLOWS)
    assert glisk("workflows", "show", "nonsense", cwd=tmp_path).returncode == 2


def test_jobs_are_listed_shown_cancelled_and_retried(tmp_path: Path) -> None:
    assert glisk("jobs", "ls", cwd=tmp_path).stderr.startswith("GLK-703")
    assert glisk("migrate", cwd=tmp_path).returncode == 0
    glisk(
        "psql",
        "--",
        "-c",
        "INSERT INTO jobs (workflow) VALUES ('image_generation'), ('image_generation')",
        cwd=tmp_path,
    )
    first, second = json.loads(glisk("jobs", "ls", "--json", cwd=tmp_path).stdout)
    assert (first["status"], second["workflow"]) == ("pending", "image_generation")
    assert glisk("jobs", "cancel", first["job_id"], cwd=tmp_path).returncode == 2  # nobody is there to say yes
    assert glisk("jobs", "cancel", "--yes", first["job_id"], cwd=tmp_path).stdout == "1 of 1 cancelled.\n"
    (dead,) = json.loads(glisk("jobs", "dead", "--json", cwd=tmp_path).stdout)
    assert dead["id"] == first["id"]
    assert glisk("jobs", "retry", "--dead", cwd=tmp_path).stdout == "1 of 1 wait again.\n"
    shown = json.loads(glisk("jobs", "show", str(first["id"]), "--json", cwd=tmp_path).stdout)
    assert [event["to_status"] for event in shown["timeline"]] == ["failed", "pending"]
    id = str(first["id"])
    assert glisk("jobs", "pause", id, str(second["id"]), cwd=tmp_path).stdout == "2 of 2 paused.\n"
    assert glisk("jobs", "resume", id, cwd=tmp_path).stdout == "1 of 1 go on.\n"
    assert "There is no job 999" in glisk("jobs", "show", "999", cwd=tmp_path).stderr


TOKENS = """
    INSERT INTO authors (wallet_address) VALUES ('0x' || repeat('ab', 20));
    INSERT INTO tokens_s0 (chain_id, contract_address, token_id, author_id, status, prompt, generation_error, finished_at,
      image_url, image_key, image_sha256, image_mime)
    SELECT 1, '0x' || repeat(contract, 20), token_id, 1, status, 'a [/red] cat', 'no', finished_at,
      'https://x/y.png', key, sha256('x'), 'image/png'
    FROM (VALUES ('c0', 7, 'review', now(), 'k'), ('c0', 8, 'review', now(), NULL), ('c0', 9, 'review', now(), 'k'),
            ('c0', 2::numeric ^ 256 - 1, 'detected', NULL, NULL), ('c0', 5, 'failed', now(), 'k'), ('d1', 5, 'failed', now(), 'k'))
      AS v(contract, token_id, status, finished_at, key)"""
LARGEST = str(2**256 - 1)


@pytest.fixture
def with_tokens(tmp_path: Path) -> None:
    assert glisk("migrate", cwd=tmp_path).returncode == 0
    assert glisk("psql", "--", "-v", "ON_ERROR_STOP=1", "-c", TOKENS, cwd=tmp_path).returncode == 0


@pytest.mark.usefixtures("with_tokens")
def test_tokens_are_listed_accepted_and_rejected(tmp_path: Path) -> None:
    listed = json.loads(glisk("tokens", "ls", "--json", cwd=tmp_path).stdout)
    assert [token["token_id"] for token in listed] == ["5", "5", LARGEST, "9", "8", "7"]
    assert len(json.loads(glisk("tokens", "ls", "--status", "review", "--json", cwd=tmp_path).stdout)) == 3
    assert json.loads(glisk("tokens", "ls", "--author", "0x" + "CD" * 20, "--json", cwd=tmp_path).stdout) == []

    asked = glisk("tokens", "accept", "7", cwd=tmp_path)
    assert (asked.returncode, "Accept token 7" in asked.stderr) == (2, True)  # nobody is there to say yes
    accepted = glisk("tokens", "accept", "7", "8", "007", LARGEST, "--yes", cwd=tmp_path)
    assert (accepted.returncode, accepted.stdout) == (1, "")
    assert accepted.stderr.splitlines() == [
        "1 of 3 accepted.",
        "1 not accepted: its picture is not all there; reject it, and another is drawn (8).",
        f"1 not accepted: detected, not in review ({LARGEST}).",
    ]
    rejected = glisk("tokens", "reject", "8", "9", "--yes", "--reason", "six fingers", cwd=tmp_path)
    assert (rejected.returncode, rejected.stdout, rejected.stderr) == (0, "2 of 2 rejected.\n", "")
    shown = json.loads(glisk("tokens", "show", "9", "--json", cwd=tmp_path).stdout)
    assert (shown["token_id"], shown["status"], shown["image_key"]) == ("9", "detected", None)
    assert shown["timeline"][0]["data"] == {"reason": "six fingers"}


@pytest.mark.usefixtures("with_tokens")
def test_tokens_are_cancelled_and_retried(tmp_path: Path) -> None:
    assert glisk("tokens", "cancel", LARGEST, "--yes", cwd=tmp_path).stdout == "1 of 1 cancelled.\n"
    assert "a [/red] cat" in glisk("tokens", "show", LARGEST, cwd=tmp_path).stdout
    refused = glisk("tokens", "retry", "5", cwd=tmp_path)
    assert refused.returncode == 2
    assert all(f"1:0x{2 * contract}" in refused.stderr for contract in ("c0" * 10, "d1" * 10))
    one = glisk("tokens", "retry", "5", "--contract", "1:0x" + "D1" * 20, cwd=tmp_path)
    assert (one.returncode, one.stdout) == (0, "1 of 1 retried.\n")
    many = glisk("tokens", "retry", "--failed", cwd=tmp_path)
    assert (many.returncode, "Retry 2 tokens?" in many.stderr) == (2, True)
    assert glisk("tokens", "retry", "--failed", "--yes", cwd=tmp_path).stdout == "2 of 2 retried.\n"
    again = glisk("tokens", "retry", LARGEST, cwd=tmp_path)
    assert again.returncode == 1
    assert again.stderr.splitlines() == ["0 of 1 retried.", f"1 not retried: detected, not failed ({LARGEST})."]
    assert "There is no token 6" in glisk("tokens", "show", "6", cwd=tmp_path).stderr


def test_a_workflow_is_paused_and_resumed(tmp_path: Path) -> None:
    assert glisk("migrate", cwd=tmp_path).returncode == 0
    assert "token is paused" in glisk("workflows", "pause", "token", cwd=tmp_path).stdout
    (paused,) = json.loads(glisk("workflows", "paused", "--json", cwd=tmp_path).stdout)
    assert paused["workflow"] == "token"
    assert glisk("workflows", "resume", "token", cwd=tmp_path).stdout == "token goes on.\n"
    assert "There is no workflow 'nonsense'" in glisk("workflows", "pause", "nonsense", cwd=tmp_path).stderr


def test_lanes_are_listed_held_resumed_and_limited(tmp_path: Path) -> None:
    assert glisk("migrate", cwd=tmp_path).returncode == 0
    glisk("psql", "--", "-c", "INSERT INTO lanes (lane, max_concurrency) VALUES ('replicate', 4)", cwd=tmp_path)
    assert glisk("lanes", "hold", "replicate", "the bill is unpaid", cwd=tmp_path).stdout == "replicate is held.\n"
    (lane,) = json.loads(glisk("lanes", "ls", "--json", cwd=tmp_path).stdout)
    assert (lane["state"], lane["held_reason"], lane["rate"]) == ("held", "the bill is unpaid", None)
    assert glisk("lanes", "resume", "replicate", cwd=tmp_path).stdout == "replicate is open.\n"
    assert glisk("lanes", "limit", "replicate", "9", cwd=tmp_path).returncode == 0
    (lane,) = json.loads(glisk("lanes", "ls", "--json", cwd=tmp_path).stdout)
    assert (lane["state"], lane["max_concurrency"]) == ("open", 9)
    too_long = glisk("lanes", "hold", "replicate", "x" * 501, cwd=tmp_path)
    assert (too_long.returncode, "at most 500 characters" in too_long.stderr) == (2, True)
    for command in (["hold", "nowhere", "x"], ["resume", "nowhere"], ["limit", "nowhere", "1"]):
        refused = glisk("lanes", *command, cwd=tmp_path)
        assert (refused.returncode, "There is no lane 'nowhere'" in refused.stderr) == (1, True)


def test_a_lane_that_is_held_already_is_told_apart_and_its_rate_can_be_set(tmp_path: Path) -> None:
    assert glisk("migrate", cwd=tmp_path).returncode == 0
    glisk("psql", "--", "-c", "INSERT INTO lanes (lane, max_concurrency) VALUES ('replicate', 4)", cwd=tmp_path)
    assert glisk("lanes", "hold", "replicate", "first", cwd=tmp_path).returncode == 0
    assert "was held already" in glisk("lanes", "hold", "replicate", "second", cwd=tmp_path).stdout
    limited = glisk("lanes", "limit", "replicate", "9", "--rate", "2.5", cwd=tmp_path)
    assert limited.stdout == "replicate takes 9 at once, 2.5 a second.\n"
    (lane,) = json.loads(glisk("lanes", "ls", "--json", cwd=tmp_path).stdout)
    assert (lane["held_reason"], lane["max_concurrency"], lane["rate"], lane["max_rate"]) == ("first", 9, 2.5, 2.5)
    assert glisk("lanes", "limit", "replicate", "9", "--rate", "none", cwd=tmp_path).returncode == 0
    (lane,) = json.loads(glisk("lanes", "ls", "--json", cwd=tmp_path).stdout)
    assert lane["max_rate"] is None


@pytest.mark.parametrize(
    "command",
    [
        *("work --lease inf", "work --lease nan", "work --poll inf", "work --drain 1e300", "work --processes 1000000"),
        *("jobs ls --limit 99999999999999999999", "lanes limit x 99999999999", "lanes limit x 1 --rate nan"),
        *(
            "tokens show x",
            "tokens show -- -1",
            f"tokens show {2**256}",
            f"tokens show {'9' * 5000}",
            "tokens show 0x7",
        ),
        *(
            "tokens show 7 --contract 0x12",
            "tokens show 7 --contract x:0x" + "ab" * 20,
            "tokens accept",
            "tokens retry",
        ),
        *("tokens ls --status painted", "tokens ls --author anna", "tokens retry 7 --failed", "tokens ls --limit 0"),
        *("lanes limit x 1 --rate -1", "lanes limit x 1 --rate fast", "jobs retry", "jobs retry --workflow image_edit"),
        *(f"jobs {verb} --workflow nope" for verb in ("ls", "dead", "retrying", "retry --dead")),
    ],
)
def test_wrong_usage_is_a_sentence_and_exit_code_2(command: str, tmp_path: Path) -> None:
    refused = glisk(*command.split(), cwd=tmp_path)
    assert refused.returncode == 2
    assert "Traceback" not in refused.stderr
    assert "Error" in refused.stderr
    assert ("danbooru_tagger" in refused.stderr) == ("nope" in command), "the workflows there are"


def test_what_is_not_retried_is_told_with_its_reason(tmp_path: Path) -> None:
    assert glisk("migrate", cwd=tmp_path).returncode == 0
    dead = "status, finished_at, error_message) VALUES ('no_such', 'failed', now(), 'x')"
    glisk("psql", "--", "-c", f"INSERT INTO jobs (workflow, {dead}", cwd=tmp_path)
    retried = glisk("jobs", "retry", "--dead", cwd=tmp_path)
    assert (retried.returncode, retried.stdout) == (1, "")
    told = ["0 of 1 wait again.", "1 not retried: there is no workflow 'no_such' of jobs."]
    assert retried.stderr.splitlines() == told


def test_jobs_of_a_paused_workflow_say_so(tmp_path: Path) -> None:
    assert glisk("migrate", cwd=tmp_path).returncode == 0
    glisk("psql", "--", "-c", "INSERT INTO jobs (workflow) VALUES ('image_generation'), ('r2_image')", cwd=tmp_path)
    assert glisk("workflows", "pause", "r2_image", cwd=tmp_path).returncode == 0
    listed = json.loads(glisk("jobs", "ls", "--json", cwd=tmp_path).stdout)
    assert [(job["workflow"], job["note"]) for job in listed] == [
        ("r2_image", "workflow paused"),
        ("image_generation", None),
    ]
