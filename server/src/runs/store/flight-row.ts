/**
 * The results of the row `i.r`, of any run: status and outputs by action. Outputs that are large, or compressed and so
 * of unknown length, are replaced by their size in the database; the cells that refer to them read them.
 */
const CELL_RESULT = `case
      when c.outputs is null or (pg_column_size(c.outputs) <= 8192 and pg_column_compression(c.outputs) is null)
      then json_build_array(c.status, c.outputs) else json_build_array(c.status, null, pg_column_size(c.outputs)) end`
export const CELL_RESULTS = `json_object_agg(c.action, ${CELL_RESULT})`
export const CELLS = `(select ${CELL_RESULTS}
    from cells c where c.org_id = i.o and c.row_id = i.r)::text`
/**
 * The same for a row in the middle of its run. A cell that the run itself has skipped counts as empty for later cells,
 * whatever result it keeps (D84).
 */
export const CELLS_IN_RUN = `(select json_object_agg(c.action, case when c.kept is not null and c.run_id = i.run_id
      then json_build_array(c.kept->>'because', null) else ${CELL_RESULT} end)
    from cells c where c.org_id = i.o and c.row_id = i.r)::text`

/**
 * The inputs of the row `r`. Large ones are replaced by their size, as large outputs are, and read when there is room
 * for them.
 */
export const DATA = `case when pg_column_size(r.data) <= 8192 and pg_column_compression(r.data) is null then r.data::text
    else pg_column_size(r.data)::text end`
