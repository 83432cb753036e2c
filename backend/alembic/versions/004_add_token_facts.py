"""What the steps leave on a token for the next one: the prompt that was drawn, the stored image, the pinned files."""

from alembic import op

revision = "004"
down_revision = "003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        ALTER TABLE tokens_s0
          ADD prompt        text,
          ADD prompt_source text NOT NULL DEFAULT 'author'
              CONSTRAINT prompt_source_is_known CHECK (prompt_source IN ('author', 'default', 'fallback')),
          ADD image_key     text,
          ADD image_sha256  bytea CONSTRAINT image_sha256_is_whole CHECK (octet_length(image_sha256) = 32),
          ADD image_mime    text,
          ADD image_cid     text,
          ADD metadata_cid  text""")


def downgrade() -> None:
    op.execute("""
        ALTER TABLE tokens_s0
          DROP metadata_cid, DROP image_cid, DROP image_mime, DROP image_sha256, DROP image_key,
          DROP prompt_source, DROP prompt""")
