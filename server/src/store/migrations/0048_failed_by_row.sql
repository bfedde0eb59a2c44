-- The next failed cell behind another is looked for in the order of rows.
create index cells_failed_by_row on cells (org_id, sheet_id, row_id)
  where status in ('failed', 'error', 'out_of_credits');
