import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { recordsOf } from '#test/builders/organisation-records.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'

const app = await makeApp()
const document: Json = app.api.swagger()

/** Returns the fields of a body that hold an id, found in the contract by their format or by their name. */
function idFieldsOf(schema: Json): string[] {
  const resolved =
    schema?.$ref === undefined ? schema : document.components.schemas[schema.$ref.split('/').at(-1)]
  const options: Json[] = [resolved, ...(resolved?.anyOf ?? []), ...(resolved?.allOf ?? [])]
  const properties = options.flatMap((option) => Object.entries<Json>(option?.properties ?? {}))
  const isId = ([name, field]: [string, Json]) =>
    /_ids?$/.test(name) || /"format":"uuid"/.test(JSON.stringify(field))
  return [...new Set(properties.filter(isId).map(([name]) => name))]
}

const endpoints = Object.entries<Json>(document.paths).flatMap(([path, operations]) =>
  Object.entries<Json>(operations).flatMap(([verb, operation]) => {
    const schema = operation.requestBody?.content?.['application/json']?.schema
    const name = `${verb.toUpperCase()} ${path.slice('/api/v1'.length)}`
    return idFieldsOf(schema).map((field) => ({ name, method: verb.toUpperCase(), path, field }))
  }),
)

type Things = { workflow_id: string; row_id: string; view_id: string; order_id: string }

async function makeThings(key: string): Promise<Things> {
  const call = async (method: string, path: string, body: unknown) => {
    const answer = await app.call(key, method, path, body)
    expect([path, answer.status < 300]).toEqual([path, true])
    return answer.body.data
  }
  const { workflow_id } = await call('POST', '/workflows', { name: 'Private' })
  const base = `/workflows/${workflow_id}/sheets/${workflow_id}`
  await call('POST', `${base}/inputs`, [{ name: 'who', type: 'string' }])
  await call('POST', `${base}/actions/add`, {
    action_id: 'format_data_using_js_expression',
    inputs: { data_formatter: '{{input.who}}' },
  })
  // No worker runs here, so the flight stays queued.
  const rows = await call('POST', `${base}/rows`, { rows: [{ who: 'Private' }], run_after_add: 'all' })
  const { view_id } = await call('POST', `${base}/views`, { name: 'Private' })
  const { order_id } = await call('POST', `${base}/rows/list`, { sort: [{ variable: '{{input.who}}' }] })
  return { workflow_id, row_id: rows.row_ids[0], view_id, order_id }
}

const owner = await app.makeOrg()
const theirs = await makeThings(owner.key)
const member = await owner.keyFor('member@example.com', 'member')
const stranger = await app.makeOrg()
const attackers = [
  { who: 'another member', key: member, orgId: owner.orgId, own: await makeThings(member) },
  {
    who: 'another organisation',
    key: stranger.key,
    orgId: stranger.orgId,
    own: await makeThings(stranger.key),
  },
]

/** Creates a source and a segment of the attacker, to send into the workflows of others. */
async function makeFeeds(orgId: string) {
  const [source, segment] = [randomUUID(), randomUUID()]
  await app.store.query({
    text: `insert into sources (org_id, instance_id, slug, name, provider, body, created_by, schedule)
      values ($1, $2, 'http_request', 'Own', 'http', '{}', 'a@example.com', 'once')`,
    values: [orgId, source],
  })
  await app.store.query({
    text: `insert into record_segments (org_id, segment_id, name, kind, filter, filter_hash)
      values ($1, $2::uuid, $2::uuid::text, 'company', '{}', 'hash')`,
    values: [orgId, segment],
  })
  return { source, segment }
}

type Trial = { body(foreign: Things): Json; statuses: number[] }
const SYNC: Trial = {
  body: ({ workflow_id }) => ({ workflow_id, field_mapping: { 'input.who': 'name' } }),
  statuses: [403, 404],
}
const ROWS: Trial = { body: ({ row_id }) => ({ row_ids: [row_id] }), statuses: [400] }
/** A view of another sheet: as an id that does not exist. */
const VIEW: Trial = { body: ({ view_id }) => ({ view_id }), statuses: [400] }
/** Rows of another sheet are not among those that are left out. */
const EXCLUDED: Trial = {
  body: ({ row_id }) => ({ all: true, exclude_row_ids: [row_id] }),
  statuses: [200, 202, 400],
}
const FILE = { loam: 1, workflow: 'Mine', sheets: [{ sheet: 'Mine' }] }
const DEFINITION: Trial = {
  body: ({ workflow_id }) => ({ workflow_id, definition: FILE }),
  statuses: [400],
}
const SHEET = '/workflows/{workflow_id}/sheets/{sheet_id}'

/**
 * The statuses expected for each body with an id. 200 and 202 are answers that touched nothing: no row was
 * listed, deleted or exported.
 */
const TRIALS: Record<string, Trial> = {
  [`POST ${SHEET}/rows/list row_ids`]: { ...ROWS, statuses: [200] },
  [`POST ${SHEET}/rows/delete row_ids`]: { ...ROWS, statuses: [200] },
  [`POST ${SHEET}/rows/delete-all row_ids`]: ROWS,
  [`POST ${SHEET}/run row_ids`]: ROWS,
  [`POST ${SHEET}/run-all row_ids`]: ROWS,
  [`POST ${SHEET}/actions/{action_instance_id}/run row_ids`]: ROWS,
  [`POST ${SHEET}/estimate row_ids`]: ROWS,
  [`POST ${SHEET}/export row_ids`]: { ...ROWS, statuses: [202, 400] },
  [`POST ${SHEET}/export exclude_row_ids`]: {
    body: ({ row_id }) => ({ exclude_row_ids: [row_id] }),
    statuses: [202, 400],
  },
  [`POST ${SHEET}/rows/list order_id`]: { body: ({ order_id }) => ({ order_id }), statuses: [410] },
  [`POST ${SHEET}/rows/list view_id`]: VIEW,
  [`POST ${SHEET}/rows/delete view_id`]: VIEW,
  [`POST ${SHEET}/rows/delete exclude_row_ids`]: EXCLUDED,
  [`POST ${SHEET}/rows/groups view_id`]: {
    body: ({ view_id }) => ({ view_id, by: [{ variable: '{{input.who}}' }] }),
    statuses: [400],
  },
  [`POST ${SHEET}/rows/statistics view_id`]: {
    body: ({ view_id }) => ({ view_id, columns: [{ variable: '{{input.who}}' }] }),
    statuses: [400],
  },
  [`POST ${SHEET}/run view_id`]: VIEW,
  [`POST ${SHEET}/run exclude_row_ids`]: {
    body: ({ row_id }) => ({ exclude_row_ids: [row_id] }),
    statuses: [400],
  },
  [`POST ${SHEET}/run-all view_id`]: VIEW,
  [`POST ${SHEET}/rows/delete-all view_id`]: VIEW,
  [`POST ${SHEET}/actions/{action_instance_id}/run view_id`]: VIEW,
  [`POST ${SHEET}/estimate view_id`]: VIEW,
  [`POST ${SHEET}/estimate exclude_row_ids`]: EXCLUDED,
  [`POST ${SHEET}/export view_id`]: VIEW,
  'POST /definitions/plan workflow_id': DEFINITION,
  'POST /definitions/apply workflow_id': DEFINITION,
  [`POST ${SHEET}/actions/{action_instance_id}/test row_id`]: {
    body: ({ row_id }) => ({ row_id }),
    statuses: [400],
  },
  [`POST ${SHEET}/actions/test row_id`]: {
    body: ({ row_id }) => ({
      row_id,
      action_id: 'format_data_using_js_expression',
      inputs: { data_formatter: '{{input.who}}' },
    }),
    statuses: [400],
  },
  [`POST ${SHEET}/comments row_id`]: {
    body: ({ row_id }) => ({ row_id, text: 'x' }),
    statuses: [400],
  },
  'POST /sources/{source_instance_id}/sync workflow_id': SYNC,
  'POST /records/segments/{segment_id}/sync workflow_id': SYNC,
}

/** Fields whose names end like ids but hold the caller's own words or names of kinds. */
const NO_IDS = new Set([
  `POST ${SHEET}/actions/add action_id`,
  `POST ${SHEET}/actions/test action_id`,
  `POST ${SHEET}/estimate action_instance_id`,
  `POST ${SHEET}/comments action_instance_id`,
])

const nameOf = ({ name, field }: { name: string; field: string }) => `${name} ${field}`

it('every id in a body of the contract is tried', () => {
  const found = endpoints.map(nameOf).filter((name) => !NO_IDS.has(name))
  expect(found.sort()).toEqual(Object.keys(TRIALS).sort())
})

it.each(endpoints.filter((endpoint) => !NO_IDS.has(nameOf(endpoint))))(
  '$name: a foreign $field is refused and changes nothing of its owner',
  async (endpoint) => {
    const trial = TRIALS[nameOf(endpoint)]
    for (const { who, key, orgId, own } of attackers) {
      const { source, segment } = await makeFeeds(orgId)
      const values: Record<string, string> = {
        workflow_id: own.workflow_id,
        sheet_id: own.workflow_id,
        action_instance_id: 'format_data_using_js_expression_1',
        source_instance_id: source,
        segment_id: segment,
      }
      const url = endpoint.path.replaceAll(/\{(\w+)\}/g, (_, param: string) => values[param] ?? '')
      const before = await listOwnersRecords()
      const answer = await app.call(key, endpoint.method, url, trial?.body(theirs))
      expect([who, trial?.statuses.includes(answer.status), answer.status]).toEqual([
        who,
        true,
        answer.status,
      ])
      expect(JSON.stringify(answer.body)).not.toContain('Private')
      expect(await listOwnersRecords()).toEqual(before)
    }
  },
)

/**
 * Returns the owner's records: of the organisation that the member shares with the owner, those of the
 * owner's workflow or row.
 */
async function listOwnersRecords(): Promise<Json> {
  const all = Object.entries<Json[]>(await recordsOf(app.store, owner.orgId))
  const isTheirs = (record: Json) => {
    const text = JSON.stringify(record)
    return text.includes(theirs.workflow_id) || text.includes(theirs.row_id)
  }
  return all
    .filter(([table]) => table !== 'exports' && table !== 'audit_entries' && table !== 'idempotency_keys')
    .map(([table, records]) => [table, records.filter(isTheirs)])
}

it('Delete Rows through one\u2019s own sheet leaves the flights of others in place', async () => {
  for (const { key, own } of attackers) {
    const base = `/workflows/${own.workflow_id}/sheets/${own.workflow_id}`
    const { body } = await app.call(key, 'POST', `${base}/rows/delete`, { row_ids: [theirs.row_id] })
    expect(body.data).toEqual({
      deleted_count: 0,
      deleted_row_ids: [],
      rejected: [{ row_id: theirs.row_id, error: 'not found on this sheet' }],
    })
    const flights = await app.store.query({
      text: 'select status from flights where org_id = $1 and row_id = $2',
      values: [owner.orgId, theirs.row_id],
    })
    expect(flights).toEqual([{ status: 'queued' }])
  }
})
