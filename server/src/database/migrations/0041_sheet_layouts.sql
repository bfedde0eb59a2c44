-- How somebody arranged the columns of a sheet in the dashboard.
create table sheet_layouts (
  org_id uuid not null,
  sheet_id uuid not null,
  member_id uuid not null,
  layout jsonb not null,
  updated_at timestamptz not null default now(),
  primary key (org_id, sheet_id, member_id),
  foreign key (org_id, sheet_id) references sheets on delete cascade,
  foreign key (org_id, member_id) references members on delete cascade
);
create index sheet_layouts_by_member on sheet_layouts (org_id, member_id);
call loam_protect('sheet_layouts');
