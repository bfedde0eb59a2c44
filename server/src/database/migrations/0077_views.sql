-- Named views of a sheet: rows, their order and columns. Each sheet has one default view, which is shared.
create table views (
  org_id uuid not null,
  view_id uuid not null,
  sheet_id uuid not null,
  owner_id uuid,
  name text not null,
  visibility text not null check (visibility in ('shared', 'only_me')),
  is_default boolean not null default false check (not is_default or visibility = 'shared'),
  -- filters, status_filters, created_at, sort, groups, columns and row_height, as they were sent.
  settings jsonb not null,
  made_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (org_id, view_id),
  foreign key (org_id, sheet_id) references sheets on delete cascade,
  foreign key (org_id, owner_id) references members on delete set null (owner_id)
);
create index views_by_sheet on views (org_id, sheet_id);
create index views_by_owner on views (org_id, owner_id);
create unique index views_default on views (org_id, sheet_id) where is_default;
call loam_protect('views');

create function loam_default_view() returns trigger language plpgsql as $$
begin
  insert into views (org_id, view_id, sheet_id, name, visibility, is_default, settings, made_at, updated_at)
  values (new.org_id, gen_random_uuid(), new.sheet_id, 'All rows', 'shared', true, '{}', new.created_at, new.created_at);
  return null;
end
$$;
create trigger default_view after insert on sheets for each row execute function loam_default_view();

insert into views (org_id, view_id, sheet_id, name, visibility, is_default, settings, made_at, updated_at)
select org_id, gen_random_uuid(), sheet_id, 'All rows', 'shared', true, '{}', created_at, created_at from sheets;

-- The view whose rows a schedule runs.
alter table schedules add column view_id uuid;
