import { describe, expect, it } from 'vitest'
import { type Reply, type Seen, serveDouble } from '../../../catalog/testing/provider-double.ts'
import { pullSource } from '../../testing/pull-source.ts'

const message = (ts: string, more = {}) => ({ type: 'message', user: 'U1', text: `at ${ts}`, ts, ...more })

/** Serves two channels, newest first, two messages a page. */
function serveWorkspace(channels: Record<string, object[]>) {
  return ({ path, query }: Seen): Reply => {
    if (path === '/auth.test') return { json: { ok: true, url: 'https://acme.slack.com/', team: 'Acme' } }
    const all = channels[query['channel'] ?? '']
    if (all === undefined) return { json: { ok: false, error: 'channel_not_found' } }
    const found = all.filter((one) => Number((one as { ts: string }).ts) > Number(query['oldest'] ?? 0))
    const start = Number(query['cursor'] ?? 0)
    const next = start + 2 < found.length ? String(start + 2) : ''
    return {
      json: {
        ok: true,
        messages: found.slice(start, start + 2),
        has_more: next !== '',
        response_metadata: { next_cursor: next },
      },
    }
  }
}

async function pullFrom(channels: Record<string, object[]>, body: Record<string, unknown>, state?: unknown) {
  const { origin, seen } = await serveDouble(serveWorkspace(channels))
  const settings = { urls: { slack: origin }, ...(state === undefined ? {} : { state }) }
  return { seen, pulled: await pullSource('import_from_slack', body, settings) }
}

const BODY = { channels: ['C01AAA', 'C02BBB'] }

describe('import_from_slack', () => {
  it('reads the history channel by channel, and requests the URL of the workspace once', async () => {
    const { seen, pulled } = await pullFrom(
      {
        C01AAA: [message('1700000003.000100'), message('1700000002.000100'), message('1700000001.000100')],
        C02BBB: [message('1700000009.000200', { user: undefined, bot_id: 'B1' })],
      },
      BODY,
    )
    expect(pulled.keys).toEqual([
      'C01AAA 1700000003.000100',
      'C01AAA 1700000002.000100',
      'C01AAA 1700000001.000100',
      'C02BBB 1700000009.000200',
    ])
    expect(pulled.rows[3]).toEqual({
      text: 'at 1700000009.000200',
      user: 'B1',
      channel: 'C02BBB',
      ts: '1700000009.000200',
      permalink: 'https://acme.slack.com/archives/C02BBB/p1700000009000200',
    })
    expect(seen.map(({ path }) => path)).toEqual([
      '/auth.test',
      '/conversations.history',
      '/conversations.history',
      '/conversations.history',
    ])
  })

  it('on a schedule reads newer messages, also if a channel had none the time before', async () => {
    const first = await pullFrom({ C01AAA: [message('1700000001.000100')], C02BBB: [] }, BODY)
    const second = await pullFrom(
      {
        C01AAA: [message('1700000005.000100'), message('1700000001.000100')],
        C02BBB: [message('1700000004.000100')],
      },
      BODY,
      first.pulled.resume,
    )
    expect(second.pulled.keys).toEqual(['C01AAA 1700000005.000100', 'C02BBB 1700000004.000100'])
    const third = await pullFrom(
      { C01AAA: [message('1700000005.000100')], C02BBB: [message('1700000004.000100')] },
      BODY,
      second.pulled.resume,
    )
    expect(third.pulled.keys).toEqual([])
  })

  it('starts at `oldest`', async () => {
    const { seen } = await pullFrom({ C01AAA: [] }, { channels: ['C01AAA'], oldest: '2026-01-01T00:00:00Z' })
    expect(seen[1]?.query['oldest']).toBe('1767225600')
  })

  it.each([
    [{ ok: false, error: 'token_revoked' }, { kind: 'unconfigured' }],
    [{ ok: false, error: 'ratelimited' }, { kind: 'rate_limited' }],
    [{ ok: false, error: 'not_in_channel' }, { message: expect.stringContaining('not_in_channel') }],
  ])('an error inside of a 200 is one: %j', async (json, refusal) => {
    const { origin } = await serveDouble(() => ({ json }))
    const pulled = await pullSource('import_from_slack', BODY, { urls: { slack: origin } })
    expect(pulled.refusal).toMatchObject(refusal)
  })

  it.each([
    [{ channels: ['general'] }, 'channels[0]', 'must be the id of a channel'],
    [{ ...BODY, oldest: 'yesterday' }, 'oldest', 'must be a date'],
  ])('refuses %j by name', async (body, field, words) => {
    await expect(pullSource('import_from_slack', body)).rejects.toMatchObject({
      details: { errors: [{ field, message: expect.stringContaining(words) }] },
    })
  })
})
