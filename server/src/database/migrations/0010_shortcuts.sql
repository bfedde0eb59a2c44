-- A workflow that is run through a form of its own. A shared copy has a parent and a holder; all it has to say beside its
-- own state is read from its parent, so that it is always the parent's current version that runs.
create table shortcuts (
  org_id uuid not null,
  shortcut_id uuid not null,
  workflow_id uuid not null,
  parent_id uuid,
  holder_id uuid,
  creator_id uuid,
  creator_email text not null,
  name text not null,
  description text not null default '',
  cover_image text,
  icon_emoji text,
  version integer not null default 1,
  is_published boolean not null default true,
  is_archived boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (org_id, shortcut_id),
  foreign key (org_id, workflow_id) references workflows on delete cascade,
  foreign key (org_id, parent_id) references shortcuts on delete cascade,
  foreign key (org_id, creator_id) references members on delete set null (creator_id),
  foreign key (org_id, holder_id) references members on delete set null (holder_id)
);
create index shortcuts_by_workflow on shortcuts (org_id, workflow_id);
create unique index shortcuts_by_holder on shortcuts (org_id, parent_id, holder_id);
call loam_protect('shortcuts');

-- What publishing froze (D50): a revision of the chain, and the fields that go in and come out. Never changed.
create table shortcut_versions (
  org_id uuid not null,
  shortcut_id uuid not null,
  version integer not null,
  revision integer not null,
  continue_on_fail boolean not null,
  inputs jsonb not null,
  outputs jsonb not null,
  -- A derived list follows the workflow at the next publication; a given one stays until another is given.
  inputs_given boolean not null,
  outputs_given boolean not null,
  created_by text not null,
  created_at timestamptz not null default now(),
  primary key (org_id, shortcut_id, version),
  foreign key (org_id, shortcut_id) references shortcuts on delete cascade
);
call loam_protect('shortcut_versions');

-- JSON as text, so that fields keep the order of the shortcut's schema.
create table shortcut_runs (
  org_id uuid not null,
  shortcut_run_id uuid not null,
  shortcut_id uuid not null,
  batch_id uuid,
  version integer not null,
  -- The engine's run and the row that it walks.
  run_id uuid not null,
  row_id uuid not null,
  user_email text not null,
  input_data json not null default '{}',
  -- Null while the engine knows better; written once, and never changed after.
  status text,
  output_data json,
  error_message text,
  created_at timestamptz not null default now(),
  completed_at timestamptz,
  primary key (org_id, shortcut_run_id),
  foreign key (org_id, shortcut_id) references shortcuts on delete cascade
);
create index shortcut_runs_by_shortcut on shortcut_runs (org_id, shortcut_id, shortcut_run_id);
create index shortcut_runs_by_batch on shortcut_runs (org_id, batch_id, shortcut_run_id) where batch_id is not null;
create index shortcut_runs_open on shortcut_runs (org_id, run_id, shortcut_run_id) where status is null;
call loam_protect('shortcut_runs');
