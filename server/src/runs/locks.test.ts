import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { publish } from '#server/api/testing/shortcut.ts'
import { defineAction } from '#server/catalog/define.ts'
import { done, retry } from '#server/catalog/outcome.ts'
import { output } from '#server/catalog/outputs.ts'
import { createCatalogue, loadCatalogue } from '#server/catalog/registry.ts'
import { storeUpload } from '#server/files/uploads.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { switchWebhookOn } from '#server/runs/webhooks/webhooks.ts'
import { lockWorkflow } from '#server/sheets/store/workflows.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { startTestWorker } from '#test/plumbing/worker.ts'

const pause = (ms: number) => sleep(Math.random() * ms)

/** An action that costs credits, takes a moment, and is parked now and then. */
const busy = defineAction({
  id: 'busy',
  name: 'busy',
  description: 'Takes a moment.',
  category: 'data',
  credits: 0.5,
  inputs: {},
  outputs: { value: output.text('A text.') },
  async run() {
    await pause(20)
    return Math.random() < 0.2 ? retry('not yet', 5) : done({ value: 'x' })
  },
})
const real = await loadCatalogue()
const actions = [busy, ...real.list().filter(({ id }) => id === 'send_to_sheet')]
const catalogue = createCatalogue(
  actions.map((action) => ({ file: `${action.id}.ts`, module: { default: action } })),
)

const app = await makeApp({ services: { catalogue }, settings: { LOAM_WEBHOOK_PER_MINUTE: '1000000' } })
const { store, services } = app
const org = await app.makeOrg()

/** Counts the deadlocks that PostgreSQL had to break in this database. */
async function countDeadlocks(): Promise<number> {
  // A connection reports its counts when it is next idle, at most once a second.
  await sleep(1200)
  const [found] = await store.query<{ deadlocks: number }>({
    text: 'select deadlocks from pg_stat_database where datname = current_database()',
  })
  return found?.deadlocks ?? -1
}

const rowsOf = (count: number) => ({ rows: Array.from({ length: count }, (_, n) => ({ n: String(n) })) })
const addAndRun = (base: string, count = 20) =>
  org.call('POST', `${base}/rows`, { ...rowsOf(count), run_after_add: 'all' })

/** Makes a sheet with one input and a chain of `busy`, in a new workflow unless one is given. */
async function makeSheet(workflowId?: string): Promise<string> {
  const made =
    workflowId === undefined
      ? (await org.call('POST', '/workflows', { name: 'Busy' })).body.data.workflow_id
      : (await org.call('POST', `/workflows/${workflowId}/sheets`, { name: 'Child', auto_run: true })).body
          .data.sheet_id
  const base = `/workflows/${workflowId ?? made}/sheets/${made}`
  await org.call('POST', `${base}/inputs`, [{ name: 'n', type: 'string' }])
  expect((await org.call('POST', `${base}/actions/add`, { action_id: 'busy', inputs: {} })).status).toBe(201)
  return base
}

async function makeHook(base: string): Promise<() => Promise<{ status: number }>> {
  const sheet = { org_id: org.orgId, sheet_id: base.slice(-36) }
  const token = await switchWebhookOn(store.system, OPERATOR, services.sealer, { sheet })
  return async () => {
    const { statusCode } = await app.api.inject({
      method: 'POST',
      url: `/hooks/${token}`,
      payload: [{ n: '1' }, { n: '2' }],
    })
    return { status: statusCode }
  }
}

it('Add Rows with a run and Delete All at the same time wait for each other in one order', async () => {
  const base = await makeSheet()
  for (let round = 0; round < 25; round += 1) {
    const answers = await Promise.all([
      ...Array.from({ length: 4 }, () => addAndRun(base)),
      ...Array.from({ length: 2 }, () => org.call('POST', `${base}/rows/delete-all`)),
    ])
    expect(answers.map((answer) => answer.status)).toEqual([201, 201, 201, 201, 200, 200])
  }
  expect(await countDeadlocks()).toBe(0)
})

it('everything that touches the rows of a sheet at the same time runs without a deadlock', async () => {
  const work = await startTestWorker(app)
  const base = await makeSheet()
  const workflowId = base.slice(-36)
  const child = await makeSheet(workflowId)
  await org.call('PATCH', base, { auto_run: true })
  const send = { target_sheet_id: child.slice(-36), field_mapping: [{ name: 'n', value: '{{input.n}}' }] }
  expect(
    (await org.call('POST', `${base}/actions/add`, { action_id: 'send_to_sheet', inputs: send })).status,
  ).toBe(201)
  const shortcut = await publish(app, org, workflowId)
  const [deliver, deliverElsewhere] = [await makeHook(base), await makeHook(child)]
  const body = `n\n${'1\n'.repeat(200)}`
  const upload = { orgId: org.orgId, name: 'rows.csv', createdBy: org.adminEmail }
  const { file_ref } = await storeUpload(
    { db: store.system, storage: services.storage },
    upload,
    Readable.from([Buffer.from(body)]),
  )

  const post = (path: string, payload?: unknown) => org.call('POST', path, payload)
  const deleteSome = async (at: string) => {
    const page = await post(`${at}/rows/list`, { page_size: 50 })
    const ids = page.body.data.rows.map((row: { row_id: string }) => row.row_id)
    return ids.length === 0 ? page : post(`${at}/rows/delete`, { row_ids: ids })
  }
  const doomed = async () => {
    const at = await makeSheet(workflowId)
    const [, , gone] = await Promise.all([addAndRun(at), post(`${at}/run-all`), org.call('DELETE', at)])
    return gone
  }
  const callers: Record<string, () => Promise<{ status: number }>> = {
    'add rows with a run': () => addAndRun(base),
    'add rows elsewhere': () => addAndRun(child),
    'delete all': () => post(`${base}/rows/delete-all`),
    'delete all elsewhere': () => post(`${child}/rows/delete-all`),
    'delete rows': () => deleteSome(base),
    'delete rows elsewhere': () => deleteSome(child),
    'run all': () => post(`${base}/run-all`),
    'run all elsewhere': () => post(`${child}/run-all`),
    'run the first': () => post(`${base}/run`, { first_10: true }),
    stop: () => post(`${base}/stop`),
    'stop elsewhere': () => post(`${child}/stop`),
    webhook: deliver,
    'webhook elsewhere': deliverElsewhere,
    import: () => post(`${base}/csv`, { file_ref, mapping: { n: 'n' }, run_after_import: 'all' }),
    shortcut: () => post(`/shortcuts/${shortcut.shortcut_id}/run`, { input_data: { n: '1' } }),
    edit: () => org.call('PATCH', `${base}/name`, { name: `Busy ${Math.random()}` }),
    'delete a sheet': doomed,
  }
  const until = Date.now() + 6000
  const unexpected: string[] = []
  const keepCalling = async ([name, call]: [string, () => Promise<{ status: number }>]) => {
    while (Date.now() < until) {
      const answer = await call()
      if (![200, 201, 202, 409].includes(answer.status)) unexpected.push(`${name}: ${answer.status}`)
      await pause(30)
    }
  }
  await Promise.all(Object.entries(callers).map(keepCalling))
  expect(unexpected).toEqual([])
  expect(await countDeadlocks()).toBe(0)
  await work.stop()
  const [books] = await store.query<{ held: number; shares: number; balance: number; ledger: number }>({
    text: `select held_millis as held, (select count(*) from purse_shares s where s.org_id = o.org_id) as shares,
        credits_millis as balance,
        (select sum(amount_millis) from ledger_entries e where e.org_id = o.org_id)::bigint as ledger
      from organisations o where org_id = $1`,
    values: [org.orgId],
  })
  expect([books?.held, books?.shares, books?.balance]).toEqual([0, 0, books?.ledger])
})

it('a member is removed while a workflow of theirs gives held credits back', async () => {
  const key = await org.keyFor('owner@example.com', 'member')
  const made = await app.call(key, 'POST', '/workflows', { name: 'Theirs' })
  const workflowId: string = made.body.data.workflow_id
  // Locks as a deletion does: the workflow first, the organisation last.
  const removal = await store.system.transaction().execute(async (trx) => {
    await lockWorkflow(trx, org.orgId, workflowId)
    const removing = org.call('DELETE', '/org/members?email=owner@example.com')
    await expect.poll(countWaiting).toBe(1)
    await trx
      .updateTable('organisations')
      .set((eb) => ({ held_millis: eb.ref('held_millis') }))
      .where('org_id', '=', org.orgId)
      .execute()
    return { removing }
  })
  expect((await removal.removing).status).toBe(200)
})

async function countWaiting(): Promise<number> {
  const [found] = await store.query<{ count: number }>({
    text: `select count(*) as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  })
  return found?.count ?? 0
}
