"""Every page of the dashboard, mounted here."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import APIRouter

from glisk.web import (
    assets,
    author,
    catalogue,
    chain,
    documentation,
    failures,
    gallery,
    jobs,
    live,
    login,
    pipeline,
    problems,
    spend,
    system,
    thumbs,
    token,
)
from glisk.web.site import Site

# Each page's own file mounts its routes.
PAGES: tuple[Callable[[APIRouter, Site], None], ...] = (
    gallery.mount,
    live.mount,
    thumbs.mount,
    token.mount,
    login.mount,
    catalogue.mount,
    author.mount,
    documentation.mount,
    pipeline.mount,
    failures.mount,
    jobs.mount,
    chain.mount,
    spend.mount,
    system.mount,
)


def router(site: Site) -> APIRouter:
    routes = APIRouter(route_class=problems.route_class(site), include_in_schema=False)
    assets.mount(routes)
    for mount in PAGES:
        mount(routes, site)
    return routes
