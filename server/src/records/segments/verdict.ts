import { BOOLEAN, foldSteps, type Logic, testValue } from '../../catalog/chain/condition-evaluate.ts'
import type { Operator } from '../../catalog/chain/condition-operators.ts'
import type { CountBounds } from './filter.ts'

/**
 * The result of a condition for an entity. `changesAt` is the time in milliseconds at which time alone may change it.
 */
export type Outcome = { holds: boolean; changesAt: number | null; seen: unknown }

type Joined = { combinator?: 'AND' | 'OR' | undefined }
export type GroupOutcome = Joined & { conditions: (Joined & { outcome: Outcome })[] }

export type Verdict = { holds: boolean; changesAt: number | null; groups: GroupOutcome[] }

/** Logic with true, false and unknown: null stands for a result that time may change. */
const KLEENE: Logic<boolean | null> = {
  none: true,
  and: (a, b) => (a === false || b === false ? false : a === null || b === null ? null : true),
  or: (a, b) => (a === true || b === true ? true : a === null || b === null ? null : false),
}

/**
 * Combines the outcomes. An entity is checked again at a time only if conditions that time can change decide the
 * result.
 */
export function judge(groups: GroupOutcome[]): Verdict {
  const foldBy = <Truth>(truthOf: (outcome: Outcome) => Truth, logic: Logic<Truth>) =>
    foldSteps(
      groups.map(({ combinator, conditions }) => {
        const steps = conditions.map((one) => ({ combinator: one.combinator, holds: truthOf(one.outcome) }))
        return { combinator, holds: foldSteps(steps, logic) }
      }),
      logic,
    )
  const holds = foldBy((outcome) => outcome.holds, BOOLEAN)
  const lasting = foldBy((outcome) => (outcome.changesAt === null ? outcome.holds : null), KLEENE)
  const times = groups.flatMap(({ conditions }) => conditions.map(({ outcome }) => outcome.changesAt))
  return { holds, changesAt: lasting === null ? earliest(times) : null, groups }
}

export function earliest(times: readonly (number | null)[]): number | null {
  return times.reduce<number | null>((first, time) => {
    if (time === null) return first
    return first === null ? time : Math.min(first, time)
  }, null)
}

export function isWithin(count: number, { atLeast, atMost }: CountBounds): boolean {
  return count >= atLeast && count <= atMost
}

/** Judges a field, or the identifiers of one kind. One value must pass; with a negated operator all must pass. */
export function judgeValues(operator: Operator, seen: readonly unknown[], values: string[]): Outcome {
  const denies = operator === 'is not' || operator.startsWith('does not')
  const test = (value: unknown) => testValue(operator, value, values)
  const holds = seen.length === 0 ? test(null) : denies ? seen.every(test) : seen.some(test)
  return { holds, changesAt: null, seen: seen.length > 1 ? seen : (seen[0] ?? null) }
}

/**
 * The times of events in milliseconds, rounded up: those in the window, latest first, and the next one in the future.
 */
export type EventTimes = { times: readonly number[]; next: number | null }

/** Returns how many of the latest events are needed to tell whether the count is within the bounds. */
export function eventsNeeded({ atLeast, atMost }: CountBounds): number {
  return Math.max(atLeast, atMost === Infinity ? 0 : atMost + 1)
}

/**
 * Judges a condition on events. The result changes when the deciding event leaves the window or a future event happens.
 */
export function judgeEvents(bounds: CountBounds, withinMs: number | null, found: EventTimes): Outcome {
  const { atLeast, atMost } = bounds
  const { times, next } = found
  const holds = isWithin(times.length, bounds)
  const leavesAt = (place: number) => {
    const time = times[place]
    return time === undefined || withinMs === null ? null : time + withinMs
  }
  const seen = {
    events: times.length,
    latest: times[0] === undefined ? null : new Date(times[0]).toISOString(),
  }
  if (times.length > atMost) return { holds, changesAt: leavesAt(atMost), seen }
  const upcoming = holds && atMost === Infinity ? null : next
  return { holds, changesAt: earliest([upcoming, holds ? leavesAt(atLeast - 1) : null]), seen }
}
