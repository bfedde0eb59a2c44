import { describe, expect, it } from 'vitest'
import { type Reply, type Seen, serveDouble } from '../../../catalog/testing/provider-double.ts'
import { pullSource } from '../../testing/pull-source.ts'

const ID = '1AbcDefGhiJklMnoPqr'
const BODY = { spreadsheet_id: ID, sheet_name: "Bob's leads" }

/** Serves a sheet as the values endpoint does: without empty rows at the end or anything after the grid. */
function serveSheet(grid: unknown[][]) {
  return ({ path }: Seen): Reply => {
    const [, name, from, to] =
      /^\/v4\/spreadsheets\/[\w-]+\/values\/'(.*)'!(\d+):(\d+)$/.exec(decodeURIComponent(path)) ?? []
    if (name !== "Bob''s leads")
      return { status: 400, json: { error: { message: `Unable to parse range: ${name}` } } }
    const first = Number(from)
    const last = Math.min(Number(to), grid.length)
    if (first > grid.length) {
      const message = `Range ('${name}'!A${first}:B${to}) exceeds grid limits. Max rows: ${grid.length}, max columns: 2`
      return { status: 400, json: { error: { code: 400, message, status: 'INVALID_ARGUMENT' } } }
    }
    const values = grid.slice(first - 1, last)
    while (values.at(-1)?.length === 0) values.pop()
    return {
      json: {
        range: `'${name}'!A${first}:B${last}`,
        majorDimension: 'ROWS',
        ...(values.length === 0 ? {} : { values }),
      },
    }
  }
}

async function pullSheet(grid: unknown[][], body: Record<string, unknown> = {}, settings = {}) {
  const { origin, seen } = await serveDouble(serveSheet(grid))
  const pulled = await pullSource(
    'import_from_google_sheets',
    { ...BODY, ...body },
    { urls: { google_sheets: origin }, ...settings },
  )
  return { seen, pulled }
}

describe('import_from_google_sheets', () => {
  it('reads all rows by the names of the header row, page by page, over rows without values', async () => {
    const grid = [
      ['Exported on Monday'],
      ['Name', 'Size', 'Name', ''],
      ['Acme', 5, 'x', 'no header'],
      [],
      [],
      ['Beta', '', ''],
      [],
    ]
    const { seen, pulled } = await pullSheet(grid, { header_row: 2 }, { limit: 2 })
    expect(pulled.rows).toEqual([
      { Name: 'Acme', Size: 5, 'Name 2': 'x' },
      { Name: 'Beta', Size: null, 'Name 2': null },
    ])
    expect(seen.map(({ path }) => decodeURIComponent(path).split('!')[1])).toEqual(['2:4', '5:6', '7:8'])
    expect(seen[0]?.query).toEqual({
      valueRenderOption: 'UNFORMATTED_VALUE',
      dateTimeRenderOption: 'FORMATTED_STRING',
    })
  })

  it('ends at the end of the grid, although Google refuses rows after it', async () => {
    const grid = [['Name'], ['a'], ['b'], ['c'], ['d']]
    const { pulled } = await pullSheet(grid, {}, { limit: 2 })
    expect(pulled).toMatchObject({
      refusal: null,
      rows: [{ Name: 'a' }, { Name: 'b' }, { Name: 'c' }, { Name: 'd' }],
    })
  })

  it('a row keeps its key when others are inserted above it; a key column also keeps it through changes', async () => {
    const before = await pullSheet([
      ['Id', 'Name'],
      [1, 'a'],
      [2, 'b'],
    ])
    const after = await pullSheet([
      ['Id', 'Name'],
      [3, 'c'],
      [1, 'a'],
      [2, 'b'],
    ])
    expect(after.pulled.keys.slice(1)).toEqual(before.pulled.keys)
    const keyed = await pullSheet(
      [
        ['Id', 'Name'],
        [1, 'changed'],
      ],
      { key_column: 'Id' },
    )
    expect(keyed.pulled.keys).toEqual(['1'])
  })

  it('accepts the URL of a spreadsheet instead of its id', async () => {
    const { seen } = await pullSheet([['Name']], {
      spreadsheet_id: `https://docs.google.com/spreadsheets/d/${ID}/edit#gid=0`,
    })
    expect(seen[0]?.path).toContain(`/v4/spreadsheets/${ID}/values/`)
  })

  it.each([
    [
      { sheet_name: 'None' },
      { kind: 'ineligible', message: expect.stringContaining('Unable to parse range') },
    ],
    [
      { key_column: 'Mail' },
      { kind: 'ineligible', message: expect.stringContaining('there is no column Mail') },
    ],
    [{ header_row: 2 }, { kind: 'ineligible', message: expect.stringContaining('row 2 of') }],
  ])('says what is wrong with %j', async (body, refusal) => {
    const { pulled } = await pullSheet([['Name'], [], ['a']], body)
    expect(pulled.refusal).toMatchObject(refusal)
  })

  it('refuses an invalid spreadsheet and names the field', async () => {
    await expect(
      pullSource('import_from_google_sheets', { ...BODY, spreadsheet_id: '../x' }),
    ).rejects.toMatchObject({
      details: {
        errors: [{ field: 'spreadsheet_id', message: 'must be the id or the URL of a spreadsheet' }],
      },
    })
  })
})
