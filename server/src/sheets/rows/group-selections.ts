import type { Column } from '#contract/columns.ts'
import type { GroupRowsBody } from '#contract/row-groups.ts'
import { CELL_STATUSES, type CreatedAtFilter, type RowFilter, type StatusFilter } from '#contract/rows.ts'
import { createdRange } from '../store/row-filters.ts'

type Chosen = Omit<GroupRowsBody, 'by' | 'aggregates'>

/**
 * Returns the selection of the rows of one group: that of the request, and a condition for each column. `keys` are the values
 * of the group in the order of the columns.
 */
export function selectGroup(chosen: Chosen, by: readonly Column[], keys: readonly (string | null)[]): Chosen {
  const filters: RowFilter[] = [...(chosen.filters ?? [])]
  const statuses: StatusFilter[] = [...(chosen.status_filters ?? [])]
  let createdAt = chosen.created_at
  for (const [n, { variable, action_instance_id }] of by.entries()) {
    const key = keys[n] ?? null
    if (variable !== undefined) filters.push(filterBy(variable.trim(), key))
    else if (action_instance_id !== undefined) statuses.push(filterByStatus(action_instance_id, key))
    else if (key !== null) createdAt = narrow(createdAt, key)
  }
  return {
    ...chosen,
    ...(filters.length === 0 ? {} : { filters }),
    ...(statuses.length === 0 ? {} : { status_filters: statuses }),
    ...(createdAt === undefined ? {} : { created_at: createdAt }),
  }
}

const filterBy = (variable: string, key: string | null): RowFilter =>
  key === null ? { variable, operator: 'is empty' } : { variable, operator: 'is equal to', values: [key] }

const filterByStatus = (action_instance_id: string, key: string | null): StatusFilter => {
  const status = CELL_STATUSES.find((one) => one === key)
  return status === undefined
    ? { action_instance_id, is_not: [...CELL_STATUSES] }
    : { action_instance_id, is: [status] }
}

/** Returns the filter for the part of a day that another filter allows. */
function narrow(other: CreatedAtFilter | undefined, day: string): CreatedAtFilter {
  const within: CreatedAtFilter = { operator: 'equals to', values: [day] }
  if (other === undefined) return within
  const [a, b] = [createdRange(other), createdRange(within)]
  const first = new Date(Math.max(a.from, b.from)).toISOString()
  const last = new Date(Math.min(a.to, b.to) - 1).toISOString()
  return { operator: 'is between', values: [first, last] }
}
