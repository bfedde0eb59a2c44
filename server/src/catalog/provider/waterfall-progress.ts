import { z } from 'zod'
import type { Provenance } from '../outcome.ts'

export type Bill = { credits: number; provenance: Provenance[] }

/** The bill for something that no provider was asked for. */
export const FREE: Bill = { credits: 0, provenance: [] }

const Turn = z.object({
  tries: z.number(),
  polls: z.number(),
  ms: z.number(),
  slot: z.number().exactOptional(),
  poll: z.unknown().optional(),
  /** The replies to the calls of this run of the adapter. These calls are not repeated. */
  replies: z.array(z.unknown()),
})
/** The progress with the current provider. It is kept as JSON while the row is parked. */
export type Turn = z.output<typeof Turn>

export const startTurn = (): Turn => ({ tries: 0, polls: 0, ms: 0, replies: [] })

const Entry = z.object({
  provider: z.string(),
  status: z.string(),
  ms: z.number(),
  credits: z.number(),
  list_credits: z.number().exactOptional(),
  message: z.string().exactOptional(),
})

/** A provider's answer that is being checked. */
export type Candidate<Result> = {
  value: Result
  verified: boolean
  credits: number
  /** The price on the installation's key, if the organisation's own key was used. */
  listed?: number | undefined
  note?: string | undefined
  /** The state that the check returned when it paused. */
  check?: unknown
}

/** The progress of a waterfall. It is kept as JSON while the row is parked. */
export type Progress<Result> = Bill & {
  place: number
  /** The ids of providers in the order of this cell, if it was computed from their history. */
  order?: string[]
  failures: string[]
  /** Set if a provider reported that there is no answer. */
  answered: boolean
  fallback?: { value: Result; provider: string }
  turn: Turn
  candidate?: Candidate<Result> | undefined
  /** The results of checks, by the name of what was checked. */
  checked: Record<string, unknown>
}

/** Returns where a waterfall continues. Unreadable state, such as that of another version, means starting again. */
export function readProgress<Result>(state: unknown, result: z.ZodType<Result>): Progress<Result> {
  if (state !== undefined && state !== null) {
    const kept = progressSchema(result).safeParse(state)
    if (kept.success) return kept.data
  }
  return {
    place: 0,
    credits: 0,
    provenance: [],
    failures: [],
    answered: false,
    turn: startTurn(),
    candidate: undefined,
    checked: {},
  }
}

function progressSchema<Result>(result: z.ZodType<Result>): z.ZodType<Progress<Result>> {
  return z.object({
    place: z.number(),
    order: z.array(z.string()).exactOptional(),
    credits: z.number(),
    provenance: z.array(Entry),
    failures: z.array(z.string()),
    answered: z.boolean(),
    fallback: z.object({ value: result, provider: z.string() }).exactOptional(),
    turn: Turn,
    checked: z.record(z.string(), z.unknown()).default({}),
    candidate: z
      .object({
        value: result,
        verified: z.boolean(),
        credits: z.number(),
        listed: z.number().optional(),
        note: z.string().optional(),
        check: z.unknown().optional(),
      })
      .optional(),
  })
}
