"""The invariants of seed 003 and of the engine, kept by the database: a wrong row cannot exist."""

from alembic import op

revision = "005"
down_revision = "004"
branch_labels = None
depends_on = None

# A downgrade drops columns, so rows may come back without what their status promises. None is lost: a row whose work
# is merely unfinished waits again; one whose results are gone goes to `review`, because drawing it again would pay twice.
REPAIRS = (
    """UPDATE tokens_s0 SET generation_attempts = LEAST(GREATEST(generation_attempts, 0), 3),
         generation_error = left(generation_error, 1000),
         image_url = CASE WHEN image_url ~ '^https?://[^/ ]' THEN image_url END
       WHERE generation_attempts NOT BETWEEN 0 AND 3 OR char_length(generation_error) > 1000 OR image_url !~ '^https?://[^/ ]'""",
    """UPDATE tokens_s0 SET leased_by = NULL, leased_until = NULL, epoch = epoch + 1, status = CASE status
         WHEN 'generating' THEN 'detected' WHEN 'pinning' THEN 'uploading' WHEN 'revealing' THEN 'ready' ELSE status END
       WHERE status IN ('generating', 'pinning', 'revealing') OR leased_by IS NOT NULL OR leased_until IS NOT NULL""",
    """UPDATE tokens_s0 SET status = 'review', finished_at = NULL, generation_error =
         format('Status %s came back from a downgrade without its results; accept or reject it by hand', status)
       WHERE status NOT IN ('detected', 'failed', 'orphaned', 'review') AND (
         status NOT IN ('uploading', 'ready', 'revealed') OR image_url IS NULL
         OR status <> 'uploading' AND (image_key IS NULL OR image_cid IS NULL OR metadata_cid IS NULL))""",
    """UPDATE tokens_s0 SET status = 'failed', finished_at = now(),
         generation_error = concat_ws(': ', 'Max retries exceeded', left(generation_error, 900))
       WHERE status = 'detected' AND generation_attempts >= 3""",
    """UPDATE tokens_s0 SET generation_error = 'The error was lost in a downgrade'
       WHERE status = 'failed' AND COALESCE(generation_error, '') = ''""",
    "UPDATE tokens_s0 SET finished_at = NULL WHERE status IN ('detected', 'uploading') AND finished_at IS NOT NULL",
)

INVARIANTS = {
    "status_is_known": """status IN ('detected', 'generating', 'uploading', 'pinning', 'ready', 'revealing', 'revealed',
                                     'failed', 'orphaned', 'review')""",
    "attempts_within_budget": "generation_attempts BETWEEN 0 AND 3",
    "error_is_short": "char_length(generation_error) <= 1000",
    "image_url_is_http": "image_url ~ '^https?://[^/ ]'",
    "failed_has_error": "status <> 'failed' OR COALESCE(generation_error, '') <> ''",
    "spent_is_not_waiting": "NOT (status = 'detected' AND generation_attempts >= 3)",
    # image_url alone: the seed's update_image_url(token, image_url) can give no more.
    "drawn_has_image": "status NOT IN ('uploading', 'pinning', 'ready', 'revealing', 'revealed') OR image_url IS NOT NULL",
    "pinned_is_whole": """status NOT IN ('ready', 'revealing', 'revealed')
                          OR (image_key IS NOT NULL AND image_cid IS NOT NULL AND metadata_cid IS NOT NULL)""",
    "leased_iff_active": """(status IN ('generating', 'pinning', 'revealing')) = (leased_by IS NOT NULL)
                            AND (leased_by IS NULL) = (leased_until IS NULL)""",
    "finished_is_free": "finished_at IS NULL OR leased_by IS NULL",
    "waiting_is_open": "status NOT IN ('detected', 'uploading') OR finished_at IS NULL",
}


def upgrade() -> None:
    for repair in REPAIRS:
        op.execute(repair)
    for name, condition in INVARIANTS.items():
        op.create_check_constraint(name, "tokens_s0", condition)


def downgrade() -> None:
    for name in reversed(INVARIANTS):
        op.drop_constraint(name, "tokens_s0")
