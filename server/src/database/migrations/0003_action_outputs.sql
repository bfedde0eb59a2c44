-- What runs have shown of an action's outputs, kept so that it outlives the rows it was seen in (D35).
create table action_outputs (
  org_id uuid not null,
  sheet_id uuid not null,
  action text not null,
  outputs jsonb not null,
  primary key (org_id, sheet_id, action),
  foreign key (org_id, sheet_id) references sheets on delete cascade
);
call loam_protect('action_outputs');
