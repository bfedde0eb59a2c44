import { describe, expect, it } from 'vitest'
import { heldMs } from '../../../lib/timing/testing/watched-turns.ts'
import { readCsvPage } from './csv-page.ts'
import { FILE_START, type FilePage, type FilePlace } from './place.ts'

const HELD_MS = 200
/** The largest part of a file requested at once. */
const SIZE = 4 * 1024 * 1024
const LIMIT = 1_000
const header = Array.from({ length: 2_000 }, (_, n) => `c${n}`).join(',')
const fill = (unit: string, size = SIZE) => unit.repeat(Math.floor(size / unit.length))

describe('I2: parts of CSV files of the worst shapes never hold the thread of the server', () => {
  it.each([
    ['lines that end by CR alone', fill('a\r'), undefined],
    ['short rows of many columns', `${header}\n${fill('a\n', SIZE / 2)}`, LIMIT],
    ['wide rows', `${header}\n${fill(`${','.repeat(1_999)}x\n`, SIZE / 2)}`, LIMIT],
    ['a quote that stays open', fill('"a\n'), undefined],
    ['a long cell', `a,b\n"${fill('x\n', SIZE / 3)}",2\n`, 1],
    ['quotes', `a,b\n${fill('"""",1\n', SIZE / 2)}`, LIMIT],
  ])('%s', { timeout: 60_000 }, async (_, text, rows) => {
    const bytes = Buffer.from(text)
    const read = async () => {
      const page = await readCsvPage({ bytes, more: false }, FILE_START, LIMIT).catch(
        (cause: Error) => cause.message,
      )
      if (rows !== undefined) expect(page).toMatchObject({ rows: { length: rows } })
    }
    expect(await heldMs(read, HELD_MS)).toBeLessThan(HELD_MS)
  })

  it('lines that end by CR alone are rows', async () => {
    const bytes = Buffer.from(`a,b\r${'1,2\r'.repeat(200_000)}`)
    const page = await readCsvPage({ bytes, more: false }, FILE_START, LIMIT)
    expect(page.rows[0]).toEqual({ a: '1', b: '2' })
  })
})

it.each([
  ['sep=;\na;b\n1,5;2\n', { a: '1,5', b: '2' }],
  ['\uFEFFsep=,\r\na,b\r\n1;5,2\r\n', { a: '1;5', b: '2' }],
  ['sep=;\n\n;\na;b\n1;2', { a: '1', b: '2' }],
  ['a|b\n1|2', { a: '1', b: '2' }],
])('%j: the separator that the first line names is used, and the line is no record', async (text, first) => {
  // One row at a time: the separator is kept from page to page.
  const bytes = Buffer.from(text)
  let place: FilePlace | null = FILE_START
  const rows: unknown[] = []
  while (place !== null) {
    const page: FilePage = await readCsvPage({ bytes: bytes.subarray(place.byte), more: false }, place, 1)
    rows.push(...page.rows)
    place = page.next
  }
  expect(rows).toEqual([first])
})
