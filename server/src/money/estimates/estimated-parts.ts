import type { Db } from '../../database/connection/db.ts'
import { readStartGroups } from '../../runs/failure-starts.ts'
import type { RunChoice } from '../../runs/row-choice.ts'
import type { EstimateRequest } from './estimate.ts'

/** Returns the parts of an estimate: rows that begin at a failed cell are estimated from their first action on. */
export async function estimatedParts(
  db: Db,
  wanted: Omit<EstimateRequest, 'rows'> & { rows: RunChoice },
): Promise<[EstimateRequest, ...EstimateRequest[]]> {
  const { rows } = wanted
  if (rows.kind !== 'from_failure') return [{ ...wanted, rows }]
  const groups = await readStartGroups(db, wanted.sheet, rows)
  const [first = { ...wanted, rows: { kind: 'ids', ids: [] } }, ...others] = groups.map(
    (group): EstimateRequest => ({ ...wanted, ...group }),
  )
  return [first, ...others]
}
