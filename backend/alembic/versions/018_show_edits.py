"""A finished edit is shown by its project, from the very transaction that ends its job."""

from alembic import op

revision = "018"
down_revision = "017"
branch_labels = None
depends_on = None

# Jobs are forgotten after a while, so the project keeps the addresses itself. The same picture twice is one picture.
SHOW = """
    CREATE FUNCTION show_edit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      UPDATE projects SET generated_image_url = NEW.result_url, updated_at = now(),
        generated_image_urls = array_append(array_remove(generated_image_urls, NEW.result_url), NEW.result_url)
      WHERE project_id = NEW.project_id;
      RETURN NULL;
    END $$"""
SHOWN = """
    CREATE TRIGGER show_edit AFTER UPDATE ON jobs FOR EACH ROW
    WHEN (NEW.workflow = 'image_edit' AND NEW.status = 'completed' AND OLD.status <> 'completed' AND NEW.result_url IS NOT NULL)
    EXECUTE FUNCTION show_edit()"""


def upgrade() -> None:
    op.execute(SHOW)
    op.execute(SHOWN)


def downgrade() -> None:
    op.execute("DROP TRIGGER show_edit ON jobs")
    op.execute("DROP FUNCTION show_edit")
