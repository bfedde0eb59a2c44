import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { makeApp } from '#test/plumbing/harness.ts'
import { startTestWorker } from '#test/plumbing/worker.ts'
import {
  AbortError,
  APIError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  Loam,
  LoamError,
  NotFoundError,
  type RunProgress,
  TimeoutError,
  ValidationError,
  WaitTimeoutError,
} from '../../sdk/src/index.ts'
import { startFaultyProxy } from './faulty-proxy.ts'

let address = ''
const app = await makeApp({ services: { publicUrl: () => address } })
await startTestWorker(app)
const origin = await app.api.listen({ port: 0, host: '127.0.0.1' })
address = origin
const org = await app.makeOrg()
const loam = new Loam({ apiKey: org.key, baseURL: origin })

/** Creates a workflow with one input and one action that costs nothing. */
async function makeSheet(): Promise<string> {
  const { workflow_id } = await loam.workflows.create({ name: 'Leads' })
  await loam.inputs.create(workflow_id, [{ name: 'domain', type: 'url' }])
  await loam.actions.add(workflow_id, {
    action_id: 'normalize_domain',
    inputs: { value: '{{input.domain}}' },
  })
  return workflow_id
}

const rowsOf = (count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => ({ domain: `www.example${from + n}.com` }))

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}

describe('a client', () => {
  it('gives the data, warnings where the tables show them, and the answer with withResponse', async () => {
    expect(await loam.user.get()).toMatchObject({ email: org.adminEmail, role: 'admin' })
    const sheet = await makeSheet()
    const added = await loam.rows.add(sheet, [{ domain: 'a.com' }, { wrong: 1 }])
    expect(added).toMatchObject({ row_count: 1, rejected: [{ index: 1 }], warnings: [] })
    const whole = await loam.user.get().withResponse()
    expect([whole.data.email, whole.response.status]).toEqual([org.adminEmail, 200])
    expect(whole.request_id).toBe(whole.response.headers.get('x-request-id'))
    expect(whole.request_id).not.toBeNull()
  })

  it('needs a key, and takes the address with or without its prefix', async () => {
    expect(() => new Loam({ apiKey: '' })).toThrow('LOAM_API_KEY')
    expect(() => new Loam({ apiKey: 'k', baseURL: 'nowhere' })).toThrow('http://host:port')
    for (const baseURL of [`${origin}/`, `${origin}/api/v1`, `${origin}/api/v1/`]) {
      await expect(new Loam({ apiKey: org.key, baseURL }).user.get()).resolves.toMatchObject({
        role: 'admin',
      })
    }
  })

  it('errors have a class by status, a code, every wrong field and the id of the request', async () => {
    const sheet = await makeSheet()
    const wrong = loam.inputs.create(sheet, [{ name: '', type: 'url' }, { name: 'b' } as never])
    const error = await wrong.catch((cause: unknown) => cause)
    expect(error).toBeInstanceOf(ValidationError)
    expect(error).toMatchObject({ status: 400, code: 'Validation Error', name: 'ValidationError' })
    expect((error as ValidationError).errors.map(({ field }) => field)).toEqual(
      expect.arrayContaining(['inputs[0].name', 'inputs[1].type']),
    )
    expect((error as APIError).requestId).toEqual(expect.any(String))
    const nobody = new Loam({ apiKey: 'loam_wrong', baseURL: origin })
    await expect(nobody.user.get()).rejects.toBeInstanceOf(AuthenticationError)
    await expect(loam.workflows.get(crypto.randomUUID())).rejects.toBeInstanceOf(NotFoundError)
    await expect(loam.rows.get(sheet, crypto.randomUUID())).rejects.toBeInstanceOf(NotFoundError)
    await loam.members.invite({ email: 'new@example.com', role: 'member' })
    const again = loam.members.invite({ email: 'new@example.com', role: 'member' })
    await expect(again).rejects.toMatchObject({ name: 'ConflictError', code: 'ALREADY_INVITED' })
    await expect(again).rejects.toBeInstanceOf(ConflictError)
  })

  it('refuses ids that would change the path', async () => {
    for (const id of ['', '.', '..']) expect(() => loam.workflows.get(id)).toThrow(LoamError)
    await expect(loam.workflows.get('../user')).rejects.toBeInstanceOf(APIError)
  })

  it('its key is in no error and not in the inspected client', async () => {
    const far = new Loam({
      apiKey: org.key,
      maxRetries: 0,
      fetch: async (_, init) => {
        throw new Error(`failed with ${JSON.stringify([...new Headers(init.headers)])}`)
      },
    })
    const error = await far.user.get().catch((cause: unknown) => cause)
    expect(error).toBeInstanceOf(ConnectionError)
    const shown = [
      inspect(far, { depth: 9, showHidden: true }),
      inspect(error, { depth: 9 }),
      JSON.stringify(far),
    ]
    expect(shown.filter((text) => text.includes(org.key))).toEqual([])
  })

  it('calls undocumented endpoints with request', async () => {
    const found = await loam.request<{ action_id: string }[]>('GET', '/actions', {
      query: { search: 'domain' },
    })
    expect(found.map(({ action_id }) => action_id)).toContain('normalize_domain')
    const document = await loam.request<{ openapi: string }>('get', '/api/v1/openapi.json')
    expect(document.openapi).toBe('3.1.0')
  })

  it('logs each attempt', async () => {
    const lines: unknown[] = []
    const logger = { debug: (message: string, facts: object) => lines.push([message, facts]) }
    await new Loam({ apiKey: org.key, baseURL: origin, logger }).user.get()
    expect(lines).toEqual([['GET /user', expect.objectContaining({ status: 200, attempt: 1 })]])
    expect(JSON.stringify(lines)).not.toContain(org.key)
  })

  it('keeps numbers beyond 2^53: bigints go out with all digits, and come back as text when asked', async () => {
    const sheet = await makeSheet()
    const { row_ids } = await loam.rows.add(sheet, [
      { domain: 9007199254740993n },
      { domain: 'x "9007199254740993"' },
    ])
    const exact = new Loam({ apiKey: org.key, baseURL: origin, lossless: true })
    const values = (await collect(exact.rows.list(sheet))).map(({ inputs }) => inputs['domain'])
    expect(values.map(String)).toEqual(['9007199254740993', 'x "9007199254740993"'])
    expect((await exact.rows.get(sheet, row_ids[0] ?? '')).row_id).toBe(row_ids[0])
  })
})

describe('rows', () => {
  it('addAll adds any number, list iterates over all pages, stream reads ahead, delete takes any number', async () => {
    const sheet = await makeSheet()
    const added = await loam.rows.addAll(sheet, rowsOf(2100))
    expect([added.row_count, added.row_ids.length, added.rejected]).toEqual([2100, 2100, []])
    const first = await loam.rows.list(sheet, { page_size: 150 })
    expect([first.rows.length, first.total_count, first.hasNextPage()]).toEqual([150, 2100, true])
    expect(Object.keys(first)).toEqual(['rows', 'total_count', 'page_no', 'page_size'])
    const second = await first.nextPage()
    expect([second.page_no, second.rows[0]?.row_id]).toEqual([2, added.row_ids[150]])
    expect((await collect(second)).length).toBe(1950)
    const listed = await collect(loam.rows.list(sheet, { page_size: 150 }))
    expect(listed.map(({ row_id }) => row_id)).toEqual(added.row_ids)
    const streamed = await collect(loam.rows.stream(sheet))
    expect(streamed.map(({ row_id }) => row_id)).toEqual(added.row_ids)
    const sort = [{ field: 'created_at' as const, direction: 'desc' as const }]
    const sorted = await collect(loam.rows.list(sheet, { page_size: 200, sort }))
    expect(sorted.map(({ row_id }) => row_id).toSorted()).toEqual(added.row_ids.toSorted())
    const deleted = await loam.rows.delete(sheet, added.row_ids.slice(0, 450))
    expect([deleted.deleted_count, deleted.rejected]).toEqual([450, []])
    expect(await loam.rows.deleteAll(sheet)).toEqual({ deleted_count: 1650 })
  })

  it('a limit of credits is not stretched over several requests', async () => {
    const sheet = await makeSheet()
    const call = loam.rows.addAll(sheet, rowsOf(1001), { run_after_add: 'all', max_credits: 5 })
    await expect(call).rejects.toThrow('max_credits')
    expect((await loam.rows.list(sheet)).total_count).toBe(0)
  })
})

describe('runs', () => {
  it('runAndWait gives the ended run of this call, with progress that only rises', async () => {
    const sheet = await makeSheet()
    await loam.rows.addAll(sheet, rowsOf(120))
    const progress: RunProgress[] = []
    const run = await loam.runs.runAndWait(sheet, 'all', {
      onProgress: (one) => progress.push(one),
      max_credits: 0,
    })
    expect(run).toMatchObject({ state: 'finished', rows_queued: 120, rows_done: 120, max_credits: 0 })
    const done = progress.map(({ rows_done }) => rows_done)
    expect(done).toEqual([...new Set(done)].toSorted((a, b) => a - b))
    expect(done.at(-1)).toBe(120)
    const rows = await collect(loam.rows.stream(sheet))
    expect(rows.every(({ row_status }) => row_status === 'complete')).toBe(true)
    const id = run?.actions[0] ?? ''
    const cell = await loam.rows.cell(sheet, rows[0]?.row_id ?? '', id)
    expect(cell).toMatchObject({ status: 'complete', provenance: { run_id: run?.run_id } })
  })

  it('two calls at once each get their own run', async () => {
    const sheet = await makeSheet()
    const { row_ids } = await loam.rows.add(sheet, rowsOf(20))
    const runs = await Promise.all(
      [row_ids.slice(0, 10), row_ids.slice(10)].map((ids) => loam.runs.runAndWait(sheet, { row_ids: ids })),
    )
    expect(runs.map((run) => [run?.state, run?.rows_queued])).toEqual([
      ['finished', 10],
      ['finished', 10],
    ])
    expect(runs[0]?.run_id).not.toBe(runs[1]?.run_id)
  })

  it('no row queued is null, a dry run is refused, an estimate is free', async () => {
    const sheet = await makeSheet()
    expect(await loam.runs.runAndWait(sheet, 'all')).toBeNull()
    const { row_ids } = await loam.rows.add(sheet, rowsOf(1))
    const dry = { row_ids, dry_run: true }
    await expect(loam.runs.runAndWait(sheet, dry as object)).rejects.toThrow('dry run')
    expect(await loam.runs.run(sheet, { row_ids, dry_run: true })).toMatchObject({ rows: 1 })
    expect(await loam.runs.estimate(sheet, 'all')).toMatchObject({ rows: 1 })
    expect((await loam.runs.list(sheet)).map(({ rows_queued }) => rows_queued)).toEqual([0])
  })

  it('waiting ends at once with its signal or its time, and the run goes on', async () => {
    const sheet = await makeSheet()
    await loam.rows.add(sheet, rowsOf(5))
    const controller = new AbortController()
    const waiting = loam.runs.runAndWait(sheet, 'all', {
      signal: controller.signal,
      onProgress: () => controller.abort(),
    })
    await expect(waiting).rejects.toBeInstanceOf(AbortError)
    const late = loam.runs.runAndWait(sheet, 'all', { waitTimeout: 0 })
    await expect(late.then((run) => run?.state === 'finished')).rejects.toBeInstanceOf(WaitTimeoutError)
    await expect
      .poll(async () => (await loam.runs.list(sheet)).map(({ state }) => state))
      .toEqual(['finished', 'finished'])
  })

  it('changes reconnects and goes on, also through a proxy that cuts', async () => {
    const sheet = await makeSheet()
    const proxy = await startFaultyProxy(origin)
    const far = new Loam({ apiKey: org.key, baseURL: proxy.origin })
    const controller = new AbortController()
    const seen: number[] = []
    proxy.next('refuse', { status: 503 })
    const reading = (async () => {
      for await (const { rows } of far.runs.changes(sheet, { signal: controller.signal })) {
        seen.push(rows)
        if (rows === 3) return
      }
    })()
    await expect.poll(() => seen.length).toBeGreaterThan(0)
    await loam.rows.add(sheet, rowsOf(3))
    await reading
    expect(seen.at(-1)).toBe(3)
  })
})

describe('files', () => {
  it('importAndWait uploads, imports and waits; an export is downloaded', async () => {
    const sheet = await makeSheet()
    const status = await loam.imports.importAndWait(sheet, 'Site\na.com\nb.com\n', {
      name: 'leads.csv',
      mapping: { Site: 'domain' },
      pollInterval: 50,
    })
    expect(status).toMatchObject({ status: 'completed', rows_imported: 2 })
    const { export_id } = await loam.exports.start(sheet)
    await expect.poll(async () => (await loam.exports.get(sheet, export_id)).status).toBe('completed')
    const file = await (await loam.exports.download(sheet, export_id)).text()
    expect(file).toContain('a.com')
  })
})

describe('a bad network', () => {
  it.each([
    ['a refused connection', ['refuse', 'refuse']],
    ['a connection cut after the work', ['cut', 'cut']],
    ['an answer that is cut', ['cut body', 'truncate']],
    ['5xx and 429 with Retry-After', [{ status: 502 }, { status: 429, headers: { 'retry-after': '0' } }]],
    ['408', [{ status: 408 }]],
  ] as const)('%s: the call is tried again and has one effect', async (_, faults) => {
    const sheet = await makeSheet()
    const proxy = await startFaultyProxy(origin)
    const far = new Loam({ apiKey: org.key, baseURL: proxy.origin })
    proxy.next(...faults)
    const added = await far.rows.add(sheet, rowsOf(3))
    expect([added.row_count, proxy.requests.length]).toEqual([3, faults.length + 1])
    expect(new Set(proxy.requests.map(({ key }) => key)).size).toBe(1)
    expect((await loam.rows.list(sheet)).total_count).toBe(3)
  })

  it.each([
    [
      { status: 400, body: '{"status":400,"error":"Validation Error","message":"no","errors":[]}' },
      'ValidationError',
    ],
    [{ status: 409, body: '{"status":409,"error":"ROW_LIMIT_REACHED","message":"full"}' }, 'ConflictError'],
    [{ status: 429, headers: { 'retry-after': '61' } }, 'RateLimitError'],
    [{ status: 500, body: '{"status":500,"error":"AGENT_EXECUTION_FAILED","message":"no"}' }, 'ServerError'],
    [{ status: 413, body: 'too large' }, 'PayloadTooLargeError'],
    [{ status: 422 }, 'IdempotencyError'],
    [{ status: 402 }, 'CreditsError'],
    [{ status: 403 }, 'PermissionError'],
  ] as const)('%j is final', async (fault, name) => {
    const proxy = await startFaultyProxy(origin)
    const far = new Loam({ apiKey: org.key, baseURL: proxy.origin })
    proxy.next(fault)
    await expect(far.user.get()).rejects.toMatchObject({ name, status: fault.status })
    expect(proxy.requests.length).toBe(1)
  })

  it('409 with Retry-After is a call still in progress, and is tried again; a date is understood', async () => {
    const proxy = await startFaultyProxy(origin)
    const far = new Loam({ apiKey: org.key, baseURL: proxy.origin })
    const date = new Date(Date.now() - 1000).toUTCString()
    proxy.next(
      { status: 409, headers: { 'retry-after': '0' } },
      { status: 503, headers: { 'retry-after': date } },
    )
    await expect(far.workflows.create({ name: 'One' })).resolves.toMatchObject({ name: 'One' })
    expect(proxy.requests.length).toBe(3)
  })

  it('the time limit covers the body, an abort is at once, also in a pause', async () => {
    const proxy = await startFaultyProxy(origin)
    const far = new Loam({ apiKey: org.key, baseURL: proxy.origin })
    proxy.next('hang')
    const late = far.user.get({ timeout: 100, maxRetries: 0 })
    await expect(late).rejects.toBeInstanceOf(TimeoutError)
    await expect(late).rejects.toThrow(proxy.origin)
    for (const fault of ['hang', { status: 503, headers: { 'retry-after': '50' } }] as const) {
      proxy.next(fault)
      const controller = new AbortController()
      const call = far.user.get({ signal: controller.signal })
      const before = proxy.requests.length
      await expect.poll(() => proxy.requests.length).toBeGreaterThan(before - 1)
      controller.abort()
      await expect(call).rejects.toBeInstanceOf(AbortError)
    }
  })

  it('an address where nobody listens is named', async () => {
    const nobody = new Loam({ apiKey: 'k', baseURL: 'http://127.0.0.1:9', maxRetries: 0 })
    await expect(nobody.user.get()).rejects.toThrow('http://127.0.0.1:9')
    await expect(nobody.user.get()).rejects.toBeInstanceOf(ConnectionError)
  })
})
