-- What providers did for an organisation, day by day: small sums beside the provenance of millions of cells.
create table provider_tallies (
  org_id uuid not null references organisations on delete cascade,
  day date not null,
  action text not null,
  provider text not null,
  asked bigint not null,
  found bigint not null,
  verified bigint not null,
  credits_millis bigint not null,
  -- How many answers took up to 2, 4, 8 ... milliseconds.
  times bigint[] not null default '{}',
  primary key (org_id, day, action, provider)
);
call loam_protect('provider_tallies');
