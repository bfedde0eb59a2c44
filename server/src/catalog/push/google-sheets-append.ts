import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { isObject } from '../../lib/json/object.ts'
import { textOf } from '../chain/references.ts'
import { failed, type Outcome, type Provenance } from '../outcome.ts'
import type { CellContext } from '../provider/context.ts'
import type { ProviderRequest } from '../provider/provider.ts'
import { askProvider, type ProviderCallResult } from '../provider/single-provider.ts'
import { writeOnce, type WriteAttempt } from '../provider/write-once.ts'
import { googleSheets } from '../providers/google_sheets/provider.ts'
import { toRange } from './google-sheets.ts'
import type { WireValues } from './values.ts'

type Target = { connection: string | undefined; spreadsheet: string; sheet: string; headerRow: number }
type Appended = { ok: true; range: string; provenance: Provenance[] } | { ok: false; outcome: Outcome<never> }

// developers.google.com/workspace/sheets/api/reference/rest/v4/spreadsheets.values/append (2026-11).
const Written = z.object({ updates: z.object({ updatedRange: z.string() }) })
const Values = z.object({ range: z.string().optional(), values: z.array(z.array(z.unknown())).default([]) })
/** The number of last rows that are searched for a row that may already have been appended. */
const SEARCHED_ROWS = 500

/** Appends values, each under the header of its column, after the last row of the sheet. */
export function appendRow(target: Target, values: WireValues, context: CellContext): Promise<Appended> {
  return writeOnce(context, (attempt) => append(target, values, context, attempt))
}

async function append(
  target: Target,
  values: WireValues,
  context: CellContext,
  attempt: WriteAttempt,
): Promise<Appended> {
  const header = await readHeader(target, [...values.keys()], context)
  if (!header.ok) return header
  const { names } = header
  const unknown = [...values.keys()].find((name) => !names.includes(name))
  if (unknown !== undefined) {
    const known = names.filter((name) => name !== '').join(', ')
    const message = `there is no column ${unknown}; those of row ${target.headerRow} are: ${known || 'none'}`
    return { ok: false, outcome: failed(`Google Sheets: ${message}`) }
  }
  const row = names.map((name) => toCell(values.get(name)))
  const provenance: Provenance[] = []
  if (attempt.openSince !== null) {
    const found = await findRow(target, row, context)
    if (!found.ok) return found
    provenance.push(...attempt.describeLook(found.provenance, found.body !== null))
    if (found.body !== null) return { ok: true, range: found.body, provenance }
  }
  const request = {
    method: 'POST',
    path: `/v4/spreadsheets/${target.spreadsheet}/values/${toRange(target.sheet, `A${target.headerRow}`)}:append`,
    // Values are written as they are: text found on the web must never become a formula.
    query: { valueInputOption: 'RAW', insertDataOption: 'INSERT_ROWS' },
    json: { majorDimension: 'ROWS', values: [row] },
  } as const
  const answer = await attempt.create(ask(target, request, Written, context))
  if (!answer.ok) return answer
  const range = answer.body.updates.updatedRange
  return { ok: true, range, provenance: [...provenance, ...answer.provenance] }
}

const knownHeaders = new LRUCache<string, string[]>({ max: 1000, ttl: 60_000 })

type Header = { ok: true; names: string[] } | { ok: false; outcome: Outcome<never> }

/**
 * Returns the names of the columns. They are cached for a minute for each sheet, and read again if a wanted one is
 * missing.
 */
async function readHeader(target: Target, wanted: readonly string[], context: CellContext): Promise<Header> {
  const key = await context.keys.own(googleSheets.id, target.connection)
  const place = JSON.stringify([key?.id, target.spreadsheet, target.sheet, target.headerRow])
  const known = knownHeaders.get(place)
  if (known !== undefined && wanted.every((name) => known.includes(name))) return { ok: true, names: known }
  const header = await read(target, `${target.headerRow}:${target.headerRow}`, context)
  if (!header.ok) return header
  const names = (header.body.values[0] ?? []).map((name) => textOf(name).trim())
  knownHeaders.set(place, names)
  return { ok: true, names }
}

function ask<Body>(
  { connection }: Target,
  request: ProviderRequest,
  schema: z.ZodType<Body>,
  context: CellContext,
) {
  return askProvider({ provider: googleSheets, connection, request, schema }, context)
}

function read(target: Target, cells: string, context: CellContext) {
  const path = `/v4/spreadsheets/${target.spreadsheet}/values/${toRange(target.sheet, cells)}`
  return ask(target, { path, query: { valueRenderOption: 'UNFORMATTED_VALUE' } }, Values, context)
}

/** Returns the last row with exactly these values, among those at the end of the sheet. */
async function findRow(
  target: Target,
  row: readonly unknown[],
  context: CellContext,
): Promise<ProviderCallResult<string | null>> {
  // The first written column shows how far the sheet goes, without reading all of it.
  const column = toLetters(row.findIndex((cell) => cell !== ''))
  const filled = await read(target, `${column}:${column}`, context)
  if (!filled.ok) return filled
  const last = Math.max(filled.body.values.length, target.headerRow)
  const first = Math.max(target.headerRow + 1, last - SEARCHED_ROWS + 1)
  if (first > last) return { ...filled, body: null }
  const tail = await read(target, `A${first}:${toLetters(row.length - 1)}${last}`, context)
  if (!tail.ok) return tail
  const place = tail.body.values.findLastIndex((cells) => row.every((cell, n) => isSame(cell, cells[n])))
  if (place === -1) return { ...tail, body: null }
  const at = first + place
  return { ...tail, body: `'${target.sheet}'!A${at}:${toLetters(row.length - 1)}${at}` }
}

const isSame = (sent: unknown, read: unknown): boolean =>
  JSON.stringify(sent) === JSON.stringify(read === undefined || read === null ? '' : read)

/** Returns a value as a cell, which holds a text, a number, or true or false. */
function toCell(value: unknown): unknown {
  if (value === undefined || value === null) return ''
  return Array.isArray(value) || isPlain(value) ? JSON.stringify(value) : value
}

/** Returns true for an object of the row, but not for a number that is kept as its text. */
const isPlain = (value: unknown): boolean =>
  isObject(value) && Object.getPrototypeOf(value) === Object.prototype

/** Returns the letters of a column: 0 is A, 26 is AA. */
function toLetters(place: number): string {
  const letter = String.fromCharCode(65 + (place % 26))
  return place < 26 ? letter : `${toLetters(Math.floor(place / 26) - 1)}${letter}`
}
