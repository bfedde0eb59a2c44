/**
 * Counts settled cells by day and by all that usage is asked by. They are already added up. Statements that write the
 * same lane do so in the order of its records.
 */
export const USED = `
  insert into usage_cells as u (org_id, day, workflow_id, sheet_id, action_id, provider, member, key_id, trigger, lane, cells,
    cells_billed, cells_cached, saved_by_cache_millis, saved_by_own_keys_millis)
  select o, (now() at time zone 'UTC')::date, w, s, a, p, m, key, tr, @lane::int % 16, n, b, c, sc, so
  from jsonb_to_recordset(@usage::jsonb) as i (o uuid, w uuid, s uuid, a text, p text, m text, key uuid, tr text, n bigint, b bigint,
    c bigint, sc bigint, so bigint)
  where (select ok from whole)
  order by o, w, s, a, p, m, key, tr
  on conflict (org_id, day, workflow_id, sheet_id, action_id, provider, member, key_id, trigger, lane) do update
    set cells = u.cells + excluded.cells, cells_billed = u.cells_billed + excluded.cells_billed,
      cells_cached = u.cells_cached + excluded.cells_cached,
      saved_by_cache_millis = u.saved_by_cache_millis + excluded.saved_by_cache_millis,
      saved_by_own_keys_millis = u.saved_by_own_keys_millis + excluded.saved_by_own_keys_millis`
