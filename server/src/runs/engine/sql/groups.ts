/**
 * The rows of a batch (`@rows`), as `i`: `r`, its place `n`, from 1, and the columns. What many rows have in common is given once for a
 * group of them, and each says by its place which group it is of (`@groups`); where all are of one (`alike`) none does.
 *
 * `offset 0`: whatever is looked up by it is then looked up by all of its key. The planner would otherwise see through to the one
 * organisation, and may read all that it has.
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
