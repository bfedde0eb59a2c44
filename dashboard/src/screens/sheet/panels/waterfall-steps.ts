import type { z } from 'zod'
import type { Waterfall as WaterfallSchema } from '#contract/waterfalls.ts'
import type { fetchOptions } from '../../../api/sheet.ts'
import { figure, plural } from '../../../ui/figure.ts'

export type Waterfall = z.infer<typeof WaterfallSchema>
/** A provider that can be added to a waterfall. */
export type Offer = Awaited<ReturnType<typeof fetchOptions>>[number]

/** A provider of a waterfall, and whether it is called with a key of one's own. */
export type Step = string | { name: string; use_own_key?: boolean }

export const getName = (step: Step): string => (typeof step === 'string' ? step : step.name)
export const usesOwnKey = (step: Step): boolean => typeof step !== 'string' && step.use_own_key === true

/** The facts about a provider, from the waterfall as it is saved or from the list of all providers. */
export type Facts = {
  credits: number | null
  missCredits: number
  supportsOwnKey: boolean
  requiresOwnKey: boolean
  /** The key with which it can be called now; null if that is not known. */
  key: Waterfall['providers'][number]['key'] | null
  asked: number
  found: number
  medianMs: number | null
}

const NOTHING_KNOWN: Facts = {
  credits: null,
  missCredits: 0,
  supportsOwnKey: false,
  requiresOwnKey: false,
  key: null,
  asked: 0,
  found: 0,
  medianMs: null,
}

const readNumber = (value: unknown): number | null => (typeof value === 'number' ? value : null)

/** Returns the facts about each provider by its name. */
export function readFacts(
  offers: readonly Offer[] | undefined,
  waterfall: Waterfall | undefined,
): (name: string) => Facts {
  const facts = new Map<string, Facts>()
  for (const { value, extras = {} } of offers ?? []) {
    const { credits, supports_own_key, requires_own_key, last_30_days } = extras
    const recent: { asked?: unknown; found?: unknown; p50_ms?: unknown } = Object(last_30_days)
    facts.set(value, {
      ...NOTHING_KNOWN,
      credits: readNumber(credits),
      supportsOwnKey: supports_own_key === true || requires_own_key === true,
      requiresOwnKey: requires_own_key === true,
      asked: readNumber(recent.asked) ?? 0,
      found: readNumber(recent.found) ?? 0,
      medianMs: readNumber(recent.p50_ms),
    })
  }
  for (const one of waterfall?.providers ?? []) {
    const known = facts.get(one.provider) ?? NOTHING_KNOWN
    facts.set(one.provider, {
      ...known,
      credits: one.credits,
      missCredits: one.miss_credits,
      supportsOwnKey: known.supportsOwnKey || one.supports_own_key,
      key: one.key,
      asked: one.hit_rate === null || one.hit_rate === 0 ? known.asked : Math.round(one.found / one.hit_rate),
      found: one.found,
      medianMs: one.median_ms,
    })
  }
  return (name) => facts.get(name) ?? NOTHING_KNOWN
}

/** Returns the steps that are asked, in their order: as edited, or else as the server asks them. */
export function stepsOf(
  value: readonly Step[] | undefined,
  waterfall: Waterfall | undefined,
): readonly Step[] {
  if (value !== undefined) return value
  const listed = waterfall?.providers.filter((one) => one.listed !== false) ?? []
  return listed.map(({ provider, key }) => (key === 'own' ? { name: provider, use_own_key: true } : provider))
}

/** Returns whether a provider has the key that it is called with. Whether there is one of one's own is only known where it is used. */
export const isAsked = (step: Step, { key }: Facts): boolean =>
  key === null || key === 'own' || (key === 'installation' ? true : usesOwnKey(step))

/** Returns the price of a provider in words. */
export function printPrice(step: Step, { credits, missCredits }: Facts): string {
  if (usesOwnKey(step)) return 'free'
  if (credits === null) return 'price unknown'
  const miss = missCredits > 0 ? `, ${figure(missCredits)} if nothing is found` : ''
  return credits === 0 && miss === '' ? 'free' : `${plural(credits, 'credit')}${miss}`
}

/** Returns the key that a provider is called with, in words. */
export function printKey(step: Step, facts: Facts): string | null {
  if (facts.key === null) return null
  if (!isAsked(step, facts)) return 'No key: skipped'
  return usesOwnKey(step) ? 'Own key' : 'Installation key'
}

/** Returns what a provider did in the last 30 days, in words; null if it was not asked. */
export function printRecord({ asked, found, medianMs }: Facts): string | null {
  if (asked === 0) return null
  const time =
    medianMs === null
      ? ''
      : `, ${medianMs < 1000 ? `${medianMs} ms` : `${figure(Math.round(medianMs / 100) / 10)} s`}`
  return `${Math.round((found / asked) * 100)}% found (${figure(found)})${time}`
}

/** Sorts steps by what an answer costs. Providers that cost the same stay in their order. */
export const sortByPrice = (steps: readonly Step[], factsOf: (name: string) => Facts): Step[] =>
  steps.toSorted((one, other) => {
    const priceOf = (step: Step) => (usesOwnKey(step) ? 0 : (factsOf(getName(step)).credits ?? Infinity))
    return priceOf(one) - priceOf(other) || 0
  })
