-- Values that people changed in a row: [[column, before, after]], long values cut. Kept for a year, or as long as the row.
create table row_changes (
  org_id uuid not null,
  sheet_id uuid not null,
  row_id uuid not null,
  change_id uuid not null,
  changed_at timestamptz not null default now(),
  changed_by text not null,
  changes jsonb not null,
  primary key (org_id, row_id, changed_at, change_id)
);
create index row_changes_by_time on row_changes (changed_at);
call loam_protect('row_changes');

-- Who added rows: from this number on, up to the next record of the sheet. One person adds most rows of a sheet, so there are few.
create table row_authors (
  org_id uuid not null,
  sheet_id uuid not null,
  from_seq bigint not null,
  added_by text,
  primary key (org_id, sheet_id, from_seq),
  foreign key (org_id, sheet_id) references sheets on delete cascade
);
call loam_protect('row_authors');

-- Who added the last rows. Adding rows changes this record anyway; only another author makes a record of row_authors.
alter table sheet_counters add column added_by text;
create function loam_note_author() returns trigger language plpgsql as $$
begin
  insert into row_authors (org_id, sheet_id, from_seq, added_by) values (new.org_id, new.sheet_id, old.next_seq, new.added_by)
  on conflict (org_id, sheet_id, from_seq) do update set added_by = excluded.added_by;
  return null;
end
$$;
create trigger author_of_rows after update on sheet_counters for each row
  when (new.added_by is distinct from old.added_by) execute function loam_note_author();
