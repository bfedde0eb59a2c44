import type { FastifyRequest } from 'fastify'
import type { ColumnFields, Sort } from '#contract/columns.ts'
import type { FieldError } from '#contract/errors.ts'
import type { CreatedAtFilter, RowFilter, StatusFilter } from '#contract/rows.ts'
import type { Definition } from '../../../catalog/chain/definition.ts'
import { type ChainView, viewChain } from '../../../catalog/configuration/chain-view.ts'
import type { Selection, SheetColumn, SortKey, ValueFilter } from '../../../database/tables/selection.ts'
import { validationError } from '../../../lib/errors.ts'
import {
  COLUMN_LISTS,
  findUnknownColumn,
  findUnknownNames,
  listParts,
  readValue,
} from '../../rows/unknown-names.ts'
import { comparedAs, findValue } from '../../rows/value-sources.ts'
import { listDiscoveredOutputs } from '../../store/action-outputs.ts'
import { getDefinition } from '../../store/definitions.ts'

export type SelectionBody = {
  filters?: RowFilter[] | undefined
  status_filters?: StatusFilter[] | undefined
  created_at?: CreatedAtFilter | undefined
  find?: string | undefined
  cause?: string | undefined
}

/** The request whose body names inputs, outputs and actions of its sheet. */
export type SelectingRequest = Pick<FastifyRequest, 'db' | 'sheet' | 'catalogue'>

/** The rows that a body selects, and their order. */
export type SelectedRows = { selection: Selection; sort: SortKey[] }

/** Resolves the names in a selection against the sheet; an unknown name is a 400 (D58). */
export async function resolveSelection(
  request: SelectingRequest,
  body: SelectionBody,
  definition: Definition,
): Promise<Selection> {
  return (await resolveRows(request, body, definition)).selection
}

/** Resolves the names in a selection and in its order. */
export async function resolveRows(
  request: SelectingRequest,
  body: SelectionBody & { sort?: Sort | undefined },
  definition: Definition,
): Promise<SelectedRows> {
  const chain = await viewChainOf(request, definition, body)
  const errors = findUnknownNames(body, chain)
  if (errors.length > 0) throw validationError(errors)
  const filters = (body.filters ?? []).flatMap((filter) => toValueFilter(filter, chain))
  const { status_filters: statusFilters = [], created_at: createdAt, find, cause } = body
  const sort = (body.sort ?? []).flatMap(({ direction, ...column }): SortKey[] => {
    const found = findColumn(column, chain)
    return found === undefined ? [] : [{ column: found, direction }]
  })
  return { selection: { filters, statusFilters, createdAt, find, cause }, sort }
}

/** Returns the chain, with the outputs that runs have shown if a body names any output. */
export async function viewChainOf(
  { db, sheet, catalogue }: SelectingRequest,
  definition: Definition,
  body: unknown,
): Promise<ChainView> {
  const parts = ['filters', ...COLUMN_LISTS].flatMap((name) => listParts(body, name))
  const namesOutput = parts.some((part) => {
    const variable = readValue(part, 'variable')
    const isOutput = typeof variable === 'string' && !/^\{\{\s*input\./.test(variable)
    return isOutput || readValue(part, 'path') !== undefined
  })
  return viewChain(definition, catalogue, namesOutput ? await listDiscoveredOutputs(db, sheet) : new Map())
}

function toValueFilter({ variable, ...filter }: RowFilter, chain: ChainView): ValueFilter[] {
  const value = findValue(variable, chain)
  if (value === undefined) return []
  const kind = comparedAs(value)
  return [{ ...filter, ...value.source, ...(kind === undefined ? {} : { kind }) }]
}

/** Finds a column of the sheet. Returns undefined if the sheet does not have it. */
export function findColumn(column: ColumnFields, chain: ChainView): SheetColumn | undefined {
  const { variable, action_instance_id, field } = column
  if (variable !== undefined) return findValue(variable, chain)?.source
  if (field !== undefined) return { field }
  const isThere = chain.definition.actions.some(({ id }) => id === action_instance_id)
  return isThere && action_instance_id !== undefined ? { statusOf: action_instance_id } : undefined
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

export function isEmptySelection({ filters, statusFilters, createdAt, find, cause }: Selection): boolean {
  const isOpen = createdAt === undefined && find === undefined && cause === undefined
  return isOpen && filters.length === 0 && statusFilters.length === 0
}
