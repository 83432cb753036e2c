"""Is this picture a user's? One they have uploaded, or that was made for them, or that is in a project of theirs."""

from __future__ import annotations

from glisk.repositories.own import Own

# Asked as the user, whose rows are all they see.
THEIRS = """
    SELECT EXISTS (SELECT FROM files WHERE object_key = $1)
      OR EXISTS (SELECT FROM jobs WHERE output_r2_key = $1)
      OR EXISTS (SELECT FROM projects
                 WHERE pictures_in(original_image_url || (generated_image_url || generated_image_urls)) @> ARRAY[$1]) AS found"""


class OwnPictures:
    def __init__(self, own: Own) -> None:
        self.own = own

    async def has(self, user_id: str, key: str) -> bool:
        rows = await self.own.fetch(user_id, THEIRS, key)
        return bool(rows[0]["found"])
