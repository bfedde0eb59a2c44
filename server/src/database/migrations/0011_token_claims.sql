-- Who is making a token of a connection, and until when that counts: one process at a time, without a lock while it asks the
-- provider. A claim that is past its time is nobody's.
alter table connections add column token_claim uuid, add column token_claimed_until timestamptz;
