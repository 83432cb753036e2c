"""The fingerprints of accepted pictures; the prompt kept at detection; a lane may be held for a while."""

from alembic import op

revision = "013"
down_revision = "012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        CREATE TABLE image_prints (
          item_id bigint PRIMARY KEY REFERENCES tokens_s0 (id) ON DELETE CASCADE,
          coarse  bigint NOT NULL,
          fine    bytea NOT NULL
        )""")
    # Whoever inserts a token: what its author asked for at that moment is drawn, whatever they publish later.
    op.execute("""
        CREATE FUNCTION keep_prompt() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          NEW.prompt := (SELECT prompt_text FROM authors WHERE author_id = NEW.author_id);
          RETURN NEW;
        END $$""")
    op.execute("""
        CREATE TRIGGER keep_prompt BEFORE INSERT ON tokens_s0
        FOR EACH ROW WHEN (NEW.prompt IS NULL) EXECUTE FUNCTION keep_prompt()""")
    op.execute("""
        UPDATE tokens_s0 t SET prompt = a.prompt_text FROM authors a
        WHERE a.author_id = t.author_id AND t.prompt IS NULL AND t.image_url IS NULL AND a.prompt_text IS NOT NULL""")
    op.execute("ALTER TABLE lanes ADD held_until timestamptz")
    op.execute("ALTER TABLE lanes ADD CONSTRAINT held_for_a_while CHECK (held_until IS NULL OR held_at IS NOT NULL)")


def downgrade() -> None:
    op.execute("ALTER TABLE lanes DROP held_until")
    op.execute("DROP TRIGGER keep_prompt ON tokens_s0")
    op.execute("DROP FUNCTION keep_prompt")
    op.execute("DROP TABLE image_prints")
