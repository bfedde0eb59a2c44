import { z } from 'zod'
import type { Ask } from '../../../catalog/provider/adapter.ts'
import { byLabel } from '../../../catalog/provider/options.ts'
import { slack } from '../../../catalog/providers/slack/provider.ts'
import { ownValue } from '../../../lib/json/object.ts'
import { trimEnd } from '../../../lib/plain-text.ts'
import type { SourceOptions } from '../../define.ts'
import { definePull } from '../../pull.ts'
import { defineShape } from '../../shape.ts'

export const messages = defineShape({
  body: {
    channels: z
      .array(z.string().regex(/^[CGD][A-Z0-9]{2,20}$/, 'must be the id of a channel, such as C0123ABCD'))
      .min(1)
      .max(50)
      .describe('Ids of the channels; the app must be a member of each'),
    oldest: z
      .union(
        [z.iso.datetime({ offset: true }), z.iso.date()],
        'must be a date, such as 2026-01-31 or 2026-01-31T09:00:00Z',
      )
      .describe('Only messages from this date on')
      .optional(),
  },
  row: z.object({
    text: z.string(),
    user: z.string().nullable(),
    channel: z.string(),
    ts: z.string(),
    permalink: z.string().nullable(),
  }),
})

// https://docs.slack.dev/reference/methods/conversations.history
const History = z.object({
  messages: z.array(
    z.object({
      ts: z.string(),
      text: z.string().default(''),
      user: z.string().optional(),
      bot_id: z.string().optional(),
    }),
  ),
  response_metadata: z.object({ next_cursor: z.string().optional() }).nullish(),
})
const Workspace = z.object({ url: z.string() })

/**
 * The position. Channels are read one after another, each newest first. `since` is where earlier pulls of a channel
 * ended.
 */
const State = z.object({
  url: z.string().nullable(),
  place: z.int().nonnegative(),
  cursor: z.string().nullable(),
  since: z.record(z.string(), z.string()),
  newest: z.record(z.string(), z.string()),
})
type State = z.infer<typeof State>
const START: State = { url: null, place: 0, cursor: null, since: {}, newest: {} }
const MAX_PAGE = 200

export const history = definePull(messages, slack, {
  price: 0,
  state: State,
  async pull({ body, state, limit, ask }) {
    const { place, cursor, since, newest } = state ?? START
    const channel = body.channels[place]
    if (channel === undefined) return { records: [], next: null }
    const url = state?.url ?? (await findWorkspace(ask))
    if (typeof url !== 'string') return url
    const query = {
      channel,
      limit: Math.min(MAX_PAGE, limit),
      oldest:
        ownValue(since, channel) ??
        (body.oldest === undefined ? undefined : String(Date.parse(body.oldest) / 1000)),
      cursor: cursor ?? undefined,
    }
    return ask({ path: '/conversations.history', query }, History, (reply) => {
      const [first] = reply.messages
      const ends = { ...newest, ...(cursor === null && first !== undefined ? { [channel]: first.ts } : {}) }
      const more = reply.response_metadata?.next_cursor || null
      const isLast = more === null && place + 1 >= body.channels.length
      const onward = { url, since, newest: ends }
      return {
        records: reply.messages.map(({ ts, text, user, bot_id }) => ({
          key: `${channel} ${ts}`,
          row: { text, user: user ?? bot_id ?? null, channel, ts, permalink: linkTo(url, channel, ts) },
        })),
        next: isLast ? null : { ...onward, place: more === null ? place + 1 : place, cursor: more },
        resume: { ...onward, place: 0, cursor: null, since: { ...since, ...ends }, newest: {} },
      }
    })
  },
})

/** Returns the URL of the workspace, such as `https://acme.slack.com/`. Links to messages start with it. */
function findWorkspace(ask: Ask) {
  return ask({ method: 'POST', path: '/auth.test', json: {} }, Workspace, ({ url }) => url)
}

const linkTo = (url: string, channel: string, ts: string) =>
  `${trimEnd(url, '/')}/archives/${channel}/p${ts.replace('.', '')}`

const Channels = z.object({
  channels: z.array(
    z.object({ id: z.string(), name: z.string().default(''), is_member: z.boolean().optional() }),
  ),
  response_metadata: z.object({ next_cursor: z.string().optional() }).nullish(),
})
const MAX_LISTED_PAGES = 5

const channels: SourceOptions = {
  provider: slack,
  async list(send) {
    const found: z.infer<typeof Channels>['channels'] = []
    let cursor: string | undefined
    for (let page = 0; page < MAX_LISTED_PAGES; page += 1) {
      const query = { types: 'public_channel,private_channel', exclude_archived: true, limit: 1000, cursor }
      const reply = await send({ path: '/conversations.list', query }, Channels)
      if (!reply.ok) return reply
      found.push(...reply.body.channels)
      cursor = reply.body.response_metadata?.next_cursor || undefined
      if (cursor === undefined) break
    }
    const options = found.map(({ id, name, is_member }) => ({
      value: id,
      label: `#${name}`,
      extras: { is_member: is_member ?? null },
    }))
    return { ok: true, body: byLabel(options) }
  },
}

export const slackOptions = { channels }
