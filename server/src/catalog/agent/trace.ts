import type { Provenance } from '../outcome.ts'

/** One step of an agent. The steps are stored with the answer, so that people can understand and check it. */
export type TraceEntry =
  | { kind: 'model'; purpose: 'step' | 'answer'; ms: number; input_tokens: number; output_tokens: number }
  | { kind: 'search'; query: string; ms: number; results: number; provider?: string; error?: string }
  | {
      kind: 'page'
      url: string
      ms: number
      bytes: number
      cached: boolean
      title?: string | null
      error?: string
    }
  | { kind: 'refused'; url: string; reason: string }
  | { kind: 'note'; text: string }

export type AgentTrace = {
  plan: string | null
  steps: TraceEntry[]
  /** The limit that ended the research, or null. */
  ended_by: string | null
}

const MAX_TEXT = 500
const MAX_ENTRIES = 200

export type Tracer = { trace: AgentTrace; add(entry: TraceEntry): void; plan(text: string): void }

/** Collects a trace and passes each entry to `onEntry`. */
export function createTracer(onEntry: (entry: TraceEntry) => void = () => undefined): Tracer {
  const trace: AgentTrace = { plan: null, steps: [], ended_by: null }
  return {
    trace,
    add(entry) {
      if (trace.steps.length < MAX_ENTRIES) trace.steps.push(entry)
      onEntry(entry)
    },
    plan(text) {
      const short = text
        .trim()
        .slice(0, 2 * MAX_TEXT)
        .toWellFormed()
      if (short !== '') trace.plan ??= short
    },
  }
}

/** Converts a trace to the provenance of a cell (D67): the provider that was asked, the time and the cost. */
export function toProvenance(
  { steps }: AgentTrace,
  model: string,
  credits: number,
  listed?: number,
): Provenance[] {
  const entries = steps.flatMap((step): Provenance[] => {
    switch (step.kind) {
      case 'model': {
        const { ms, input_tokens, output_tokens } = step
        return [
          { provider: model, status: step.purpose, ms, credits: 0, usage: { input_tokens, output_tokens } },
        ]
      }
      case 'search': {
        const status = step.error === undefined ? 'searched' : 'error'
        return [
          {
            provider: step.provider ?? 'search',
            status,
            ms: step.ms,
            credits: 0,
            message: step.error ?? step.query,
          },
        ]
      }
      case 'page': {
        const status = step.error === undefined ? (step.cached ? 'kept page' : 'read') : 'error'
        const message = step.error === undefined ? step.url : `${step.url}: ${step.error}`
        return [{ provider: 'web', status, ms: step.ms, credits: 0, message }]
      }
      case 'refused':
        return [
          { provider: 'web', status: 'refused', ms: 0, credits: 0, message: `${step.url}: ${step.reason}` },
        ]
      case 'note':
        return [{ provider: model, status: 'note', ms: 0, credits: 0, message: step.text }]
    }
  })
  const last = entries.findLast(({ status }) => status === 'answer') ?? entries.at(-1)
  if (last !== undefined)
    Object.assign(last, { credits }, listed === undefined ? {} : { list_credits: listed })
  return entries
}
