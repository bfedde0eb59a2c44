import { createHash } from 'node:crypto'
import type { Definition } from '../../catalog/chain/definition.ts'
import type { SheetAccess, Uniqueness } from '../../catalog/define.ts'
import { type Db, isUnavailable, type Store } from '../../database/connection/db.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import { createMemo } from '../../lib/memo.ts'
import { createBatcher } from '../../lib/timing/batcher.ts'
import { createKeyedBatcher } from '../../lib/timing/keyed-batcher.ts'
import {
  type Compared,
  type ComparedInputs,
  extendKeys,
  findEarlierRows,
  findFrontier,
  registerKeys,
} from '../../sheets/store/dedupe-keys.ts'
import { getDefinition } from '../../sheets/store/definitions.ts'
import type { ActingFlight } from './acting-flight.ts'

type Values = Parameters<SheetAccess['judgeUnique']>[0]

export type JudgeUnique = (flight: ActingFlight, values: Values) => Promise<Uniqueness>

/**
 * The time for which the frontier of a run is cached. The frontier only moves on, so a row that sees an older one waits
 * a moment longer and is judged no differently. The answer that there is none is not cached, because the row of another
 * cell may have come since. What another run saw is not used either.
 */
const FRONTIER = { max: 1000, ttlMs: 250 }

/** The most cells of one statement. */
const MAX_TOGETHER = 500
const LINE = {
  maxItems: MAX_TOGETHER,
  maxInFlight: 1,
  byTurns: true,
  isolates: (cause: unknown) => !isUnavailable(cause),
}

type Asked = { sheet: SheetKey; rowId: string }
type AskedByInputs = Asked & { compared: ComparedInputs }
type AskedByOutputs = Asked & {
  sheet: SheetKey & { run_id: string }
  compared: { action: string }
  key: Buffer
  waitedEnough: boolean
}

/**
 * Tells the first row by insertion from later ones with the same values, in whatever order rows run (D72). Inputs of
 * all rows are in the sheet, so that no row has to wait. Outputs are not: there a row names its values first, and is
 * judged once every earlier row in flight has named its own. Rows wait for earlier ones only, so that none waits for
 * itself. Cells that compare the same columns of a sheet at the same time share their statements.
 */
export function createUniqueness(store: Store): JudgeUnique {
  const judgeByInputs = createKeyedBatcher<AskedByInputs, Uniqueness>({
    keyOf: ({ sheet, compared }) => JSON.stringify([sheet.org_id, sheet.sheet_id, compared]),
    make: ({ sheet, compared }) =>
      createBatcher({
        ...LINE,
        run: (asked) => judgeInputs(store.org(sheet.org_id), { sheet, compared }, asked),
      }),
  })
  const frontiers = createMemo<string | null>(FRONTIER, (frontier) => frontier !== null)
  const judgeByOutputs = createKeyedBatcher<AskedByOutputs, Uniqueness>({
    keyOf: ({ sheet, compared }) =>
      JSON.stringify([sheet.org_id, sheet.sheet_id, sheet.run_id, compared.action]),
    make: ({ sheet, compared }) =>
      createBatcher({
        ...LINE,
        run: async (asked) => {
          const db = store.org(sheet.org_id)
          const seqs = await registerKeys(db, sheet, asked, compared)
          const frontier = await frontiers(`${sheet.run_id} ${compared.action}`, () =>
            findFrontier(db, sheet, compared.action),
          )
          const isJudged = asked.map(({ waitedEnough }, n) => {
            const seq = seqs[n] ?? null
            return waitedEnough || seq === null || frontier === null || BigInt(seq) < BigInt(frontier)
          })
          return judgeSome(db, { sheet, compared }, asked, isJudged)
        },
      }),
  })

  return async (flight, { texts, inputs, ignoreCase, waitedEnough }) => {
    const { facts, row, position } = flight
    const asked = { sheet: facts, rowId: row.id }
    const columns =
      inputs === null ? null : columnsOf(await getDefinition(store.org(facts.org_id), facts), inputs)
    if (columns !== null) return judgeByInputs({ ...asked, compared: { columns, ignoreCase } })
    const named = ignoreCase ? texts.map((text) => text.toLowerCase()) : texts
    const key = createHash('sha256').update(JSON.stringify(named)).digest()
    return judgeByOutputs({ ...asked, compared: { action: position.action }, key, waitedEnough })
  }
}

/** Judges rows by their inputs. Indexes the next rows of the sheet if one of the rows is not indexed yet. */
async function judgeInputs(
  db: Db,
  { sheet, compared }: { sheet: SheetKey; compared: ComparedInputs },
  asked: readonly Asked[],
): Promise<Uniqueness[]> {
  const rowIds = asked.map(({ rowId }) => rowId)
  const known = await findEarlierRows(db, sheet, rowIds, compared)
  const open = rowIds.filter((_, n) => known[n] === null)
  if (open.length === 0 || !(await extendKeys(db, sheet, compared))) return known.map(toUniqueness)
  const later = await findEarlierRows(db, sheet, open, compared)
  return known.map((earlier) => toUniqueness(earlier ?? later.shift() ?? null))
}

/** Judges the rows that need not wait for others. */
async function judgeSome(
  db: Db,
  { sheet, compared }: { sheet: SheetKey; compared: Compared },
  asked: readonly Asked[],
  isJudged: readonly boolean[],
): Promise<Uniqueness[]> {
  const rowIds = asked.flatMap(({ rowId }, n) => (isJudged[n] === true ? [rowId] : []))
  const found = rowIds.length === 0 ? [] : await findEarlierRows(db, sheet, rowIds, compared)
  return isJudged.map((judged) => (judged ? toUniqueness(found.shift() ?? null) : 'unknown yet'))
}

function toUniqueness(hasEarlier: boolean | null): Uniqueness {
  if (hasEarlier === null) return 'unknown yet'
  return hasEarlier ? 'duplicate' : 'unique'
}

/** Returns null if one of the inputs has been deleted since. */
function columnsOf({ inputs }: Definition, names: readonly string[]): number[] | null {
  const columns = names.flatMap((name) => inputs.find((input) => input.name === name)?.column ?? [])
  return columns.length === names.length ? columns : null
}
