import { success } from '#contract/envelope.ts'
import { DefinitionSteps, RestoreDefinitionBody, RevisionView } from '#contract/row-edits.ts'
import { ok } from '../../../api/http/envelope.ts'
import type { Api, Services } from '../../../api/services.ts'
import { AppError } from '../../../lib/errors.ts'
import {
  type DefinitionStep,
  listDefinitionSteps,
  restoreSheetDefinition,
} from '../../definition-restores.ts'
import { sheetOfPath, SheetParams } from '../workflows/resources.ts'

const PATH = '/workflows/:workflow_id/sheets/:sheet_id/definition'

/**
 * Registers undo for inputs and actions. Values and results of deleted inputs and actions still exist and return with them.
 */
export function definitionRestoreRoutes(api: Api, { catalogue }: Pick<Services, 'catalogue'>): void {
  const response = { 200: success(200, RevisionView) }
  api.get(
    PATH,
    {
      config: { scope: 'workflows:data:read', resource: sheetOfPath },
      schema: { params: SheetParams, response },
    },
    async ({ sheet: { revision } }) => ok({ revision }),
  )

  api.get(
    `${PATH}/steps`,
    {
      config: { scope: 'workflows:write', resource: sheetOfPath },
      schema: { params: SheetParams, response: { 200: success(200, DefinitionSteps) } },
    },
    async ({ db, sheet, caller }) => {
      const { past, future } = await listDefinitionSteps(db, sheet, caller.email)
      const view = ({ made_at, ...step }: DefinitionStep) => ({ ...step, made_at: made_at.toISOString() })
      return ok({ past: past.map(view), future: future.map(view) })
    },
  )

  api.post(
    `${PATH}/restore`,
    {
      config: { scope: 'workflows:write', body: 'control', resource: sheetOfPath },
      schema: { params: SheetParams, body: RestoreDefinitionBody, response },
    },
    async ({ db, sheet, caller, body }) => {
      if (!caller.scopes.has('actions:write')) {
        throw new AppError(
          'INSUFFICIENT_SCOPE',
          'Restoring inputs and actions also needs the scope actions:write',
        )
      }
      return ok({ revision: await restoreSheetDefinition({ db, author: caller, sheet, catalogue }, body) })
    },
  )
}
