import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { ProviderKey } from '#server/catalog/provider/access.ts'
import type { AdapterAsk } from '#server/catalog/provider/adapter.ts'
import { describeEnd } from '#server/catalog/provider/announced-end.ts'
import type { AskContext } from '#server/catalog/provider/context.ts'
import type { Provider } from '#server/catalog/provider/provider.ts'
import type { Refusal } from '#server/catalog/provider/reply.ts'
import type { Sample } from '#server/catalog/waterfalls/samples.ts'
import type { Egress } from '#server/lib/egress/egress.ts'
import { NumberText } from '#server/lib/json/lossless-json.ts'
import { createMask } from '#server/lib/security/redaction.ts'

/**
 * The result of one question. `fits`: an answer, or no result. `unfit`: the shape of the reply has changed.
 * `refused`: by the key, the plan or a limit. `ends`: the version that is called ends soon, or has ended.
 */
export type CheckResult = {
  provider: string
  question: string
  result: 'fits' | 'unfit' | 'refused' | 'failed' | 'ends'
  message: string
  /** The place in the reply that does not fit. */
  at?: string
  recorded?: string
}

export type Checked = { provider: Provider; key: ProviderKey; samples: readonly Sample[] }

const CALL_MS = 60_000
const MAX_POLLS = 20
const MAX_POLL_MS = 10_000

/** Sends the probe of a provider, then one question for each of its adapters. */
export async function checkProvider(
  { provider, key, samples }: Checked,
  egress: Egress,
  recordTo: string | undefined,
): Promise<CheckResult[]> {
  const results: CheckResult[] = []
  const end = describeEnd(provider, new Date())
  if (end !== null) results.push({ provider: provider.id, question: 'version', result: 'ends', message: end })
  if (provider.probe !== null) {
    const context = createContext(egress)
    const answer = await provider.request(context, key, provider.probe, z.unknown())
    const found = answer.ok ? ({ kind: 'hit' } as const) : answer.refusal
    results.push({ provider: provider.id, question: 'probe', ...describe(found) })
  }
  for (const sample of samples) {
    const { replies, watched } = record(egress)
    const found = await runSample(sample, key, createContext(watched))
    const recorded =
      recordTo === undefined || replies.length === 0
        ? undefined
        : await writeRecord(recordTo, sample, key, replies)
    results.push({
      provider: provider.id,
      question: sample.question,
      ...describe(found),
      ...(recorded === undefined ? {} : { recorded }),
    })
  }
  return results
}

function createContext(egress: Egress): AskContext {
  return {
    egress,
    signal: AbortSignal.timeout(CALL_MS),
    now: () => new Date(),
    keys: { platform: () => null, own: async () => null },
    gate: { enter: async () => ({ kind: 'entered', leave: () => undefined }) },
    reserve: async () => true,
  }
}

/** Asks one question. It uses no limits of the installation, because it is only one. */
async function runSample(sample: Sample, key: ProviderKey, context: AskContext) {
  const ask: AdapterAsk = async (request, schema, read) => {
    const reply = await sample.provider.request(context, key, request, schema)
    return reply.ok ? read(reply.body) : reply.refusal
  }
  let poll: unknown
  for (let polls = 0; ; polls += 1) {
    const found = await sample.run(ask, context, poll)
    if (found.kind !== 'pending' || polls >= MAX_POLLS) return found
    poll = found.poll
    await sleep(Math.min(MAX_POLL_MS, found.afterMs))
  }
}

type Described = Pick<CheckResult, 'result' | 'message' | 'at'>

function describe(found: { kind: 'hit' | 'pending' | 'paused' } | Refusal): Described {
  switch (found.kind) {
    case 'hit':
      return { result: 'fits', message: 'answered' }
    case 'miss':
      return { result: 'fits', message: 'the provider has no result' }
    case 'pending':
    case 'paused':
      return {
        result: 'fits',
        message: 'the provider is still working; the check did not wait for the answer',
      }
    case 'error':
      return found.misfit === undefined
        ? { result: 'failed', message: found.message }
        : { result: 'unfit', message: found.misfit.problem, at: found.misfit.at }
    case 'ineligible':
    case 'unconfigured':
    case 'no_credits':
    case 'rate_limited':
      return { result: 'refused', message: found.message }
  }
}

type Recorded = { at: string; status: number; body: unknown }

/** Wraps an egress so that it also records the replies. */
function record(egress: Egress): { replies: Recorded[]; watched: Egress } {
  const replies: Recorded[] = []
  const fetch: Egress['fetch'] = async (request) => {
    const reply = await egress.fetch(request)
    if (reply.ok) {
      const json = await reply.json()
      const at = `${request.method} ${new URL(request.url).pathname}`
      replies.push({ at, status: reply.status, body: json.ok ? json.value : await reply.text() })
    }
    return reply
  }
  return { replies, watched: { ...egress, fetch } }
}

const EMAIL = /[\w.+-]+@[\w-]+(\.[\w-]+)+/g
const PHONE = /\+?\d[\d ().-]{7,}\d/g

/** Writes the replies without secrets, addresses and numbers, in the form of the contract tests. */
async function writeRecord(
  folder: string,
  { provider, question }: Sample,
  key: ProviderKey,
  replies: readonly Recorded[],
): Promise<string> {
  const mask = createMask(Object.values(key.fields))
  const path = join(folder, `${provider.id}-${question}.json`)
  await mkdir(folder, { recursive: true })
  await writeFile(path, `${JSON.stringify(mask.inValue(redactPeople(replies)), null, 2)}\n`)
  return path
}

function redactPeople(value: unknown): unknown {
  if (typeof value === 'string') {
    return value.replace(EMAIL, 'ann@acme.example').replace(PHONE, '+15550100100')
  }
  if (Array.isArray(value)) return value.map(redactPeople)
  if (typeof value !== 'object' || value === null || value instanceof NumberText) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, redactPeople(part)]))
}
