"""What a token shows: the operator's templates, without holes, and without a prompt that is not to be told."""

from __future__ import annotations

import dataclasses
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account
from hypothesis import given
from hypothesis import strategies as st

from glisk.publishing.commitment import opens
from glisk.publishing.manifest import ZERO, checked
from glisk.publishing.metadata import provenance_wallet, tags_in, written
from glisk.publishing.origin import Origin, versioned
from glisk.publishing.templates import Known, described, filled
from glisk.settings import Settings

CONTRACT, AUTHOR = "0x" + "c0" * 20, "0x" + "ab" * 20
WALLET = Account.from_key("0x" + "11" * 32)
PROMPT = "A fox in {snow}, a secret one"
ROW: dict[str, Any] = {
    "chain_id": 8453,
    "contract_address": CONTRACT,
    "token_id": 7,
    "image_sha256": bytes(range(32)),
    "tags": '["fox", "snow", "fox", ""]',
}
ORIGIN = Origin(
    provider="replicate",
    model="owner/name",
    version="",
    seed=0,
    prompt=PROMPT,
    prompt_source="author",
    receipt="prediction",
    made_at=datetime(2026, 8, 21, 12, 0, 0, 999_999, tzinfo=UTC),
    author=AUTHOR,
    choice=None,
)
UNKNOWN = dataclasses.replace(ORIGIN, provider="", model="", seed=None, prompt=None, prompt_source=None, receipt=None)
KNOWN = Known(token_id=7, author=AUTHOR, model="owner/name", provider="replicate", seed="5", tags=("fox", "snow"))


def shown(known: Known = KNOWN, **settings: Any) -> dict[str, Any]:
    return described(Settings(**settings), known, "bafy")


def document(origin: Origin = ORIGIN, **settings: Any) -> tuple[dict[str, Any], bytes | None]:
    data, salt = written(ROW, origin, "bafy", Settings(**settings), WALLET)
    return json.loads(data), salt


def test_what_is_shown_without_any_settings() -> None:
    assert shown() == {
        "name": "Glisk #7",
        "description": f"Drawn by owner/name from a prompt by {AUTHOR}.",
        "image": "ipfs://bafy",
        "attributes": [
            {"trait_type": "Author", "value": AUTHOR},
            {"trait_type": "Model", "value": "owner/name"},
            {"trait_type": "Tag", "value": "fox"},
            {"trait_type": "Tag", "value": "snow"},
        ],
    }


def test_an_attribute_of_tags_is_left_out_without_tags_and_one_without_a_value_too() -> None:
    known = dataclasses.replace(KNOWN, tags=(), model="")
    assert shown(known)["attributes"] == [{"trait_type": "Author", "value": AUTHOR}]


def test_numbers_stay_numbers_and_what_is_shown_as_one_becomes_one() -> None:
    traits = [
        {"trait_type": "Year", "value": 2026, "display_type": "number", "max_value": 3000},
        {"trait_type": "Seed", "value": "{seed}", "display_type": "number"},
        {"trait_type": "Seed in words", "value": "{seed}"},
        {"trait_type": "Nothing", "value": None},
        {"value": 0},
        {"value": False},
    ]
    assert shown(token_attributes=traits)["attributes"] == [
        traits[0],
        {"trait_type": "Seed", "value": 5, "display_type": "number"},
        {"trait_type": "Seed in words", "value": "5"},
        {"value": 0},
        {"value": False},
    ]


def test_the_page_of_a_token_is_filled_in() -> None:
    assert shown(external_url="https://glisk.example/{token_id}?x={}")["external_url"] == "https://glisk.example/7?x={}"
    assert "external_url" not in shown()


@pytest.mark.parametrize("template", ["From: {prompt}", "{model}: {prompt}"])
def test_a_text_that_wants_a_secret_prompt_gives_way_to_the_usual_one(template: str) -> None:
    found = shown(token_description=template, token_name="{prompt}", token_attributes=[{"value": template}])
    assert (found["name"], found["attributes"]) == ("Glisk #7", [])
    assert found["description"] == f"Drawn by owner/name from a prompt by {AUTHOR}."


def test_a_picture_of_which_nothing_is_known_has_no_description_with_a_hole() -> None:
    assert "description" not in shown(Known(token_id=7, author=AUTHOR))
    assert shown(Known(token_id=7, author=AUTHOR), token_description="By {author}")["description"] == f"By {AUTHOR}"


def test_a_picture_from_another_prompt_is_not_called_the_authors() -> None:
    assert shown(dataclasses.replace(KNOWN, is_authors=False))["description"] == "Drawn by owner/name."


@given(st.text(min_size=1))
def test_what_is_filled_in_is_never_a_template_itself(text: str) -> None:
    assert filled("{{{prompt}}} {prompt}", {"prompt": text}) == f"{{{text}}} {text}"


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=8), st.sampled_from(["later", "never"]))
def test_a_prompt_that_is_not_to_be_told_is_nowhere(prompt: str, choice: str) -> None:
    origin = dataclasses.replace(ORIGIN, prompt=f"<<{prompt}>>", choice=choice)
    everywhere = "{prompt} {model}"
    data, salt = written(
        *(ROW, origin, "bafy"),
        Settings(token_name=everywhere, token_description=everywhere, token_attributes=[{"value": everywhere}]),
        WALLET,
    )
    assert "<<" not in data.decode()
    assert "prompt_salt" not in json.loads(data)["provenance"]
    assert (salt is None) == (choice == "never")


def test_a_prompt_that_is_told_stands_there_and_opens_its_commitment() -> None:
    metadata, salt = document(prompt_disclosure="now", token_description="From: {prompt}")
    assert (metadata["prompt"], metadata["description"]) == (PROMPT, f"From: {PROMPT}")
    provenance = metadata["provenance"]
    assert salt is not None
    assert provenance["prompt_salt"] == "0x" + salt.hex()
    assert opens(bytes.fromhex(provenance["prompt_commitment"][2:]), salt, PROMPT)
    assert checked(metadata, 8453, CONTRACT, 7) == WALLET.address.lower()


def test_the_authors_choice_counts_more_than_the_operators() -> None:
    assert "prompt" not in document(dataclasses.replace(ORIGIN, choice="later"), prompt_disclosure="now")[0]
    assert "prompt" in document(dataclasses.replace(ORIGIN, choice="now"), prompt_disclosure="never")[0]


def test_a_retry_makes_the_same_file_and_the_commitment_is_the_same_whatever_is_told() -> None:
    first, again = (written(ROW, ORIGIN, "bafy", Settings(), WALLET) for _ in range(2))
    assert first == again
    told = document(prompt_disclosure="now")[0]["provenance"]
    assert told["prompt_commitment"] == json.loads(first[0])["provenance"]["prompt_commitment"]


def test_the_provenance_says_what_the_ledger_knows() -> None:
    origin = dataclasses.replace(ORIGIN, prompt_source="fallback", version="ab" * 32)
    provenance = document(origin)[0]["provenance"]
    assert provenance["fallback_used"] is True
    assert (provenance["seed"], provenance["version"]) == ("0", "ab" * 32)
    assert provenance["created_at"] == "2026-08-21T12:00:00Z"
    assert provenance["receipt_sha256"] not in (ZERO, document(UNKNOWN)[0]["provenance"]["receipt_sha256"])


def test_a_picture_that_came_another_way_is_honestly_unknown() -> None:
    metadata, salt = document(UNKNOWN, prompt_disclosure="now")
    provenance = metadata["provenance"]
    assert salt is None
    assert "prompt" not in metadata
    assert (provenance["provider"], provenance["model"], provenance["seed"]) == ("", "", "0")
    assert (provenance["prompt_commitment"], provenance["receipt_sha256"]) == (ZERO, ZERO)
    assert checked(metadata, 8453, CONTRACT, 7) == WALLET.address.lower()


@pytest.mark.parametrize(
    ("model", "found"),
    [
        ("owner/name", ("owner/name", "")),
        (f"owner/name:{'ab' * 32}", ("owner/name", "ab" * 32)),
        ("ab" * 32, ("ab" * 32, "ab" * 32)),
        ("a checkpoint:v2", ("a checkpoint:v2", "")),
        ("", ("", "")),
    ],
)
def test_the_version_is_taken_from_the_models_name(model: str, found: tuple[str, str]) -> None:
    assert versioned(model) == found


def test_tags_are_each_told_once() -> None:
    assert tags_in(ROW["tags"]) == ["fox", "snow"]
    assert tags_in(None) == []


def test_the_key_is_the_operators_or_one_of_our_own_that_stays(tmp_path: Path) -> None:
    own = Settings(data_dir=tmp_path)
    assert provenance_wallet(own).address == provenance_wallet(own).address
    (tmp_path / "key").touch(0o600)
    (tmp_path / "key").write_text("22" * 32)
    theirs = Settings(data_dir=tmp_path, provenance_key_file=str(tmp_path / "key"))
    assert provenance_wallet(theirs).address == Account.from_key("0x" + "22" * 32).address
