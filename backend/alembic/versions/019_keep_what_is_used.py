"""Pictures are deleted when nobody has them any more, and not while somebody is just storing the same."""

from alembic import op

revision = "019"
down_revision = "018"
branch_labels = None
depends_on = None

# Until then whoever deletes the object may be at it; who wants to store the same waits.
DELETING = "ALTER TABLE leftovers ADD deleting_until timestamptz"
# Let go of again while it is looked at: `since` tells whoever looks.
LEAVE = """
    CREATE OR REPLACE FUNCTION leave_object() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO leftovers (object_key, since) VALUES (to_jsonb(OLD) ->> TG_ARGV[0], clock_timestamp())
      ON CONFLICT (object_key) DO UPDATE SET since = GREATEST(leftovers.since, EXCLUDED.since);
      RETURN NULL;
    END $$"""
LEAVE_AS_IT_WAS = """
    CREATE OR REPLACE FUNCTION leave_object() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO leftovers (object_key) VALUES (to_jsonb(OLD) ->> TG_ARGV[0]) ON CONFLICT DO NOTHING;
      RETURN NULL;
    END $$"""
# A project names pictures by their keys, by our own addresses, or by addresses of others.
PICTURES = r"""
    CREATE FUNCTION pictures_in(urls text[]) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT COALESCE(array_agg(DISTINCT key) FILTER (WHERE key IS NOT NULL), '{}')
      FROM unnest(urls) AS url, LATERAL substring(url FROM 'sha256/[0-9a-f]{2}/[0-9a-f]{64}\.[a-z0-9]{1,8}$') AS key
    $$"""
OF_A_PROJECT = "pictures_in(original_image_url || (generated_image_url || generated_image_urls))"
LEAVE_PICTURES = """
    CREATE FUNCTION leave_pictures() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO leftovers (object_key, since)
      SELECT key, clock_timestamp()
      FROM unnest(pictures_in(OLD.original_image_url || (OLD.generated_image_url || OLD.generated_image_urls))) AS key ORDER BY key
      ON CONFLICT (object_key) DO UPDATE SET since = GREATEST(leftovers.since, EXCLUDED.since);
      RETURN NULL;
    END $$"""


def upgrade() -> None:
    op.execute(DELETING)
    op.execute("CREATE INDEX leftovers_since ON leftovers (since)")
    op.execute(LEAVE)
    op.execute(PICTURES)
    op.execute(f"CREATE INDEX projects_pictures ON projects USING gin (({OF_A_PROJECT}))")
    op.execute(LEAVE_PICTURES)
    op.execute("CREATE TRIGGER leave_pictures AFTER DELETE ON projects FOR EACH ROW EXECUTE FUNCTION leave_pictures()")


def downgrade() -> None:
    op.execute("DROP TRIGGER leave_pictures ON projects")
    op.execute("DROP FUNCTION leave_pictures")
    op.execute("DROP INDEX projects_pictures")
    op.execute("DROP FUNCTION pictures_in")
    op.execute(LEAVE_AS_IT_WAS)
    op.execute("DROP INDEX leftovers_since")
    op.execute("ALTER TABLE leftovers DROP deleting_until")
