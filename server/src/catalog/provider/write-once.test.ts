import { describe, expect, it } from 'vitest'
import { printSeen, runAt } from '../testing/crm.ts'
import type { Reply, Seen } from '../testing/provider-double.ts'
import { useActions } from '../testing/run-action.ts'

const runAction = useActions()
const NOW = new Date('2026-03-01T12:00:00Z')
const values = [{ name: 'email', value: 'ann@acme.example' }]
const down: Reply = { status: 502, text: 'bad gateway' }

/** An action that creates a record: its creating call, and the other side's answer to a search for the record. */
type Creation = {
  action: string
  inputs: Record<string, unknown>
  isCreate: (seen: Seen) => boolean
  created: Reply
  /** Returns the answers to all other calls, with or without the record. */
  other: (seen: Seen, isThere: boolean) => Reply
  outputs: Record<string, unknown>
}

const CREATIONS: Creation[] = [
  {
    action: 'hubspot_create_object',
    inputs: { object_type: 'deals', properties: [{ name: 'dealname', value: 'Big' }] },
    isCreate: ({ path }) => path === '/crm/v3/objects/deals',
    created: { status: 201, json: { id: '7' } },
    other: (_seen, isThere) => ({
      json: {
        results: [
          ...(isThere ? [{ id: '7', createdAt: '2026-03-01T11:59:30Z' }] : []),
          // A record with the same values, but from an earlier time.
          { id: '1', createdAt: '2026-02-01T00:00:00Z' },
        ],
      },
    }),
    outputs: { record_id: '7' },
  },
  {
    action: 'hubspot_upsert_object',
    inputs: { object_type: 'companies', properties: [{ name: 'domain', value: 'acme.example' }] },
    isCreate: ({ path }) => path === '/crm/v3/objects/companies',
    created: { status: 201, json: { id: '7' } },
    other: ({ path, method }, isThere) => {
      if (path.endsWith('/batch/upsert')) return { status: 400, json: { message: 'non-unique property' } }
      return { json: method === 'PATCH' ? { id: '7' } : { results: isThere ? [{ id: '7' }] : [] } }
    },
    outputs: { record_id: '7', created: true },
  },
  {
    action: 'salesforce_create_record',
    inputs: {
      salesforce_object: 'Lead',
      add_fields_and_their_values: [{ name: 'Company', value: "O'Hara" }],
    },
    isCreate: ({ method }) => method === 'POST',
    created: { status: 201, json: { id: '7', success: true } },
    other: (_seen, isThere) => ({ json: { records: isThere ? [{ Id: '7' }] : [] } }),
    outputs: { record_id: '7' },
  },
  {
    action: 'pipedrive_upsert',
    inputs: { object: 'persons', match_field: 'email', values },
    isCreate: ({ method }) => method === 'POST',
    created: { status: 201, json: { data: { id: 7 } } },
    other: (_seen, isThere) => ({
      json: { data: { items: isThere ? [{ item: { id: 7, emails: ['ann@acme.example'] } }] : [] } },
    }),
    outputs: { record_id: '7', created: true },
  },
  {
    action: 'notion_create_page',
    inputs: { database: 'f'.repeat(32), values },
    isCreate: ({ path }) => path === '/v1/pages',
    created: { json: { id: '7' } },
    other: ({ method }, isThere) =>
      method === 'GET'
        ? { json: { data_sources: [{ id: 'ds-1' }], properties: { email: { type: 'email' } } } }
        : { json: { results: isThere ? [{ id: '7' }] : [] } },
    outputs: { id: '7' },
  },
  {
    action: 'google_sheets_append_row',
    inputs: { spreadsheet_id: 'once-0123456789', sheet_name: 'Leads', values },
    isCreate: ({ method }) => method === 'POST',
    created: { json: { updates: { updatedRange: "'Leads'!A3:A3" } } },
    other: ({ path }, isThere) => {
      const range = decodeURIComponent(path)
      if (range.endsWith('1:1')) return { json: { values: [['email']] } }
      const rows = [['email'], ['bob@acme.example'], ...(isThere ? [['ann@acme.example']] : [])]
      return { json: { values: range.endsWith('A:A') ? rows : rows.slice(1) } }
    },
    outputs: { row_number: 3 },
  },
]

describe.each(CREATIONS.map((one): [string, Creation] => [one.action, one]))(
  '%s writes once as far as the other side allows',
  (action, { inputs, isCreate, created, other, outputs }) => {
    const run = (isThere: boolean, create: Reply, settings = {}) =>
      runAt(runAction, [action, inputs], (seen) => (isCreate(seen) ? create : other(seen, isThere)), {
        now: NOW,
        ...settings,
      })
    const creates = (asked: Seen[]) => asked.filter(isCreate).length

    it('a creation without an answer is searched for before it is repeated', async () => {
      const open = await run(false, down)
      expect(open.outcome).toMatchObject({
        kind: 'wait',
        state: { open: { since: NOW.getTime(), tries: 1 } },
      })
      const { state } = open.outcome as { state: unknown }
      const there = await run(true, created, { state })
      expect(creates(there.asked)).toBe(0)
      expect(there.outcome).toMatchObject({ kind: 'done', outputs })
      expect(JSON.stringify(there.outcome)).toContain('the record exists and was not created again')

      const absent = await run(false, created, { state })
      expect(creates(absent.asked)).toBe(1)
      expect(absent.outcome).toMatchObject({ kind: 'done', outputs })
      expect(JSON.stringify(absent.outcome)).toContain('the record does not exist, so it is created')
    })

    it('so is one whose worker died', async () => {
      const there = await run(true, created, { wasCutOff: true })
      expect(creates(there.asked)).toBe(0)
      expect(there.outcome).toMatchObject({ kind: 'done', outputs })
    })

    it('an open creation stays open while a search must wait, and ends with a message about it', async () => {
      const open = { since: NOW.getTime(), tries: 1 }
      const later = await runAt(
        runAction,
        [action, inputs],
        () => ({ status: 429, headers: { 'retry-after': '7' } }),
        {
          now: NOW,
          state: { open },
        },
      )
      expect(later.outcome).toMatchObject({ kind: 'wait', ms: 7000, state: { open: { ...open, tries: 2 } } })
      const last = await run(false, down, { state: { open: { ...open, tries: 3 } } })
      expect(last.outcome).toMatchObject({
        kind: 'failed',
        message: expect.stringMatching(/after 4 attempts\); whether it was created is not known/),
      })
    })
  },
)

it('a search asks for the same values and no older records', async () => {
  const state = { open: { since: NOW.getTime(), tries: 1 } }
  const fields = [
    { name: 'Company', value: "O'Hara" },
    { name: 'City', value: 'Bonn' },
  ]
  const { asked } = await runAt(
    runAction,
    ['salesforce_create_record', { salesforce_object: 'Lead', add_fields_and_their_values: fields }],
    ({ method }) => ({ json: method === 'GET' ? { records: [] } : { id: '7' } }),
    { now: NOW, state },
  )
  expect(asked[0]?.query['q']).toBe(
    "SELECT Id FROM Lead WHERE Company = 'O\\'Hara' AND City = 'Bonn' AND CreatedDate >= 2026-03-01T11:59:00.000Z LIMIT 1",
  )
  const hubspot = await runAt(
    runAction,
    [
      'hubspot_create_object',
      { object_type: 'notes', properties: [{ name: 'body', value: 'x'.repeat(4000) }] },
    ],
    () => ({ json: { results: [{ id: '1', createdAt: NOW.toISOString() }] } }),
    { now: NOW, state },
  )
  expect(hubspot.asked.map(printSeen)).toEqual([])
  expect(hubspot.outcome).toMatchObject({
    kind: 'failed',
    message: expect.stringMatching(/no value identifies the record/),
  })
})
