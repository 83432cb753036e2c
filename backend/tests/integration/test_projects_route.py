"""Projects and edits over real HTTP (seed 002): a picture, what is to be changed, and what came of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import httpx
import pytest

from glisk.api import bodies, edits, projects
from glisk.images.opened import as_png, opened
from glisk.storage.objects import Objects
from tests.bringing import a_picture, as_data_url, upload
from tests.editing import Retouching, a_brick, a_hole, a_photo, data_url
from tests.sse import following
from tests.studio import Studio, number, open_studio

PNG, MASK, OTHER = a_picture(1), a_picture(2), a_picture(3)
NOWHERE = "https://pictures.example/house.png"
EDIT = {"prompt": "apply brick in sample 1 to red area", "samples": [{"name": "Brick", "url": NOWHERE}]}
END = "UPDATE jobs SET status = $2, finished_at = now(), error_message = $3, output_r2_key = $4, epoch = epoch + 1 WHERE id = $1"
SHOW = "UPDATE projects SET generated_image_url = $2, generated_image_urls = ARRAY[$2] WHERE project_id = $1::uuid"


@pytest.fixture
async def studio(database_url: str) -> AsyncIterator[Studio]:
    async with open_studio(database_url) as studio:
        yield studio


async def a_project(client: httpx.AsyncClient, **body: Any) -> str:
    made = await client.post("/projects", json={"originalImageUrl": as_data_url(PNG)} | body)
    assert made.status_code == 201, made.text
    return str(made.json()["projectId"])


async def edit(client: httpx.AsyncClient, project: str, **body: Any) -> httpx.Response:
    headers = {"Idempotency-Key": key} if (key := body.pop("key", None)) else {}
    return await client.post("/generate-image", json=EDIT | {"projectId": project} | body, headers=headers)


async def job_of(studio: Studio, answer: httpx.Response) -> dict[str, Any]:
    assert answer.status_code == 202, answer.text
    (row,) = await studio.rows("SELECT * FROM jobs WHERE id = $1", number(answer.json()["jobId"]))
    return row | {"payload": json.loads(row["payload"])}


def key_in(url: str) -> str:
    return urlsplit(url).path.removeprefix("/objects/")


async def test_a_project_is_made_edited_and_shown(studio: Studio) -> None:
    made = await studio.anna.post("/projects", json={"originalImageUrl": as_data_url(PNG), "projectType": "new_build"})
    project = made.json()
    assert (made.status_code, project["status"], project["projectType"]) == (201, "draft", "new_build")
    assert (await studio.anna.get(urlsplit(project["original_image_url"]).path)).content == PNG
    answer = await edit(studio.anna, project["projectId"], mask=as_data_url(MASK))
    assert answer.json() == {"jobId": answer.json()["jobId"], "status": "processing"}
    job = await job_of(studio, answer)
    assert (job["workflow"], job["user_id"], str(job["project_id"])) == ("image_edit", "anna", project["projectId"])
    at = f"/projects/{project['projectId']}"
    shown = (await studio.anna.get(at)).json()
    assert (shown["status"], shown["jobId"]) == ("processing", answer.json()["jobId"])
    assert shown["updated_at"] > project["updated_at"]
    await studio.rows(END, job["id"], "failed", "The mask is empty", None)
    shown = (await studio.anna.get(at)).json()
    assert (shown["status"], shown["error_message"]) == ("failed", "The mask is empty")
    again = await job_of(studio, await edit(studio.anna, project["projectId"]))
    stored = await Objects.of(studio.visit.settings).put(OTHER, "image/png", "png")
    await studio.rows(END, again["id"], "completed", None, stored.key)
    await studio.rows(SHOW, project["projectId"], f"{studio.visit.settings.address}/objects/{stored.key}")
    shown = (await studio.anna.get(at)).json()
    assert (shown["status"], shown["error_message"]) == ("completed", None)
    assert shown["generated_image_urls"] == [shown["generated_image_url"]]
    assert (await studio.anna.get(urlsplit(shown["generated_image_url"]).path)).content == OTHER


async def test_what_is_written_out_is_stored_and_the_job_carries_keys(studio: Studio) -> None:
    project = await a_project(studio.anna)
    answer = await edit(
        studio.anna,
        project,
        samples=[{"name": "a", "url": as_data_url(PNG)}, {"name": "b", "url": NOWHERE}],
        maskRegions=[{"sampleIndex": 1, "mask": as_data_url(MASK)}],
        inputImageUrl=as_data_url(OTHER),
    )
    job = await job_of(studio, answer)
    payload, objects = job["payload"], Objects.of(studio.visit.settings)
    assert await objects.get(payload["samples"][0]["url"]) == PNG
    assert payload["samples"][1] == {"name": "b", "url": NOWHERE}
    assert (payload["maskRegions"][0]["sampleIndex"], payload["mask"]) == (1, None)
    assert await objects.get(payload["maskRegions"][0]["mask"]) == MASK
    assert await objects.get(payload["inputImageUrl"]) == OTHER
    kept = await studio.rows("SELECT object_key FROM job_inputs WHERE item_id = $1", job["id"])
    given = {payload["samples"][0]["url"], payload["maskRegions"][0]["mask"], payload["inputImageUrl"]}
    assert {row["object_key"] for row in kept} == given


async def test_a_project_can_be_sent_as_a_form_with_a_file(studio: Studio) -> None:
    made = await studio.anna.post(
        "/projects", files={"originalImage": ("house.png", PNG)}, data={"projectType": "existing"}
    )
    assert (made.status_code, made.json()["projectType"]) == (201, "existing")
    assert (await studio.anna.get(urlsplit(made.json()["original_image_url"]).path)).content == PNG
    by_url = await studio.anna.post("/projects", files={"originalImageUrl": (None, NOWHERE)})
    assert by_url.json()["original_image_url"] == NOWHERE
    both = await studio.anna.post(
        "/projects", files={"originalImage": ("a.png", PNG)}, data={"originalImageUrl": NOWHERE}
    )
    assert (both.status_code, "originalImage" in both.json()["message"]) == (400, True)


async def test_what_is_kept_here_already_is_given_by_its_address_or_key(studio: Studio) -> None:
    (file,) = (await upload(studio.anna, ("brick.png", OTHER))).json()["files"]
    project = await a_project(studio.anna, originalImageUrl=file["url"])
    shown = (await studio.anna.get(f"/projects/{project}")).json()["original_image_url"]
    assert (await studio.anna.get(urlsplit(shown).path)).content == OTHER
    relative = (file["key"], urlsplit(shown).path, "/image/raw/anna/brick.png")
    for given in (shown, key_in(shown), file["url"], f"{studio.visit.address}/image/raw/anna/brick.png", *relative):
        job = await job_of(studio, await edit(studio.anna, project, inputImageUrl=given))
        assert job["payload"]["inputImageUrl"] == key_in(shown)
        assert await studio.rows("SELECT FROM job_inputs WHERE item_id = $1", job["id"])


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "[::1]"])
async def test_on_this_machine_a_picture_is_known_by_every_name_of_it(name: str, database_url: str) -> None:
    async with open_studio(database_url, public_url="http://127.0.0.1:8000") as studio:
        await upload(studio.anna, ("brick.png", OTHER))
        project = await a_project(studio.anna, originalImageUrl=f"http://{name}:8000/image/raw/anna/brick.png")
        shown = (await studio.anna.get(f"/projects/{project}")).json()["original_image_url"]
        assert (await studio.anna.get(urlsplit(shown).path)).content == OTHER


async def test_another_users_picture_cannot_be_used_by_its_key(studio: Studio) -> None:
    """Nor can one that is not revealed yet: an edit of it would show it."""
    (file,) = (await upload(studio.ben, ("secret.png", OTHER))).json()["files"]
    (row,) = await studio.rows("SELECT object_key FROM files")
    address, project = studio.visit.settings.address, await a_project(studio.anna)
    for given in (row["object_key"], f"{address}/objects/{row['object_key']}", file["url"]):
        refused = await edit(studio.anna, project, inputImageUrl=given)
        assert (refused.status_code, refused.json()["code"]) == (400, "GLK-806")
        assert "inputImageUrl: there is no such picture." in refused.json()["message"]
        assert (await studio.anna.post("/projects", json={"originalImageUrl": given})).status_code == 400
    assert (await edit(studio.operator, project, inputImageUrl=row["object_key"])).status_code == 202


BAD_EDITS: list[tuple[dict[str, Any], str]] = [
    ({"projectId": "x"}, "projectId: a project's id is wanted."),
    ({"projectId": None}, "projectId: a project's id is wanted."),
    ({"prompt": None}, "prompt: a text"),
    ({"prompt": "  "}, "prompt: it is empty"),
    ({"prompt": "\0"}, "prompt:"),
    ({"samples": "x"}, "samples: a list"),
    ({"samples": [{"name": "a"}]}, "url: it is missing"),
    ({"samples": [{"url": NOWHERE}] * 11}, "samples: a list of at most 10"),
    ({"mask": "x"}, "mask: a data URL"),
    ({"mask": "ftp://example.com/a.png"}, "mask: a data URL"),
    ({"mask": "data:image/png;base64,%%%"}, "mask: its data URL is no base64."),
    ({"mask": as_data_url(b"<svg/>")}, "mask: this is no whole picture"),
    ({"mask": as_data_url(PNG[:-20])}, "mask: this is no whole picture"),
    ({"maskRegions": [{"sampleIndex": 1, "mask": as_data_url(PNG)}]}, "maskRegions[0].sampleIndex: there is no"),
    ({"maskRegions": [{"sampleIndex": -1, "mask": as_data_url(PNG)}]}, "maskRegions: a list"),
    ({"inputImageUrl": f"sha256/ab/{'ab' * 32}.png"}, "inputImageUrl: there is no such picture."),
    ({"projectType": "castle"}, "projectType: existing, new_build"),
    ({"workflow": "r2_image"}, "workflow: there is no such field"),
]


async def test_a_bad_edit_is_told_with_its_field_and_nothing_is_written(studio: Studio) -> None:
    project = await a_project(studio.anna)
    for body, why in BAD_EDITS:
        refused = await edit(studio.anna, project, **body)
        assert (refused.status_code, refused.json()["code"]) == (400, "GLK-806"), refused.text
        assert why in refused.json()["message"]
    assert (await studio.anna.post("/generate-image", content=b"\xff")).status_code == 400
    assert await studio.rows("SELECT FROM jobs") == []


async def test_a_project_needs_a_picture_before_it_is_edited(studio: Studio) -> None:
    project = await a_project(studio.anna, originalImageUrl=None)
    refused = await edit(studio.anna, project)
    assert (refused.status_code, "no original image" in refused.json()["message"]) == (400, True)
    assert (await edit(studio.anna, project, inputImageUrl=NOWHERE)).status_code == 202


async def test_what_is_too_large_is_refused(database_url: str) -> None:
    large = as_data_url(PNG + bytes(1 << 20))
    async with open_studio(database_url, upload_file_mb=1, upload_total_mb=4) as studio:
        project = await a_project(studio.anna)
        for refused in (
            await edit(studio.anna, project, mask=large),
            await edit(studio.anna, project, mask="data:" + "x" * (4 << 20)),
            await studio.anna.post("/projects", json={"originalImageUrl": large}),
            await studio.anna.post("/projects", files={"originalImage": ("a.png", PNG + bytes(1 << 20))}),
        ):
            assert (refused.status_code, refused.json()["code"]) == (413, "GLK-808")
        assert await studio.rows("SELECT FROM jobs") == []


async def test_a_request_that_is_sent_again_makes_one_job(studio: Studio) -> None:
    project = await a_project(studio.anna)
    answers = await asyncio.gather(*(edit(studio.anna, project, key="k-1") for _ in range(4)))
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["jobId"] for answer in answers}) == 1
    assert len(await studio.rows("SELECT FROM jobs")) == 1
    other = await edit(studio.anna, project, key="k-1", prompt="another")
    assert (other.status_code, other.json()["code"]) == (409, "GLK-823")


async def test_one_who_has_too_many_open_jobs_is_told_to_wait(database_url: str) -> None:
    async with open_studio(database_url, open_jobs=1) as studio:
        project = await a_project(studio.anna)
        assert (await edit(studio.anna, project)).status_code == 202
        refused = await edit(studio.anna, project)
        assert (refused.status_code, refused.json()["code"]) == (429, "GLK-826")


async def test_without_a_key_there_is_nothing(studio: Studio) -> None:
    project = await a_project(studio.anna)
    at = f"/projects/{project}"
    for refused in (
        *[await studio.public.get(path) for path in ("/projects", at, f"{at}/events")],
        await studio.public.post("/projects", json={}),
        await studio.public.delete(at),
        await edit(studio.public, project),
    ):
        assert (refused.status_code, refused.json()["code"]) == (401, "GLK-816")


async def test_another_user_finds_none_of_it(studio: Studio) -> None:
    project = await a_project(studio.anna)
    at = f"/projects/{project}"
    picture = urlsplit((await studio.anna.get(at)).json()["original_image_url"]).path
    for refused in (
        *[await studio.ben.get(path) for path in (at, f"{at}/events")],
        await studio.ben.delete(at),
        await edit(studio.ben, project),
        await studio.ben.get(f"/projects/{uuid4()}"),
    ):
        assert (refused.status_code, refused.json()["code"]) == (404, "GLK-821")
    assert (await studio.ben.get(picture)).status_code == 404
    assert (await studio.ben.get("/projects")).json()["projects"] == []
    assert (await studio.ben.get("/projects?user=anna")).status_code == 403
    assert (await studio.ben.post("/projects", json={"userId": "anna"})).status_code == 403
    assert (await studio.anna.get(at)).status_code == 200


async def test_an_operator_sees_everybodys_and_acts_for_whom_they_name(studio: Studio) -> None:
    hers = await a_project(studio.anna)
    his = await a_project(studio.operator, userId="ben")
    assert (await studio.operator.post("/projects", json={})).status_code == 400
    listed = (await studio.operator.get("/projects")).json()["projects"]
    assert [each["projectId"] for each in listed] == [his, hers]
    assert [each["projectId"] for each in (await studio.operator.get("/projects?user=anna")).json()["projects"]] == [
        hers
    ]
    job = await job_of(studio, await edit(studio.operator, hers))
    assert job["user_id"] == "anna"
    assert (await studio.ben.get(f"/projects/{his}")).status_code == 200


async def test_projects_come_page_after_page_the_newest_first(studio: Studio) -> None:
    made = [await a_project(studio.anna, originalImageUrl=None) for _ in range(5)]
    seen, cursor = list[str](), ""
    while True:
        page = (await studio.anna.get("/projects", params={"limit": 2, "cursor": cursor})).json()
        seen += [each["projectId"] for each in page["projects"]]
        if not (cursor := page["next"]):
            break
    assert seen == made[::-1]
    assert (await studio.anna.get("/projects?cursor=eA")).json()["message"].endswith("cursor: this is none of ours.")


async def test_a_deleted_project_takes_its_edits_along(studio: Studio) -> None:
    project = await a_project(studio.anna)
    job = await job_of(studio, await edit(studio.anna, project, mask=as_data_url(MASK)))
    await studio.rows("INSERT INTO events (item_id, to_status, actor) VALUES ($1, 'pending', 'a test')", job["id"])
    gone = await studio.anna.delete(f"/projects/{project}")
    assert (gone.status_code, gone.content) == (204, b"")
    assert (await studio.anna.get(f"/projects/{project}")).status_code == 404
    assert (await studio.anna.get(f"/jobs/{UUID(int=job['job_id'].int)}")).status_code == 404
    assert (
        await studio.rows("SELECT FROM jobs") == await studio.rows("SELECT FROM events WHERE item_id IS NOT NULL") == []
    )
    left = {row["object_key"] for row in await studio.rows("SELECT object_key FROM leftovers")}
    assert job["payload"]["mask"] in left
    (told,) = await studio.rows("SELECT actor, data FROM events WHERE to_status = 'project removed'")
    assert (told["actor"], json.loads(told["data"])["jobs"]) == ("anna's key", 1)


async def test_changes_of_a_project_are_told_as_they_happen(studio: Studio) -> None:
    project = await a_project(studio.anna)
    async with following(studio.anna, f"/projects/{project}/events") as told:
        assert (await anext(told)).kind == ""
        assert (await anext(told)).data["status"] == "draft"
        job = await job_of(studio, await edit(studio.anna, project))
        assert (await anext(told)).data["status"] == "processing"
        await studio.rows(END, job["id"], "failed", "The mask is empty", None)
        last = await anext(told)
        assert (last.kind, last.data["status"], last.data["error_message"]) == (
            "project",
            "failed",
            "The mask is empty",
        )
    await edit(studio.anna, project)
    resumed = {"Last-Event-ID": last.id}
    async with following(studio.anna, f"/projects/{project}/events", **resumed) as told:
        await anext(told)
        assert (await anext(told)).data["status"] == "processing"
        await studio.anna.delete(f"/projects/{project}")
        assert (await anext(told)).kind == "deleted"
        assert [each async for each in told] == []


async def test_who_comes_back_to_what_they_know_is_told_the_next_change(studio: Studio) -> None:
    project = await a_project(studio.anna)
    path = f"/projects/{project}/events"
    async with following(studio.anna, path) as told:
        await anext(told)
        known = (await anext(told)).id
    async with following(studio.anna, path, **{"Last-Event-ID": known}) as told:
        await anext(told)
        await edit(studio.anna, project)
        assert (await anext(told)).data["status"] == "processing"


def test_the_api_describes_what_it_takes() -> None:
    making = projects.described()["requestBody"]["content"]
    assert set(making) == {"application/json", "multipart/form-data"}
    assert "originalImage" in making["multipart/form-data"]["schema"]["properties"]
    assert "originalImage" not in making["application/json"]["schema"]["properties"]
    editing = bodies.described(edits.Wish, example=edits.EXAMPLE)["requestBody"]["content"]["application/json"]
    assert set(editing["example"]) <= set(editing["schema"]["properties"])
    assert "$ref" not in json.dumps(editing)


async def test_an_edit_that_is_done_is_shown_by_its_project(studio: Studio, database_url: str, connection: Any) -> None:
    """As a client of seed 002 has it, with a real worker and the embedded darkroom."""
    darkroom = Retouching(database_url, connection, None, studio.visit.settings.data_dir)
    (brick,) = (await upload(studio.anna, ("brick.png", as_png(a_brick())))).json()["files"]
    project = await a_project(studio.anna, originalImageUrl=data_url(a_photo()))
    async with (
        darkroom.at_work(studio.visit.settings),
        following(studio.anna, f"/projects/{project}/events") as told,
    ):
        samples, mask = [{"name": "Brick", "url": brick["url"]}], data_url(a_hole((10, 10, 50, 40)))
        assert (await edit(studio.anna, project, samples=samples, mask=mask)).status_code == 202
        while not (last := await anext(told)).data or last.data["status"] in ("draft", "processing"):
            pass
    assert last.data["status"] == "completed", last.data
    assert await studio.rows("SELECT progress FROM jobs") == [{"progress": 100}]
    shown = await studio.anna.get(urlsplit(last.data["generated_image_url"]).path)
    assert (shown.status_code, opened(shown.content).size) == (200, (96, 64))
    assert (await studio.ben.get(urlsplit(last.data["generated_image_url"]).path)).status_code == 404
