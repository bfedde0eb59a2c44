import { describe, expect, it } from 'vitest'
import { createKey } from '../provider/access.ts'
import { type Settings, useActions } from '../testing/run-action.ts'
import { serveSite, type Site } from '../testing/site-server.ts'
import { type Reply, serveBoard } from '../testing/sites/board.ts'
import { ownPostings } from '../testing/sites/careers.ts'

const runAction = useActions()

describe('TheirStack is asked if neither a board nor the site has openings', () => {
  const POSTED = {
    job_title: 'Engineer',
    location: 'Berlin',
    url: 'https://x.example/1',
    date_posted: '2026-11-01',
  }
  const platform = { platform: () => createKey('platform', { secret: 'k' }), own: async () => null }
  const own = { platform: () => null, own: async () => createKey('own', { secret: 'k' }) }
  const EMPTY: Site = { '/': '<title>Acme</title><p>We make tools.</p>' }
  const search = async (pages: Site, reply: Reply, settings: Pick<Settings, 'keys' | 'state'>) => {
    const site = await serveSite(pages)
    const double = await serveBoard({ '/v1/jobs/search': reply })
    const inputs = { domain: `127.0.0.1:${site.port}`, keywords: 'engineer' }
    const outcome = await runAction('company_job_openings', inputs, {
      urls: { theirstack: double.origin },
      ...settings,
    })
    return { outcome, asked: double.asked, read: site.requests }
  }
  const found = { body: { data: [POSTED], metadata: { total_results: 9 } } }

  it.each([
    ['the platform key', platform, 1],
    ["the organisation's own key", own, 0],
  ])('with %s', async (_what, keys, credits) => {
    const { outcome } = await search(EMPTY, found, { keys })
    const job = { title: 'Engineer', location: 'Berlin', url: 'https://x.example/1', source: 'TheirStack' }
    expect(outcome).toMatchObject({ kind: 'done', credits, outputs: { count: 9, jobs: [job] } })
  })

  it('not without a key, and not when the site has some', async () => {
    const none = await search(EMPTY, found, {})
    expect(none).toMatchObject({ outcome: { kind: 'no_match' }, asked: [] })
    const some = await search(ownPostings, found, { keys: platform })
    expect(some).toMatchObject({ outcome: { kind: 'done' }, asked: [] })
  })

  it('a wait for TheirStack continues where it was: the site is not read again', async () => {
    const slow = { status: 429, body: {}, headers: { 'retry-after': '1' } }
    const { outcome } = await search(EMPTY, slow, { keys: platform })
    if (outcome.kind !== 'wait') throw new Error(JSON.stringify(outcome))
    const next = await search(EMPTY, found, { keys: platform, state: outcome.state })
    expect(next).toMatchObject({ outcome: { kind: 'done', outputs: { count: 9 } }, read: [] })
  })

  it('a miss gives no answer', async () => {
    const miss = { body: { data: [], metadata: { total_results: 0 } } }
    expect((await search(EMPTY, miss, { keys: platform })).outcome).toMatchObject({ kind: 'no_match' })
  })
})
