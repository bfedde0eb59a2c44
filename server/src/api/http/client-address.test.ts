import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { makeApp } from '#test/plumbing/harness.ts'

const LIMIT = 1_000_000

/**
 * Returns the remaining requests of a client with these headers over HTTP. The limit is so high that no test
 * reaches it.
 */
async function serve(trusted: string) {
  const app = await makeApp({
    settings: { LOAM_TRUST_PROXY: trusted, LOAM_RATE_LIMIT_PER_MINUTE: String(LIMIT) },
  })
  await app.api.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.api.server.address() as AddressInfo
  const ask = async (forwarded?: string) => {
    const headers: Record<string, string> = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/user`, { headers })
    await answer.body?.cancel()
    return answer.status
  }
  const countedFor = async () => {
    const rows = await app.store.query<{ bucket: string }>({
      text: `delete from rate_windows where bucket like 'address %' returning bucket`,
    })
    return rows.map(({ bucket }) => bucket.slice('address '.length))
  }
  return async (forwarded?: string) => [await ask(forwarded), ...(await countedFor())]
}

const believing = {
  one: await serve('1'),
  same: await serve('true'),
  none: await serve('false'),
  two: await serve('2'),
  listed: await serve('127.0.0.1, 10.0.0.0/8'),
  other: await serve('192.0.2.1'),
}

describe('LOAM_TRUST_PROXY decides which entries of X-Forwarded-For are trusted, over HTTP', () => {
  const garbage = [
    undefined,
    '',
    'unknown',
    'x'.repeat(6000),
    '203.0.113.7, nonsense',
    '1.2.3.4.5',
    "'; drop",
  ]

  it.each(['one', 'same'] as const)('%s: the last entry counts, written by the one proxy', async (name) => {
    const ask = believing[name]
    expect(await ask('203.0.113.7')).toEqual([401, '203.0.113.7'])
    expect(await ask('198.51.100.1, 203.0.113.7')).toEqual([401, '203.0.113.7'])
    expect(await ask('198.51.100.2, 203.0.113.7:4711')).toEqual([401, '203.0.113.7'])
    expect(await ask('2001:db8:1:2:3:4:5:6')).toEqual([401, '20010db800010002/64'])
    expect(await ask('[2001:db8:1:2::9]:443')).toEqual([401, '20010db800010002/64'])
    expect(await ask('::ffff:203.0.113.7')).toEqual([401, '203.0.113.7'])
    for (const text of garbage) expect(await ask(text)).toEqual([401, '127.0.0.1'])
  })

  it('false: no entry', async () => {
    const ask = believing.none
    expect(await ask('203.0.113.7')).toEqual([401, '127.0.0.1'])
    for (const text of garbage) expect(await ask(text)).toEqual([401, '127.0.0.1'])
  })

  it('2: the entry that the outer one of two proxies wrote', async () => {
    const ask = believing.two
    expect(await ask('198.51.100.1, 203.0.113.7, 10.0.0.1')).toEqual([401, '203.0.113.7'])
    expect(await ask('10.0.0.1')).toEqual([401, '10.0.0.1'])
  })

  it('addresses: the first entry from the end that is not a trusted address', async () => {
    const ask = believing.listed
    expect(await ask('198.51.100.1, 203.0.113.7, 10.1.2.3')).toEqual([401, '203.0.113.7'])
    expect(await ask('203.0.113.7')).toEqual([401, '203.0.113.7'])
    expect(await ask('nonsense, 10.1.2.3')).toEqual([401, '127.0.0.1'])
    expect(await believing.other('203.0.113.7')).toEqual([401, '127.0.0.1'])
  })
})
