import { describe, expect, it } from 'vitest'
import { type Reply, type Seen, serveDouble } from '../../../catalog/testing/provider-double.ts'
import { pullSource, type Settings } from '../../testing/pull-source.ts'

/** Serves a file with or without support for ranges. */
function serveFile(file: () => { text: string; etag?: string }, ranges: boolean) {
  return ({ headers }: Seen): Reply => {
    const { text, etag } = file()
    const known = { ...(etag === undefined ? {} : { etag }), 'content-type': 'text/csv' }
    if (etag !== undefined && headers['if-none-match'] === etag)
      return { status: 304, headers: known, text: '' }
    const [, first = '0', last = '0'] = /^bytes=(\d+)-(\d+)$/.exec(String(headers['range'])) ?? []
    const bytes = Buffer.from(text)
    if (!ranges) return { headers: known, text }
    if (Number(first) >= bytes.length) return { status: 416, headers: known, text: '' }
    const part = bytes.subarray(Number(first), Number(last) + 1)
    const range = `bytes ${first}-${Number(first) + part.length - 1}/${bytes.length}`
    return { status: 206, headers: { ...known, 'content-range': range }, bytes: part }
  }
}

const pull = async (
  answer: (seen: Seen) => Reply,
  body: Record<string, unknown> = {},
  settings: Settings & { state?: unknown; limit?: number } = {},
) => {
  const { origin, seen } = await serveDouble(answer)
  return {
    seen,
    pulled: await pullSource('import_from_csv_url', { url: `${origin}/leads.csv`, ...body }, settings),
  }
}

const HEAD = 'Name;Größe;Note\n'
const lineOf = (n: number) => `Müller ${n};${n};"a ""quote""\r\nand; more ${n}"\r\n`
const MANY = `\uFEFF${HEAD}${Array.from({ length: 20_000 }, (_, n) => lineOf(n)).join('')}`

describe('import_from_csv_url', () => {
  it.each([true, false])(
    'reads a file of any length in pages, every row once; ranges: %s',
    async (ranges) => {
      const { seen, pulled } = await pull(serveFile(() => ({ text: MANY, etag: '"1"' }), ranges))
      expect(pulled).toMatchObject({ refusal: null, note: null, skipped: 0 })
      expect(new Set(pulled.keys).size).toBe(20_000)
      expect(pulled.rows[19_999]).toEqual({
        Name: 'Müller 19999',
        Größe: '19999',
        Note: 'a "quote"\r\nand; more 19999',
      })
      expect(pulled.pages).toBe(20)
      // A server without ranges is not asked again for every page.
      if (!ranges) expect(seen.length).toBe(1)
    },
  )

  it('on a schedule reads nothing while the file is unchanged, and all of it when it has changed', async () => {
    let file = { text: 'Id,Name\n1,a\n', etag: '"1"' }
    const answer = serveFile(() => file, true)
    const first = await pull(answer, { key_column: 'Id' })
    expect(first.pulled).toMatchObject({ keys: ['1'], resume: { version: '"1"', file: null } })
    const state = first.pulled.resume
    const same = await pull(answer, { key_column: 'Id' }, { state })
    expect(same.seen[0]?.headers['if-none-match']).toBe('"1"')
    expect(same.pulled).toMatchObject({ keys: [], resume: state })
    file = { text: 'Id,Name\n1,b\n2,c\n', etag: '"2"' }
    expect((await pull(answer, { key_column: 'Id' }, { state })).pulled).toMatchObject({
      keys: ['1', '2'],
      rows: [
        { Id: '1', Name: 'b' },
        { Id: '2', Name: 'c' },
      ],
    })
  })

  it('starts again when the file changes while it is read', async () => {
    let asked = 0
    const texts = ['Id,Name\n1,a\n2,b\n3,c\n', 'Id,Name\n9,z\n1,a\n2,b\n3,c\n']
    const answer = (seen: Seen) => {
      asked += 1
      const text = texts[asked === 1 ? 0 : 1] ?? ''
      return serveFile(() => ({ text, etag: `"${text.length}"` }), true)(seen)
    }
    const { pulled } = await pull(answer, { key_column: 'Id' }, { limit: 2 })
    expect(new Set(pulled.keys)).toEqual(new Set(['1', '2', '3', '9']))
  })

  it('sends credentials from environment variables', async () => {
    const { seen } = await pull(
      serveFile(() => ({ text: 'Id\n1' }), true),
      { headers: { authorization: 'Basic {{env.FILES}}' } },
      { env: { FILES: 'dTpw' } },
    )
    expect(seen[0]?.headers.authorization).toBe('Basic dTpw')
  })

  it.each<[string, Reply, Record<string, unknown>]>([
    ['a page that is not there', { status: 404, text: 'Not Found' }, { kind: 'ineligible' }],
    [
      'a workbook',
      { text: 'PK\u0003\u0004xyz' },
      { kind: 'ineligible', message: expect.stringContaining('XLSX') },
    ],
    [
      'an open quote',
      { text: 'Id\n"1\n' },
      { kind: 'ineligible', message: expect.stringContaining('never closed') },
    ],
    [
      'a key that is no column',
      { text: 'Name\na\n' },
      { kind: 'ineligible', message: expect.stringContaining('There is no column Id') },
    ],
    ['a server that is down', { status: 503 }, { kind: 'error', transient: true }],
  ])('says what is wrong with %s', async (_what, reply, refusal) => {
    expect((await pull(() => reply, { key_column: 'Id' })).pulled.refusal).toMatchObject(refusal)
  })

  it('refuses a header of very many columns at once, also where all have one name', async () => {
    const { pulled } = await pull(serveFile(() => ({ text: `${'a,'.repeat(120_000)}a\n1\n` }), true))
    expect(pulled.refusal).toMatchObject({
      kind: 'ineligible',
      message: expect.stringContaining('120001 columns'),
    })
  })

  it('a row is identified by all its values if no key column is given', async () => {
    const { pulled } = await pull(serveFile(() => ({ text: 'A,B\n1,2\n\n1,2\n1,\n' }), true))
    expect(pulled.rows).toEqual([
      { A: '1', B: '2' },
      { A: '1', B: null },
    ])
  })
})
