import type { FileSheet, WorkflowFile } from '#contract/definitions.ts'
import type { Warning } from '#contract/envelope.ts'
import type { Definition } from '../../catalog/chain/definition.ts'
import { listTargetFields } from '../../catalog/configuration/target-fields.ts'
import type { Catalogue } from '../../catalog/registry.ts'
import type { Db } from '../../database/connection/db.ts'
import { isUuid } from '../../lib/ids.ts'
import { getDefinition } from '../store/definitions.ts'
import { listSheets, selectSheets, type SheetRecord } from '../store/sheets.ts'
import { findWorkflow, type WorkflowFor } from '../store/workflows.ts'
import { nameActions, type SheetName, toFileAction, toFileInput } from './file-forms.ts'

export type Reader = { orgId: string; memberId: string; mayUse: (workflow: WorkflowFor) => boolean }

/** Returns a workflow as a file, always the same for the same workflow. Credentials stand in it as `{secret: kept}`. */
export async function writeWorkflowFile(
  db: Db,
  reader: Reader,
  workflow: WorkflowFor,
  catalogue: Catalogue,
): Promise<{ file: WorkflowFile; warnings: Warning[] }> {
  const sheets = await listSheets(db, reader.orgId, workflow.workflow_id)
  const definitions = await Promise.all(
    sheets.map(async (sheet) => ({ sheet, definition: await getDefinition(db, sheet) })),
  )
  const targets = definitions.flatMap(({ definition }) => listTargets(definition, catalogue))
  const sheetNames = await nameSheets(db, reader, workflow.workflow_id, targets)
  const warnings: Warning[] = []
  const written = definitions.map(({ sheet, definition }, place): FileSheet => {
    const ids = nameActions(definition.actions)
    const names = {
      actionOf: (id: string) => ids.get(id) ?? id,
      sheetOf: (id: string) => sheetNames.get(id.toLowerCase()),
    }
    const actions = definition.actions.map((action, n) =>
      toFileAction(action, catalogue.get(action.action_id), names, (path) =>
        warnings.push(warnOfSecret(`sheets[${place}].actions[${n}].${path}`)),
      ),
    )
    return {
      sheet: sheet.name,
      ...writeSettings(sheet),
      ...(definition.inputs.length === 0 ? {} : { inputs: definition.inputs.map(toFileInput) }),
      ...(actions.length === 0 ? {} : { actions }),
    }
  })
  return { file: { loam: 1, workflow: workflow.name, sheets: written }, warnings }
}

const warnOfSecret = (field: string): Warning => ({
  field,
  code: 'secret_kept',
  message: 'looks like a credential, so it is not shown; better set it as an environment variable',
})

const writeSettings = ({ auto_run, cache_enabled, cache_since }: SheetRecord) => ({
  ...(auto_run ? { auto_run } : {}),
  ...(cache_enabled ? { cache_enabled } : {}),
  ...(cache_since === null ? {} : { cache_since }),
})

/** Lists the ids of sheets that the actions of a chain name. */
export function listTargets({ actions }: Definition, catalogue: Catalogue): string[] {
  return actions.flatMap(({ action_id, inputs }) =>
    listTargetFields(catalogue.get(action_id)).flatMap((field) => {
      const value = Object.hasOwn(inputs, field) ? inputs[field] : undefined
      return typeof value === 'string' && isUuid(value) ? [value.toLowerCase()] : []
    }),
  )
}

/** Names the sheets that the reader may see by their workflow and name. Others keep their id. */
export async function nameSheets(
  db: Db,
  { orgId, memberId, mayUse }: Reader,
  ownWorkflow: string | null,
  ids: readonly string[],
): Promise<ReadonlyMap<string, SheetName>> {
  const names = new Map<string, SheetName>()
  if (ids.length === 0) return names
  const sheets = await selectSheets(db, orgId)
    .where('sheets.sheet_id', 'in', [...new Set(ids)])
    .execute()
  for (const { sheet_id, workflow_id, name } of sheets) {
    if (workflow_id === ownWorkflow) {
      names.set(sheet_id, { sheet: name })
      continue
    }
    const workflow = await findWorkflow(db, orgId, memberId, workflow_id)
    if (workflow !== undefined && mayUse(workflow))
      names.set(sheet_id, { workflow: workflow.name, sheet: name })
  }
  return names
}
