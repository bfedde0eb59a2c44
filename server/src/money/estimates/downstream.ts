import type { ActionInstance } from '../../catalog/chain/definition.ts'
import { sum } from '../../catalog/configuration/cell-price.ts'
import { hasToken } from '../../catalog/fields/field.ts'
import type { Db } from '../../database/connection/db.ts'
import { getDefinition } from '../../sheets/store/definitions.ts'
import { findSheet } from '../../sheets/store/sheets.ts'
import { type EstimateRequest, estimateSheet, type SheetEstimate } from './estimate.ts'

export type Downstream = {
  sheet_id: string
  via: string
  rows: number | null
  expected: number
  at_most: number | null
}

type Parts = Parameters<typeof estimateSheet>[1]
/** A sheet whose rows may be sent on, and the number of its cells that run. */
type Sending = Pick<EstimateRequest, 'sheet' | 'definition'> & Pick<SheetEstimate, 'running'>

/** The number of times that rows are sent on from sheet to sheet (D36). */
const MAX_HOPS = 10

/**
 * Estimates the cost of rows that the run sends to other sheets which run them on arrival, and that those sheets send on. The
 * bound is null if the number of rows or their target is unknown.
 */
export async function estimateDownstream(
  db: Db,
  parts: Parts,
  { sheet, definition, running }: Sending,
  hops = 1,
): Promise<Downstream[]> {
  const found: Downstream[] = []
  for (const instance of definition.actions) {
    const sent = instance.action_id === 'send_to_sheet' ? running.get(instance.id) : undefined
    if (sent === undefined || sent.atMost === 0 || hops > MAX_HOPS) continue
    const via = instance.id
    const target = findTarget(instance)
    if (target === null) {
      found.push({ sheet_id: '', via, rows: null, expected: 0, at_most: null })
      continue
    }
    const targetSheet = await findSheet(db, sheet.org_id, target)
    if (targetSheet === undefined || !targetSheet.auto_run) continue
    const chain = await getDefinition(db, targetSheet)
    if (chain.actions.length === 0) continue
    const isExpanded = instance.inputs['expand_from'] !== undefined && instance.inputs['expand_from'] !== ''
    const request = {
      sheet: targetSheet,
      definition: chain,
      actions: chain.actions.map(({ id }) => id),
      rows: { kind: 'new' as const, count: sent.atMost },
      exact: false,
    }
    const own = await estimateSheet(db, parts, request)
    const share = sent.expected / sent.atMost
    found.push({
      sheet_id: target,
      via,
      rows: isExpanded ? null : sent.atMost,
      expected: sum([own.credits.expected * share]),
      at_most: isExpanded ? null : own.credits.at_most,
    })
    const nextSheets = await estimateDownstream(db, parts, { ...request, running: own.running }, hops + 1)
    found.push(
      ...nextSheets.map((one) => ({
        ...one,
        expected: sum([one.expected * share]),
        ...(isExpanded ? { rows: null, at_most: null } : {}),
      })),
    )
  }
  return found
}

/** Returns the target sheet; null if it depends on the row. */
function findTarget({ inputs }: ActionInstance): string | null {
  const target = inputs['target_sheet_id']
  return typeof target === 'string' && !hasToken(target) ? target.trim() : null
}
