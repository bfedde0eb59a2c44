import { expect, it } from 'vitest'
import { NumberText } from '#server/lib/json/lossless-json.ts'
import { company, recordsOf } from '#server/records/testing/records.ts'
import { describeVersions } from '#server/shortcuts/version-changes.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'
import { ORIGIN, signIn } from '../testing/session.ts'

const app = await makeApp()
await startTestWorker(app)
const [org, strangers] = [await app.makeOrg(), await app.makeOrg()]
const session = await signIn(app, org.orgId, org.adminEmail)
const stranger = await signIn(app, strangers.orgId, strangers.adminEmail)

async function upload(name: string, payload: string): Promise<string> {
  const answer = await app.api.inject({
    method: 'POST',
    url: `/internal/api/v1/files?name=${name}`,
    headers: {
      cookie: session.cookie,
      origin: ORIGIN,
      'x-loam-csrf': session.csrf,
      'content-type': 'application/octet-stream',
    },
    payload,
  })
  expect(answer.statusCode).toBe(201)
  return answer.json().data.file_ref
}

it('an uploaded file shows its headers and first records before it is imported', async () => {
  const ref = await upload('a.csv', 'name,site\nAda,a.example\n')
  const { status, body } = await session.call('GET', `/files/${ref}/preview`)
  expect([status, body.data]).toEqual([
    200,
    { headers: ['name', 'site'], rows: [['Ada', 'a.example']], worksheets: [] },
  ])
  expect((await stranger.call('GET', `/files/${ref}/preview`)).status).toBe(404)
  expect((await session.call('GET', '/files/..%2Fa.csv/preview')).status).toBe(404)
})

it('a file that cannot be read says why', async () => {
  const ref = await upload('a.xlsx', 'no workbook')
  const { status, body } = await session.call('GET', `/files/${ref}/preview`)
  expect([status, body.errors[0].field]).toEqual([400, 'file_ref'])
  expect(body.errors[0].message).toMatch(/workbook|zip/i)
})

it('a page of records has at most 8 MiB of fields, and 1,000 identifiers of each', async () => {
  const { orgId, adminEmail } = await app.makeOrg()
  const reader = await signIn(app, orgId, adminEmail)
  const { ingest } = recordsOf(app)
  const fields = Object.fromEntries(Array.from({ length: 31 }, (_, n) => [`f${n}`, 'x'.repeat(65_000)]))
  for (let n = 0; n < 6; n += 1) await ingest(orgId, 'test', company(`large${n}.com`, fields))
  const same = Array.from({ length: 60 }, (_, n) =>
    company(['hub.com', ...Array.from({ length: 19 }, (_x, k) => `n${n}k${k}.com`)]),
  )
  await ingest(orgId, 'test', ...same)
  const first = (await reader.call('GET', '/records?limit=100')).body.data
  const second = (await reader.call('GET', `/records?limit=100&after=${first.next}`)).body.data
  expect([first.records.length, second.records.length, second.next]).toEqual([4, 3, null])
  expect(second.records.at(-1).identifiers).toHaveLength(1000)
})

it('records are listed by kind in pages, and found by the beginning of an identifier', async () => {
  const domains = ['acme.example', 'acorn.example', 'zebra.example']
  const records = domains.map((domain) => company(domain, { name: domain.split('.')[0] }))
  await recordsOf(app).ingest(org.orgId, 'test', ...records)
  const names = (answer: { body: { data: { records: { fields: { name: { value: string } } }[] } } }) =>
    answer.body.data.records.map(({ fields }) => fields.name.value)
  const first = await session.call('GET', '/records?limit=2')
  const second = await session.call('GET', `/records?limit=2&after=${first.body.data.next}`)
  expect([...names(first), ...names(second)].toSorted()).toEqual(['acme', 'acorn', 'zebra'])
  expect(second.body.data.next).toBeNull()
  expect(names(await session.call('GET', '/records?q=AC')).toSorted()).toEqual(['acme', 'acorn'])
  expect(names(await session.call('GET', '/records?kind=person'))).toEqual([])
  expect(names(await stranger.call('GET', '/records'))).toEqual([])
})

it('every field of every kind of source has a label, a line of help and a group (H1)', async () => {
  type Field = {
    name: string
    label: string
    help: string
    group: string
    required: boolean
    fields?: Field[]
  }
  const { body } = await session.call('GET', '/source-types')
  for (const { source_id, fields } of body.data as { source_id: string; fields: Field[] }[]) {
    expect(new Set(fields.map(({ label }) => label)).size, source_id).toBe(fields.length)
    for (const field of fields.flatMap((one) => [one, ...(one.fields ?? [])])) {
      const where = `${source_id}.${field.name}`
      expect(field.label, where).toMatch(/^[A-Z][^_]{1,39}$/)
      expect(field.help, where).toMatch(/^[A-Z][^\n`{}_]{3,159}$/)
      if (field.required) expect(field.group, where).toBe('main')
    }
  }
})

it('each kind of source is listed with the fields that a form asks for', async () => {
  const { status, body } = await session.call('GET', '/source-types')
  expect(status).toBe(200)
  const fieldsOf = (id: string) =>
    new Map<string, { type: string; required: boolean; choices: string[] }>(
      body.data
        .find(({ source_id }: { source_id: string }) => source_id === id)
        .fields.map((field: { name: string }) => [field.name, field]),
    )
  const api = fieldsOf('import_from_api')
  expect(api.get('url')).toMatchObject({ type: 'text', required: true })
  expect(api.get('method')).toMatchObject({ type: 'choice', required: false, choices: ['GET', 'POST'] })
  expect(api.get('pagination')).toMatchObject({ type: 'json', required: false })
  expect(api.get('headers')).toMatchObject({ type: 'pairs' })
  expect(fieldsOf('import_from_hubspot').get('filters')).toMatchObject({
    type: 'objects',
    fields: expect.arrayContaining([expect.objectContaining({ name: 'values', type: 'list' })]),
  })
  expect(fieldsOf('import_from_hubspot').get('connection_id')).toMatchObject({ type: 'connection' })
  expect(fieldsOf('import_from_slack').get('channels')).toMatchObject({ has_options: true })
  expect(fieldsOf('find_people_from_sales_navigator').get('filters')).toMatchObject({ type: 'object' })
  expect(api.get('max_credits')).toMatchObject({ type: 'number', required: false })
  expect(fieldsOf('import_from_hubspot').get('list_id')).toMatchObject({ type: 'text' })
  expect(fieldsOf('find_job_postings').get('industry_id')).toMatchObject({ type: 'list' })
  expect([...fieldsOf('track_website_visitors').keys()]).toEqual([
    'active_domain',
    'max_count',
    'max_credits',
    'connection_id',
    'stop_at',
  ])
})

it('workflows are listed with their owner, with how many share them, and with the latest run of any sheet', async () => {
  const member = await signIn(app, org.orgId, 'lister@example.com', 'member')
  const { workflow_id: id } = (await member.call('POST', '/api/v1/workflows', { name: 'Listed' })).body.data
  const base = `/workflows/${id}/sheets`
  const child = (await org.call('POST', base, { name: 'Child' })).body.data.sheet_id
  const listed = async (by: typeof member) =>
    (await by.call('GET', '/workflows')).body.data.find(
      (one: { workflow_id: string }) => one.workflow_id === id,
    )
  expect(await listed(member)).toMatchObject({
    name: 'Listed',
    owner: 'lister@example.com',
    is_owner: true,
    shared_with: 0,
    last_run: null,
  })
  const other = await signIn(app, org.orgId, 'colleague@example.com', 'member')
  expect(await listed(other)).toBeUndefined()
  await member.call('POST', `/workflows/${id}/share`, { email: 'colleague@example.com' })
  await org.call('POST', `${base}/${child}/inputs`, [{ name: 'name', type: 'string' }])
  await org.call('POST', `${base}/${child}/actions/add`, {
    action_id: 'format_data_using_js_expression',
    inputs: { data_formatter: '(() => { throw new Error("no") })()' },
  })
  await org.call('POST', `${base}/${child}/rows`, { rows: [{ name: 'a' }], run_after_add: 'all' })
  await settledRows(org, `${base}/${child}`)
  await expect
    .poll(async () => (await listed(other)).last_run)
    .toMatchObject({ state: 'finished', rows_queued: 1, rows_done: 1, cells_failed: 1 })
  expect(await listed(other)).toMatchObject({ is_owner: false, shared_with: 1 })
  const foreign = (await stranger.call('GET', '/workflows')).body.data
  expect(foreign).toEqual([])
})

it('a segment is previewed, made, renamed and deleted; errors of its filter name their place', async () => {
  const domains = ['one.example', 'two.example', 'three.example']
  const records = domains.map((domain, place) => company(domain, { employees: (place + 1) * 100 }))
  const other = await app.makeOrg()
  const maker = await signIn(app, other.orgId, other.adminEmail)
  await recordsOf(app).ingest(other.orgId, 'test', ...records)
  const fields = (await maker.call('GET', '/record-fields?kind=company')).body.data
  expect(fields).toContainEqual(
    expect.objectContaining({
      name: 'employees',
      type: 'number',
      operators: expect.arrayContaining(['greater than']),
    }),
  )
  expect(fields[0]).toMatchObject({ name: 'domain', type: 'identifier' })
  const filterOf = (operator: string, variable = 'employees') => [
    { conditions: [{ variable, operator, values: ['150'] }] },
  ]
  const wrong = await maker.call('POST', '/segments/preview', {
    kind: 'company',
    filter: filterOf('starts with'),
  })
  expect([wrong.status, wrong.body.errors[0].field]).toEqual([400, 'filter[0].conditions[0].operator'])
  const preview = await maker.call('POST', '/segments/preview', {
    kind: 'company',
    filter: filterOf('greater than'),
  })
  expect(preview.body.data).toMatchObject({ members: 2, looked_at: 3, complete: true })
  expect(preview.body.data.sample).toHaveLength(2)
  const body = { name: 'Large', kind: 'company', filter: filterOf('greater than') }
  const made = await maker.call('POST', '/segments', body)
  expect([made.status, made.body.data.memberCount, made.body.warnings]).toEqual([201, 2, []])
  expect((await maker.call('POST', '/segments', body)).status).toBe(409)
  const path = `/segments/${made.body.data.id}`
  expect((await stranger.call('PATCH', path, { name: 'Mine' })).status).toBe(404)
  const changed = await maker.call('PATCH', path, {
    name: 'Small',
    filter: filterOf('less than', 'employes'),
  })
  expect(changed.body).toMatchObject({
    data: { name: 'Small', memberCount: 0 },
    warnings: [{ code: 'unknown_field', message: expect.stringContaining('employees') }],
  })
  const long = { variable: 'employees', operator: 'is', values: [new NumberText('1234567890123456789')] }
  const exact = await maker.call('PATCH', path, { filter: [{ conditions: [long] }] })
  expect(exact.body.data.filter[0].conditions[0].values).toEqual(['1234567890123456789'])
  expect((await maker.call('DELETE', path)).body.data).toMatchObject({ deleted: true })
  expect((await maker.call('DELETE', path)).status).toBe(404)
})

it('values of an imported file that do not fit their inputs are listed with their row', async () => {
  const made = await org.call('POST', '/workflows', { name: 'Rejects' })
  const id: string = made.body.data.workflow_id
  const base = `/workflows/${id}/sheets/${id}`
  await org.call('POST', `${base}/inputs`, [
    { name: 'name', type: 'string' },
    { name: 'staff', type: 'number' },
  ])
  expect((await session.call('GET', `${base}/import/rejects`)).status).toBe(404)
  const file_ref = await upload('r.csv', 'name,staff\nAda,12\nBob,many\n\nCy,\nDi,<b>few</b>\n')
  const mapping = { name: 'name', staff: 'staff' }
  await org.call('POST', `${base}/csv`, { file_ref, mapping })
  const { body } = await session.call('GET', `${base}/import/rejects`)
  expect(body.data).toEqual({
    complete: true,
    rejects: [
      { row: 2, input: 'staff', type: 'number', value: 'many' },
      { row: 4, input: 'staff', type: 'number', value: '<b>few</b>' },
    ],
  })
  expect((await stranger.call('GET', `${base}/import/rejects`)).status).toBe(404)
})

it('versions of a shortcut say what they changed, and what of the workflow is not published yet', async () => {
  const made = await org.call('POST', '/workflows', { name: 'Versions' })
  const id: string = made.body.data.workflow_id
  const base = `/workflows/${id}/sheets/${id}`
  await org.call('POST', `${base}/inputs`, [{ name: 'name', type: 'string' }])
  const added = { action_id: 'normalize_domain', name: 'Domain', inputs: { value: '{{input.name}}' } }
  await org.call('POST', `${base}/actions/add`, added)
  const shortcut = (await session.call('POST', '/shortcuts', { workflow_id: id, name: 'V' })).body.data.id
  const versions = async () => (await session.call('GET', `/shortcuts/${shortcut}/versions`)).body.data
  expect(await versions()).toMatchObject({ unpublished: [], versions: [{ version: 1, changes: [] }] })
  await org.call('POST', `${base}/actions/add`, { ...added, name: 'Again' })
  expect((await versions()).unpublished).toEqual(['Added action normalize_domain_2'])
  const inputs = [{ reference: 'name', name: 'Website', required: true }]
  await session.call('POST', `/shortcuts/${shortcut}/republish`, { inputs })
  const after = await versions()
  expect(after).toMatchObject({
    unpublished: [],
    inputs: [{ reference: 'name', name: 'Website', required: true }],
    versions: [{ version: 2 }, { version: 1 }],
  })
  expect(after.versions[0].changes).toEqual(
    expect.arrayContaining([
      'Changed input name: name from "name" to "Website"',
      'Added action normalize_domain_2',
    ]),
  )
  expect((await stranger.call('GET', `/shortcuts/${shortcut}/versions`)).status).toBe(404)
})

it('F53: of the definitions of many versions two are in memory, whatever their size', async () => {
  const reads: number[] = []
  const versions = [4, 3, 2, 1].map((revision) => ({ revision, inputs: [], outputs: [] }))
  const changes = describeVersions(versions, async (revision) => {
    reads.push(revision)
    return { inputs: [], actions: [] }
  })
  expect([(await changes.next()).value, reads]).toEqual([[], [4, 3]])
  expect([(await changes.next()).value, reads]).toEqual([[], [4, 3, 2]])
  expect([(await changes.next()).value, (await changes.next()).value]).toEqual([[], []])
  expect([(await changes.next()).done, reads]).toEqual([true, [4, 3, 2, 1]])
})

it('H14: each type of source says which accounts it uses, and whether a key for them is there', async () => {
  const { body } = await session.call('GET', '/source-types')
  type Type = {
    source_id: string
    receives: boolean
    mode: string
    accounts: { provider: string; key: string }[]
  }
  const typeOf = (id: string) => body.data.find(({ source_id }: Type) => source_id === id)
  expect(typeOf('import_from_api')).toMatchObject({ mode: 'either', receives: false })
  expect(typeOf('import_from_hubspot').accounts).toEqual([
    { provider: 'hubspot', name: 'HubSpot', connects: true, key: 'none' },
  ])
  expect(typeOf('track_website_visitors')).toMatchObject({ receives: true })
  for (const { source_id, accounts } of body.data as Type[]) {
    expect(new Set(accounts.map(({ provider }) => provider)).size, source_id).toBe(accounts.length)
  }
})
