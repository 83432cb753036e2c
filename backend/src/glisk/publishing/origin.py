"""What the ledger knows of a token's picture: who drew it, with what, from which prompt, and whether that may be told."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from glisk.engine.store import Fetch

VERSIONED = re.compile(r"(?:(.+):)?([0-9a-f]{64})")
# The picture that was accepted last; a token that was drawn again has several.
ORIGIN = """
    SELECT drawn.provider, drawn.model, drawn.details ->> 'version' AS version, drawn.seed, drawn.prompt, drawn.prompt_source, drawn.receipt,
      COALESCE(drawn.finished_at, t.detected_at) AS made_at, a.wallet_address AS author, a.prompt_disclosure AS choice
    FROM tokens_s0 t JOIN authors a ON a.author_id = t.author_id
    LEFT JOIN LATERAL (SELECT * FROM attempts WHERE item_id = t.id AND step = 'generating' AND outcome = 'done'
                       ORDER BY attempt_id DESC LIMIT 1) AS drawn ON true
    WHERE t.id = $1"""


@dataclass(frozen=True, slots=True)
class Origin:
    """Empty or None is what nobody knows: of a picture that came another way there is no more than its author, and
    `made_at` is when the token was seen."""

    provider: str
    model: str
    version: str
    seed: int | None
    prompt: str | None  # as it was drawn
    prompt_source: str | None
    receipt: str | None
    made_at: datetime
    author: str
    choice: str | None  # the author's own, about telling the prompt: now, later, never


async def origin_of(fetch: Fetch, item_id: int) -> Origin:
    (row,) = await fetch(ORIGIN, item_id)
    model, asked = versioned(row["model"] or "")
    version = row["version"] or asked
    known = {name: row[name] for name in ("seed", "prompt", "prompt_source", "receipt", "made_at", "author", "choice")}
    return Origin(row["provider"] or "", model, version, **known)


def versioned(model: str) -> tuple[str, str]:
    """Replicate's models may be asked for as owner/name:version, or by the version alone."""
    found = VERSIONED.fullmatch(model)
    return (found[1] or model, found[2]) if found else (model, "")
