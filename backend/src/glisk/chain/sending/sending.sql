-- What is kept of the transactions we send. $n are named in the title of each statement.
-- Whoever takes a nonce locks the sender's row first (lock_sender), so that there is one stream of them.

-- name: know_sender (chain, address)
INSERT INTO chain_sender (chain_id, address) VALUES ($1, $2) ON CONFLICT DO NOTHING

-- name: saw_sender (chain, address, balance, price of gas, gas of one token)
-- What one token takes is remembered while nobody says otherwise.
UPDATE chain_sender SET balance_wei = $3::text::numeric, fee_wei = $4::text::numeric, gas_per_token = COALESCE($5::bigint, gas_per_token),
  seen_at = now() WHERE chain_id = $1 AND address = $2

-- name: lock_sender (chain, address)
SELECT next_nonce FROM chain_sender WHERE chain_id = $1 AND address = $2 FOR UPDATE

-- name: keep_claims (ids, epochs)
-- Those that are still the caller's. Locked: whoever wants to hold or cancel one now waits until its transaction is stored, or comes before.
SELECT t.id FROM tokens_s0 t JOIN unnest($1::bigint[], $2::bigint[]) v(id, epoch) ON t.id = v.id AND t.epoch = v.epoch
ORDER BY t.id FOR UPDATE OF t

-- name: sent_already (ids)
-- Of these tokens, those for which a transaction was stored and is not over.
SELECT item_id, attempt_id, receipt FROM attempts WHERE item_id = ANY ($1::bigint[]) AND step = 'revealing' AND outcome = 'open'

-- name: open_reveals (ids, epochs, provider, worker, receipt)
-- In the transaction that stores what will be sent. attempts_one_open refuses a token for which something is on its way.
INSERT INTO attempts (item_id, step, epoch, provider, worker, receipt)
SELECT id, 'revealing', epoch, $3, $4, $5 FROM unnest($1::bigint[], $2::bigint[]) v(id, epoch) ORDER BY id

-- name: take_nonce (chain, sender, nonce, content, recipient, data, tokens)
WITH taken AS (UPDATE chain_sender SET next_nonce = $3 + 1 WHERE chain_id = $1 AND address = $2)
INSERT INTO chain_nonce (chain_id, sender, nonce, content, recipient, data, tokens) VALUES ($1, $2, $3, $4, $5, $6, $7)

-- name: store_transaction (hash, chain, sender, nonce, content, raw, gas limit, fee, tip, worker)
INSERT INTO chain_tx (hash, chain_id, sender, nonce, content, raw, gas_limit, max_fee_wei, tip_wei, worker)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8::text::numeric, $9::text::numeric, $10)

-- name: replace_transaction (hash)
-- None comes back: somebody else has replaced it, or it is mined.
UPDATE chain_tx SET state = 'replaced' WHERE hash = $1 AND state = 'live' RETURNING hash

-- name: transactions (chain, sender, first nonce, last nonce)
SELECT nonce, hash, content, raw, gas_limit, max_fee_wei::text, tip_wei::text, state FROM chain_tx
WHERE chain_id = $1 AND sender = $2 AND nonce BETWEEN $3 AND $4 ORDER BY nonce, created_at

-- name: nonce (chain, sender, nonce)
SELECT content, recipient, data, tokens, outcome FROM chain_nonce WHERE chain_id = $1 AND sender = $2 AND nonce = $3

-- name: mine (hash, block, its hash, gas, wei, outcome)
-- Said twice it changes nothing; a block that was replaced after all gives way to the one that holds it now.
WITH mined AS (
  UPDATE chain_tx SET state = 'mined', block_no = $2, block_hash = $3, gas_used = $4, paid_wei = $5::text::numeric
  WHERE hash = $1 RETURNING chain_id, sender, nonce)
UPDATE chain_nonce n SET outcome = $6 FROM mined m WHERE n.chain_id = m.chain_id AND n.sender = m.sender AND n.nonce = m.nonce

-- name: retire (hash, chain, sender, nonce)
-- The others of the nonce: of them none is mined any more. Before `mine`: one that was, in a block that is gone, must make room.
UPDATE chain_tx SET state = 'replaced', block_no = NULL, block_hash = NULL, gas_used = NULL, paid_wei = NULL
WHERE chain_id = $2 AND sender = $3 AND nonce = $4 AND hash <> $1 AND state <> 'replaced'

-- name: lose_nonce (chain, sender, nonce)
-- Somebody else has used it: what we had signed for it can never be mined.
WITH lost AS (UPDATE chain_tx SET state = 'lost' WHERE chain_id = $1 AND sender = $2 AND nonce = $3 AND state IN ('live', 'replaced'))
UPDATE chain_nonce SET outcome = 'lost' WHERE chain_id = $1 AND sender = $2 AND nonce = $3 AND outcome IS NULL

-- name: attempts_of (receipt)
-- The tokens of a transaction, in the order in which what it cost is shared among them to the last wei.
SELECT attempt_id FROM attempts WHERE receipt = $1 AND step = 'revealing' ORDER BY attempt_id

-- name: mined_for (chain, sender, nonce)
SELECT hash, block_no, gas_used, paid_wei::text FROM chain_tx WHERE chain_id = $1 AND sender = $2 AND nonce = $3 AND state = 'mined'
