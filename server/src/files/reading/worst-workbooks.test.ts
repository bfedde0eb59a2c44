import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { heldMs } from '../../lib/timing/testing/watched-turns.ts'
import { readWorkbook } from '../testing/read-workbook.ts'
import { makeWorkbook, type TestWorkbook, textRow } from '../testing/workbook.ts'

const HELD_MS = 200
const READER = fileURLToPath(new URL('../testing/read-workbook.ts', import.meta.url))
const run = promisify(execFile)
const MB = 1024 * 1024
const folder = mkdtempSync(join(tmpdir(), 'loam-worst-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const HEAD = textRow(1, 'a', 'b')
const shared = (index: number) => `<c t="s"><v>${index}</v></c>`
const rows = (count: number, cells: string | ((n: number) => string)) =>
  Array.from({ length: count }, (_, n) => `<row>${typeof cells === 'string' ? cells : cells(n)}</row>`).join(
    '',
  )
const strings = (count: number, write: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => `<si><t>${write(n)}</t></si>`).join('')
/** Texts of 1 MB, with a short one after every 15 of them. */
const longOnes = (count: number) =>
  strings(count, (n) => (n % 16 === 15 ? 'x' : String(n % 10).repeat(MB - 100)))
const relations = (count: number) =>
  `<Relationships>${Array.from({ length: count }, (_, n) => `<Relationship Id="r${n}" Type="/worksheet" Target="s"/>`).join('')}</Relationships>`

const SHAPES: [string, () => TestWorkbook][] = [
  [
    'a million shared texts',
    () => ({
      rows: HEAD + rows(50_000, (n) => shared((n * 7919) % 1_000_000)),
      strings: strings(1_000_000, String),
    }),
  ],
  [
    'cells that refer to short texts among long ones',
    () => ({ rows: HEAD + rows(5_000, (n) => shared(15 + 16 * (n % 2))), strings: longOnes(32) }),
  ],
  [
    'cells that refer to long texts',
    () => ({ rows: HEAD + rows(200, (n) => shared(n % 30 === 15 ? 0 : n % 30)), strings: longOnes(32) }),
  ],
  ['one cell of 10 MB', () => ({ rows: HEAD + textRow(2, 'x'.repeat(10 * MB)) })],
  ['one number of 1 MB', () => ({ rows: `${HEAD}<row><c><v>${'9'.repeat(MB)}</v></c></row>` })],
  ['the last column alone, in many rows', () => ({ rows: HEAD + rows(40_000, '<c r="XFD2"><v>1</v></c>') })],
  ['16,384 columns in many rows', () => ({ rows: HEAD + rows(60, '<c><v>1</v></c>'.repeat(16_384)) })],
  ['rows without cells', () => ({ rows: HEAD + '<row/>'.repeat(2_000_000) })],
  ['elements nested deep', () => ({ rows: HEAD + '<x>'.repeat(3_000_000) })],
  ['a tag of many attributes', () => ({ rows: `${HEAD}<row><c${' r'.repeat(2_000_000)}/></row>` })],
  [
    'tags of many attributes',
    () => ({ rows: HEAD + `<row><c${' r'.repeat(30_000)} r="A2"/></row>`.repeat(100) }),
  ],
  ['long comments', () => ({ rows: HEAD + `<!--${'x'.repeat(3.5 * MB)}-->`.repeat(3) })],
  [
    'long sections',
    () => ({ rows: `${HEAD}<row>${`<c><v><![CDATA[${'x'.repeat(MB)}]]></v></c>`.repeat(2)}</row>` }),
  ],
  ['entities', () => ({ rows: HEAD + textRow(2, '&#x10FFFF;'.repeat(190_000)) })],
  ['escapes', () => ({ rows: HEAD + textRow(2, '_x0041_'.repeat(290_000)) })],
  [
    'formats of open brackets',
    () => ({ rows: HEAD, formats: Array.from({ length: 20 }, () => '['.repeat(60_000)) }),
  ],
  ['many styles', () => ({ rows: HEAD, builtIn: Array.from({ length: 1_000_000 }, () => 22) })],
  [
    'many worksheets',
    () => ({
      rows: HEAD,
      parts: [
        { name: 'xl/_rels/workbook.xml.rels', content: relations(100_000) },
        {
          name: 'xl/workbook.xml',
          content: `<workbook><sheets>${'<sheet name="x" r:id="r99999"/>'.repeat(100_000)}</sheets></workbook>`,
        },
      ],
    }),
  ],
  [
    'many parts',
    () => ({
      rows: HEAD,
      parts: Array.from({ length: 60_000 }, (_, n) => ({
        name: `p${n}`,
        content: '',
        stored: true as const,
      })),
    }),
  ],
]

describe('I2: workbooks of the worst shapes never hold the thread of the server', () => {
  it.each(SHAPES)('%s', { timeout: 120_000 }, async (_, make) => {
    const path = join(folder, 'book.xlsx')
    writeFileSync(path, makeWorkbook(make()))
    let held = await heldMs(() => readWorkbook(path, folder), HELD_MS)
    // The heap of this process is that of many tests, and collecting it counts as well. A process of its own decides then.
    if (held >= HELD_MS) held = Number((await run(process.execPath, [READER, path, folder])).stdout)
    expect(held).toBeLessThan(HELD_MS)
  })
})
