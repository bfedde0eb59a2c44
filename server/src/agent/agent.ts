import type { z } from 'zod'
import type { AgentBody } from '#contract/agent.ts'
import { DEFAULT_LIMITS } from '../catalog/agent/budget.ts'
import type { PageReaders } from '../catalog/agent/page-reader.ts'
import { type AgentRun, runAgent } from '../catalog/agent/run-agent.ts'
import type { AgentAnswer, AgentField } from '../catalog/agent/task.ts'
import type { TraceEntry } from '../catalog/agent/trace.ts'
import { AGENT_CREDITS } from '../catalog/configuration/price-list.ts'
import type { SandboxPool } from '../catalog/formula/sandbox.ts'
import { type Models, offeredModels } from '../catalog/models/models.ts'
import type { ProviderGates, ProviderKeys } from '../catalog/provider/access.ts'
import { type Db, inTransaction } from '../database/connection/db.ts'
import type { Config } from '../lib/config/config.ts'
import type { Egress } from '../lib/egress/egress.ts'
import { AppError } from '../lib/errors.ts'
import { plural } from '../lib/plural.ts'
import { MILLIS } from '../money/store/credits.ts'
import type { Refusal } from '../money/store/limits/leasing.ts'
import { findAgentPrice } from '../money/store/price-versions.ts'
import type { RunEnvironment } from '../runs/run-environment.ts'
import { type AgentEnding, type AgentRunKey, admitAgentRun, endAgentRun } from './store/agent-runs.ts'

/** The extra time after a run's own limit in which its result must be stored. */
const GRACE_SECONDS = 30
const BUSY_SECONDS = 5

export type AgentParts = {
  config: Config
  egress: Egress
  sandbox: SandboxPool
  models: Models
  gates: ProviderGates
  pages: PageReaders
  environment: Pick<RunEnvironment, 'keysOfMember'>
}

export type AgentRequest = {
  db: Db
  caller: { orgId: string; memberId: string; keyId: string | null }
  requestId: string
  body: z.output<typeof AgentBody>
  /** Aborts when the caller disconnects. */
  signal: AbortSignal
  onStep?: (entry: TraceEntry) => void
  /** Commits the run as running. Returns the database handle for the rest of it. */
  onAdmitted?: (agentRunId: string) => Promise<Db>
  /** Runs in the transaction that ends the run. The answer is null if the run failed. */
  onEnded?: (trx: Db, answer: AgentAnswer | null) => Promise<void>
}

/** The web agent for callers: with a quota, a price, and a record of each run. */
export type Agent = {
  run(request: AgentRequest): Promise<AgentAnswer>
  /** Returns the price of an answered call. */
  price(request: Pick<AgentRequest, 'db' | 'caller'>): Promise<AgentPrice>
}

export type AgentPrice = { credits: number; isOwnKey: boolean }

export function createAgent(parts: AgentParts): Agent {
  const { config } = parts
  const totalMs = config.LOAM_AGENT_TIMEOUT_SECONDS * 1000
  // The last third of the time is reserved for writing the answer.
  const limits = { ...DEFAULT_LIMITS, totalMs, searchMs: (totalMs * 2) / 3 }
  const quota = {
    perHour: config.LOAM_AGENT_PER_HOUR,
    atOnce: config.LOAM_AGENT_CONCURRENCY,
    maxSeconds: config.LOAM_AGENT_TIMEOUT_SECONDS + GRACE_SECONDS,
  }

  return {
    async price(request) {
      const { model, price } = await openModel(parts, request)
      return { credits: price, isOwnKey: model.ownKey }
    },
    async run(request) {
      const { db: given, caller, body, onAdmitted } = request
      const { keys, model, price } = await openModel(parts, request)
      if (body.max_credits !== undefined && body.max_credits < price) {
        const message = `The call costs ${plural(price, 'credit')}, which is more than max_credits (${body.max_credits}) allows; raise it to ${price}, or leave it out`
        throw new AppError('MAX_CREDITS_REACHED', message)
      }
      const run = await admit(
        given,
        {
          org_id: caller.orgId,
          request_id: request.requestId,
          member_id: caller.memberId,
          key_id: caller.keyId,
          price_millis: price * MILLIS,
          prompt: body.prompt,
        },
        quota,
      )
      const db = (await onAdmitted?.(run.agent_run_id)) ?? given
      const end = createEnding(db, run, agentModel(config), request.onEnded)
      let result: AgentRun
      try {
        result = await runAgent(toTask(body), model, limits, servicesFor(request, parts, keys))
      } catch (cause) {
        await end({ error: 'AGENT_EXECUTION_FAILED', answer: null, trace: null, spent: null })
        throw cause
      }
      const { trace, spent } = result
      if (result.kind !== 'answered') {
        const error = toError(result, totalMs)
        await end({ error: error.code, answer: null, trace, spent })
        throw error
      }
      const charged = await end({ error: null, answer: result.answer, trace, spent })
      if (!charged) throw new AppError('AGENT_TIMEOUT', 'The run took too long and was stopped. Try again')
      return result.answer
    },
  }
}

/** Finds the agent's model for the caller, with the price of an answered call. */
async function openModel(
  { config, environment, models, egress }: AgentParts,
  { db, caller }: Pick<AgentRequest, 'db' | 'caller'>,
) {
  const keys = environment.keysOfMember({ org_id: caller.orgId, member_id: caller.memberId })
  const found = await models.find(agentModel(config), { keys, egress })
  if (!found.ok) throw new AppError('AGENT_INTERNAL_ERROR', `The agent has no model: ${found.message}`)
  const { model } = found
  return { keys, model, price: model.ownKey ? 0 : await getAgentPrice(db) }
}

type Quota = Parameters<typeof admitAgentRun>[2]

async function admit(db: Db, run: Parameters<typeof admitAgentRun>[1], quota: Quota): Promise<AgentRunKey> {
  const admitted = await admitAgentRun(db, run, quota)
  switch (admitted.kind) {
    case 'admitted':
      return admitted.run
    case 'busy':
      throw new AppError(
        'AGENT_BUSY',
        `${quota.atOnce} agent calls of your organisation are already in progress. Try again later`,
        {
          retryAfter: BUSY_SECONDS,
        },
      )
    case 'limited':
      throw new AppError(
        'RATE_LIMITED',
        `Your organisation may call the agent ${plural(quota.perHour, 'time')} an hour`,
        {
          retryAfter: admitted.retryAfter,
        },
      )
    case 'no_credits':
      throw refuse(run.price_millis, admitted.refusal)
  }
}

type Ending = Omit<AgentEnding, 'model' | 'answer'> & { answer: AgentAnswer | null }

/** Returns a function that ends a run. It returns false if the run was ended before. */
function createEnding(db: Db, run: AgentRunKey, model: string, onEnded: AgentRequest['onEnded']) {
  return ({ answer, ...ending }: Ending): Promise<boolean> =>
    inTransaction(db, async (trx) => {
      const isEnded = await endAgentRun(trx, run, { ...ending, answer, model })
      if (isEnded) await onEnded?.(trx, answer)
      return isEnded
    })
}

function toTask(body: AgentRequest['body']) {
  const { prompt } = body
  return { mission: prompt, data: '', named: prompt, fields: listFields(body), allowedDomains: [] }
}

function servicesFor({ caller, signal, onStep }: AgentRequest, parts: AgentParts, keys: ProviderKeys) {
  return {
    ...parts,
    sandbox: parts.sandbox.of(caller.orgId),
    gate: parts.gates.of(caller.orgId),
    reader: parts.pages.of(caller.orgId),
    keys,
    signal,
    owner: caller.orgId,
    now: () => new Date(),
    ...(onStep && { onStep }),
  }
}

const getAgentPrice = async (db: Db): Promise<number> => (await findAgentPrice(db)) ?? AGENT_CREDITS

function refuse(priceMillis: number, { kind, name, leftMillis }: Refusal): AppError {
  const words = `The call costs ${plural(priceMillis / MILLIS, 'credit')} and ${plural(leftMillis / MILLIS, 'is', 'are')} left`
  if (kind !== 'budget')
    return new AppError(
      'INSUFFICIENT_CREDITS',
      `${words} of the balance; grant credits: \`loam credits grant\``,
    )
  const remedy = 'raise the budget, or wait for its next period'
  return new AppError('BUDGET_REACHED', `${words} of the budget "${name ?? ''}"; ${remedy}`)
}

/** Returns the id of the model that the agent uses. */
export function agentModel(config: Config): string {
  return config.LOAM_AGENT_MODEL ?? offeredModels(config)[0] ?? 'default'
}

function listFields({ output_schema }: z.output<typeof AgentBody>): AgentField[] {
  if (output_schema === undefined)
    return [{ name: 'result', type: 'string', description: 'The answer as text.' }]
  return Object.entries(output_schema.properties).map(([name, { type, description }]) => ({
    name,
    type,
    description,
  }))
}

function toError(run: Exclude<AgentRun, { kind: 'answered' }>, totalMs: number): AppError {
  switch (run.kind) {
    case 'timeout':
      return new AppError(
        'AGENT_TIMEOUT',
        `There was no answer within ${totalMs / 1000} s. Nothing was charged`,
      )
    case 'called_off':
      return new AppError(
        'AGENT_EXECUTION_FAILED',
        'The caller disconnected before the answer. Nothing was charged',
      )
    case 'failed':
      return new AppError('AGENT_EXECUTION_FAILED', `${run.message}. Nothing was charged`)
  }
}
