import { expect, it } from 'vitest'
import { z } from 'zod'
import { readConfig } from '../../../lib/config/config.ts'
import { egressSettings } from '../../../lib/egress/settings.ts'
import { createKey } from '../../provider/access.ts'
import { makeAskContext, serveDouble } from '../../testing/provider-double.ts'
import { overpass } from './provider.ts'

it.each<[Record<string, string>, string]>([
  [{ LOAM_CONTACT: 'ops@acme.com', LOAM_PUBLIC_URL: 'https://loam.acme.com' }, 'Loam/0.1 (ops@acme.com)'],
  [{ LOAM_PUBLIC_URL: 'https://loam.acme.com' }, 'Loam/0.1 (https://loam.acme.com)'],
])('with %j Overpass is called as %s', async (env, agent) => {
  const { origin, seen } = await serveDouble(() => ({ json: {} }))
  const context = makeAskContext({ overpass: origin })
  const { contact = '' } = egressSettings(readConfig(env))
  const egress = { ...context.egress, contact }
  const key = createKey('platform', {})
  await overpass.request({ ...context, egress }, key, { path: '/api/interpreter' }, z.unknown())
  expect(seen[0]?.headers['user-agent']).toBe(agent)
})

it('after a 429 Overpass is left alone for 30 seconds, and it gets one call at a time', async () => {
  const { origin } = await serveDouble(() => ({ status: 429, text: 'rate_limited' }))
  const context = makeAskContext({ overpass: origin })
  const reply = await overpass.request(
    context,
    createKey('platform', {}),
    { path: '/api/interpreter' },
    z.unknown(),
  )
  expect(reply).toMatchObject({ ok: false, refusal: { kind: 'rate_limited', afterMs: 30_000 } })
  const elsewhere = { baseUrl: (_id: string, fallback: string) => fallback }
  expect(overpass.limits({ egress: elsewhere })).toMatchObject({ concurrent: 1 })
})
