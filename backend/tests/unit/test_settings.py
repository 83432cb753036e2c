"""Settings: empty means embedded, and every problem is told at once, with no secret in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from glisk import addresses, settings, values
from glisk.errors import BadSettings
from glisk.publishing.canonical import canonical


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


@pytest.mark.parametrize(("given", "read"), [({}, "sk-theirs"), ({"GLISK_OPENAI_API_KEY": "sk-ours"}, "sk-ours")])
def test_openais_own_variable_is_read_where_ours_is_empty(
    given: dict[str, str], read: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in ({"OPENAI_API_KEY": "sk-theirs"} | given).items():
        monkeypatch.setenv(name, value)
    assert settings.load(tmp_path).openai_api_key.get_secret_value() == read


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
    assert values.masked(found.database_url) == "'postgresql://glisk:***@db/glisk'"


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


def test_s3_needs_a_bucket_and_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLISK_S3_ENDPOINT", "https://account.r2.cloudflarestorage.com")
    assert problems(tmp_path) == [
        "GLISK_S3_BUCKET is '': a value is wanted, since GLISK_S3_ENDPOINT is set",
        "GLISK_S3_ACCESS_KEY_ID is '': a value is wanted, since GLISK_S3_ENDPOINT is set",
        "GLISK_S3_SECRET_ACCESS_KEY is '': a value is wanted, since GLISK_S3_ENDPOINT is set",
    ]


def test_aws_needs_a_region(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BUCKET", "ACCESS_KEY_ID", "SECRET_ACCESS_KEY"):
        monkeypatch.setenv(f"GLISK_S3_{name}", "hunter2")
    (problem,) = problems(tmp_path)
    assert problem.startswith("GLISK_S3_REGION is 'auto': AWS wants the bucket's region")
    monkeypatch.setenv("GLISK_S3_REGION", "eu-central-1")
    found = settings.load(tmp_path)
    assert found.real_parts() == {"S3": "GLISK_S3_BUCKET"}
    assert values.masked(found.s3_secret_access_key) == "'***'"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("S3_ENDPOINT", "account.r2.cloudflarestorage.com"),
        ("S3_ENDPOINT", "https://account.r2.cloudflarestorage.com/images"),  # as Cloudflare's own page shows it
        ("S3_ENDPOINT", "ftp://s3"),
        ("S3_ENDPOINT", "http://user:hunter2@s3"),
        ("S3_BUCKET", "Images"),
        ("S3_BUCKET", "../images"),
        ("S3_PREFIX", "/images"),
        ("S3_PREFIX", "images/../others"),
        ("S3_REGION", "eu central"),
        ("PUBLIC_URL", "glisk.example"),
    ],
)
def test_an_address_of_storage_has_its_shape(
    name: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"GLISK_{name}", value)
    (problem,) = problems(tmp_path)
    assert problem.startswith(f"GLISK_{name} is ")
    assert "hunter2" not in problem


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ({}, "http://127.0.0.1:8000"),
        ({"HOST": "::1", "PORT": "80"}, "http://[::1]:80"),
        ({"PUBLIC_URL": "https://glisk.example/"}, "https://glisk.example"),
    ],
)
def test_links_to_us_start_at_the_public_address(
    given: dict[str, str], address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(f"GLISK_{name}", value)
    assert settings.load(tmp_path).address == address


NODE = "https://base-mainnet.example/v2/hunter2"
CONTRACT = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"  # from EIP-55


def test_a_chain_of_ones_own_is_a_real_part_whose_keys_are_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLISK_RPC_URLS", f" {NODE}, wss://other.example:8546/hunter2 ,http://127.0.0.1:8545")
    monkeypatch.setenv("GLISK_CONTRACTS", f"8453:{CONTRACT},\n{CONTRACT.upper().replace('X', 'x')}")
    found = settings.load(tmp_path)
    assert found.real_parts() == {"chain": "GLISK_RPC_URLS"}
    assert addresses.nodes_in(values.text(found.rpc_urls)) == [
        NODE,
        "wss://other.example:8546/hunter2",
        "http://127.0.0.1:8545",
    ]
    assert addresses.contracts_in(found.contracts) == [(8453, CONTRACT.lower()), (None, CONTRACT.lower())]
    shown = "'https://base-mainnet.example/***,wss://other.example:8546/***,http://127.0.0.1:8545'"
    assert values.masked(found.rpc_urls) == shown
    assert "hunter2" not in repr(found)


@pytest.mark.parametrize(
    ("given", "lacking"), [("RPC_URLS", "CONTRACTS"), ("CONTRACTS", "RPC_URLS")], ids=["nodes", "contracts"]
)
def test_contracts_and_nodes_come_together(
    given: str, lacking: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"GLISK_{given}", {"RPC_URLS": NODE, "CONTRACTS": CONTRACT}[given])
    assert problems(tmp_path) == [f"GLISK_{lacking} is '': a value is wanted, since GLISK_{given} is set"]


@pytest.mark.parametrize(("what", "url"), [("WEBHOOK", "https://a.example/x"), ("ALERT", "https://a.example/x")])
def test_whoever_is_told_must_know_that_it_was_us(
    what: str, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"GLISK_{what}_URL", url)
    (complaint,) = problems(tmp_path)
    assert complaint.startswith(f"GLISK_{what}_SECRET is '': a value is wanted, since GLISK_{what}_URL is set")


def test_discord_needs_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLISK_ALERT_URL", "https://discord.com/api/webhooks/1/x")
    assert settings.load(tmp_path).is_discord


@pytest.mark.parametrize(
    ("urls", "complaint"),
    [
        ("htps://host/hunter2", "number 1 is none"),
        (f"{NODE},host/hunter2", "number 2 is none"),
        ("https:///hunter2", "number 1 is none"),
        ("https://host:hunter2/", "number 1 is none"),
        ("http://user:hunter2@host:99999", "number 1 is none"),
        ("http://user:hun/ter2@host", "number 1 is none"),
        (f"{NODE},{NODE}", "one of https://base-mainnet.example/*** stands there twice"),
        ("wss://host/hunter2", "an http(s) URL is wanted too"),
    ],
)
def test_a_node_has_a_url(urls: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLISK_RPC_URLS", urls)
    (problem,) = problems(tmp_path)
    assert problem.startswith("GLISK_RPC_URLS is ")
    assert complaint in problem
    assert not any(part in problem for part in ("hunter2", "hun/", "ter2"))


@pytest.mark.parametrize(
    ("contracts", "complaint"),
    [
        ("0x12", "'0x12' is neither"),
        (CONTRACT[2:], "0x and 40 hex digits are wanted"),
        (f"{CONTRACT}0", "0x and 40 hex digits are wanted"),
        (f"base:{CONTRACT}", "CHAIN:0x… with the chain's id"),
        (f"0:{CONTRACT}", "CHAIN:0x… with the chain's id"),
        (CONTRACT.replace("aAeb", "aaeb"), "is mistyped: its capitals, which are a checksum, do not fit"),
        (f"{CONTRACT},{CONTRACT.lower()}", f"{CONTRACT.lower()} stands there twice"),
        (f"1:{CONTRACT},8453:{CONTRACT},1:{CONTRACT}", f"1:{CONTRACT.lower()} stands there twice"),
    ],
)
def test_a_contract_has_an_address(
    contracts: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLISK_CONTRACTS", contracts)
    (problem,) = problems(tmp_path)
    assert problem.startswith("GLISK_CONTRACTS is ")
    assert complaint in problem


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CONFIRMATIONS", "0"),
        ("CONFIRMATIONS", "some"),
        ("START_BLOCK", "-1"),
        ("POLL_SECONDS", "0"),
        ("POLL_SECONDS", "nan"),
        ("POLL_SECONDS", "inf"),
        ("ALCHEMY_SIGNING_KEY", "schlüssel"),
    ],
)
def test_how_a_chain_is_followed_has_its_limits(
    name: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"GLISK_{name}", value)
    (problem,) = problems(tmp_path)
    assert problem.startswith(f"GLISK_{name} is ")
    assert "schlüssel" not in problem


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ("NaN", "text or a number is wanted, not nan"),
        ("-Infinity", "text or a number is wanted, not -inf"),
        ("1e999", "text or a number is wanted, not inf"),
        ("9007199254740992", 'beyond 2^53 is written as text, like "9007199254740992"'),
        ("-9007199254740992", "beyond 2^53 is written as text"),
        ('["a", "b"]', "text or a number is wanted, not ['a', 'b']"),
        ('"\\ud800"', "half of a sign"),
        ('"{colour}"', "{colour} is not filled in"),
    ],
)
@pytest.mark.parametrize("field", ["value", "max_value"])
def test_an_attribute_that_no_metadata_could_carry_is_told_at_the_start(
    field: str, value: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLISK_TOKEN_ATTRIBUTES", f'[{{"trait_type": "Size", "value": 1, "{field}": {value}}}]')
    (problem,) = problems(tmp_path)
    assert complaint in problem
    assert problem.startswith("GLISK_TOKEN_ATTRIBUTES")


@pytest.mark.parametrize("value", ["9007199254740991", "-0.5", "1e300", "true", '"{seed}"', "null"])
def test_an_attribute_may_be_text_or_a_number(value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLISK_TOKEN_ATTRIBUTES", f'[{{"trait_type": "Size", "value": {value}}}]')
    assert canonical(settings.load(tmp_path).token_attributes)
