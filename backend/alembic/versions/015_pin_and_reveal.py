"""What is pinned where, what each of our nonces is for and every transaction signed for it, and on a token what was revealed."""

from alembic import op

revision = "015"
down_revision = "014"
branch_labels = None
depends_on = None


# The token's own, and not on `pins`: that is about bytes, which two tokens could share.
REVEALED = """
    ALTER TABLE tokens_s0
      ADD tags        jsonb CONSTRAINT tags_are_a_list CHECK (jsonb_typeof(tags) = 'array'),
      ADD prompt_salt bytea CONSTRAINT salt_is_whole CHECK (octet_length(prompt_salt) = 32),
      ADD token_uri   text CONSTRAINT uri_is_short CHECK (char_length(token_uri) BETWEEN 1 AND 2000),
      ADD reveal_tx   bytea CONSTRAINT reveal_tx_is_whole CHECK (octet_length(reveal_tx) = 32)"""
AUTHORS = """
    ALTER TABLE authors
      ADD prompt_disclosure text CONSTRAINT disclosure_is_known CHECK (prompt_disclosure IN ('now', 'later', 'never'))"""
# One row for each CID and each place where it is to be: pinned there, or not yet.
PINS = """
    CREATE TABLE pins (
      cid           text NOT NULL,
      pinner        text NOT NULL,
      item_id       bigint NOT NULL REFERENCES tokens_s0 (id) ON DELETE CASCADE,
      object_key    text NOT NULL,
      label         text NOT NULL,
      pinned_at     timestamptz,
      check_at      timestamptz NOT NULL DEFAULT now(),
      missing_since timestamptz,
      error         text CONSTRAINT pin_error_is_short CHECK (char_length(error) BETWEEN 1 AND 1000),
      PRIMARY KEY (cid, pinner)
    )"""
# Whoever takes a nonce locks the sender's row: one stream of nonces, however many processes there are.
CHAIN_SENDER = """
    CREATE TABLE chain_sender (
      chain_id      bigint NOT NULL CONSTRAINT sender_chain_is_positive CHECK (chain_id > 0),
      address       text NOT NULL CONSTRAINT sender_is_an_address CHECK (address ~ '^0x[0-9a-f]{40}$'),
      next_nonce    bigint NOT NULL DEFAULT 0 CONSTRAINT nonces_start_at_zero CHECK (next_nonce >= 0),
      balance_wei   numeric(78, 0),
      fee_wei       numeric(78, 0),
      gas_per_token bigint,
      seen_at       timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (chain_id, address)
    )"""
# A nonce has one content for ever: the foreign key of chain_tx lets no transaction with another one be stored.
CHAIN_NONCE = """
    CREATE TABLE chain_nonce (
      chain_id   bigint NOT NULL,
      sender     text NOT NULL,
      nonce      bigint NOT NULL CONSTRAINT nonce_is_one CHECK (nonce >= 0),
      content    bytea NOT NULL CONSTRAINT content_is_a_hash CHECK (octet_length(content) = 32),
      recipient  text NOT NULL,
      data       bytea NOT NULL,
      tokens     integer NOT NULL CONSTRAINT nonce_is_for_some CHECK (tokens > 0),
      outcome    text CONSTRAINT nonce_outcome_is_known CHECK (outcome IN ('done', 'reverted', 'lost')),
      created_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (chain_id, sender, nonce),
      UNIQUE (chain_id, sender, nonce, content),
      FOREIGN KEY (chain_id, sender) REFERENCES chain_sender
    )"""
CHAIN_TX = """
    CREATE TABLE chain_tx (
      hash        bytea PRIMARY KEY CONSTRAINT tx_hash_is_whole CHECK (octet_length(hash) = 32),
      chain_id    bigint NOT NULL,
      sender      text NOT NULL,
      nonce       bigint NOT NULL,
      content     bytea NOT NULL,
      raw         bytea NOT NULL,
      gas_limit   bigint NOT NULL CONSTRAINT tx_has_gas CHECK (gas_limit > 0),
      max_fee_wei numeric(78, 0) NOT NULL,
      tip_wei     numeric(78, 0) NOT NULL CONSTRAINT tip_within_fee CHECK (0 <= tip_wei AND tip_wei <= max_fee_wei),
      state       text NOT NULL DEFAULT 'live' CONSTRAINT tx_state_is_known CHECK (state IN ('live', 'replaced', 'mined', 'lost')),
      worker      text NOT NULL,
      created_at  timestamptz NOT NULL DEFAULT now(),
      block_no    bigint,
      block_hash  bytea CONSTRAINT tx_block_is_whole CHECK (octet_length(block_hash) = 32),
      gas_used    bigint,
      paid_wei    numeric(78, 0),
      FOREIGN KEY (chain_id, sender, nonce, content) REFERENCES chain_nonce (chain_id, sender, nonce, content),
      CONSTRAINT mined_is_whole CHECK (num_nulls(block_no, block_hash, gas_used, paid_wei) = CASE state WHEN 'mined' THEN 0 ELSE 4 END)
    )"""


def upgrade() -> None:
    op.execute(REVEALED)
    # After a downgrade there may be some.
    op.execute("UPDATE tokens_s0 SET token_uri = 'ipfs://' || metadata_cid WHERE status = 'revealed'")
    op.execute(
        "ALTER TABLE tokens_s0 ADD CONSTRAINT revealed_has_uri CHECK (status <> 'revealed' OR token_uri IS NOT NULL)"
    )
    op.execute(AUTHORS)
    op.execute(PINS)
    op.execute("CREATE INDEX pins_due ON pins (pinner, check_at)")
    op.execute("CREATE INDEX pins_item ON pins (item_id)")
    op.execute(CHAIN_SENDER)
    op.execute(CHAIN_NONCE)
    op.execute("CREATE INDEX chain_nonce_open ON chain_nonce (chain_id, sender, nonce) WHERE outcome IS NULL")
    op.execute(CHAIN_TX)
    op.execute("CREATE UNIQUE INDEX chain_tx_one_live ON chain_tx (chain_id, sender, nonce) WHERE state = 'live'")
    op.execute("CREATE UNIQUE INDEX chain_tx_one_mined ON chain_tx (chain_id, sender, nonce) WHERE state = 'mined'")
    op.execute("CREATE INDEX chain_tx_nonce ON chain_tx (chain_id, sender, nonce)")

    # What an attempt cost in gas, out of its details: the engine knows no wei.
    op.execute(
        "ALTER TABLE attempts ADD wei numeric(78, 0) GENERATED ALWAYS AS ((details ->> 'wei')::numeric(78, 0)) STORED"
    )
    op.execute("CREATE INDEX attempts_transaction ON attempts (receipt, attempt_id) WHERE step = 'revealing'")


def downgrade() -> None:
    # What their nonces were for is forgotten here. What became of them the chain knows: it is asked before anything is revealed.
    op.execute("""
        UPDATE attempts SET outcome = 'unknown', finished_at = now(), error = 'A downgrade has forgotten its transaction'
        WHERE step = 'revealing' AND outcome = 'open'""")
    op.execute("DROP INDEX attempts_transaction")
    op.execute("ALTER TABLE attempts DROP wei")
    op.execute("DROP TABLE chain_tx")
    op.execute("DROP TABLE chain_nonce")
    op.execute("DROP TABLE chain_sender")
    op.execute("DROP TABLE pins")
    op.execute("ALTER TABLE authors DROP prompt_disclosure")
    op.execute("""
        ALTER TABLE tokens_s0
          DROP CONSTRAINT revealed_has_uri, DROP reveal_tx, DROP token_uri, DROP prompt_salt, DROP tags""")
