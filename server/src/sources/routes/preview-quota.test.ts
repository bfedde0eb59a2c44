import { expect, it } from 'vitest'
import { connectPaged, itemsOf, makeSourceApp } from '#server/sources/pulls/testing/source-app.ts'
import type { TestOrg } from '#test/plumbing/harness.ts'

const { app, lists, asked } = await makeSourceApp({
  LOAM_PROVIDER_KEY_PAGED: 'platform key',
  LOAM_PREVIEWS_PER_HOUR: '3',
})
lists.set('many', { items: itemsOf(150), pageSize: 40 })
const preview = (org: TestOrg, slug = 'paged_once') =>
  org.call('POST', `/sources/${slug}/preview`, { list: 'many' })

it("F61: previews on the installation's keys are counted, by all at once as well, and what is refused asks nobody", async () => {
  const org = await app.makeOrg()
  asked.length = 0
  const answers = await Promise.all(Array.from({ length: 8 }, () => preview(org)))
  const refused = answers.filter(({ status }) => status === 429)
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
  expect(refused).toHaveLength(5)
  expect(asked.map(({ key }) => key)).toEqual(Array(3).fill('platform key'))
  const [first] = refused
  expect(first?.body.message).toContain('3 times an hour')
  expect(first?.body.message).toContain('loam connection add')
  expect(first?.body.message).toContain('create the source')
  const wait = Number(first?.headers['retry-after'])
  expect(wait).toBeGreaterThan(0)
  expect(wait).toBeLessThanOrEqual(3600)
  // Other organisations are not affected, and the next hour starts at zero.
  expect((await preview(await app.makeOrg())).status).toBe(200)
  await app.store.query({
    text: `update rate_windows set minute = minute - interval '1 hour' where bucket = $1`,
    values: [`previews ${org.orgId}`],
  })
  expect((await preview(org)).status).toBe(200)
})

it("F61: five rows of a paid provider are shown and no more are asked for, with the whole source's total", async () => {
  const org = await app.makeOrg()
  asked.length = 0
  const { body } = await preview(org)
  expect(body.data).toHaveLength(5)
  expect(body.metadata).toEqual({ total_results: 150, capped: true })
  expect(asked.map(({ limit }) => limit)).toEqual([6])
})

it('F61: previews on a key of its own, or on none, are neither counted nor shortened', async () => {
  const org = await app.makeOrg()
  await connectPaged(app, org)
  for (let n = 0; n < 5; n += 1) {
    const { status, body } = await preview(org)
    expect([status, body.data?.length]).toEqual([200, 100])
  }
})
