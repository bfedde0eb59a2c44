import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { makeApp } from '#test/plumbing/harness.ts'
import { hunterWorkEmail } from '../providers/hunter/work-email.ts'
import { ANN } from '../testing/provider-cases/work-email.ts'
import { makeAskContext, serveDouble } from '../testing/provider-double.ts'
import { createKey } from './access.ts'
import type { AdapterAsk } from './adapter.ts'
import { logMisfits, type Misfit, onMisfit, placeOf, tellMisfit } from './misfits.ts'

/** Asks Hunter, whose reply is `json`. */
async function askHunter(json: unknown) {
  const { origin } = await serveDouble(() => ({ json }))
  const context = makeAskContext({ hunter: origin })
  const ask: AdapterAsk = async (request, schema, read) => {
    const key = createKey('platform', { secret: 'k' })
    const reply = await hunterWorkEmail.provider.request(context, key, request, schema)
    return reply.ok ? read(reply.body) : reply.refusal
  }
  return hunterWorkEmail.run(ask, ANN, { poll: undefined, context })
}

it('a reply of another shape is reported with its place and without values, and is never a hit', async () => {
  const heard: Misfit[] = []
  onTestFinished(onMisfit((misfit) => heard.push(misfit)))
  const found = await askHunter({ data: { email: { secret: 'ann@acme.com' }, score: 97 } })
  expect(found).toMatchObject({ kind: 'error', transient: false, misfit: { at: 'data.email' } })
  expect(heard).toEqual([{ provider: 'hunter', at: 'data.email', problem: expect.stringMatching(/string/) }])
  expect(JSON.stringify(heard)).not.toContain('acme')
})

it('an answer that fits, a miss and a refusal are no misfits', async () => {
  const heard: Misfit[] = []
  onTestFinished(onMisfit((misfit) => heard.push(misfit)))
  expect(await askHunter({ data: { email: 'ann@acme.com' } })).toMatchObject({ kind: 'hit' })
  expect(await askHunter({ data: { email: null } })).toMatchObject({ kind: 'miss' })
  expect(heard).toEqual([])
})

it('/metrics counts them by provider', async () => {
  const { api } = await makeApp()
  const count = async () => {
    const { body } = await api.inject('/metrics')
    return Number(/loam_provider_misfits_total\{provider="hunter"\} (\d+)/.exec(body)?.[1] ?? 0)
  }
  const before = await count()
  await askHunter({ data: [] })
  expect(await count()).toBe(before + 1)
})

it('the log names each place once a minute', () => {
  const lines: unknown[] = []
  let now = 0
  onTestFinished(logMisfits({ warn: (line: unknown) => void lines.push(line) }, () => now))
  const misfit = { provider: 'hunter', at: 'data.email', problem: 'expected string' }
  tellMisfit(misfit)
  tellMisfit(misfit)
  tellMisfit({ ...misfit, at: 'data' })
  now = 60_000
  tellMisfit(misfit)
  expect(lines).toEqual([misfit, { ...misfit, at: 'data' }, misfit])
})

it('the problem of a union is that of the alternative that got the furthest', () => {
  const shape = z.union([z.array(z.string()), z.object({ results: z.array(z.object({ name: z.string() })) })])
  const [issue] = shape.safeParse({ results: [{ name: 1 }] }).error?.issues ?? []
  expect(issue && placeOf(issue)).toMatchObject({ at: 'results.0.name' })
})
