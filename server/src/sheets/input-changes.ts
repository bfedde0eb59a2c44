import type { Warning } from '#contract/envelope.ts'
import type { FieldError } from '#contract/errors.ts'
import {
  type ChangeInputBody,
  problemOfChoices,
  type ReferencesChanged,
  REPEATED_NAME,
} from '#contract/inputs.ts'
import type { Definition, InputColumn } from '../catalog/chain/definition.ts'
import { findRenames } from '../catalog/chain/input-renames.ts'
import { inTransaction } from '../database/connection/db.ts'
import { notFound, validationError } from '../lib/errors.ts'
import { recordAudit } from '../organisation/store/audit.ts'
import { shareLockOrganisation } from '../organisation/store/organisations.ts'
import type { ChainEditing } from './chain-edit.ts'
import { warnOfMisfits } from './input-misfits.ts'
import { editWithFollowers, findNamingSheets, followInOwnChain } from './input-renames.ts'
import { getDefinition } from './store/definitions.ts'
import { findWorkflow } from './store/workflows.ts'
import type { Configurer } from './target-sheets.ts'

/** A change of an input, whose references in sheets of other workflows follow. */
export type InputEditing = ChainEditing & Pick<Configurer, 'mayUse'>

type ChangedInput = { input: InputColumn; references_changed: ReferencesChanged; warnings: Warning[] }

/** The former names that an input keeps. */
const MAX_FORMER_NAMES = 20

/**
 * Renames, retypes or describes an input. Values stay as they are, and so do results: an action that follows a new name
 * gets the same values.
 */
export async function changeInput(
  editing: InputEditing,
  name: string,
  change: ChangeInputBody,
): Promise<ChangedInput> {
  const { db, author, sheet, catalogue } = editing
  requireInput(await getDefinition(db, sheet), name)
  const naming = change.name === undefined ? [] : await findNamingSheets(db, sheet)
  const { result, elsewhere } = await inTransaction(db, async (trx) => {
    await shareLockOrganisation(trx, author.orgId)
    const made = await editWithFollowers(trx, editing, naming, ({ definition }) => {
      const input = requireInput(definition, name)
      const next = applyChange(input, change, definition.inputs)
      if (next === input) return { definition: undefined, result: { input, before: input, changed: [] } }
      const inputs = definition.inputs.with(definition.inputs.indexOf(input), next)
      const renames = findRenames(definition.inputs, inputs)
      const followed =
        renames === null
          ? { definition, changed: [] }
          : followInOwnChain(definition, renames, { sheet, catalogue })
      return {
        definition: { ...followed.definition, inputs },
        result: { input: next, before: input, changed: followed.changed },
      }
    })
    if (made.result.input !== made.result.before) {
      const details = { name, changes: describeChange(change) }
      await recordAudit(trx, author.orgId, author, {
        action: 'input.changed',
        target: sheet.sheet_id,
        details,
      })
    }
    return made
  })
  const { input, before, changed } = result
  const isChecked = input.type !== before.type || input.choices !== before.choices
  return {
    input,
    references_changed: [...changed, ...(await listVisible(editing, elsewhere))],
    warnings: isChecked ? await warnOfMisfits(db, sheet, input) : [],
  }
}

export function requireInput({ inputs }: Definition, name: string): InputColumn {
  const input = inputs.find((one) => one.name === name)
  if (input === undefined) throw notFound('Input')
  return input
}

/** Returns the changed input, or the same object if nothing changes. */
export function applyChange(
  input: InputColumn,
  change: ChangeInputBody,
  inputs: readonly InputColumn[],
): InputColumn {
  const { choices: former, former_names = [], ...rest } = input
  const name = change.name ?? input.name
  const type = change.type ?? input.type
  const description = change.description ?? input.description
  const choices = change.choices ?? (type === 'select' ? former : undefined)
  const errors: FieldError[] = []
  if (inputs.some((other) => other !== input && other.name === name)) {
    errors.push({ field: 'name', message: REPEATED_NAME })
  }
  const problem = problemOfChoices({ type, choices })
  if (problem !== null) errors.push({ field: 'choices', message: problem })
  if (errors.length > 0) throw validationError(errors)
  const isRenamed = name !== input.name
  const hasSameChoices = JSON.stringify(choices) === JSON.stringify(former)
  if (!isRenamed && type === input.type && description === input.description && hasSameChoices) return input
  const names = isRenamed
    ? [...former_names.filter((old) => old !== name && old !== input.name), input.name].slice(
        -MAX_FORMER_NAMES,
      )
    : former_names
  return {
    ...rest,
    name,
    type,
    description,
    ...(choices === undefined ? {} : { choices: hasSameChoices && former ? former : choices }),
    ...(names.length === 0 ? {} : { former_names: names }),
  }
}

/** Returns the part of a change that the audit log keeps. */
function describeChange({ name, type, choices, description }: ChangeInputBody): Record<string, unknown> {
  return {
    ...(name === undefined ? {} : { name }),
    ...(type === undefined ? {} : { type }),
    ...(choices === undefined ? {} : { choices: choices.length }),
    ...(description === undefined ? {} : { description: true }),
  }
}

/** Keeps the actions of sheets that the caller may use. The others followed all the same. */
async function listVisible(
  { db, author, mayUse }: InputEditing,
  elsewhere: readonly (ReferencesChanged[number] & { workflow_id: string })[],
): Promise<ReferencesChanged> {
  const visible = new Set<string>()
  for (const id of new Set(elsewhere.map(({ workflow_id }) => workflow_id))) {
    const workflow = await findWorkflow(db, author.orgId, author.memberId, id)
    if (workflow !== undefined && mayUse(workflow)) visible.add(id)
  }
  return elsewhere
    .filter(({ workflow_id }) => visible.has(workflow_id))
    .map(({ workflow_id: _workflow, ...one }) => one)
}
