import { success } from '#contract/envelope.ts'
import type { FieldError } from '#contract/errors.ts'
import { GroupRowsBody, MAX_GROUP_COLUMNS, RowGroups } from '#contract/row-groups.ts'
import { MAX_FILTERS } from '#contract/rows.ts'
import { ok } from '../../../api/http/envelope.ts'
import type { Api, Services } from '../../../api/services.ts'
import { validationError } from '../../../lib/errors.ts'
import { selectGroup } from '../../rows/group-selections.ts'
import { getDefinition } from '../../store/definitions.ts'
import { groupRows } from '../../store/row-groups.ts'
import { SheetParams, sheetOfPath } from '../workflows/resources.ts'
import { analyseRows, MAX_ANALYSIS_MS } from './analyse-rows.ts'
import { faultsInSelection, findColumns, resolveSelection } from './row-selection.ts'

/** Registers the endpoint that groups rows by the values of columns (G5). */
export function rowGroupRoutes(api: Api, services: Services): void {
  api.post(
    '/workflows/:workflow_id/sheets/:sheet_id/rows/groups',
    {
      config: {
        scope: 'workflows:data:read',
        body: 'document',
        resource: sheetOfPath,
        numberTexts: ['values'],
        furtherErrors: faultsInSelection,
      },
      schema: {
        tags: ['Rows'],
        summary: 'Group rows by the values of columns, largest groups first',
        params: SheetParams,
        body: GroupRowsBody,
        response: { 200: success(200, RowGroups) },
      },
    },
    async (request, reply) => {
      const { db, body, sheet } = request
      const errors = [...findTooMany(body), ...(await faultsInSelection(request))]
      if (errors.length > 0) throw validationError(errors)
      const definition = await getDefinition(db, sheet)
      const selection = await resolveSelection(request, body, definition)
      const { by, aggregates = [], ...chosen } = body
      const variables = aggregates.map(({ variable }) => ({ variable }))
      const columns = await findColumns(request, variables, definition)
      const grouping = {
        by: await findColumns(request, by, definition),
        aggregates: aggregates.flatMap((aggregate, n) => {
          const column = columns[n]
          return column === undefined ? [] : [{ column, function: aggregate.function }]
        }),
      }
      const found = await analyseRows(request, reply, services, {
        read: (run) => run(MAX_ANALYSIS_MS, ({ trx }) => groupRows(trx, sheet, selection, grouping)),
      })
      const groups = found.groups.map(({ keys, count, aggregates: results }) => ({
        values: keys,
        count,
        aggregates: results.map(toNumber),
        selection: selectGroup(chosen, by, keys),
      }))
      return ok({ ...found, groups })
    },
  )
}

/** Finds lists of filters that have no room for the conditions of a group. */
function findTooMany(body: GroupRowsBody): FieldError[] {
  return (['filters', 'status_filters'] as const).flatMap((field) => {
    const max = MAX_FILTERS - MAX_GROUP_COLUMNS
    const message = `takes at most ${max} here: each group adds its own`
    return (body[field]?.length ?? 0) > max ? [{ field, message }] : []
  })
}

/** Returns an aggregate as a number; null if there is none, or none that JSON can hold. */
function toNumber(text: string | null): number | null {
  const number = text === null ? Number.NaN : Number(text)
  return Number.isFinite(number) ? number : null
}
