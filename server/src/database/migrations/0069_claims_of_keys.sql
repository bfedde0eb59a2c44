-- An Idempotency-Key belongs to the API key or session that sent it (D99). What was sent before counts for each key that its
-- member has now, as it did.
alter table idempotency_keys drop constraint idempotency_keys_pkey;
alter table idempotency_keys add column key_id uuid;
insert into idempotency_keys (org_id, member_id, key_id, key, fingerprint, status, body, body_sealed, run_id, agent_run_id, created_at)
select i.org_id, i.member_id, a.key_id, i.key, i.fingerprint, i.status, i.body, i.body_sealed, i.run_id, i.agent_run_id, i.created_at
from idempotency_keys i join api_keys a on a.org_id = i.org_id and a.member_id = i.member_id
where a.revoked_at is null and (a.expires_at is null or a.expires_at > now());
delete from idempotency_keys where key_id is null;
alter table idempotency_keys alter column key_id set not null;
alter table idempotency_keys add primary key (org_id, key_id, key);

-- A call that asks others outside commits its claim first, and holds it by this lease: a process that dies leaves it behind.
alter table idempotency_keys add column claim_id uuid;
alter table idempotency_keys add column leased_until timestamptz;
