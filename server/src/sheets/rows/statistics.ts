import { type ColumnStatistics, MAX_EXACT_ROWS, type RowStatistics } from '#contract/row-statistics.ts'
import type { Limited } from '../../database/connection/analysis.ts'
import type { Selection, SheetColumn } from '../../database/tables/selection.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import { hasFlights } from '../store/column-values.ts'
import {
  type ActionCounts,
  countCells,
  countValues,
  type Distribution,
  findSelected,
  lookAt,
  type LookedAt,
  lookAtSheet,
  sampleSheet,
} from '../store/row-statistics.ts'
import { countRows } from '../store/rows.ts'
import { readByIndex } from '../store/sheet-share.ts'

/** The rows that are looked at if there are too many for all, and if that takes too long. */
const SAMPLE = 10_000
const FEW = 500
/** The milliseconds that all steps together may take, and those that are kept for a look at few rows. */
const MAX_MS = 10_000
const FEW_MS = 1500

export type Statistics = { sheet: SheetKey; selection: Selection | null; columns: readonly SheetColumn[] }

/** Runs a step that ends in time. Returns undefined if it did not. */
export type RunStep = <Result>(
  ms: number,
  step: (limited: Limited) => Promise<Result>,
) => Promise<Result | undefined>

/**
 * Computes the statistics of columns over the rows of a selection, or of the whole sheet without one. If all rows, or a good sample
 * of many, take too long, few rows are looked at. Returns undefined if that took too long as well.
 */
export async function computeStatistics(
  wanted: Statistics,
  run: RunStep,
): Promise<RowStatistics | undefined> {
  let spent = 0
  const left = () => MAX_MS - spent
  const measured =
    <Result>(step: (limited: Limited) => Promise<Result>) =>
    async (limited: Limited) => {
      const began = performance.now()
      try {
        return await step(limited)
      } finally {
        spent += performance.now() - began
      }
    }
  const rows = await run(
    left() - 2 * FEW_MS,
    measured((limited) => findRows(limited, wanted)),
  )
  if (rows === undefined) return undefined
  const found = await run(
    left() - FEW_MS,
    measured((limited) => countColumns(limited, wanted, rows.looked)),
  )
  if (found !== undefined) return view(rows, found)
  const few = await run(left(), (limited) => countColumns(limited, wanted, rows.few))
  return few === undefined ? undefined : view({ ...rows, isExact: rows.rows <= FEW }, few)
}

type FoundRows = { rows: number; isExact: boolean; looked: LookedAt; few: LookedAt }

/** Counts the rows and decides which are looked at. */
async function findRows({ trx }: Limited, { sheet, selection }: Statistics): Promise<FoundRows> {
  if (selection !== null) {
    const { rows, seqs } = await findSelected(trx, sheet, selection, { most: MAX_EXACT_ROWS, sample: SAMPLE })
    const step = Math.max(1, seqs.length / FEW)
    const few = Array.from({ length: Math.min(FEW, seqs.length) }, (_, n) => seqs[Math.floor(n * step)] ?? 0)
    return { rows, isExact: rows <= MAX_EXACT_ROWS, looked: lookAt(sheet, seqs), few: lookAt(sheet, few) }
  }
  const rows = await countRows(trx, sheet)
  const isExact = rows <= MAX_EXACT_ROWS
  return {
    rows,
    isExact,
    looked: isExact ? lookAtSheet(sheet) : sampleSheet(sheet, SAMPLE),
    few: rows <= FEW ? lookAtSheet(sheet) : sampleSheet(sheet, FEW),
  }
}

async function countColumns(
  { trx, renew }: Limited,
  { sheet, columns }: Statistics,
  looked: LookedAt,
): Promise<ColumnStatistics[]> {
  await readByIndex(trx, sheet)
  const flying = await hasFlights(trx, sheet)
  const counted: ColumnStatistics[] = []
  for (const column of columns) {
    await renew()
    const { numbers, dates, ...counts } = await countValues(trx, sheet, looked, { column, flying })
    const action =
      'statusOf' in column
        ? viewAction(await countCells(trx, sheet, looked, { action: column.statusOf, flying }))
        : null
    counted.push({
      ...counts,
      numbers: numbers === null ? null : viewNumbers(numbers),
      dates: dates === null ? null : viewDates(dates),
      action,
    })
  }
  return counted
}

/** Rows may come and go meanwhile: exact statistics are of the rows that were read. */
function view({ rows, isExact }: FoundRows, columns: ColumnStatistics[]): RowStatistics {
  const looked_at = Math.max(0, ...columns.map(({ filled, empty }) => filled + empty))
  return { rows: isExact ? looked_at : rows, looked_at, precision: isExact ? 'exact' : 'sampled', columns }
}

/** Returns a number that JSON can hold. */
const toNumber = (text: string): number =>
  Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, Number(text)))

function viewNumbers(numbers: Distribution): ColumnStatistics['numbers'] {
  const { count, sum, average, min, median, max } = numbers
  return {
    count,
    sum: toNumber(sum),
    average: toNumber(average),
    min,
    median,
    max,
    histogram: listBars(numbers, (edge) => edge),
  }
}

const toText = (ms: number): string => new Date(ms).toISOString()

function viewDates(dates: Distribution): ColumnStatistics['dates'] {
  const { count, min, median, max } = dates
  return {
    count,
    min: toText(min),
    median: toText(median),
    max: toText(max),
    histogram: listBars(dates, toText),
  }
}

function listBars<Edge>({ min, max, bar_count, bars }: Distribution, print: (edge: number) => Edge) {
  const edge = (n: number) => (n === bar_count ? max : min + (n * (max - min)) / bar_count)
  return Array.from({ length: bar_count }, (_, n) => ({
    from: print(edge(n)),
    to: print(edge(n + 1)),
    count: bars[n] ?? 0,
  }))
}

const MILLIS = 1000

function viewAction({ statuses, providers }: ActionCounts): ColumnStatistics['action'] {
  const known = statuses.flatMap(({ status, count }) => (status === null ? [] : [[status, count] as const]))
  return {
    statuses: Object.fromEntries(known),
    not_run: statuses.find(({ status }) => status === null)?.count ?? 0,
    credits: statuses.reduce((sum, { credits_millis }) => sum + credits_millis, 0) / MILLIS,
    providers: providers.map((one) => ({ ...one, hit_rate: one.hits / one.asked })),
  }
}
