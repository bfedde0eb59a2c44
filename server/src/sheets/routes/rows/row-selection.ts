import type { FastifyRequest } from 'fastify'
import type { FieldError } from '#contract/errors.ts'
import { type CreatedAtFilter, RowFilter, type StatusFilter } from '#contract/rows.ts'
import type { Definition } from '../../../catalog/chain/definition.ts'
import { type ChainView, viewChain } from '../../../catalog/configuration/chain-view.ts'
import type { Selection, ValueFilter } from '../../../database/tables/selection.ts'
import { validationError } from '../../../lib/errors.ts'
import { createHints } from '../../../lib/nearest-name.ts'
import { comparedAs, findValue, listVariables, operatorsOf } from '../../rows/value-sources.ts'
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

/** Resolves the names in a selection against the sheet; an unknown name is a 400 (D58). */
export async function resolveSelection(
  request: SelectingRequest,
  body: SelectionBody,
  definition: Definition,
): Promise<Selection> {
  const chain = await viewChainOf(request, definition, body)
  const errors = findUnknownNames(body, chain)
  if (errors.length > 0) throw validationError(errors)
  const filters = (body.filters ?? []).flatMap((filter) => toValueFilter(filter, chain))
  const { status_filters: statusFilters = [], created_at: createdAt, find, cause } = body
  return { filters, statusFilters, createdAt, find, cause }
}

/** Returns the chain, with the outputs that runs have shown if the filters of a body name any output. */
async function viewChainOf(
  { db, sheet, catalogue }: SelectingRequest,
  definition: Definition,
  body: unknown,
): Promise<ChainView> {
  const variables = listParts(body, 'filters').map((filter) => readValue(filter, 'variable'))
  const namesOutput = variables.some((one) => typeof one === 'string' && !/^\{\{\s*input\./.test(one))
  return viewChain(definition, catalogue, namesOutput ? await listDiscoveredOutputs(db, sheet) : new Map())
}

function toValueFilter({ variable, ...filter }: RowFilter, chain: ChainView): ValueFilter[] {
  const value = findValue(variable, chain)
  if (value === undefined) return []
  const kind = comparedAs(value)
  return [{ ...filter, ...value.source, ...(kind === undefined ? {} : { kind }) }]
}

/** Finds names that the sheet does not have, even if other parts of the body have the wrong shape. */
function findUnknownNames(body: unknown, chain: ChainView): FieldError[] {
  const hintVariable = createHints(listVariables(chain))
  const { actions } = chain.definition
  const hintAction = createHints(actions.map(({ id }) => id))
  const variables = listParts(body, 'filters').flatMap((filter, n) =>
    findFilterErrors(filter, `filters[${n}]`, { chain, hintVariable }),
  )
  const ids = listParts(body, 'status_filters').flatMap((filter, n): FieldError[] => {
    const id = readValue(filter, 'action_instance_id')
    if (typeof id !== 'string' || actions.some((action) => action.id === id)) return []
    const field = `status_filters[${n}].action_instance_id`
    return [{ field, message: `the sheet has no action ${id}${hintAction(id)}` }]
  })
  return [...variables, ...ids]
}

/** Finds a variable that the sheet does not have, or an operator that the type of an output lacks. */
function findFilterErrors(
  filter: unknown,
  field: string,
  { chain, hintVariable }: { chain: ChainView; hintVariable: (variable: string) => string },
): FieldError[] {
  const { success, data: variable } = RowFilter.shape.variable.safeParse(readValue(filter, 'variable'))
  if (!success) return []
  const value = findValue(variable, chain)
  if (value === undefined) {
    const what = /^\{\{\s*input\./.test(variable) ? 'input' : 'output'
    const message = `the sheet has no ${what} for ${variable}${hintVariable(variable)}`
    return [{ field: `${field}.variable`, message }]
  }
  const { success: isOperator, data: operator } = RowFilter.shape.operator.safeParse(
    readValue(filter, 'operator'),
  )
  const allowed = operatorsOf(value)
  if (!isOperator || allowed === undefined || allowed.includes(operator)) return []
  const message = `must be one of: ${allowed.join(', ')} (the output is of type ${value.type})`
  return [{ field: `${field}.operator`, message }]
}

/** Finds unknown names in a body whose shape was refused (D5). */
export async function faultsInSelection(request: FastifyRequest): Promise<FieldError[]> {
  const { db, sheet, body } = request
  return findUnknownNames(body, await viewChainOf(request, await getDefinition(db, sheet), body))
}

function readValue(part: unknown, name: string): unknown {
  return typeof part === 'object' && part !== null ? Reflect.get(part, name) : undefined
}

function listParts(body: unknown, name: string): unknown[] {
  const parts = readValue(body, name)
  return Array.isArray(parts) ? parts : []
}

export function isEmptySelection({ filters, statusFilters, createdAt, find, cause }: Selection): boolean {
  const isOpen = createdAt === undefined && find === undefined && cause === undefined
  return isOpen && filters.length === 0 && statusFilters.length === 0
}
