import { describe, expect, it } from 'vitest'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { createSegment } from '#server/records/segments/segments.ts'
import { loadSources } from '#server/sources/registry.ts'
import { requestSchema } from '#server/sources/request.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'

const app = await makeApp()
const org = await app.makeOrg()
const { workflow_id: id } = (await org.call('POST', '/workflows', { name: 'Faults' })).body.data
const sheet = `/workflows/${id}/sheets/${id}`
await org.call('POST', `${sheet}/inputs`, [{ name: 'company', type: 'string' }])
const action = await org.call('POST', `${sheet}/actions/add`, {
  action_id: 'person_work_email_waterfall',
  inputs: { full_name: '{{input.company}}' },
})
const added = await org.call('POST', `${sheet}/rows`, { rows: [{ company: 'x' }], run_after_add: 'none' })
const source = await org.call('POST', '/sources/import_from_api', { url: 'https://example.com/list' })
const filter = [{ conditions: [{ variable: 'name', operator: 'is', values: ['A'] }] }]
const segment = await createSegment(app.store.org(org.orgId), org.orgId, OPERATOR, {
  name: 'A',
  kind: 'company',
  filter,
})
const budget = await org.call('POST', '/credits/budgets', {
  scope: 'workflow',
  subject: id,
  period: 'day',
  limit: 5,
})
const IDS: Record<string, string> = {
  workflow_id: id,
  sheet_id: id,
  row_id: added.body.data.row_ids[0],
  action_instance_id: action.body.data.action_instance_id,
  source_instance_id: source.body.data.source_instance_id,
  source_id: 'import_from_api',
  segment_id: segment.segment_id,
  budget_id: budget.body.data.budget_id,
  field_name: 'email_providers',
}

/** Invalid fields of a body, and the fields that the answer names for them if nothing else is wrong. */
type Fault = { given: Record<string, unknown>; named: string[] }
type Route = {
  name: string
  method: string
  path: string
  body: Json
  fields: string[]
  isList: boolean
  most: number
}

const document: Json = app.api.swagger()
const resolve = (schema: Json): Json =>
  schema?.$ref === undefined ? schema : resolve(document.components.schemas[schema.$ref.split('/').at(-1)])
const described = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
  Object.entries<Json>(item).flatMap(([verb, operation]): Route[] => {
    const content = operation.requestBody?.content?.['application/json']
    const schema = resolve(content?.schema)
    const isList = schema?.type === 'array'
    const shape = resolve(isList ? schema.items : schema)
    const fields = Object.keys(shape?.properties ?? {})
    if (fields.length < 2) return []
    const method = verb.toUpperCase()
    return [{ name: `${method} ${path}`, method, path, body: content.example, fields, isList, most: 3 }]
  }),
)
const sources = (await loadSources()).list().map((source): Route => {
  const fields = Object.keys(requestSchema(source).shape)
  const path = `/sources/${source.slug}`
  return {
    name: `POST ${path}`,
    method: 'POST',
    path,
    body: { dry_run: true },
    fields,
    isList: false,
    most: 1,
  }
})
const routes = [...described, ...sources]

/** Values that some field refuses, because of their name or their type. */
const WRONG: readonly unknown[] = [
  [{ variable: '{{input.nope}}', operator: 'is empty' }],
  [{ action_instance_id: 'nope_1', is: ['complete'] }],
  { Header: 'nope' },
  'nope',
  'company',
  '00000000-0000-7000-8000-000000000000',
  '2020-01-01T00:00:00Z',
  'nothing\u0000',
  '',
  -1,
  {},
  [{}],
  ['x'],
  5,
  true,
]
/** Fields that are valid on their own; those listed as undefined are required by the others. */
const TOGETHER: readonly Record<string, unknown>[] = [
  { row_ids: [IDS['row_id']], find: 'x' },
  { row_ids: [IDS['row_id']], filters: [{ variable: '{{input.company}}', operator: 'is empty' }] },
  { row_ids: [IDS['row_id']], created_at: { operator: 'less than', values: ['2020-01-01'] } },
  { first_10: true, find: 'x' },
  { stop_at: '2099-01-01T00:00:00Z', schedule: undefined },
  { table: 'a', query: 'select 1' },
  { table: 'a.b', schema: 'c', query: undefined },
  { max_count: 1, max_records: 2 },
  { scope: 'workflow', subject: null },
  { scope: 'organisation', subject: 'x' },
  { employees_min: 5, employees_max: 2 },
  { latitude: 1 },
  { location: 'x', latitude: 1, longitude: 1 },
  { from: '2026-02-01', to: '2026-01-01' },
  { list_id: '1', filters: [{ field: 'a', operator: 'is empty' }] },
]
const MAX_PAIRS = 25

const put = ({ body, isList }: Route, given: object): unknown =>
  isList ? [{ ...body?.[0], ...given }] : { ...body, ...given }

const headOf = (named: string) => named.replace(/^\w+\[0\]\.?/, '').split(/[.[]/)[0] ?? ''

async function findFaults(route: Route, send: (given: object) => Promise<string[] | null>) {
  const faults: Fault[] = []
  for (const field of route.fields) {
    const seen = new Set<string>()
    for (const value of WRONG) {
      const named = ((await send({ [field]: value })) ?? []).filter(
        (one) => (route.isList ? headOf(one) : one.split(/[.[]/)[0]) === field,
      )
      if (named.length === 0 || seen.has(named.join())) continue
      seen.add(named.join())
      faults.push({ given: { [field]: value }, named })
      if (seen.size >= route.most) break
    }
  }
  for (const given of TOGETHER) {
    if (!Object.keys(given).every((field) => route.fields.includes(field))) continue
    const named = ((await send(given)) ?? []).filter((one) =>
      Object.hasOwn(given, one.split(/[.[]/)[0] ?? ''),
    )
    if (named.length > 0) faults.push({ given, named })
  }
  return faults
}

/** Fields that decide which action, table or kind the other fields belong to. */
const DECIDING = new Set(['action_id', 'scope'])
/** Fields that select rows. `exclude_row_ids` needs one of them, so without them it has a fault more. */
const SELECTING = new Set(['filters', 'status_filters', 'created_at', 'find', 'cause', 'view_id', 'all'])
const excludesFrom = (one: Fault, other: Fault) =>
  Object.hasOwn(one.given, 'exclude_row_ids') &&
  Object.keys(other.given).some((field) => SELECTING.has(field))
const isApart = (one: Fault, other: Fault) => {
  const fields = Object.keys(one.given)
  return (
    !excludesFrom(one, other) &&
    !excludesFrom(other, one) &&
    !fields.some((field) => Object.hasOwn(other.given, field)) &&
    ![one, other].some(
      ({ given }) => Object.keys(given).length === 1 && DECIDING.has(Object.keys(given)[0] ?? ''),
    )
  )
}

describe('D5: two faults that have nothing to do with each other are named at once', () => {
  it.each(routes)('$name', async (route) => {
    const url = route.path.replaceAll(/\{(\w+)\}/g, (_, param: string) => IDS[param] ?? id)
    const send = async (given: object): Promise<string[] | null> => {
      const answer = await org.call(route.method, url, put(route, given))
      if (answer.status !== 400) return null
      return (answer.body.errors ?? []).map((error: Json) => error.field)
    }
    const faults = await findFaults(route, send)
    const pairs = faults.flatMap((one, at) =>
      faults.slice(at + 1).flatMap((other) => (isApart(one, other) ? [[one, other] as const] : [])),
    )
    const together = pairs.filter((pair) => pair.some(({ given }) => Object.keys(given).length > 1))
    const step = Math.max(1, Math.floor(pairs.length / MAX_PAIRS))
    const silent: string[] = []
    for (const [one, other] of [...together, ...pairs.filter((_, n) => n % step === 0)]) {
      const given = { ...one.given, ...other.given }
      const named = (await send(given)) ?? []
      const missing = [...one.named, ...other.named].filter((field) => !named.includes(field))
      if (missing.length > 0) silent.push(`${JSON.stringify(given)}: ${missing.join(', ')}`)
    }
    expect(silent).toEqual([])
  })
})
