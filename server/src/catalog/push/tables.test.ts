import { describe, expect, it } from 'vitest'
import { printSeen, runAt } from '../testing/crm.ts'
import type { Reply, Seen } from '../testing/provider-double.ts'
import { useActions } from '../testing/run-action.ts'

const runAction = useActions()
const row = { input: { email: 'ann@acme.example', size: 12, tags: ['a', 'b'], text: '=1+1' } }

type Inputs = Record<string, unknown>
const run = (action: string, inputs: Inputs, answer: (seen: Seen, place: number) => Reply) =>
  runAt(runAction, [action, inputs], answer, { row })
const values = (...pairs: [string, unknown][]) => pairs.map(([name, value]) => ({ name, value }))

describe('google_sheets_append_row', () => {
  const BASE = '/v4/spreadsheets/sheet-0123456789/values'
  const inputs = {
    spreadsheet_id: 'https://docs.google.com/spreadsheets/d/sheet-0123456789/edit#gid=0',
    sheet_name: "Ann's",
    values: values(['Size', '{{input.size}}'], ['Email', '{{input.email}}'], ['Note', '{{input.text}}']),
  }
  const answer = ({ method }: Seen): Reply =>
    method === 'GET'
      ? { json: { values: [['Email', '', 'Size', 'Note', 'Tags']] } }
      : { json: { updates: { updatedRange: "'Ann''s'!A7:E7" } } }

  it('puts values under their headers, and never as formulas', async () => {
    const { outcome, asked } = await run('google_sheets_append_row', inputs, answer)
    expect(asked.map(printSeen)).toEqual([
      [`GET ${BASE}/${encodeURIComponent("'Ann''s'!1:1")}?valueRenderOption=UNFORMATTED_VALUE`, undefined],
      [
        `POST ${BASE}/${encodeURIComponent("'Ann''s'!A1")}:append?valueInputOption=RAW&insertDataOption=INSERT_ROWS`,
        { majorDimension: 'ROWS', values: [['ann@acme.example', '', 12, '=1+1', '']] },
      ],
    ])
    expect(outcome).toMatchObject({
      kind: 'done',
      outputs: {
        id: "'Ann''s'!A7:E7",
        row_number: 7,
        url: 'https://docs.google.com/spreadsheets/d/sheet-0123456789',
      },
    })
  })

  it('an unknown column fails with the list of those that exist', async () => {
    const { outcome, asked } = await run(
      'google_sheets_append_row',
      { ...inputs, values: values(['City', 'x']) },
      answer,
    )
    expect(outcome).toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(/no column City; those of row 1 are: Email, Size, Note, Tags/),
    })
    expect(asked).toHaveLength(1)
  })

  it.each<[Inputs, RegExp]>([
    [{ spreadsheet_id: '../x' }, /id of a spreadsheet/],
    [{ values: values(['Email', '']) }, /nothing to write/],
  ])('%j never leaves', async (wrong, message) => {
    const { outcome, asked } = await run('google_sheets_append_row', { ...inputs, ...wrong }, answer)
    expect(outcome).toMatchObject({ kind: 'unrunnable', message: expect.stringMatching(message) })
    expect(asked).toEqual([])
  })
})

describe('notion_create_page', () => {
  const ID = '0123456789abcdef0123456789abcdef'
  const TYPES = {
    Name: 'title',
    Notes: 'rich_text',
    Size: 'number',
    Tags: 'multi_select',
    Stage: 'status',
    Since: 'date',
    Done: 'checkbox',
    Mail: 'email',
    Sum: 'formula',
  }
  const properties = Object.fromEntries(
    Object.entries(TYPES).map(([name, type]) => [name, { id: 'x', type }]),
  )
  const answer = ({ path }: Seen): Reply => ({
    json:
      path === '/v1/pages'
        ? { id: 'p1', url: 'https://www.notion.so/p1' }
        : path.startsWith('/v1/databases/')
          ? { data_sources: [{ id: 'ds-1' }] }
          : { properties },
  })
  const inputs = {
    database: `https://www.notion.so/acme/${ID}?v=1`,
    values: values(
      ['Name', 'Ann'],
      ['Notes', 'x'.repeat(2500)],
      ['Size', '{{input.size}}'],
      ['Tags', '{{input.tags}}'],
      ['Stage', 'Open'],
      ['Since', '2026-01-01'],
      ['Done', 'true'],
      ['Mail', '{{input.email}}'],
    ),
  }

  it('writes each value in the form that the type of its property needs', async () => {
    const { outcome, asked } = await run('notion_create_page', inputs, answer)
    expect(asked.map(printSeen)).toEqual([
      [`GET /v1/databases/${ID}`, undefined],
      ['GET /v1/data_sources/ds-1', undefined],
      [
        'POST /v1/pages',
        {
          parent: { type: 'data_source_id', data_source_id: 'ds-1' },
          properties: {
            Name: { title: [{ text: { content: 'Ann' } }] },
            Notes: {
              rich_text: [{ text: { content: 'x'.repeat(2000) } }, { text: { content: 'x'.repeat(500) } }],
            },
            Size: { number: 12 },
            Tags: { multi_select: [{ name: 'a' }, { name: 'b' }] },
            Stage: { status: { name: 'Open' } },
            Since: { date: { start: '2026-01-01' } },
            Done: { checkbox: true },
            Mail: { email: 'ann@acme.example' },
          },
        },
      ],
    ])
    expect(outcome).toMatchObject({ kind: 'done', outputs: { id: 'p1', url: 'https://www.notion.so/p1' } })
  })

  it.each<[[string, unknown], RegExp]>([
    [['City', 'x'], /no property City; there are: Name, Notes/],
    [['Sum', '1'], /Sum is formula, which Notion does not let others write/],
    [['Size', 'many'], /Size must be a number/],
    [['Done', 'perhaps'], /Done must be true or false/],
  ])('%j fails before anything is written', async (pair, message) => {
    const { outcome, asked } = await run('notion_create_page', { ...inputs, values: values(pair) }, answer)
    expect(outcome).toMatchObject({ kind: 'failed', message: expect.stringMatching(message) })
    expect(asked.map(({ method }) => method)).not.toContain('POST')
  })
})
