import { z } from 'zod'
import { fireflies } from '../../../catalog/providers/fireflies/provider.ts'
import { definePull } from '../../pull.ts'
import { defineShape } from '../../shape.ts'

const Day = z.union(
  [z.iso.datetime({ offset: true }), z.iso.date()],
  'must be a date, such as 2026-01-31 or 2026-01-31T09:00:00Z',
)

export const transcripts = defineShape({
  body: {
    from: Day.describe('Only meetings from this date on').optional(),
    to: Day.describe('Only meetings until this date').optional(),
    participants: z
      .array(z.email('must be an email address'))
      .min(1)
      .max(50)
      .describe('Only meetings with one of these people, given by email address')
      .optional(),
  },
  row: z.object({
    title: z.string().nullable(),
    date: z.string().nullable(),
    participants: z.array(z.string()),
    summary: z.string().nullable(),
    action_items: z.string().nullable(),
    transcript_url: z.string().nullable(),
  }),
})

// https://docs.fireflies.ai/graphql-api/query/transcripts
const QUERY = `query Transcripts($fromDate: DateTime, $toDate: DateTime, $participants: [String!], $limit: Int, $skip: Int) {
  transcripts(fromDate: $fromDate, toDate: $toDate, participants: $participants, limit: $limit, skip: $skip) {
    id title date participants transcript_url summary { overview action_items }
  }
}`

const Reply = z.object({
  data: z.object({
    transcripts: z
      .array(
        z.object({
          id: z.string(),
          title: z.string().nullish(),
          /** The date in milliseconds or as text. */
          date: z.union([z.number(), z.string()]).nullish(),
          participants: z.array(z.string().nullable()).nullish(),
          transcript_url: z.string().nullish(),
          summary: z.object({ overview: z.string().nullish(), action_items: z.string().nullish() }).nullish(),
        }),
      )
      .nullable()
      .transform((found) => found ?? []),
  }),
})

const State = z.object({
  from: z.string().nullable(),
  newest: z.string().nullable(),
  skip: z.int().nonnegative(),
})
const MAX_PAGE = 50
/** The overlap between pulls. A meeting appears after its transcription, which can take hours. */
const LATE_MS = 2 * 24 * 60 * 60_000

export const meetings = definePull(transcripts, fireflies, {
  price: 0,
  state: State,
  pull({ body, state, limit, ask }) {
    const size = Math.min(MAX_PAGE, limit)
    const skip = state?.skip ?? 0
    const from = state?.from ?? (body.from === undefined ? null : toIso(body.from))
    const variables = {
      fromDate: from,
      toDate: body.to === undefined ? null : toIso(body.to),
      participants: body.participants ?? null,
      limit: size,
      skip,
    }
    const request = { method: 'POST', path: '/graphql', json: { query: QUERY, variables } } as const
    return ask(request, Reply, ({ data: { transcripts: found } }) => {
      const dates = found.map(({ date }) => toIso(date))
      // Both are UTC texts of equal length, so they compare as texts.
      const newest = [state?.newest ?? null, ...dates].reduce((a, b) => ((b ?? '') > (a ?? '') ? b : a), null)
      return {
        records: found.map(({ id, title, participants, transcript_url, summary }, n) => ({
          key: id,
          row: {
            title: title ?? null,
            date: dates[n] ?? null,
            participants: (participants ?? []).filter((one) => one !== null),
            summary: summary?.overview ?? null,
            action_items: summary?.action_items ?? null,
            transcript_url: transcript_url ?? null,
          },
        })),
        next: found.length < size ? null : { from, newest, skip: skip + found.length },
        resume: { from: newest === null ? from : toIso(Date.parse(newest) - LATE_MS), newest: null, skip: 0 },
      }
    })
  },
})

function toIso(date: string | number | null | undefined): string | null {
  const time = new Date(date ?? Number.NaN)
  return Number.isNaN(time.getTime()) ? null : time.toISOString()
}
