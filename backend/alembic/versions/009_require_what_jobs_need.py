"""What a job of each workflow must have (seeds 001, 002 and 004), kept by the database; and the ledger keeps the prompt."""

from alembic import op

revision = "009"
down_revision = "008"
branch_labels = None
depends_on = None

# Only what can still run must be whole. NOT VALID would let old rows stand as well, but no statement could touch one again:
# a single incomplete job would break every claim that meets it, and nobody could delete a job it once waited for.
# So what had ended before stays as history, what was still open ends here, and the constraints hold for every row.
INVARIANTS = {
    "llm_task_is_whole": """workflow <> 'llm_task' OR finished_at IS NOT NULL
                            OR (conversation_id IS NOT NULL AND user_id IS NOT NULL AND name IS NOT NULL)""",
    "image_edit_is_whole": """workflow <> 'image_edit' OR finished_at IS NOT NULL
                              OR (project_id IS NOT NULL AND user_id IS NOT NULL)""",
    "ready_image_has_key": "workflow <> 'r2_image' OR status <> 'ready' OR output_r2_key IS NOT NULL",
}

# Those who wait for such a job end with it, as after any failure.
END_WHAT_IS_INCOMPLETE = """
    WITH RECURSIVE doomed AS (
      SELECT id, 'It lacks what a job of its workflow must have' AS error FROM jobs
      WHERE (finished_at IS NULL AND workflow = 'llm_task' AND num_nulls(conversation_id, user_id, name) > 0)
         OR (finished_at IS NULL AND workflow = 'image_edit' AND num_nulls(project_id, user_id) > 0)
         OR (workflow = 'r2_image' AND status = 'ready' AND output_r2_key IS NULL)
      UNION
      SELECT d.child_id, 'A job this one waits for failed' FROM job_dependencies d JOIN doomed ON d.parent_id = doomed.id
      WHERE d.released_at IS NULL AND d.on_failure = 'fail'),
    old AS (SELECT DISTINCT ON (id) id, status, error FROM doomed JOIN jobs USING (id)
            WHERE finished_at IS NULL OR (status = 'ready' AND output_r2_key IS NULL) ORDER BY id),
    ended AS (
      UPDATE jobs j SET status = 'failed', error_message = old.error, finished_at = now(), updated_at = now(),
        epoch = epoch + 1, leased_by = NULL, leased_until = NULL
      FROM old WHERE j.id = old.id
      RETURNING j.id, j.workflow, old.status AS was, j.status, j.epoch)
    INSERT INTO events (item_id, workflow, from_status, to_status, epoch, actor)
    SELECT id, workflow, was, status, epoch, 'migration 009' FROM ended"""
RELEASE_THOSE_WHO_WAIT = """
    WITH edge AS (
      UPDATE job_dependencies d SET released_at = now() FROM jobs p
      WHERE p.id = d.parent_id AND p.finished_at IS NOT NULL AND d.released_at IS NULL
      RETURNING d.child_id)
    UPDATE jobs SET dependency_count = dependency_count - n
    FROM (SELECT child_id, count(*) AS n FROM edge GROUP BY child_id) e WHERE jobs.id = e.child_id"""


def upgrade() -> None:
    op.execute(END_WHAT_IS_INCOMPLETE)
    op.execute(RELEASE_THOSE_WHO_WAIT)
    for name, condition in INVARIANTS.items():
        op.create_check_constraint(name, "jobs", condition)
    op.execute("ALTER TABLE attempts ADD prompt text, ADD prompt_source text")


def downgrade() -> None:
    op.execute("ALTER TABLE attempts DROP prompt_source, DROP prompt")
    for name in reversed(INVARIANTS):
        op.drop_constraint(name, "jobs")
