import type { FastifyRequest } from 'fastify'
import type { ColumnFields, Sort } from '#contract/columns.ts'
import type { FieldError } from '#contract/errors.ts'
import type { Definition } from '../../../catalog/chain/definition.ts'
import { type ChainView, viewChain } from '../../../catalog/configuration/chain-view.ts'
import type { Selection, SheetColumn, SortKey } from '../../../database/tables/selection.ts'
import { invalid, validationError } from '../../../lib/errors.ts'
import { findColumn, type SelectionBody, toSelection, toSortKeys, withinView } from '../../rows/selections.ts'
import { findUnknownColumn, findUnknownNames, namesOutput } from '../../rows/unknown-names.ts'
import { listDiscoveredOutputs } from '../../store/action-outputs.ts'
import { getDefinition } from '../../store/definitions.ts'
import { findView, type ViewRecord } from '../../store/views.ts'
import { findGoneParts } from '../../views.ts'

export { isEmptySelection, type SelectionBody } from '../../rows/selections.ts'

/** The request whose body names inputs, outputs and actions of its sheet. */
export type SelectingRequest = Pick<FastifyRequest, 'db' | 'sheet' | 'catalogue' | 'caller'>

/** The rows that a body selects, their order, and the view that it names. */
export type SelectedRows = { selection: Selection; sort: SortKey[]; view: ViewRecord | undefined }

/** Resolves the names in a selection against the sheet; an unknown name is a 400 (D58). */
export async function resolveSelection(
  request: SelectingRequest,
  body: SelectionBody,
  definition: Definition,
): Promise<Selection> {
  return (await resolveRows(request, body, definition)).selection
}

/**
 * Resolves the names in a selection and in its order. With a view, its filters and those of the body both hold, and an order of the
 * body replaces that of the view.
 */
export async function resolveRows(
  request: SelectingRequest,
  body: SelectionBody & { sort?: Sort | undefined },
  definition: Definition,
): Promise<SelectedRows> {
  if (!namesAnything(body)) {
    const { created_at: createdAt, find, cause } = body
    return {
      selection: { filters: [], statusFilters: [], createdAt, find, cause },
      sort: [],
      view: undefined,
    }
  }
  const view = await findNamedView(request, body.view_id)
  const chain = await viewChainOf(request, definition, body, view?.settings)
  const errors = findUnknownNames(body, chain)
  if (errors.length > 0) throw validationError(errors)
  const gone = view && findGoneParts(view, chain)
  if (gone !== undefined) throw gone
  const own = toSelection(body, chain)
  const selection = view === undefined ? own : withinView(own, view.settings, chain)
  return { selection, sort: toSortKeys(body.sort ?? view?.settings.sort ?? [], chain), view }
}

/** Tells whether a body names inputs, outputs, actions or a view. Most pages are of all rows, and need no chain. */
function namesAnything({
  filters = [],
  status_filters = [],
  sort = [],
  view_id,
}: SelectionBody & { sort?: Sort | undefined }) {
  return filters.length + status_filters.length + sort.length > 0 || view_id !== undefined
}

/** Finds the view that a body names. One that the caller cannot see is a 400. */
async function findNamedView(
  { db, sheet, caller }: SelectingRequest,
  viewId: string | undefined,
): Promise<ViewRecord | undefined> {
  if (viewId === undefined) return undefined
  const view = await findView(db, sheet, viewId, caller)
  if (view === undefined) throw invalid('view_id', 'is not a view of this sheet')
  return view
}

/** Returns the chain, with the outputs that runs have shown if one of the bodies or settings names any output. */
export async function viewChainOf(
  { db, sheet, catalogue }: Pick<SelectingRequest, 'db' | 'sheet' | 'catalogue'>,
  definition: Definition,
  ...bodies: unknown[]
): Promise<ChainView> {
  const discovered = namesOutput(bodies) ? await listDiscoveredOutputs(db, sheet) : new Map()
  return viewChain(definition, catalogue, discovered)
}

/** Finds columns of the sheet, for a body whose names have been checked (`resolveRows`). */
export async function findColumns(
  request: SelectingRequest,
  columns: readonly ColumnFields[],
  definition: Definition,
): Promise<SheetColumn[]> {
  const chain = await viewChainOf(request, definition, { columns })
  return columns.flatMap((column) => findColumn(column, chain) ?? [])
}

/** Finds unknown names in a body whose shape was refused (D5). */
export async function faultsInSelection(request: FastifyRequest): Promise<FieldError[]> {
  const { db, sheet, body } = request
  return findUnknownNames(body, await viewChainOf(request, await getDefinition(db, sheet), body))
}

/** Finds the column that a body names if the sheet does not have it. */
export async function faultsInColumn(request: FastifyRequest): Promise<FieldError[]> {
  const { db, sheet, body } = request
  const chain = await viewChainOf(request, await getDefinition(db, sheet), { columns: [body] })
  return findUnknownColumn(body, chain)
}
