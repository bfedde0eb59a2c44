import { describe, expect, it } from 'vitest'
import { serveDouble } from '../../../catalog/testing/provider-double.ts'
import { pullSource } from '../../testing/pull-source.ts'

const DAY = 24 * 60 * 60_000
const NEWEST = Date.UTC(2026, 0, 31)
const transcript = (n: number) => ({
  id: `t${n}`,
  title: `Call ${n}`,
  date: NEWEST - n * DAY,
  participants: ['a@acme.example', null],
  transcript_url: `https://app.fireflies.ai/view/t${n}`,
  summary: { overview: 'It went well.', action_items: 'Send the offer' },
})

describe('import_from_fireflies', () => {
  it('reads 50 at a time by skip, and starts the next pull two days before the newest meeting', async () => {
    const all = Array.from({ length: 60 }, (_, n) => transcript(n))
    const { origin, seen } = await serveDouble(({ body }) => {
      const { variables } = JSON.parse(body) as { variables: { limit: number; skip: number } }
      return { json: { data: { transcripts: all.slice(variables.skip, variables.skip + variables.limit) } } }
    })
    const body = { from: '2025-12-01', to: '2026-02-01T00:00:00Z', participants: ['a@acme.example'] }
    const pulled = await pullSource('import_from_fireflies', body, { urls: { fireflies: origin } })
    expect(pulled.keys).toHaveLength(60)
    expect(seen.map((one) => [one.path, (JSON.parse(one.body) as { variables: unknown }).variables])).toEqual(
      [0, 50].map((skip) => [
        '/graphql',
        {
          fromDate: '2025-12-01T00:00:00.000Z',
          toDate: '2026-02-01T00:00:00.000Z',
          participants: ['a@acme.example'],
          limit: 50,
          skip,
        },
      ]),
    )
    expect(pulled.rows[0]).toEqual({
      title: 'Call 0',
      date: '2026-01-31T00:00:00.000Z',
      participants: ['a@acme.example'],
      summary: 'It went well.',
      action_items: 'Send the offer',
      transcript_url: 'https://app.fireflies.ai/view/t0',
    })
    expect(pulled.resume).toEqual({ from: '2026-01-29T00:00:00.000Z', newest: null, skip: 0 })
  })

  it.each([
    ['auth_failed', { kind: 'unconfigured' }],
    ['too_many_requests', { kind: 'rate_limited' }],
    ['invalid_arguments', { kind: 'ineligible', message: expect.stringContaining('what went wrong') }],
  ])('an error inside of a 200 is one: %s', async (code, refusal) => {
    const { origin } = await serveDouble(() => ({
      json: { data: null, errors: [{ message: 'what went wrong', code, extensions: { code } }] },
    }))
    const pulled = await pullSource('import_from_fireflies', {}, { urls: { fireflies: origin } })
    expect(pulled.refusal).toMatchObject(refusal)
  })

  it.each([
    [{ from: 'monday' }, 'from', 'must be a date'],
    [{ from: '2026-02-01', to: '2026-01-01' }, 'to', 'must not be before from'],
    [{ participants: ['Ann'] }, 'participants[0]', 'must be an email address'],
  ])('refuses %j by name', async (body, field, words) => {
    await expect(pullSource('import_from_fireflies', body)).rejects.toMatchObject({
      details: { errors: [{ field, message: expect.stringContaining(words) }] },
    })
  })
})
