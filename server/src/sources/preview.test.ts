import { describe, expect, it } from 'vitest'
import { previewSource } from './preview.ts'
import { loadSources } from './registry.ts'
import type { Account, Thing } from './testing/account.ts'
import { openSource } from './testing/pull-source.ts'
import { SEARCHES } from './testing/search-accounts.ts'
import { SYSTEMS } from './testing/system-accounts.ts'

const ACCOUNTS = [...SYSTEMS, ...SEARCHES]

const START = Date.parse('2026-01-01T00:00:00Z')
const things = (count: number): Thing[] =>
  Array.from({ length: count }, (_, n) => ({ id: n + 1, at: START + n * 60_000 }))

/** Previews one account with several limits. */
async function preview({ slug, open }: Account, count: number, limits: readonly number[]) {
  const { body, settings } = await open(things(count))
  const { source, reached, body: read, services } = await openSource(slug, body, settings)
  const all = []
  for (const limit of limits) {
    const shown = await previewSource(source, reached, { body: read, limit }, services)
    if ('kind' in shown) throw new Error(JSON.stringify(shown))
    all.push(shown)
  }
  return all
}

describe.each(ACCOUNTS)('D89: a preview of $name', (account) => {
  it('limit only shortens the rows: three are three, and not more', async () => {
    const [whole, one] = await preview(account, 3, [100, 1])
    expect(whole).toMatchObject({ total: 3, capped: false })
    expect(whole?.rows).toHaveLength(3)
    expect(one).toEqual({ rows: whole?.rows.slice(0, 1), total: 3, capped: false })
  })

  it('100 of 100 are not capped, more than 100 are, with any limit', async () => {
    const isKnown = account.endsAt100 !== true
    const limits = [1, 100]
    const all = await preview(account, 100, limits)
    expect(all.map(({ rows }) => rows.length)).toEqual(limits)
    for (const { rows: _rows, ...said } of all) expect(said).toEqual({ total: 100, capped: !isKnown })
    const more = await preview(account, 150, limits)
    expect(more.map(({ rows }) => rows.length)).toEqual(limits)
    for (const { total, capped } of more) {
      expect(capped).toBe(true)
      expect(total).toBeGreaterThanOrEqual(100)
      expect(total).toBeLessThanOrEqual(150)
    }
  })
})

it('every source that pulls has an account that is previewed here', async () => {
  const tested = new Set(ACCOUNTS.map(({ slug }) => slug))
  const missing = (await loadSources())
    .list()
    .filter(({ receives, slug }) => receives === null && !tested.has(slug))
  expect(missing).toEqual([])
})
