import { z } from 'zod'
import { agentModel } from '#server/agent/agent.ts'
import { writeAnswer } from '#server/catalog/agent/answer.ts'
import { DEFAULT_LIMITS } from '#server/catalog/agent/budget.ts'
import { printTask } from '#server/catalog/agent/instructions.ts'
import { createPageReaders } from '#server/catalog/agent/page-reader.ts'
import { runAgent } from '#server/catalog/agent/run-agent.ts'
import { type AgentTask, type Citation, schemaOfFindings } from '#server/catalog/agent/task.ts'
import { createSandbox } from '#server/catalog/formula/sandbox.ts'
import { fromJsonSchema } from '#server/catalog/models/answer-schema.ts'
import { askObject } from '#server/catalog/models/ask-model.ts'
import { createModels } from '#server/catalog/models/models.ts'
import type { Provenance } from '#server/catalog/outcome.ts'
import type { ProviderGate } from '#server/catalog/provider/access.ts'
import type { Config } from '#server/lib/config/config.ts'
import { parseEgressAllow } from '#server/lib/egress/addresses.ts'
import { createEgress } from '#server/lib/egress/egress.ts'
import type { ServedWorld } from './world-server.ts'
import { fieldOf, type Question } from './world.ts'

/** The result of one attempt at a question. */
export type Attempt = {
  value: unknown
  citations: Citation[]
  pages: number
  searches: number
  tokens: number
  ms: number
  /** The reason why there is no answer at all. */
  failure: string | null
}
export type Contestant = { name: string; attempt(question: Question): Promise<Attempt> }

const SearchReply = z.object({ results: z.array(z.object({ url: z.string() })) })
const OPEN: ProviderGate = { enter: async () => ({ kind: 'entered', leave: () => undefined }) }
const KEYS = { platform: () => null, own: async () => null }
const ALONE = [
  'You answer from what you know; you can look nothing up. For each field give the value, with sources [] and reason null.',
  'A value that you do not know is null, with the reason. Never guess. Answer with JSON only.',
].join(' ')

/** Opens the agent and two simpler contestants, on the same model and the same world. */
export async function openContestants(
  config: Config,
  world: ServedWorld,
): Promise<{ contestants: Contestant[]; model: string; close: () => Promise<void> }> {
  const egress = createEgress({
    allow: parseEgressAllow('127.0.0.0/8').entries,
    servers: [world.nameServer],
    baseUrls: new Map([['searxng', world.searchUrl]]),
  })
  const sandbox = createSandbox({ workers: 1 })
  const models = createModels(config)
  const close = async () => void (await Promise.all([egress.close(), sandbox.close(), models.close()]))
  const found = await models.find(agentModel(config), { keys: KEYS, egress })
  if (!found.ok) {
    await close()
    throw new Error(found.message)
  }
  const { model } = found
  const lend = () => {
    const signal = AbortSignal.timeout(DEFAULT_LIMITS.totalMs)
    return {
      egress,
      sandbox: sandbox.of('bench'),
      keys: KEYS,
      gate: OPEN,
      signal,
      now: () => new Date(),
      state: undefined,
    }
  }

  const agent = async (question: Question): Promise<Attempt> => {
    const services = { ...lend(), reader: createPageReaders({ keepSeconds: 0 }).of('a test') }
    const run = await runAgent(taskOf(question), model, DEFAULT_LIMITS, services)
    const { ms, spent } = run
    const attemptParts = { pages: spent.pages, searches: spent.searches, tokens: spent.tokens, ms }
    if (run.kind === 'answered') {
      const { data, citations } = run.answer
      return { ...attemptParts, value: data[question.fact], citations, failure: null }
    }
    const failure = run.kind === 'failed' ? run.message : run.kind
    return { ...attemptParts, value: null, citations: [], failure }
  }

  const onePage = async (question: Question): Promise<Attempt> => {
    const started = performance.now()
    const query = `${question.company.name} ${question.fact}`
    const address = `${world.searchUrl}/search?format=json&q=${encodeURIComponent(query)}`
    const reply = await egress.fetch({ url: address })
    const url = reply.ok ? SearchReply.parse(JSON.parse(await reply.text())).results[0]?.url : undefined
    const lent = lend()
    const read =
      url === undefined ? null : await createPageReaders({ keepSeconds: 0 }).of('a test').read(lent, url)
    const pages = read?.ok === true ? [read.page] : []
    const written = await writeAnswer({ model, task: taskOf(question), pages, summary: '' }, lent)
    const attemptParts = { pages: pages.length, searches: 1, ms: performance.now() - started }
    if (!written.ok) return { ...attemptParts, ...failedAs(written.outcome), tokens: 0 }
    const { data, citations } = written.answer
    const tokens = countTokens(written.calls)
    return { ...attemptParts, value: data[question.fact], citations, tokens, failure: null }
  }

  const alone = async (question: Question): Promise<Attempt> => {
    const started = performance.now()
    const task = taskOf(question)
    const schema = fromJsonSchema(schemaOfFindings(task.fields))
    const instructions = `${ALONE}\n\nIt must fit this JSON schema:\n${JSON.stringify(schema.told)}`
    const generated = await askObject(
      { model, instructions, task: printTask(task), data: '' },
      schema,
      lend(),
    )
    const attemptParts = { pages: 0, searches: 0, citations: [], ms: performance.now() - started }
    if (!generated.ok) return { ...attemptParts, ...failedAs(generated.outcome), tokens: 0 }
    const values = generated.value as Record<string, { value: unknown }>
    const value = values[question.fact]?.value ?? null
    return { ...attemptParts, value, tokens: countTokens(generated.calls), failure: null }
  }

  return {
    contestants: [
      { name: 'web agent', attempt: agent },
      { name: 'one search, one page', attempt: onePage },
      { name: 'model alone', attempt: alone },
    ],
    model: model.name,
    close,
  }
}

const taskOf = (question: Question): AgentTask => ({
  mission: question.mission,
  data: '',
  named: question.mission,
  fields: [fieldOf(question)],
  allowedDomains: [],
})

const failedAs = (outcome: { kind: string; message?: string }) => ({
  value: null,
  citations: [],
  failure: outcome.message ?? outcome.kind,
})

const countTokens = (calls: readonly Provenance[]) =>
  calls.reduce((sum, { usage }) => sum + (usage?.['input_tokens'] ?? 0) + (usage?.['output_tokens'] ?? 0), 0)
