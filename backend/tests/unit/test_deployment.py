"""What the Dockerfile and docker-compose.yml name does exist, and fits together."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from glisk.cli.main import COMMANDS
from glisk.settings import Settings, variable
from tests.composing import ROOT, compose, copied, dockerfile, sent_to_the_builder

OURS = ("migrate", "listen", "work", "serve")
SERVICES: dict[str, dict[str, Any]] = compose()["services"]
KNOWN = {variable(name) for name in Settings.model_fields}


def environment_of(service: str) -> dict[str, str]:
    found: dict[str, str] = SERVICES[service].get("environment", {})
    return found


def test_the_file_says_what_it_seems_to_say() -> None:
    assert list(SERVICES) == ["postgres", *OURS, "rabbitmq", "redis", "minio"]
    assert SERVICES["serve"]["ports"] == ["127.0.0.1:8000:8000"]
    assert SERVICES["work"]["env_file"] == [{"path": ".env", "required": False}]
    assert SERVICES["migrate"]["restart"] == "no"


@pytest.mark.parametrize("service", OURS)
def test_a_process_runs_a_command_that_there_is_from_the_one_image(service: str) -> None:
    found = SERVICES[service]
    assert found["command"][0] in COMMANDS
    assert (found["build"], found["image"]) == (".", "glisk")
    assert "privileged" not in found


@pytest.mark.parametrize("service", OURS)
def test_a_process_is_given_settings_that_there_are(service: str) -> None:
    assert set(environment_of(service)) <= KNOWN
    assert environment_of(service)["GLISK_DATABASE_URL"].endswith("@postgres:5432/glisk")


def test_every_setting_that_is_named_anywhere_is_one() -> None:
    for name in ("Dockerfile", "docker-compose.yml", "docs/deploy.md", "docs/webhooks.md"):
        assert set(re.findall(r"GLISK_[A-Z0-9_]+", (ROOT / name).read_text())) <= KNOWN, name


def test_nobody_starts_before_the_schema_is_there() -> None:
    assert SERVICES["migrate"]["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    for service in OURS[1:]:
        assert SERVICES[service]["depends_on"] == {"migrate": {"condition": "service_completed_successfully"}}


def test_whatever_is_named_is_there() -> None:
    for name, service in SERVICES.items():
        assert set(service.get("depends_on", {})) <= set(SERVICES), name
        volumes = [volume.partition(":")[0] for volume in service.get("volumes", [])]
        assert set(volumes) <= set(compose()["volumes"]), name


def test_nothing_is_open_to_the_world() -> None:
    ports = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_what_few_need_comes_only_when_it_is_asked_for() -> None:
    optional = {name: service["profiles"] for name, service in SERVICES.items() if "profiles" in service}
    assert optional == {name: [name] for name in ("rabbitmq", "redis", "minio")}


def test_only_the_server_answers_over_http_so_only_it_is_asked() -> None:
    quiet = {name for name in OURS if SERVICES[name].get("healthcheck") == {"disable": True}}
    assert quiet == set(OURS) - {"serve"}


def test_the_image_is_made_in_two_stages_and_runs_as_nobody_special() -> None:
    last = [step for step in dockerfile() if step.stage == 1]
    users = [step.rest for step in last if step.name == "USER"]
    assert users == ["glisk"]
    names = [step.name for step in last]
    assert not {"RUN", "COPY"} & set(names[names.index("USER") :])
    assert [json.loads(step.rest) for step in last if step.name == "ENTRYPOINT"] == [["glisk"]]
    assert [json.loads(step.rest)[0] for step in last if step.name == "CMD"] == ["serve"]
    assert any("/health" in step.rest for step in last if step.name == "HEALTHCHECK")


def test_what_is_copied_is_there_and_reaches_the_builder() -> None:
    for step in dockerfile():
        if step.name == "COPY" and step.stage == 0:
            for source in copied(step.rest)[0]:
                assert (ROOT / source).exists()
                assert sent_to_the_builder(source)
    for secret in (".env", ".glisk/objects", ".git/config", "backend/tests/conftest.py"):
        assert not sent_to_the_builder(secret)
