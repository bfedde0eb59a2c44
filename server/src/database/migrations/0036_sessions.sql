-- A session is a key that only a cookie carries. As a key it bounds what its runs and actions reach (D36), also after its end.
alter table api_keys add column is_session boolean not null default false, add column browser text;

create table sign_in_links (
  token_hash bytea primary key,
  org_id uuid not null,
  member_id uuid not null,
  expires_at timestamptz not null,
  foreign key (org_id, member_id) references members on delete cascade
);
create index sign_in_links_by_member on sign_in_links (org_id, member_id);
call loam_protect('sign_in_links');

-- Mails asked for in an hour, by the hash of the address: also of those that nobody here has.
create table sign_in_windows (
  address_hash bytea primary key,
  hour timestamptz not null,
  used integer not null
);
