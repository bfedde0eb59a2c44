-- What people changed in the cells of a sheet's inputs, so that they can take it back, wherever they sign in. An edit may
-- come in several parts. `changes`: for each row its id, the values as they were and as they became, by column.
create table row_edits (
  org_id uuid not null,
  sheet_id uuid not null,
  member_id uuid not null,
  edit_id uuid not null,
  part integer not null,
  changes jsonb not null,
  undone boolean not null default false,
  made_at timestamptz not null default now(),
  primary key (org_id, sheet_id, member_id, edit_id, part),
  foreign key (org_id, sheet_id) references sheets on delete cascade,
  foreign key (org_id, member_id) references members on delete cascade
);
create index row_edits_by_member on row_edits (org_id, member_id);
create index row_edits_by_time on row_edits (made_at);
call loam_protect('row_edits');
