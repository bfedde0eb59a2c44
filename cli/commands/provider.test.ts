import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type Reply, type Seen, serveDouble } from '#server/catalog/testing/provider-double.ts'
import { addProviderTallies, TIME_PLACES } from '#server/money/store/provider-tallies.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { runLoam } from '../testing/loam.ts'

const app = await makeApp()
const folder = mkdtempSync(join(tmpdir(), 'loam-cli-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const ENV = { DATABASE_URL: app.databaseUrl, LOAM_SECRET: 'a secret for tests only', LOAM_DATA_DIR: folder }
const org = await app.makeOrg()
const KEY = 'k-secret-0123456789'

async function loam(
  args: string[],
  env: Record<string, string> = {},
): Promise<{ exit: number | null; answer: Json }> {
  const { exit, stdout, stderr } = await runLoam([...args, '--json'], { ...ENV, ...env })
  return { exit, answer: JSON.parse(stdout === '' ? stderr : stdout) }
}

describe('loam provider stats', () => {
  it('reports what each provider found, its price and its speed', async () => {
    const empty = await runLoam(['provider', 'stats'], ENV)
    expect(empty.stdout).toContain('No provider was asked in the last 30 days.')
    const times = Array.from({ length: TIME_PLACES }, (_, n) => (n === 6 ? 10 : 0))
    const day = new Date().toISOString().slice(0, 10)
    const tally = { org: org.orgId, day, action: 'verify_email', provider: 'Hunter', asked: 10, found: 4 }
    await addProviderTallies(app.store, [{ ...tally, verified: 4, creditsMillis: 2000, times }])
    const { exit, answer } = await loam(['provider', 'stats', '--days', '7'])
    expect([exit, answer]).toEqual([
      0,
      [
        {
          action: 'verify_email',
          provider: 'Hunter',
          asked: 10,
          found: 4,
          verified: 4,
          price_per_find: 0.5,
          p50_ms: 96,
        },
      ],
    ])
    const shown = await runLoam(['provider', 'stats'], ENV)
    expect(shown.stdout).toMatch(
      /^ACTION +PROVIDER +ASKED +FOUND.*\nverify_email +Hunter +10 +4 \(40%\) +4 +0\.5 +96 ms\n$/,
    )
    expect((await loam(['provider', 'stats', '--days', '0'])).exit).toBe(2)
  })
})

/** Runs the check against replies of Hunter. A question without a listed reply gets a verified address. */
async function checkHunter(answer: (seen: Seen) => Reply | undefined, ...args: string[]) {
  const double = await serveDouble(
    (seen) => answer(seen) ?? { json: { data: { status: 'valid', requests: {}, email: KEY } } },
  )
  const env = {
    LOAM_PROVIDER_KEY_HUNTER: KEY,
    LOAM_PROVIDER_URL_HUNTER: double.origin,
    LOAM_EGRESS_ALLOW: '127.0.0.1',
  }
  return { ...(await loam(['provider', 'check', 'hunter', ...args], env)), double }
}
const resultOf = (answer: Json, question: string): Json =>
  answer.find((one: Json) => one.question === question)

describe('loam provider check', () => {
  it('asks the probe and one question for each adapter, and names the place that no longer fits', async () => {
    const fine = await checkHunter(({ path }) =>
      path === '/v2/companies/find' ? { status: 404 } : undefined,
    )
    expect(fine.exit).toBe(0)
    expect(resultOf(fine.answer, 'probe')).toMatchObject({ provider: 'hunter', result: 'fits' })
    expect(resultOf(fine.answer, 'verification')).toMatchObject({ result: 'fits', message: 'answered' })
    expect(fine.double.seen.find(({ path }) => path === '/v2/email-verifier')?.query).toMatchObject({
      email: 'info@wikipedia.org',
    })

    const drifted = await checkHunter(({ path }) =>
      path === '/v2/email-verifier' ? { json: { data: { status: 5 } } } : undefined,
    )
    expect(drifted.exit).toBe(1)
    expect(resultOf(drifted.answer, 'verification')).toMatchObject({ result: 'unfit', at: 'data.status' })
  })

  it('a refused key or a server that is down does not count as a changed reply', async () => {
    const refused = await checkHunter(() => ({ status: 401, json: { errors: [{ details: KEY }] } }))
    expect(resultOf(refused.answer, 'verification')).toMatchObject({ result: 'refused' })
    expect(JSON.stringify(refused.answer)).not.toContain(KEY)
    const down = await checkHunter(() => ({ status: 500 }))
    expect([down.exit, resultOf(down.answer, 'verification').result]).toEqual([0, 'failed'])
  })

  it('--record writes replies without secrets, addresses and numbers', async () => {
    const records = join(folder, 'records')
    const body = { data: { status: 'valid', email: 'bob@corp.example', phone: '+49 30 1234567', key: KEY } }
    const { answer } = await checkHunter(
      ({ path }) => (path === '/v2/email-verifier' ? { json: body } : undefined),
      '--record',
      records,
    )
    const path = join(records, 'hunter-verification.json')
    expect(resultOf(answer, 'verification').recorded).toBe(path)
    const text = readFileSync(path, 'utf8')
    expect(JSON.parse(text)).toMatchObject([
      {
        at: 'GET /v2/email-verifier',
        status: 200,
        body: { data: { status: 'valid', email: 'ann@acme.example' } },
      },
    ])
    for (const told of [KEY, 'bob@corp.example', '1234567']) expect(text).not.toContain(told)
  })

  it('questions about people are asked only if a person is named', async () => {
    const without = await checkHunter(() => undefined)
    expect(resultOf(without.answer, 'work-email')).toBeUndefined()
    const args = [
      '--person',
      'Ann Lee',
      '--linkedin',
      'https://www.linkedin.com/in/ann-lee',
      '--domain',
      'acme.example',
    ]
    const named = await checkHunter(() => undefined, ...args)
    expect(resultOf(named.answer, 'work-email')).toMatchObject({ provider: 'hunter' })
    expect((await checkHunter(() => undefined, '--person', 'Ann Lee')).exit).toBe(2)
  })

  it('a provider without a key is reported with advice', async () => {
    const { exit, answer } = await loam(['provider', 'check', 'apollo'])
    expect([exit, JSON.stringify(answer)]).toEqual([2, expect.stringContaining('LOAM_PROVIDER_KEY_')])
  })
})
