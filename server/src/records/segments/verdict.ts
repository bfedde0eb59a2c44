import { BOOLEAN, foldSteps, type Logic, testValue } from '../../catalog/chain/condition-evaluate.ts'
import type { Operator } from '../../catalog/chain/condition-operators.ts'
import type { CountBounds } from './filter.ts'

/** What a condition says of an entity now. `changesAt`: when time alone can change that, in milliseconds. */
export type Outcome = { holds: boolean; changesAt: number | null; seen: unknown }

type Joined = { combinator?: 'AND' | 'OR' | undefined }
export type GroupOutcome = Joined & { conditions: (Joined & { outcome: Outcome })[] }

export type Verdict = { holds: boolean; changesAt: number | null; groups: GroupOutcome[] }

/** True, false, or not known: what holds now and what time may change. */
const KLEENE: Logic<boolean | null> = {
  none: true,
  and: (a, b) => (a === false || b === false ? false : a === null || b === null ? null : true),
  or: (a, b) => (a === true || b === true ? true : a === null || b === null ? null : false),
}

/** An entity is looked at again by the clock only where the conditions that time can change decide. */
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

/** A field, or the identifiers of one kind: one of them has to pass, and none may fail where the operator denies. */
export function judgeValues(operator: Operator, seen: readonly unknown[], values: string[]): Outcome {
  const denies = operator === 'is not' || operator.startsWith('does not')
  const test = (value: unknown) => testValue(operator, value, values)
  const holds = seen.length === 0 ? test(null) : denies ? seen.every(test) : seen.some(test)
  return { holds, changesAt: null, seen: seen.length > 1 ? seen : (seen[0] ?? null) }
}

/** Times of events in milliseconds, rounded up: those in the window, the latest first, and the next one in the future. */
export type EventTimes = { times: readonly number[]; next: number | null }

/** How many of the latest events have to be known to tell whether there are enough, and not too many. */
export function eventsNeeded({ atLeast, atMost }: CountBounds): number {
  return Math.max(atLeast, atMost === Infinity ? 0 : atMost + 1)
}

/** The answer changes when the event that decides leaves the window, or when one that is in the future happens. */
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
