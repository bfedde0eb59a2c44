-- Some answers hold a new key or token: what is kept of them for repetitions is sealed. `body` is that of an earlier version.
alter table idempotency_keys add column body_sealed text;
