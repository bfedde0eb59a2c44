-- Values that actions may refer to as {{env.KEY}}: of the organisation, or of one workflow, which goes before.
create table env_variables (
  org_id uuid not null references organisations on delete cascade,
  workflow_id uuid,
  key text not null,
  value_sealed text not null,
  updated_by text not null,
  updated_at timestamptz not null default now(),
  unique nulls not distinct (org_id, workflow_id, key),
  foreign key (org_id, workflow_id) references workflows on delete cascade
);
call loam_protect('env_variables');

-- Keys of members and organisations to providers. Without an owner it is the organisation's; one that is not shared is for
-- its owner's workflows. A token that was made of the fields is kept until it expires, for every process.
create table connections (
  org_id uuid not null references organisations on delete cascade,
  connection_id uuid not null,
  provider text not null,
  name text not null,
  owner_id uuid,
  shared boolean not null check (shared or owner_id is not null),
  fields_sealed text not null,
  token_sealed text,
  token_expires_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (org_id, connection_id),
  foreign key (org_id, owner_id) references members on delete cascade
);
create unique index connections_by_name on connections (org_id, provider, lower(name));
create unique index connections_by_id on connections (connection_id);
create index connections_by_owner on connections (org_id, owner_id);
call loam_protect('connections');
