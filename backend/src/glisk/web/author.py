"""/author: where an author writes a prompt, and publishes it by a signature of their wallet."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from glisk import prompts
from glisk.web.site import Site

CHOICES = (
    ("", "As before", "What you chose last holds on, or what is usual here: {usual}."),
    ("now", "Public", "The prompt stands in the metadata of every token that is drawn from it, for ever."),
    ("later", "Later", "The metadata carries a commitment to the prompt. You can let it be told later."),
    ("never", "Never", "The metadata carries a commitment that nobody can open, and nobody is told."),
)


def mount(routes: APIRouter, site: Site) -> None:
    usual = site.settings.prompt_disclosure

    async def write(request: Request) -> Response:
        choices = [(value, name, text.format(usual=usual)) for value, name, text in CHOICES]
        return await site.page(
            request, "author.html", choices=choices, longest=prompts.LONGEST, address=site.settings.address
        )

    routes.add_api_route("/author", write, methods=["GET"])
