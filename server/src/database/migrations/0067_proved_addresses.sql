-- When somebody who had proved that the address is theirs took the membership on. Memberships of before are offered at the next
-- sign-on, and confirmed by choosing them.
alter table members add column confirmed_at timestamptz;

-- The link went to the mailbox of the address alone, so that using it proves the address.
alter table invitations add column is_mailed boolean not null default false;
alter table sign_in_links add column is_mailed boolean not null default false;

-- A session that began with such a proof may go on to other organisations of the address.
alter table api_keys add column is_verified boolean not null default false;
