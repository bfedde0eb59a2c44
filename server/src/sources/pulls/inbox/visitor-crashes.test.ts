import { beforeAll, describe, expect, it } from 'vitest'
import type { TestOrg } from '#test/plumbing/harness.ts'
import { Killed, killedAt } from '../testing/fault-store.ts'
import { GLOBEX, makeVisitorApp } from '../testing/visitor-app.ts'

const visitors = await makeVisitorApp({ LOAM_PROVIDER_KEY_IPINFO: 'platform key' })
const { app, known } = visitors
known.set(GLOBEX, {
  json: { ip: GLOBEX, company: { name: 'Globex Inc.', domain: 'globex.com', type: 'business' } },
})

let org: TestOrg
beforeAll(async () => {
  org = await app.makeOrg()
})

const track = (body?: object, owner = org) => visitors.track(owner, body)

describe('R1 what was accepted survives', () => {
  it('a worker that is killed before any statement loses and doubles no visit, and charges once', async () => {
    for (let at = 1; ; at += 1) {
      const { id, pixel, work, rows, show } = await track()
      await visitors.visit(pixel, { url: 'https://shop.example.com/1' })
      await visitors.visit(pixel, { url: 'https://shop.example.com/2' })
      await visitors.visit(pixel, { from: GLOBEX })
      const isThrough = await visitors.work(org, id, { store: killedAt(app.store, at) }).then(
        () => true,
        (cause: unknown) => {
          if (cause instanceof Killed) return false
          throw cause
        },
      )
      await visitors.set(id, 'claimed_until = null')
      await work()
      expect(await rows()).toMatchObject([
        { domain: 'acme.com', page_views: 2, visits: 1 },
        { domain: 'globex.com', page_views: 1 },
      ])
      expect(await show()).toMatchObject({
        lead_count: 2,
        credits_spent: 1,
        received: { total: 3, waiting: 0 },
      })
      if (isThrough) {
        expect(at).toBeGreaterThan(10)
        return
      }
    }
  })

  it('two workers at the same visits make one record of them', async () => {
    const { id, pixel, rows, show } = await track()
    for (let page = 0; page < 20; page += 1)
      await visitors.visit(pixel, { url: `https://shop.example.com/${page}` })
    await Promise.all([visitors.work(org, id), visitors.work(org, id), visitors.work(org, id)])
    expect(await rows()).toMatchObject([{ page_views: 20, visits: 1 }])
    expect((await show()).received).toMatchObject({ total: 20, waiting: 0 })
  })

  it('visits that arrive during the work are processed too', async () => {
    const { id, pixel, work, rows } = await track()
    await visitors.visit(pixel, { url: 'https://shop.example.com/0' })
    await Promise.all([
      visitors.work(org, id),
      ...Array.from({ length: 30 }, (_, n) =>
        visitors.visit(pixel, { url: `https://shop.example.com/${n + 1}` }),
      ),
    ])
    const jobs = await app.store.query<{ count: number }>({
      text: `select count(*)::int as count from graphile_long._private_jobs where key = $1`,
      values: [`pull_source:${id}`],
    })
    expect(jobs[0]?.count).toBe(1)
    await work()
    expect(await rows()).toMatchObject([{ page_views: 31 }])
  })
})
