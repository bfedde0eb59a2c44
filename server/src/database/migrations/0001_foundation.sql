-- The organisation a connection speaks for: a uuid, '*' for the program itself, nothing for nobody.
create function loam_org() returns uuid language sql stable parallel safe as $$
  select case when current_setting('loam.org', true) ~ '^[0-9a-f-]{36}$'
    then current_setting('loam.org', true)::uuid end
$$;
create function loam_is_system() returns boolean language sql stable parallel safe as $$
  select coalesce(current_setting('loam.org', true) = '*', false)
$$;

-- The second wall of tenant isolation: even a statement that forgets its org_id sees one organisation only.
-- FORCE makes it hold for the owner of the tables, which is the role Loam connects as.
create procedure loam_protect(target regclass) language plpgsql as $$
begin
  execute format('alter table %s enable row level security', target);
  execute format('alter table %s force row level security', target);
  execute format(
    'create policy tenant on %s using ((select loam_is_system()) or org_id = (select loam_org()))', target);
end
$$;

create table settings (
  name text primary key,
  value jsonb not null
);

create table organisations (
  org_id uuid primary key,
  name text not null,
  credits_millis bigint not null default 0 check (credits_millis >= 0),
  created_at timestamptz not null default now()
);
call loam_protect('organisations');

create table org_knowledge (
  org_id uuid primary key references organisations on delete cascade,
  content text not null,
  updated_at timestamptz not null
);
call loam_protect('org_knowledge');

create table members (
  org_id uuid not null references organisations on delete cascade,
  member_id uuid not null,
  email text not null check (email = lower(email)),
  first_name text,
  last_name text,
  role text not null,
  joined_at timestamptz not null default now(),
  primary key (org_id, member_id),
  unique (org_id, email)
);
create index members_by_email on members (email);
call loam_protect('members');

create table invitations (
  org_id uuid not null references organisations on delete cascade,
  email text not null check (email = lower(email)),
  role text not null,
  token_hash bytea not null unique,
  token_sealed text not null,
  email_sent boolean not null default false,
  invited_by text not null,
  created_at timestamptz not null default now(),
  primary key (org_id, email)
);
call loam_protect('invitations');

create table api_keys (
  org_id uuid not null references organisations on delete cascade,
  key_id uuid not null,
  member_id uuid,
  hash bytea not null unique,
  last4 text not null,
  scopes text[],
  allowed_workflow_ids uuid[],
  per_minute integer check (per_minute > 0),
  per_day integer check (per_day > 0),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  rotated_from uuid,
  primary key (org_id, key_id),
  foreign key (org_id, member_id) references members on delete set null (member_id)
);
create unique index api_keys_by_id on api_keys (key_id);
create index api_keys_by_member on api_keys (org_id, member_id);
call loam_protect('api_keys');

-- One row per key or client address. Updated on every request: room on the page keeps those updates in place.
create table rate_windows (
  bucket text primary key,
  minute timestamptz not null,
  minute_used integer not null,
  day timestamptz not null,
  day_used integer not null,
  granted integer not null,
  per_minute integer not null,
  per_day integer not null
) with (fillfactor = 50);

create table idempotency_keys (
  org_id uuid not null references organisations on delete cascade,
  member_id uuid not null,
  key text not null,
  fingerprint bytea not null,
  status integer,
  body text,
  created_at timestamptz not null default now(),
  primary key (org_id, member_id, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_at);
call loam_protect('idempotency_keys');

create table audit_entries (
  org_id uuid not null references organisations on delete cascade,
  entry_id uuid not null,
  at timestamptz not null default now(),
  actor text not null,
  key_id uuid,
  action text not null,
  target text not null,
  details jsonb not null default '{}',
  primary key (org_id, entry_id)
);
call loam_protect('audit_entries');

create table credit_entries (
  org_id uuid not null references organisations on delete cascade,
  entry_id uuid not null,
  at timestamptz not null default now(),
  amount_millis bigint not null,
  balance_millis bigint not null check (balance_millis >= 0),
  reason text not null,
  details jsonb not null default '{}',
  primary key (org_id, entry_id)
);
call loam_protect('credit_entries');
