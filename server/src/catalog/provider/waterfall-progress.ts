import { z } from 'zod'
import type { Provenance } from '../outcome.ts'

export type Bill = { credits: number; provenance: Provenance[] }

/** Of what nobody was asked for. */
export const FREE: Bill = { credits: 0, provenance: [] }

const Turn = z.object({
  tries: z.number(),
  polls: z.number(),
  ms: z.number(),
  slot: z.number().exactOptional(),
  poll: z.unknown().optional(),
  /** What the calls of this run of the adapter were answered: they are not made again. */
  replies: z.array(z.unknown()),
})
/** How far it is with the provider at hand. Kept as JSON while the row is parked. */
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

/** The answer of a provider, while it is checked. */
export type Candidate<Result> = {
  value: Result
  verified: boolean
  credits: number
  /** What it would cost on the key of the installation, where it is one of the organisation. */
  listed?: number | undefined
  note?: string | undefined
  /** What its check handed over when it paused. */
  check?: unknown
}

/** How far a waterfall is. Kept as JSON while the row is parked. */
export type Progress<Result> = Bill & {
  place: number
  /** Ids of providers in the order of this cell, where it was found out from what they did before. */
  order?: string[]
  failures: string[]
  /** Somebody said that there is nothing. */
  answered: boolean
  fallback?: { value: Result; provider: string }
  turn: Turn
  candidate?: Candidate<Result> | undefined
  /** What checks of answers came to, by a name of what was checked. */
  checked: Record<string, unknown>
}

/** Where a waterfall goes on. State that cannot be read, as that of another version, is a new beginning. */
export function readProgress<Result>(state: unknown, result: z.ZodType<Result>): Progress<Result> {
  if (state !== undefined && state !== null) {
    const kept = progressOf(result).safeParse(state)
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

function progressOf<Result>(result: z.ZodType<Result>): z.ZodType<Progress<Result>> {
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
