import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import { openStore } from '#server/database/connection/db.ts'
import { pagedSources } from '#server/sources/pulls/testing/paged-source.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { type Cut, startStatementCutter } from '#test/plumbing/statement-cutter.ts'
import { createApp } from '../app.ts'
import { formula, makeWorkflow, publish, sheetOf } from '../testing/shortcut.ts'

const app = await makeApp({
  settings: { LOAM_PROVIDER_KEY_PAGED: 'platform key' },
  services: { sources: pagedSources },
})
const org = await app.makeOrg()
const cutter = await startStatementCutter(app.databaseUrl)
const cutStore = openStore({ url: cutter.url, log: app.services.log })
const cutApi = await createApp({ ...app.services, store: cutStore })
afterAll(async () => {
  await cutApi.close()
  await cutStore.close()
  await cutter.close()
})

/** Sends a request over connections that break. Returns the answer if one arrives. */
async function callCut(path: string, body: unknown, key: string) {
  const answer = await cutApi.inject({
    method: 'POST',
    url: `/api/v1${path}`,
    headers: {
      authorization: `Bearer ${org.key}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    },
    payload: JSON.stringify(body),
  })
  return { status: answer.statusCode, body: answer.body }
}

const count = async (statement: string, values: unknown[]): Promise<number> => {
  const [found] = await app.store.query<{ n: number }>({ text: statement, values })
  return Number(found?.n)
}

const workflow = await makeWorkflow(org, [formula('"Hello " + {{input.Full Name}}')])
const base = sheetOf(workflow)
const { shortcut_id } = await publish(app, org, workflow)

type Case = { path: string; body: (mark: string) => unknown; effects: (mark: string) => Promise<number> }
const rowsOf = (mark: string) =>
  count(`select count(*) as n from rows where org_id = $1 and data::text like $2`, [org.orgId, `%${mark}%`])
const flightsOf = (mark: string) =>
  count(
    `select count(*) as n from flights f join rows r using (org_id, row_id)
      where r.org_id = $1 and r.data::text like $2`,
    [org.orgId, `%${mark}%`],
  )

const CASES: Record<string, Case> = {
  'Add Rows': {
    path: `${base}/rows`,
    body: (mark) => ({ rows: [{ 'Full Name': mark }] }),
    effects: rowsOf,
  },
  'Add Rows that run': {
    path: `${base}/rows`,
    body: (mark) => ({ rows: [{ 'Full Name': mark }], run_after_add: 'all' }),
    effects: async (mark) => (await rowsOf(mark)) * (await flightsOf(mark)),
  },
  'Create Workflow': {
    path: '/workflows',
    body: (name) => ({ name }),
    effects: (name) =>
      count('select count(*) as n from workflows where org_id = $1 and name = $2', [org.orgId, name]),
  },
  'Run Shortcut': {
    path: `/shortcuts/${shortcut_id}/run`,
    body: (mark) => ({ input_data: { full_name: mark } }),
    effects: rowsOf,
  },
  'Create Source': {
    path: '/sources/paged_once',
    body: (name) => ({ list: 'people', name }),
    effects: (name) =>
      count('select count(*) as n from sources where org_id = $1 and name = $2', [org.orgId, name]),
  },
}

describe.each(Object.entries(CASES))('D14: %s with an Idempotency-Key', (_, { path, body, effects }) => {
  const side = ['before', 'after'] as const

  it.each(side)(
    'cut off %s any statement: the retry finds one effect and one answer',
    async (cutSide) => {
      const attempt = async (cut: Cut): Promise<boolean> => {
        const [key, mark] = [randomUUID(), randomUUID()]
        cutter.arm(cut)
        const first = await callCut(path, body(mark), key)
        const wasCut = cutter.isCut()
        cutter.arm()
        const retry = () => org.call('POST', path, body(mark), { 'idempotency-key': key })
        // The key is free as soon as the server has noticed the lost connection.
        await expect.poll(async () => (await retry()).status).not.toBe(409)
        const answers = [await retry(), await retry()]
        expect(answers.map(({ status }) => status)).toEqual([201, 201])
        expect(answers.map(({ headers }) => headers['idempotency-replayed'])).toEqual(['true', 'true'])
        expect(answers[0]?.body).toEqual(answers[1]?.body)
        if (first.status < 400) expect(answers[0]?.body).toEqual(JSON.parse(first.body))
        expect(await effects(mark)).toBe(1)
        return !wasCut
      }
      let at = 1
      while (!(await attempt({ at, side: cutSide }))) at += 1
      expect(at).toBeGreaterThan(5)
    },
    120_000,
  )
})
