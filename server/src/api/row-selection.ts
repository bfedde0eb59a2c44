import type { FieldError } from '#contract/errors.ts'
import type { CreatedAtFilter, RowFilter, StatusFilter } from '#contract/rows.ts'
import type { Definition } from '../chain/definition.ts'
import { parseTemplate, soleToken } from '../chain/references.ts'
import { validationError } from '../lib/errors.ts'
import type { Selection } from '../store/row-filters.ts'

export type SelectionBody = {
  filters?: RowFilter[] | undefined
  status_filters?: StatusFilter[] | undefined
  created_at?: CreatedAtFilter | undefined
}

/** Resolves the names in a selection against the sheet; each name that is not there is a 400 (D58). */
export function resolveSelection(body: SelectionBody, definition: Definition): Selection {
  const errors: FieldError[] = []
  const columns = new Map(definition.inputs.map((input) => [input.name, input.column]))
  const actions = new Set(definition.actions.map((action) => action.id))
  const filters = (body.filters ?? []).map(({ variable, ...filter }, n) => {
    const token = soleToken(parseTemplate(variable))
    const column = token?.kind === 'input' ? columns.get(token.name) : undefined
    if (column === undefined) {
      errors.push({ field: `filters[${n}].variable`, message: `the sheet has no input for ${variable}` })
    }
    return { ...filter, column: column ?? 0 }
  })
  for (const [n, { action_instance_id }] of (body.status_filters ?? []).entries()) {
    if (!actions.has(action_instance_id)) {
      errors.push({
        field: `status_filters[${n}].action_instance_id`,
        message: `the sheet has no action ${action_instance_id}`,
      })
    }
  }
  if (errors.length > 0) throw validationError(errors)
  return { filters, statusFilters: body.status_filters ?? [], createdAt: body.created_at }
}

export function isEmptySelection({ filters, statusFilters, createdAt }: Selection): boolean {
  return filters.length === 0 && statusFilters.length === 0 && createdAt === undefined
}
