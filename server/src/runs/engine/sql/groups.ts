/**
 * Lists the rows of a batch (`@rows`), as `i`: `r`, its place `n`, from 1, its group `k`, and the columns. Values that
 * many rows have in common are given once for a group of them, and each row names its group by its place (`@groups`).
 *
 * `offset 0`: whatever is joined to it is then looked up by its whole key. The planner would otherwise see through to
 * the one organisation, and might read all that it has.
 */
export function listRows(columns: Record<string, string>): string {
  const values = Object.entries(columns).map(([name, column]) => `, (${column})[u.k] as ${name}`)
  return `(
    select u.r, u.n, u.k ${values.join('')}
    from unnest(@rows::uuid[], @groups::int[]) with ordinality as u (r, k, n)
    offset 0
  ) i`
}
