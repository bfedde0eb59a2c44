import type { ImportRejects } from '#contract/screens.ts'
import type { TypedInput } from '#contract/value-fit.ts'
import type { Config } from '../../lib/config/config.ts'
import { shorten } from '../../lib/errors.ts'
import { inTurns } from '../../lib/timing/fair-turns.ts'
import { fits } from '../../sheets/rows/value-warnings.ts'
import type { Batch } from '../reading/records.ts'
import type { Storage } from '../storage/storage.ts'
import { type ImportedFile, openSource } from './import-source.ts'

/** The maximum reading time, because a caller waits. */
const MAX_READING_MS = 5000
const MAX_VALUE = 500

/** Lists the values of an imported file that do not fit the type of their input (D79), by reading the file again. */
export async function listRejects(
  parts: { config: Config; storage: Storage },
  file: ImportedFile,
  limit: number,
): Promise<ImportRejects> {
  const inputs = file.mapping.map(({ name = '', type = 'string', choices }) => ({ name, type, choices }))
  if (inputs.every(({ type }) => type === 'string')) return { rejects: [], complete: true }
  const started = performance.now()
  const source = await openSource(parts, file)
  const rejects: ImportRejects['rejects'] = []
  let row = 0
  try {
    for await (const { records } of inTurns(file.org_id, source.read(null))) {
      for (const record of records) {
        row += 1
        rejects.push(...listMisfits(record, inputs).map((misfit) => ({ row, ...misfit })))
      }
      if (rejects.length > limit) return { rejects: rejects.slice(0, limit), complete: false }
      if (performance.now() - started > MAX_READING_MS) return { rejects, complete: false }
    }
    return { rejects, complete: true }
  } finally {
    await source.close()
  }
}

/** Lists the values of a record that do not fit the type of their input. */
function listMisfits(record: Batch['records'][number], inputs: readonly (TypedInput & { name: string })[]) {
  return inputs.flatMap((input, place) => {
    const { name, type } = input
    const value = record[place] ?? null
    return value === null || fits(value, input)
      ? []
      : [{ input: name, type, value: shorten(value, MAX_VALUE) }]
  })
}
