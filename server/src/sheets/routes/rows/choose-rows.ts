import type { FastifyRequest } from 'fastify'
import type { Sort } from '#contract/columns.ts'
import { FIRST_ROWS } from '#contract/runs.ts'
import type { Definition } from '../../../catalog/chain/definition.ts'
import type { SortKey } from '../../../database/tables/selection.ts'
import { invalid } from '../../../lib/errors.ts'
import type { RowChoice } from '../../../runs/row-choice.ts'
import { findRowIds } from '../../store/rows.ts'
import {
  isEmptySelection,
  resolveRows,
  resolveSelection,
  type SelectingRequest,
  type SelectionBody,
} from './row-selection.ts'

export type SelectorsBody = SelectionBody & {
  row_ids?: string[] | undefined
  first_10?: true | undefined
  exclude_row_ids?: string[] | undefined
}

/** Returns the rows of a selector, or all rows without one. Each listed row must exist (D21). */
export async function chooseRows(
  request: FastifyRequest,
  body: SelectorsBody,
  definition: Definition,
): Promise<RowChoice> {
  if (body.row_ids !== undefined) {
    await requireRows(request, body.row_ids)
    return { kind: 'ids', ids: [...new Set(body.row_ids)] }
  }
  if (body.first_10 === true) return { kind: 'first', count: FIRST_ROWS }
  const rows = await toRowChoice(request, body, definition)
  const ids = [...new Set(body.exclude_row_ids)]
  return ids.length === 0 ? rows : { kind: 'except', rows, ids }
}

/** Returns the rows that match the filters, or all rows without filters. */
export async function toRowChoice(
  request: SelectingRequest,
  body: SelectionBody,
  definition: Definition,
): Promise<RowChoice> {
  const selection = await resolveSelection(request, body, definition)
  return isEmptySelection(selection) ? { kind: 'all' } : { kind: 'matching', selection }
}

/** Returns the order in which the rows of a body start: its own, or that of its view. */
export async function chooseSort(
  request: SelectingRequest,
  body: SelectionBody & { sort?: Sort | undefined },
  definition: Definition,
): Promise<SortKey[]> {
  if (body.sort === undefined && body.view_id === undefined) return []
  return (await resolveRows(request, body, definition)).sort
}

/** Refuses a list with a row that the sheet does not have (D21). */
export async function requireRows({ db, sheet }: FastifyRequest, ids: readonly string[]): Promise<void> {
  const known = await findRowIds(db, sheet, ids)
  const missing = ids.findIndex((id) => !known.has(id.toLowerCase()))
  if (missing >= 0) throw invalid(`row_ids[${missing}]`, 'is not a row of this sheet')
}
