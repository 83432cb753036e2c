"""How far each contract has been read, the blocks that may still be replaced, the logs that were taken over, and on a
token the log that made it."""

from alembic import op

revision = "014"
down_revision = "013"
branch_labels = None
depends_on = None


CHAIN_CURSOR = """
    CREATE TABLE chain_cursor (
      chain_id         bigint NOT NULL CONSTRAINT cursor_chain_is_positive CHECK (chain_id > 0),
      contract_address text NOT NULL CONSTRAINT cursor_contract_is_an_address CHECK (contract_address ~ '^0x[0-9a-f]{40}$'),
      start_no         bigint NOT NULL CONSTRAINT start_is_a_block CHECK (start_no >= 0),
      tip_no           bigint NOT NULL,
      tip_hash         bytea NOT NULL CONSTRAINT tip_hash_is_whole CHECK (octet_length(tip_hash) = 32),
      confirmed_no     bigint NOT NULL,
      confirmed_hash   bytea NOT NULL CONSTRAINT confirmed_hash_is_whole CHECK (octet_length(confirmed_hash) = 32),
      safe_no          bigint NOT NULL DEFAULT -1,
      head_no          bigint NOT NULL DEFAULT -1,
      head_at          timestamptz,
      first_token_id   numeric(78, 0),
      next_token_id    numeric(78, 0),
      halted           text,
      alarm            text,
      epoch            bigint NOT NULL DEFAULT 0 CONSTRAINT cursor_epoch_only_grows CHECK (epoch >= 0),
      updated_at       timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (chain_id, contract_address),
      CONSTRAINT confirmed_within_tip CHECK (start_no - 1 <= confirmed_no AND confirmed_no <= tip_no)
    )"""
# Every block above the confirmed one, whether it had mints or not: an empty one may be replaced by one that has.
HOT_BLOCK = """
    CREATE TABLE hot_block (
      chain_id         bigint NOT NULL,
      contract_address text NOT NULL,
      number           bigint NOT NULL,
      hash             bytea NOT NULL CONSTRAINT hot_hash_is_whole CHECK (octet_length(hash) = 32),
      parent_hash      bytea NOT NULL CONSTRAINT hot_parent_is_whole CHECK (octet_length(parent_hash) = 32),
      block_at         timestamptz NOT NULL,
      PRIMARY KEY (chain_id, contract_address, number),
      FOREIGN KEY (chain_id, contract_address) REFERENCES chain_cursor ON DELETE CASCADE
    )"""
# By block hash: a transaction that is mined again has another place, and may mint other tokens. Nothing is deleted: what
# left the chain is orphaned.
CHAIN_EVENT = """
    CREATE TABLE chain_event (
      chain_id         bigint NOT NULL,
      contract_address text NOT NULL,
      block_number     bigint NOT NULL,
      block_hash       bytea NOT NULL CONSTRAINT event_block_is_whole CHECK (octet_length(block_hash) = 32),
      log_index        integer NOT NULL,
      tx_hash          bytea NOT NULL CONSTRAINT event_tx_is_whole CHECK (octet_length(tx_hash) = 32),
      kind             text NOT NULL CONSTRAINT event_kind_is_known
                       CHECK (kind IN ('transfer', 'batch_minted', 'consecutive', 'undecodable')),
      first_token_id   numeric(78, 0),
      quantity         integer CONSTRAINT event_mints_some CHECK (quantity > 0),
      minter           text,
      author           text,
      problem          text,
      raw              jsonb,
      seen_at          timestamptz NOT NULL DEFAULT now(),
      orphaned_at      timestamptz,
      PRIMARY KEY (chain_id, block_hash, log_index),
      CONSTRAINT decoded_or_raw CHECK (CASE WHEN kind = 'undecodable' THEN num_nulls(raw, problem) = 0
                                       ELSE num_nulls(first_token_id, quantity, minter, author) = 0 END)
    )"""
# Who follows says so all the time: one that hangs is put out by those who stand by.
CHAIN_SEAT = """
    CREATE TABLE chain_seat (
      seat    text PRIMARY KEY,
      beat_at timestamptz NOT NULL DEFAULT now()
    )"""
MINTED = """
    ALTER TABLE tokens_s0
      ADD minter          text CONSTRAINT minter_is_an_address CHECK (char_length(minter) = 42 AND minter LIKE '0x%'),
      ADD mint_block      bigint,
      ADD mint_block_hash bytea CONSTRAINT mint_block_is_whole CHECK (octet_length(mint_block_hash) = 32),
      ADD mint_tx         bytea CONSTRAINT mint_tx_is_whole CHECK (octet_length(mint_tx) = 32),
      ADD mint_log        integer,
      ADD CONSTRAINT mint_is_whole CHECK (num_nulls(minter, mint_block, mint_block_hash, mint_tx, mint_log) IN (0, 5))"""


def upgrade() -> None:
    op.execute(CHAIN_CURSOR)
    op.execute(HOT_BLOCK)
    op.execute(CHAIN_EVENT)
    op.execute(CHAIN_SEAT)
    op.execute("CREATE INDEX chain_event_height ON chain_event (chain_id, contract_address, block_number)")
    op.execute("""
        CREATE INDEX chain_event_orphaned ON chain_event (chain_id, contract_address, block_number)
        WHERE orphaned_at IS NOT NULL""")
    op.execute("""
        CREATE INDEX chain_event_undecodable ON chain_event (chain_id, contract_address) WHERE kind = 'undecodable'""")
    op.execute(MINTED)

    # The listener brings the prompt along, in the statement that finds the author; for a hundred thousand tokens that shows.
    op.execute("DROP TRIGGER keep_prompt ON tokens_s0")
    op.execute("""
        CREATE TRIGGER keep_prompt BEFORE INSERT ON tokens_s0
        FOR EACH ROW WHEN (NEW.prompt IS NULL AND NEW.mint_block IS NULL) EXECUTE FUNCTION keep_prompt()""")


def downgrade() -> None:
    op.execute("DROP TRIGGER keep_prompt ON tokens_s0")
    op.execute("""
        CREATE TRIGGER keep_prompt BEFORE INSERT ON tokens_s0
        FOR EACH ROW WHEN (NEW.prompt IS NULL) EXECUTE FUNCTION keep_prompt()""")
    op.execute("""
        ALTER TABLE tokens_s0
          DROP CONSTRAINT mint_is_whole, DROP mint_log, DROP mint_tx, DROP mint_block_hash, DROP mint_block, DROP minter""")
    op.execute("DROP TABLE chain_seat")
    op.execute("DROP TABLE chain_event")
    op.execute("DROP TABLE hot_block")
    op.execute("DROP TABLE chain_cursor")
