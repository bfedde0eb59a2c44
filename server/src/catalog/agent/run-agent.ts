import { setTimeout as sleep } from 'node:timers/promises'
import type { Egress } from '../../lib/egress/egress.ts'
import type { Sandbox } from '../formula/sandbox.ts'
import type { Model } from '../models/models.ts'
import type { ProviderGate, ProviderKeys } from '../provider/access.ts'
import { runWaterfall } from '../provider/waterfall-run.ts'
import { SEARCH_ENGINES } from '../waterfalls/search.ts'
import { writeAnswer } from './answer.ts'
import { type AgentLimits, type Budget, createBudget, type Spending } from './budget.ts'
import type { PageReader } from './page-reader.ts'
import { research } from './research.ts'
import type { AgentAnswer, AgentTask } from './task.ts'
import type { SearchAnswer, Toolbox } from './tools.ts'
import { type AgentTrace, createTracer, type TraceEntry } from './trace.ts'
import { createUrlGuard } from './url-guard.ts'

/** The services that an agent may use. It can only read pages, search, and ask its model. */
export type AgentServices = {
  egress: Egress
  sandbox: Sandbox
  keys: ProviderKeys
  gate: ProviderGate
  reader: PageReader
  /** The signal that is aborted when nothing waits for the answer any more. */
  signal: AbortSignal
  now: () => Date
  /** The organisation, for resources that organisations use in turn. */
  owner?: string
  /** Runs after each step. */
  onStep?: (entry: TraceEntry) => void
}

export type AgentRun = { trace: AgentTrace; spent: Spending; ms: number } & (
  | { kind: 'answered'; answer: AgentAnswer }
  /** The model could not be reached, or its answer cannot be read. */
  | { kind: 'failed'; message: string; retryable: boolean }
  | { kind: 'timeout' }
  | { kind: 'called_off' }
)

const RESULTS = 8

/**
 * Plans, searches, reads and answers. When a limit is reached, the answer is written from the pages that have been read.
 */
export async function runAgent(
  task: AgentTask,
  model: Model,
  limits: AgentLimits,
  services: AgentServices,
): Promise<AgentRun> {
  const started = performance.now()
  const budget = createBudget(limits, started)
  const tracer = createTracer(services.onStep)
  const deadline = AbortSignal.timeout(limits.totalMs)
  const signal = AbortSignal.any([services.signal, deadline])
  const bounded = { ...services, signal }
  const tools: Toolbox = {
    search: (query) => search(query, bounded, budget),
    read: (url) => services.reader.read(bounded, url),
    guard: createUrlGuard(task.named, task.allowedDomains),
    budget,
    tracer,
    pages: [],
  }
  const throughGate = <Value>(call: () => Promise<Value>) => enter(model, bounded, budget, call)
  const end = <Ending>(ending: Ending) => ({
    ...ending,
    trace: tracer.trace,
    spent: budget.spent,
    ms: Math.round(performance.now() - started),
  })
  const cutShort = () => {
    if (services.signal.aborted) return end({ kind: 'called_off' as const })
    return deadline.aborted ? end({ kind: 'timeout' as const }) : null
  }

  const researched = await research({ model, task, tools, throughGate, signal, now: services.now })
  const early = cutShort()
  if (early !== null) return early
  if (!researched.ok) {
    const { kind, message } = researched.failure.outcome
    return end({ kind: 'failed' as const, message, retryable: kind === 'retry' })
  }
  const asking = {
    gate: services.gate,
    sandbox: services.sandbox,
    signal,
    now: services.now,
    state: undefined,
  }
  const written = await writeAnswer({ model, task, pages: tools.pages, summary: researched.summary }, asking)
  const late = cutShort()
  if (late !== null) return late
  if (!written.ok) {
    const { kind } = written.outcome
    const message =
      'message' in written.outcome ? written.outcome.message : 'the model has no free slot; try again later'
    return end({ kind: 'failed' as const, message, retryable: kind === 'retry' || kind === 'wait' })
  }
  for (const { ms, usage } of written.calls) {
    const { input_tokens = 0, output_tokens = 0 } = usage ?? {}
    budget.add({ tokens: input_tokens + output_tokens })
    tracer.add({ kind: 'model', purpose: 'answer', ms, input_tokens, output_tokens })
  }
  return end({ kind: 'answered' as const, answer: written.answer })
}

/**
 * Makes a call to the model within the model's limits. Returns null if the wait would take longer than the time that is
 * left.
 */
async function enter<Value>(
  model: Model,
  { gate, signal }: AgentServices,
  budget: Budget,
  call: () => Promise<Value>,
): Promise<Value | null> {
  let slot: number | undefined
  for (;;) {
    const place = await gate.enter(model.bucket, model.limits, { signal }, slot)
    if (place.kind === 'entered') {
      let worked = false
      try {
        const value = await call()
        worked = true
        return value
      } finally {
        place.leave(worked ? 'worked' : 'broken')
      }
    }
    if (place.afterMs > budget.remainingMs() / 2) return null
    slot = place.kind === 'busy' ? place.slot : undefined
    const waited = await sleep(place.afterMs, true, { signal }).catch(() => false)
    if (!waited) return null
  }
}

/**
 * Asks the search engines that are set up, with the installation's keys first. The price of the agent includes their
 * cost.
 */
async function search(query: string, services: AgentServices, budget: Budget): Promise<SearchAnswer> {
  const steps = SEARCH_ENGINES.flatMap(({ provider }) => [
    { provider: provider.id, own_key: false },
    { provider: provider.id, own_key: true },
  ])
  const context = { ...services, reserve: async () => true }
  const input = { query, limit: RESULTS, country: '' }
  let state: unknown
  for (;;) {
    const result = await runWaterfall({ steps, adapters: SEARCH_ENGINES, input, context, state })
    switch (result.kind) {
      case 'found':
        return { ok: true, entries: result.value, provider: result.provider }
      case 'none':
        if (result.failure !== null) return { ok: false, message: result.failure }
        if (result.unasked !== null) return { ok: false, message: NO_ENGINE }
        return { ok: true, entries: [], provider: '' }
      case 'out_of_credits':
        return { ok: false, message: result.message }
      case 'pause': {
        if (result.ms > budget.remainingMs() / 4) return { ok: false, message: 'the search engines are busy' }
        state = result.state
        const waited = await sleep(result.ms, true, { signal: services.signal }).catch(() => false)
        if (!waited) return { ok: false, message: 'the search was cancelled' }
      }
    }
  }
}

const NO_ENGINE = 'no search engine is set up here. Read pages of sites that the task names'
