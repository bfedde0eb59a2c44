-- The cause of a failed cell: a key that is the same for equal failures of an action, in each run (H11). Numbers, ids, addresses
-- and quoted values in the error do not count, and nothing after its first 300 characters: this runs for each failed cell.
create function loam_cause(action text, status text, error text) returns text
language plpgsql immutable parallel safe as $$
declare
  words text := lower(left(coalesce(error, ''), 300));
begin
  words := regexp_replace(words, '"[^"]*"|“[^”]*”|`[^`]*`|(?<!\w)''[^'']*''(?!\w)', '#', 'g');
  words := regexp_replace(words, '\m[a-z][a-z0-9+.-]*://\S+|\S+@\S+', '#', 'g');
  -- Paths of endpoints, then names of hosts, but not names of fields such as inputs.method.
  words := regexp_replace(words, '(?<=\s)/\S+', '#', 'g');
  words := regexp_replace(words, '\m(?!inputs?\.)[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,24}\M(?!\.\w)', '#', 'g');
  -- Words with a digit in them: numbers, ids, times. The status of an answer stays.
  words := regexp_replace(words, '(?<!\mhttp )(?<![\w-])[\w-]*\d[\w-]*', '#', 'g');
  words := regexp_replace(words, '#(?:[.,:/-]#)+', '#', 'g');
  -- One credit is left, two credits are left.
  words := regexp_replace(words, '# (\w+?)s\M', '# \1', 'g');
  words := regexp_replace(words, '# are\M', '# is', 'g');
  words := regexp_replace(words, '\s+', ' ', 'g');
  return left(encode(sha256(convert_to(action || E'\x1f' || status || E'\x1f' || words, 'UTF8')), 'hex'), 32);
end
$$;

-- Null unless the cell has failed. Triggers write it, so that it is right whatever writes the cell.
alter table cells add column cause text;

create function loam_note_cause() returns trigger language plpgsql as $$
begin
  new.cause := case when new.status in ('failed', 'error', 'out_of_credits')
    then loam_cause(new.action, new.status, new.error) end;
  return new;
end
$$;
update cells set cause = loam_cause(action, status, error) where status in ('failed', 'error', 'out_of_credits');
create trigger cause_of_new_cell before insert on cells for each row
  when (new.status in ('failed', 'error', 'out_of_credits')) execute function loam_note_cause();
create trigger cause_of_rewritten_cell before update of status, error on cells for each row
  when (new.cause is not null or new.status in ('failed', 'error', 'out_of_credits')) execute function loam_note_cause();

-- The failed cells of a cause, in all and of a run, without reading the cells.
create index cells_by_cause on cells (org_id, sheet_id, cause, run_id, row_id) where cause is not null;

-- Cells of deleted rows are kept as text, which names their columns by place.
update deleted_rows set cells = array(select left(c, -1) || ',)' from unnest(cells) as c);

-- Counts of a run: rows with a failure, cells that a condition skipped, and cells that kept their former result (D84).
alter table run_tallies
  add column rows_failed bigint not null default 0,
  add column cells_skipped bigint not null default 0,
  add column cells_kept bigint not null default 0;

-- The number of actions of its run that a row does not run, because it begins at its first failed or missing cell.
alter table flights add column skipped integer not null default 0;
-- Why a parked cell waits: {kind, needed}, a limit of which other cells hold what is left (H12).
alter table flights add column waiting jsonb;
