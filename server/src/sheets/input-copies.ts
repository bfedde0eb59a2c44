import type { Warning } from '#contract/envelope.ts'
import { MAX_INPUTS, REPEATED_NAME } from '#contract/inputs.ts'
import { MAX_NAME } from '#contract/text.ts'
import type { Definition, InputColumn } from '../catalog/chain/definition.ts'
import type { Db } from '../database/connection/db.ts'
import { lockCounters } from '../database/connection/locks.ts'
import { invalid, notFound } from '../lib/errors.ts'
import { plural } from '../lib/plural.ts'
import { type Author, recordChange } from '../organisation/changes.ts'
import { requireInput } from './input-changes.ts'
import { editDefinition, getDefinition } from './store/definitions.ts'
import { type ColumnCopy, copyChunk, reserveColumn } from './store/input-values.ts'
import type { SheetRecord } from './store/sheets.ts'

/**
 * Adds a copy of an input with its values, right after it. The values are copied first, into a column that no input has
 * yet, few rows at a time: nobody waits for all of them, and a copy that is cut off leaves nothing to see.
 */
export async function duplicateInput(
  db: Db,
  author: Author,
  sheet: SheetRecord,
  { name, copyName }: { name: string; copyName: string | undefined },
): Promise<{ input: InputColumn; warnings: Warning[] }> {
  const { org_id, sheet_id } = sheet
  const { column: from } = planCopy(await getDefinition(db, sheet), name, copyName)
  const to = await reserveColumn(db, sheet)
  if (to === undefined) throw notFound('Sheet')
  const copy = await copyRows(db, sheet, { from, to, after: '0', leftOut: 0 })
  const entry = { action: 'input.duplicated', target: sheet_id, details: { name } }
  return recordChange(db, author, entry, (trx) =>
    editDefinition(trx, author, sheet, async ({ definition }) => {
      const { column, name: given, ...planned } = planCopy(definition, name, copyName)
      // Another input of that name may have taken the place of the one whose values were copied.
      if (column !== from) throw notFound('Input')
      // Rows that were added since the last chunk. No further ones are added until this transaction ends.
      await lockCounters(trx, org_id, [sheet_id])
      const { leftOut } = await copyRows(trx, sheet, copy)
      const input: InputColumn = { ...planned, column: to, name: given }
      const place = definition.inputs.findIndex((one) => one.column === from) + 1
      return {
        definition: { ...definition, inputs: definition.inputs.toSpliced(place, 0, input) },
        result: { input, warnings: warnOfLeftOut(leftOut) },
      }
    }),
  )
}

async function copyRows(db: Db, sheet: SheetRecord, start: ColumnCopy): Promise<ColumnCopy> {
  let copy = start
  for (;;) {
    const next = await copyChunk(db, sheet, copy)
    if (next === undefined) return copy
    copy = next
  }
}

/** Returns the copy as it would be, still with the column of the original. */
function planCopy(definition: Definition, name: string, copyName: string | undefined): InputColumn {
  const { former_names: _former, ...input } = requireInput(definition, name)
  const taken = new Set(definition.inputs.map((one) => one.name))
  if (copyName !== undefined && taken.has(copyName)) throw invalid('name', REPEATED_NAME)
  if (taken.size >= MAX_INPUTS) throw invalid('inputs', `a sheet has at most ${MAX_INPUTS} inputs`)
  return { ...input, name: copyName ?? chooseName(name, taken) }
}

/** Returns `<name> copy`, with a number if that is taken, within the longest name. */
function chooseName(name: string, taken: ReadonlySet<string>): string {
  for (let n = 1; ; n += 1) {
    const suffix = n === 1 ? ' copy' : ` copy ${n}`
    const base = name.length + suffix.length <= MAX_NAME ? name : cutText(name, MAX_NAME - suffix.length)
    if (!taken.has(base + suffix)) return base + suffix
  }
}

/** Cuts a text without leaving half of a surrogate pair. */
function cutText(text: string, length: number): string {
  const cut = text.slice(0, length)
  return cut.isWellFormed() ? cut : cut.slice(0, -1)
}

function warnOfLeftOut(count: number): Warning[] {
  if (count === 0) return []
  const message = `${plural(count, 'value was', 'values were')} not copied, because the row would have become too large`
  return [{ field: 'rows', code: 'row_too_large', message }]
}
