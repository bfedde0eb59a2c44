import type { Warning } from '#contract/envelope.ts'
import type { FieldError } from '#contract/errors.ts'
import type { ActionInstance, InputColumn } from '../catalog/chain/definition.ts'
import { findInputPath } from '../catalog/chain/value-path.ts'
import { listTargetFields } from '../catalog/configuration/target-fields.ts'
import type { Action } from '../catalog/define.ts'
import { hasToken } from '../catalog/fields/field.ts'
import type { Db } from '../database/connection/db.ts'
import { isUuid } from '../lib/ids.ts'
import { createHints } from '../lib/nearest-name.ts'
import { getDefinition } from './store/definitions.ts'
import { findSheet } from './store/sheets.ts'
import { findWorkflow, type WorkflowFor } from './store/workflows.ts'

/** Warns of inputs that the sheet does not have (D90). */
function warnOfUnknownInputs(
  template: Action | undefined,
  target: string,
  configured: Inputs,
  inputs: readonly InputColumn[],
): Warning[] {
  const names = new Set(inputs.map(({ name }) => name))
  const hint = createHints(names)
  const isInput = (name: string, takesPaths: boolean) =>
    takesPaths ? findInputPath(name, (head) => names.has(head)) !== null : names.has(name)
  return Object.entries(template?.inputs ?? {}).flatMap(([field, { namesInputs }]) => {
    const value = Object.hasOwn(configured, field) ? configured[field] : undefined
    if (namesInputs?.of !== target || value === undefined) return []
    return namesInputs
      .list(value)
      .filter(({ name }) => !isInput(name, namesInputs.takesPaths === true))
      .map(({ place, name }) => ({
        field: `inputs.${field}${place}`,
        code: 'unknown_input',
        message: `the sheet has no input ${JSON.stringify(name)}${hint(name)}`,
      }))
  })
}

/** The member who configures an action, and the workflows that they may use (D13). */
export type Configurer = { orgId: string; memberId: string; mayUse: (workflow: WorkflowFor) => boolean }

type Inputs = ActionInstance['inputs']

/**
 * Checks the sheets that an action's inputs refer to (D36). An unknown sheet is a warning, like other unknown references. A
 * sheet that the caller has no access to cannot be chosen, because rows would be read and written there on the owner's
 * behalf. Sheets that come from a token are authorised when the action runs (runs/cell-access/sheet-access.ts).
 */
export async function checkTargets(
  db: Db,
  { orgId, memberId, mayUse }: Configurer,
  template: Action | undefined,
  { before, after }: { before: Inputs; after: Inputs },
): Promise<{ errors: FieldError[]; warnings: Warning[] }> {
  const errors: FieldError[] = []
  const warnings: Warning[] = []
  for (const name of listTargetFields(template)) {
    const value = Object.hasOwn(after, name) ? after[name] : undefined
    if (typeof value !== 'string' || value.trim() === '' || hasToken(value)) continue
    const field = `inputs.${name}`
    const sheet = isUuid(value) ? await findSheet(db, orgId, value) : undefined
    if (sheet === undefined) {
      warnings.push({ field, code: 'unresolved_reference', message: `there is no sheet ${value}` })
      continue
    }
    const isKept = Object.hasOwn(before, name) && before[name] === value
    const workflow = await findWorkflow(db, orgId, memberId, sheet.workflow_id)
    if (workflow === undefined || !mayUse(workflow)) {
      if (!isKept) errors.push({ field, message: 'you have no access to this sheet' })
      continue
    }
    const { inputs } = await getDefinition(db, sheet)
    warnings.push(...warnOfUnknownInputs(template, name, after, inputs))
  }
  return { errors, warnings }
}
