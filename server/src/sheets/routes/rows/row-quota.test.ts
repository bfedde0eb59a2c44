import { describe, expect, it } from 'vitest'
import { importJob } from '#server/files/imports/import-job.ts'
import { storeUpload } from '#server/files/uploads.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { switchWebhookOn } from '#server/runs/webhooks/webhooks.ts'
import { rowsOf } from '#test/builders/rows.ts'
import { makeApp, type TestOrg } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'
import { formula, makeWorkflow, publish, sheetOf } from '../../../api/testing/shortcut.ts'

const LIMIT = 20
const app = await makeApp({ settings: { LOAM_ROWS_PER_ORG: String(LIMIT) } })
const some = (count: number) => Array.from({ length: count }, (_, n) => ({ name: `n${n}` }))
const refusal = (rows: number, what: string) =>
  `Your organisation has ${rows} rows, and its limit is ${LIMIT} (LOAM_ROWS_PER_ORG): ${what} not fit. Delete rows that you no longer need, or ask the operator for more`
const rowsIn = async (org: TestOrg, base: string): Promise<number> =>
  (await rowsOf(org).list(base)).total_count

describe('LOAM_ROWS_PER_ORG: rows of an organisation, in all sheets together', () => {
  it('are never more, also when many add to several sheets at once; the next is 409 with what is there and what to do', async () => {
    const org = await app.makeOrg()
    const { makeSheet } = rowsOf(org)
    const sheets = [await makeSheet(['name']), await makeSheet(['name'])]
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        org.call('POST', `${sheets[n % 2]}/rows`, { rows: some(4), run_after_add: n % 3 ? 'none' : 'all' }),
      ),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5)
    const refused = answers.filter(({ status }) => status !== 201)
    expect(refused).toHaveLength(5)
    for (const { body } of refused)
      expect(body).toEqual({ status: 409, error: 'ROW_LIMIT_REACHED', message: refusal(20, '4 more do') })
    expect(await Promise.all(sheets.map((base) => rowsIn(org, base)))).toSatisfy(
      (counts: number[]) => counts.reduce((sum, count) => sum + count, 0) === LIMIT,
    )
  })

  it('count no deleted ones, and none of others', async () => {
    const org = await app.makeOrg()
    const { makeSheet, addRows } = rowsOf(org)
    const base = await makeSheet(['name'])
    const ids = await addRows(base, some(LIMIT))
    expect((await org.call('POST', `${base}/rows`, { rows: some(1) })).body.message).toBe(
      refusal(20, 'one more does'),
    )
    await org.call('POST', `${base}/rows/delete`, { row_ids: ids.slice(0, 1) })
    await addRows(base, some(1))
    expect((await org.call('POST', `${base}/rows`, { rows: some(1) })).status).toBe(409)
    await org.call('POST', `${base}/rows/delete-all`)
    await addRows(base, some(LIMIT))
    const other = await app.makeOrg()
    await rowsOf(other).addRows(await rowsOf(other).makeSheet(['name']), some(LIMIT))
  })

  it('refuse a webhook with 409, which has not used its id; other deliveries of the same moment are taken', async () => {
    const [full, other] = [await app.makeOrg(), await app.makeOrg()]
    const hook = async (org: TestOrg) => {
      const base = await rowsOf(org).makeSheet(['name'])
      const key = { org_id: org.orgId, sheet_id: base.slice(-36) }
      const token = await switchWebhookOn(app.store.system, OPERATOR, app.services.sealer, {
        sheet: key,
        rotate: false,
      })
      const push = async (id: string) => {
        const url = `/hooks/${token}`
        const headers = { 'content-type': 'application/json', 'webhook-id': id }
        const answer = await app.api.inject({ method: 'POST', url, headers, payload: '{"name": "a"}' })
        return { status: answer.statusCode, body: answer.json() }
      }
      return { base, push }
    }
    const [theirs, mine] = [await hook(full), await hook(other)]
    const ids = await rowsOf(full).addRows(theirs.base, some(LIMIT))
    const answers = await Promise.all([
      theirs.push('one'),
      mine.push('one'),
      theirs.push('two'),
      mine.push('two'),
    ])
    expect(answers.map(({ status }) => status)).toEqual([409, 200, 409, 200])
    expect(answers[0]?.body.message).toBe(refusal(20, 'one more does'))
    const [delivery] = (await full.call('GET', `${theirs.base}/webhook/deliveries`)).body.data
    expect(delivery).toMatchObject({ status: 409, accepted: 0, reason: refusal(20, 'one more does') })
    await full.call('POST', `${theirs.base}/rows/delete`, { row_ids: ids.slice(0, 2) })
    expect(await theirs.push('one')).toMatchObject({ status: 200, body: { data: { accepted: 1 } } })
  })

  it('fail an import that does not fit before its first row is written', async () => {
    const org = await app.makeOrg()
    const base = await rowsOf(org).makeSheet(['name'])
    await rowsOf(org).addRows(base, some(5))
    const upload = { orgId: org.orgId, name: 'rows.csv', createdBy: org.adminEmail }
    const csv = Buffer.from(`name\n${'x\n'.repeat(LIMIT - 4)}`)
    const { storage, store } = app.services
    const { file_ref } = await storeUpload({ db: store.system, storage }, upload, collectable(csv))
    await org.call('POST', `${base}/csv`, { file_ref, mapping: { name: 'name' } })
    const { import_id } = await store.system
      .selectFrom('imports')
      .select('import_id')
      .where('org_id', '=', org.orgId)
      .executeTakeFirstOrThrow()
    await importJob(app.services).run({ org_id: org.orgId, import_id }, new AbortController().signal)
    expect((await org.call('GET', `${base}/csv`)).body.data).toEqual({
      status: 'failed',
      rows_imported: 0,
      error: refusal(5, '16 more do'),
    })
    expect(await rowsIn(org, base)).toBe(5)
  })

  it.each([
    ['run', { input_data: { full_name: 'Ada' } }, 'one more does'],
    ['run/batch', { rows: [{ full_name: 'Ada' }, { full_name: 'Bea' }] }, '2 more do'],
  ])(
    'refuse POST .../%s of a shortcut with 409, which leaves no row and no run',
    async (route, body, what) => {
      const org = await app.makeOrg()
      const { makeSheet, addRows } = rowsOf(org)
      const workflow = await makeWorkflow(org, [formula('{{input.Full Name}}')])
      const { shortcut_id } = await publish(app, org, workflow)
      await addRows(await makeSheet(['name']), some(LIMIT))
      const path = `/shortcuts/${shortcut_id}`
      const refused = await org.call('POST', `${path}/${route}`, body)
      expect(refused.body).toEqual({ status: 409, error: 'ROW_LIMIT_REACHED', message: refusal(20, what) })
      expect(await rowsIn(org, sheetOf(workflow))).toBe(0)
      expect((await org.call('GET', `${path}/runs`)).body.data.runs).toEqual([])
    },
  )

  it('fail the cell of send_to_sheet with these words, and its row may be run again', async () => {
    await startTestWorker(app)
    const org = await app.makeOrg()
    const { makeSheet, addRows } = rowsOf(org)
    const [base, target] = [await makeSheet(['name']), await makeSheet(['name'])]
    await org.call('POST', `${base}/actions/add`, {
      action_id: 'send_to_sheet',
      inputs: {
        target_sheet_id: target.slice(-36),
        field_mapping: [{ name: 'name', value: '{{input.name}}' }],
      },
    })
    await addRows(target, some(LIMIT - 2))
    await org.call('POST', `${base}/rows`, { rows: some(2), run_after_add: 'all' })
    const cells = async () => (await settledRows(org, base)).map((row) => row.cells['send_to_sheet_1'])
    expect(await cells()).toEqual(
      Array.from({ length: 2 }, () => ({ status: 'failed', error: refusal(20, 'one more does') })),
    )
    await org.call('POST', `${target}/rows/delete-all`)
    await org.call('POST', `${base}/run-all`, {})
    expect(await cells()).toMatchObject([{ status: 'complete' }, { status: 'complete' }])
    expect(await rowsIn(org, target)).toBe(2)
  })
})

async function* collectable(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}
