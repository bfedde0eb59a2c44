-- The next failed cell behind another is looked for in the order of rows.
create index cells_failed_by_row on cells (org_id, sheet_id, row_id)
  where status in ('failed', 'error', 'out_of_credits');

-- What a person changed in the dashboard is theirs to take back there; what a program changed is not.
alter table chain_revisions add column by_session boolean not null default false;
