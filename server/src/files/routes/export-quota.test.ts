import { expect, it } from 'vitest'
import { catalogueOf } from '#test/builders/catalogue.ts'
import { rowsOf } from '#test/builders/rows.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { startTestWorker } from '#test/plumbing/worker.ts'
import { exportsOf } from '../../api/testing/exports.ts'

const app = await makeApp({
  settings: { LOAM_EXPORTS_PER_ORG: '3', LOAM_RATE_LIMIT_PER_MINUTE: '100000' },
  services: { catalogue: catalogueOf() },
})

it('an organisation has so many exports under way, also when they are asked for at once; the next one is 429 and says what to do', async () => {
  const org = await app.makeOrg()
  const { makeSheet } = rowsOf(org)
  const base = await makeSheet(['name'])
  const { ended } = exportsOf(app, org)
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => org.call('POST', `${base}/export`, { format: 'csv' })),
  )
  const taken = answers.filter(({ status }) => status === 202)
  expect(taken).toHaveLength(3)
  const refused = answers.filter(({ status }) => status !== 202)
  for (const { body } of refused)
    expect(body).toMatchObject({
      status: 429,
      error: 'Too Many Requests',
      message:
        'Your organisation has 3 exports under way, and its limit is 3 (LOAM_EXPORTS_PER_ORG). Wait until one has ended, then ask again',
      retryAfter: 5,
    })
  // Other organisations are not affected, and finished exports no longer count.
  const other = await app.makeOrg()
  const theirs = await rowsOf(other).makeSheet(['name'])
  await exportsOf(app, other).start(theirs)
  await startTestWorker(app)
  for (const { body } of taken) await ended(base, body.data.export_id)
  await exportsOf(app, org).start(base)
})
