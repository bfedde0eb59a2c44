/**
 * Lists the rows of a batch (`@rows`), as `i`: `r`, its place `n`, from 1, and the columns. Values that many rows have
 * in common are given once for a group of them, and each row names its group by its place (`@groups`). If all rows are
 * of one group (`alike`), none names it.
 *
 * `offset 0`: whatever is joined to it is then looked up by its whole key. The planner would otherwise see through to
 * the one organisation, and might read all that it has.
 */
export function listRows(alike: boolean, columns: Record<string, string>): string {
  const valueOf = (column: string) => (alike ? `(select (${column})[1])` : `(${column})[u.k]`)
  const values = Object.entries(columns).map(([name, column]) => `, ${valueOf(column)} as ${name}`)
  return `(
    select u.r, u.n, ${alike ? '1 as k' : 'u.k'} ${values.join('')}
    from unnest(@rows::uuid[] ${alike ? '' : ', @groups::int[]'}) with ordinality as u (r ${alike ? '' : ', k'}, n)
    offset 0
  ) i`
}
