import type { FastifyRequest } from 'fastify'
import type { FieldError } from '#contract/errors.ts'
import { type CreatedAtFilter, RowFilter, type StatusFilter } from '#contract/rows.ts'
import type { Definition } from '../../../catalog/chain/definition.ts'
import { parseTemplate, soleToken } from '../../../catalog/chain/references.ts'
import type { Selection } from '../../../database/tables/selection.ts'
import { validationError } from '../../../lib/errors.ts'
import { createHints } from '../../../lib/nearest-name.ts'
import { getDefinition } from '../../store/definitions.ts'

export type SelectionBody = {
  filters?: RowFilter[] | undefined
  status_filters?: StatusFilter[] | undefined
  created_at?: CreatedAtFilter | undefined
  find?: string | undefined
  cause?: string | undefined
}

/** Resolves the names in a selection against the sheet; an unknown name is a 400 (D58). */
export function resolveSelection(body: SelectionBody, definition: Definition): Selection {
  const errors = findUnknownNames(body, definition)
  if (errors.length > 0) throw validationError(errors)
  const filters = (body.filters ?? []).map(({ variable, ...filter }) => ({
    ...filter,
    column: findColumn(variable, definition) ?? 0,
  }))
  const { status_filters: statusFilters = [], created_at: createdAt, find, cause } = body
  return { filters, statusFilters, createdAt, find, cause }
}

/** Finds names that the sheet does not have, even if other parts of the body have the wrong shape. */
function findUnknownNames(body: unknown, definition: Definition): FieldError[] {
  const hintInput = createHints(definition.inputs.map(({ name }) => `{{input.${name}}}`))
  const hintAction = createHints(definition.actions.map(({ id }) => id))
  const inputs = listParts(body, 'filters').flatMap((filter, n): FieldError[] => {
    const { success, data: variable } = RowFilter.shape.variable.safeParse(readValue(filter, 'variable'))
    if (!success || findColumn(variable, definition) !== undefined) return []
    const message = `the sheet has no input for ${variable}${hintInput(variable)}`
    return [{ field: `filters[${n}].variable`, message }]
  })
  const actions = listParts(body, 'status_filters').flatMap((filter, n): FieldError[] => {
    const id = readValue(filter, 'action_instance_id')
    if (typeof id !== 'string' || definition.actions.some((action) => action.id === id)) return []
    const field = `status_filters[${n}].action_instance_id`
    return [{ field, message: `the sheet has no action ${id}${hintAction(id)}` }]
  })
  return [...inputs, ...actions]
}

/** Finds unknown names in a body whose shape was refused (D5). */
export async function faultsInSelection({ db, sheet, body }: FastifyRequest): Promise<FieldError[]> {
  return findUnknownNames(body, await getDefinition(db, sheet))
}

function findColumn(variable: string, { inputs }: Definition): number | undefined {
  const token = soleToken(parseTemplate(variable))
  return token?.kind === 'input' ? inputs.find(({ name }) => name === token.name)?.column : undefined
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
