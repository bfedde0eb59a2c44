import type { FieldError } from '#contract/errors.ts'
import { MAX_INPUTS, type NewInput, REPEATED_NAME, repeatedNames } from '#contract/inputs.ts'
import type { InputColumn } from '../catalog/chain/definition.ts'
import type { Db } from '../database/connection/db.ts'
import { notFound, validationError } from '../lib/errors.ts'
import { type Author, recordChange } from '../organisation/changes.ts'
import { editDefinition, getDefinition } from './store/definitions.ts'
import type { SheetRecord } from './store/sheets.ts'

/** Adds all inputs or none (D29) and returns every input of the sheet. */
export async function addInputs(
  db: Db,
  author: Author,
  sheet: SheetRecord,
  items: NewInput[],
): Promise<InputColumn[]> {
  const names = items.map((item) => item.name)
  const entry = { action: 'inputs.created', target: sheet.sheet_id, details: { names } }
  return recordChange(db, author, entry, (trx) =>
    editDefinition(trx, author, sheet, ({ definition, nextColumn }) => {
      const errors = findConflicts(items, definition.inputs)
      if (errors.length > 0) throw validationError(errors)
      const added = items.map(({ name, type, description, choices }, place): InputColumn => ({
        column: nextColumn + place,
        name,
        type,
        description,
        ...(choices === undefined ? {} : { choices }),
      }))
      const inputs = [...definition.inputs, ...added]
      return {
        definition: { ...definition, inputs },
        nextColumn: nextColumn + added.length,
        result: inputs,
      }
    }),
  )
}

/** Finds errors of new inputs beside those of a sheet, even if single items are malformed (D5). */
export function findConflicts(items: readonly unknown[], existing: readonly InputColumn[]): FieldError[] {
  const taken = existing.map((input) => input.name)
  const errors = repeatedNames(items, taken).map((place) => ({
    field: `inputs[${place}].name`,
    message: REPEATED_NAME,
  }))
  const total = existing.length + items.length
  return total <= MAX_INPUTS || items.length > MAX_INPUTS
    ? errors
    : [
        ...errors,
        { field: 'inputs', message: `a sheet has at most ${MAX_INPUTS} inputs, these would make ${total}` },
      ]
}

/** Removes an input and returns the others. References to the removed input are left broken, as specified. */
export async function removeInput(
  db: Db,
  author: Author,
  sheet: SheetRecord,
  name: string,
): Promise<InputColumn[]> {
  const { inputs } = await getDefinition(db, sheet)
  if (!inputs.some((input) => input.name === name)) throw notFound('Input')
  const entry = { action: 'input.deleted', target: sheet.sheet_id, details: { name } }
  return recordChange(db, author, entry, (trx) =>
    editDefinition(trx, author, sheet, ({ definition }) => {
      const inputs = definition.inputs.filter((input) => input.name !== name)
      if (inputs.length === definition.inputs.length) throw notFound('Input')
      return { definition: { ...definition, inputs }, result: inputs }
    }),
  )
}
