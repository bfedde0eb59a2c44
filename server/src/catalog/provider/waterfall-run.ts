import { z } from 'zod'
import { plural } from '../../lib/plural.ts'
import type { ConfiguredWaterfall, WaterfallStep } from '../fields/waterfall-field.ts'
import type { Provenance } from '../outcome.ts'
import type { ProviderKey } from './access.ts'
import type { Adapter, Found } from './adapter.ts'
import type { AskContext } from './context.ts'
import { describeUnasked } from './remedy.ts'
import { callProvider, chooseKey, concludeCall, LONGEST_RUN_MS, MAX_TRIES } from './waterfall-call.ts'
import { orderByFinds } from './waterfall-order.ts'
import {
  type Bill,
  type Candidate,
  FREE,
  type Progress,
  readProgress,
  startTurn,
} from './waterfall-progress.ts'

/** The result of a waterfall. */
export type WaterfallResult<Result> =
  | ({ kind: 'found'; value: Result; verified: boolean; provider: string } & Bill)
  /**
   * The result without an answer. `failure` is set if none could even report a miss, `unasked` if none can be called at
   * all, with the way to change that.
   */
  | ({ kind: 'none'; failure: string | null; unasked: string | null } & Bill)
  | { kind: 'out_of_credits'; message: string; provenance: Provenance[] }
  | Pause

/** The row is parked and later continues with this state. Providers that were called are not called again. */
export type Pause = { kind: 'pause'; ms: number; state: unknown }

/** A second provider's verdict on an answer. `rejected` counts as a miss. */
export type Check<Result> = ({ kind: 'verified' | 'unverified' | 'rejected'; value: Result } & Bill) | Pause

export type Waterfall<Input, Result> = ConfiguredWaterfall<Adapter<Input, Result>> & {
  input: Input
  context: AskContext
  /** The state that an earlier `pause` returned. */
  state: unknown
  /** The credits that the cell already costs. */
  spent?: number
  /**
   * Checks an answer. `checked` holds the findings about answers; it is kept for the cell, so that nothing is asked
   * twice.
   */
  check?(
    found: { value: Result; verified: boolean },
    spent: number,
    kept: { state: unknown; checked: Progress<Result>['checked'] },
  ): Promise<Check<Result>>
}

/**
 * Asks one provider after another until an answer is verified; an unverified one is kept as the fallback (D37).
 * Providers without a key are skipped. If a key is refused or exhausted, or if a provider fails, the next one is called
 * (D66).
 */
export async function runWaterfall<Input, Result>(
  waterfall: Waterfall<Input, Result>,
): Promise<WaterfallResult<Result>> {
  const result = waterfall.adapters[0]?.question.result ?? z.never()
  const progress = readProgress(waterfall.state, result)
  const started = Date.now()
  const steps =
    waterfall.order === 'cheapest_per_find' ? await orderSteps(waterfall, progress) : waterfall.steps
  const ordered = steps === waterfall.steps ? waterfall : { ...waterfall, steps }
  while (progress.place < steps.length) {
    if (Date.now() - started > LONGEST_RUN_MS) return { kind: 'pause', ms: 0, state: progress }
    const prepared = await prepareStep(ordered, progress)
    if (prepared === null) continue
    if ('kind' in prepared) return prepared
    const { adapter, key } = prepared
    const found = await callProvider(
      adapter,
      { input: waterfall.input, key },
      progress.turn,
      waterfall.context,
    )
    const end = await noteFound(ordered, progress, prepared, found)
    if (end !== null) return end
  }
  const { fallback, credits, provenance, failures, answered } = progress
  if (fallback !== undefined) return { kind: 'found', ...fallback, verified: false, credits, provenance }
  const failure = failures.length === 0 || answered ? null : failures.join('; ')
  return { kind: 'none', failure, unasked: describeIfUnasked(progress), credits, provenance }
}

const UNASKED = new Set(['unconfigured', 'disabled', 'ordered'])

async function orderSteps<Input, Result>(
  waterfall: Waterfall<Input, Result>,
  progress: Progress<Result>,
): Promise<readonly WaterfallStep[]> {
  const isKnown = progress.order !== undefined
  return orderByFinds(waterfall, progress, isKnown ? [] : ((await waterfall.context.rates?.()) ?? []))
}

/**
 * D71: Returns the message for a list in which every provider lacks a key or was removed, else null. A provider that
 * refused its key counts as called.
 */
function describeIfUnasked<Result>({ provenance, failures }: Progress<Result>): string | null {
  const unconfigured = provenance.filter(({ status }) => status === 'unconfigured')
  const others = provenance.filter(({ status }) => !UNASKED.has(status))
  if (unconfigured.length === 0 || others.length > 0 || failures.length > 0) return null
  return describeUnasked(unconfigured.map(({ provider, message = '' }) => ({ provider, remedy: message })))
}

type Ended<Result> = WaterfallResult<Result> | null
/** The current provider and the price of calling it. */
type Prepared<Input, Result> = {
  adapter: Adapter<Input, Result>
  step: WaterfallStep
  key: ProviderKey
  price: number
  missPrice: number
}
type Preparing<Input, Result> = Prepared<Input, Result> | Ended<Result>

/** Prepares the call to the current provider. Returns null if the next provider is to be tried. */
async function prepareStep<Input, Result>(
  waterfall: Waterfall<Input, Result>,
  progress: Progress<Result>,
): Promise<Preparing<Input, Result>> {
  const { context } = waterfall
  const step = waterfall.steps[progress.place]
  const adapter = waterfall.adapters.find(({ provider }) => provider.id === step?.provider)
  if (step === undefined || adapter === undefined) {
    return moveOn(progress, step?.provider ?? '', { status: 'disabled' })
  }
  const { name } = adapter.provider
  if (progress.candidate !== undefined) return weigh(waterfall, progress, name, progress.candidate)

  if (adapter.option.disabled) return moveOn(progress, name, { status: 'disabled' })
  return reserveFor(waterfall, progress, { adapter, step }, await chooseKey(adapter, step, context))
}

/** Reserves the credits that the call may cost. */
async function reserveFor<Input, Result>(
  { context, input, spent = 0 }: Waterfall<Input, Result>,
  progress: Progress<Result>,
  { adapter, step }: Pick<Prepared<Input, Result>, 'adapter' | 'step'>,
  key: ProviderKey | string,
): Promise<Preparing<Input, Result>> {
  const { name } = adapter.provider
  if (typeof key === 'string') return moveOn(progress, name, { status: 'unconfigured', message: key })
  if (!adapter.accepts(input)) return moveOn(progress, name, { status: 'ineligible', message: UNFIT })
  const price = step.own_key ? 0 : adapter.price
  const missPrice = step.own_key ? 0 : adapter.missPrice
  const prepared = { adapter, step, key, price, missPrice }
  const most = Math.max(price, missPrice)
  if (most === 0) return prepared
  const reserved = await context.reserve(spent + progress.credits + most)
  if (reserved === true) return prepared
  if (typeof reserved === 'object') return { kind: 'pause', ms: reserved.waitMs, state: progress }
  return stopForCredits(progress, name, most)
}

/** Records the provider's answer. Returns null if the next provider is to be tried. */
async function noteFound<Input, Result>(
  waterfall: Waterfall<Input, Result>,
  progress: Progress<Result>,
  { adapter, step, price, missPrice }: Prepared<Input, Result>,
  found: Found<Result>,
): Promise<Ended<Result>> {
  const { name } = adapter.provider
  const called = concludeCall(adapter.provider, progress.turn, found)
  switch (called.kind) {
    case 'paused':
      return { kind: 'pause', ms: called.ms, state: progress }
    case 'hit':
      progress.candidate = {
        value: called.value,
        verified: called.verified,
        credits: called.free ? 0 : price,
        listed: step.own_key && !called.free ? adapter.price : undefined,
        note: called.note,
      }
      return weigh(waterfall, progress, name, progress.candidate)
    case 'miss':
      progress.answered = true
      return moveOn(progress, name, {
        status: 'miss',
        credits: missPrice,
        ...(step.own_key && adapter.missPrice > 0 ? { listed: adapter.missPrice } : {}),
      })
    case 'ineligible':
      return moveOn(progress, name, { status: called.kind, message: called.message })
    case 'error':
      if (called.brokenMs !== undefined && isWorthWaiting(waterfall, progress)) {
        progress.turn.tries += 1
        return { kind: 'pause', ms: called.brokenMs, state: progress }
      }
      return moveOnFailed(progress, name, called.kind, called.message)
    case 'no_credits':
    case 'rate_limited':
    case 'unconfigured':
      return moveOnFailed(progress, name, called.kind, called.message)
  }
}

/** Returns true if the last provider is worth waiting for: no other has answered, and it has retries left. */
function isWorthWaiting<Input, Result>(
  { steps }: Waterfall<Input, Result>,
  { place, fallback, turn }: Progress<Result>,
): boolean {
  return place === steps.length - 1 && fallback === undefined && turn.tries < MAX_TRIES
}

function moveOnFailed<Result>(
  progress: Progress<Result>,
  provider: string,
  status: string,
  message: string,
): null {
  progress.failures.push(`${provider}: ${message}`)
  return moveOn(progress, provider, { status, message })
}

const UNFIT = 'it does not support these inputs'

function moveOn<Result>(
  progress: Progress<Result>,
  provider: string,
  entry: { status: string; credits?: number; listed?: number | undefined; message?: string | undefined },
): null {
  const { status, credits = 0, listed, message } = entry
  const noted: Provenance = { provider, status, ms: progress.turn.ms, credits }
  if (listed !== undefined) noted.list_credits = listed
  if (message !== undefined) noted.message = message
  progress.provenance.push(noted)
  progress.credits = add(progress.credits, credits)
  progress.place += 1
  progress.turn = startTurn()
  progress.candidate = undefined
  return null
}

const STATUSES = { verified: 'hit', unverified: 'unverified', rejected: 'invalid' } as const

/** Decides whether an answer is the result, the fallback or nothing. */
async function weigh<Input, Result>(
  waterfall: Waterfall<Input, Result>,
  progress: Progress<Result>,
  provider: string,
  candidate: Candidate<Result>,
): Promise<Ended<Result>> {
  const { value, verified, credits } = candidate
  const { spent = 0 } = waterfall
  const checked =
    waterfall.check === undefined
      ? { kind: verified ? ('verified' as const) : ('unverified' as const), value, ...FREE }
      : await waterfall.check(candidate, add(add(spent, progress.credits), credits), {
          state: candidate.check,
          checked: progress.checked,
        })
  return conclude(progress, provider, candidate, checked)
}

function conclude<Result>(
  progress: Progress<Result>,
  provider: string,
  candidate: Candidate<Result>,
  checked: Check<Result>,
): Ended<Result> {
  const { credits, listed, note } = candidate
  if (checked.kind === 'pause') {
    candidate.check = checked.state
    return { ...checked, state: progress }
  }
  const rejected = checked.kind === 'rejected'
  if (rejected) progress.answered = true
  const status = STATUSES[checked.kind]
  moveOn(
    progress,
    provider,
    rejected ? { status, message: note } : { status, credits, listed, message: note },
  )
  for (const entry of checked.provenance) progress.provenance.push(entry)
  progress.credits = add(progress.credits, checked.credits)
  if (checked.kind === 'verified') {
    const { credits, provenance } = progress
    return { kind: 'found', value: checked.value, verified: true, provider, credits, provenance }
  }
  if (!rejected) progress.fallback ??= { value: checked.value, provider }
  return null
}

function stopForCredits<Result>(
  progress: Progress<Result>,
  provider: string,
  price: number,
): WaterfallResult<Result> {
  const { fallback, credits, provenance } = progress
  if (fallback !== undefined) return { kind: 'found', ...fallback, verified: false, credits, provenance }
  const message = `${provider} costs ${plural(price, 'credit')} and the organisation has too few left`
  return { kind: 'out_of_credits', message, provenance }
}

/** Adds two amounts exactly, in thousandths: 0.1 and 0.2 are 0.3. */
function add(one: number, other: number): number {
  return (Math.round(one * 1000) + Math.round(other * 1000)) / 1000
}
