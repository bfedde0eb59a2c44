import type { ServerResponse } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { AgentAnswer, AgentBody, AgentRunRecord } from '#contract/agent.ts'
import { success } from '#contract/envelope.ts'
import { ErrorBody, type FieldError } from '#contract/errors.ts'
import { asAppError, errorBody } from '../../api/http/errors.ts'
import type { RouteServices } from '../../api/http/event-streams.ts'
import { openRunCall } from '../../api/http/idempotency.ts'
import type { Api } from '../../api/services.ts'
import type { AgentAnswer as AgentFound } from '../../catalog/agent/task.ts'
import type { Db } from '../../database/connection/db.ts'
import { notFound } from '../../lib/errors.ts'
import { answerUnits, DRY_RUN_ANSWER } from '../../money/routes/dry-runs.ts'
import { MILLIS } from '../../money/store/credits.ts'
import { findAgentRun } from '../store/agent-runs.ts'

const RunParams = z.object({ request_id: z.string().min(1).max(64) })

export function agentRoutes(api: Api, services: RouteServices): void {
  defineRun(api, services)
  defineGet(api)
}

function defineRun(api: Api, services: RouteServices): void {
  const { agent, streams } = services

  api.post(
    '/agent/run',
    {
      config: {
        scope: 'agent:run',
        waits: true,
        callsOut: 'committed',
        narrowedKeys: 'allowed',
        body: 'document',
        namesRequest: true,
        codeOfBadBody,
        spends: true,
      },
      schema: {
        tags: ['Agent'],
        summary: 'Ask the web agent',
        description:
          'Searches and reads the web, and answers with citations. The call is synchronous: allow more than 150 seconds. With ' +
          '`Accept: text/event-stream` each step is sent as an event when it is done, and the answer is the last event.',
        body: AgentBody,
        response: {
          200: z.union([AgentAnswer, DRY_RUN_ANSWER.extend({ request_id: z.string() })]),
          402: ErrorBody.describe('The balance, `max_credits` or a budget does not cover the price'),
          504: ErrorBody.describe('The run exceeded its time limit and costs nothing'),
        },
      },
    },
    async (request, reply) => {
      const { db, caller, body, id: requestId } = request
      if (body.dry_run === true) {
        const price = await agent.price({ db, caller })
        const costs = { units: 1, ...price, maxCredits: body.max_credits, trigger: 'agent' as const }
        return { ...(await answerUnits(request, services, costs)), request_id: requestId }
      }
      const left = new AbortController()
      reply.raw.once('close', () => left.abort())
      if (reply.raw.destroyed) left.abort()
      const open = openRunCall(request)
      const answerOf = (answer: AgentFound) => ({ status: 200 as const, ...answer, request_id: requestId })
      const asked = {
        db,
        caller,
        body,
        requestId,
        signal: left.signal,
        onAdmitted: (agentRunId: string) => open.handOver(agentRunId),
        onEnded: (trx: Db, answer: AgentFound | null) =>
          open.end(trx, answer === null ? null : JSON.stringify(answerOf(answer))),
      }
      if (!wantsEvents(request)) return answerOf(await agent.run(asked))
      const onEnd = () => left.abort()
      const stream = streams.open(request, reply, { isEndless: false, onEnd })
      if (stream === null) await request.idempotentCall?.transaction?.rollback()
      else
        await sendEvents(stream, request, async (onStep) => answerOf(await agent.run({ ...asked, onStep })))
      return reply
    },
  )
}

function defineGet(api: Api): void {
  api.get(
    '/agent/runs/:request_id',
    {
      config: { scope: 'agent:run', narrowedKeys: 'allowed', namesRequest: true },
      schema: {
        tags: ['Agent'],
        summary: 'Get a run of the agent',
        description:
          'The answer and the trace of a run, kept for seven days. Members see their own runs, admins all.',
        params: RunParams,
        response: { 200: success(200, AgentRunRecord) },
      },
    },
    async ({ db, caller, params }) => {
      const run = await findAgentRun(db, caller.orgId, params.request_id)
      const seesAll = caller.role === 'admin' && caller.allowedWorkflowIds === null
      const isSeen = run !== undefined && (seesAll || run.member_id === caller.memberId)
      if (!isSeen) throw notFound('Agent run')
      const { request_id, state, model, prompt, error, answer, trace, spent } = run
      return {
        status: 200 as const,
        data: {
          request_id,
          state,
          model,
          prompt,
          error,
          answer,
          trace,
          spent,
          credits: state === 'answered' ? run.price_millis / MILLIS : 0,
          started_at: run.started_at.toISOString(),
          ended_at: run.ended_at?.toISOString() ?? null,
        },
      }
    },
  )
}

/** Returns the code of a 400 for the invalid part of the body (part 7). */
function codeOfBadBody(errors: readonly FieldError[]): string {
  return errors.every(({ field }) => field.startsWith('output_schema'))
    ? 'INVALID_OUTPUT_SCHEMA'
    : 'INVALID_REQUEST'
}

function wantsEvents({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/event-stream') === true
}

/** Sends each step of a run and its answer, or its error, and ends the stream. */
async function sendEvents(
  stream: ServerResponse,
  request: FastifyRequest,
  run: (onStep: (step: unknown) => void) => Promise<unknown>,
): Promise<void> {
  try {
    send(stream, 'answer', await run((step) => send(stream, 'step', step)))
  } catch (cause) {
    const error = asAppError(cause as Error & { code: string }, request)
    if (error.status >= 500) request.log.error({ err: cause, request_id: request.id }, 'request failed')
    // The hooks do not run for a stream, so the key of a call that was not admitted is released here.
    await request.idempotentCall?.transaction?.rollback()
    send(stream, 'error', errorBody(error, request))
  }
  stream.end()
}

function send(stream: ServerResponse, event: string, data: unknown): void {
  if (!stream.writableEnded) stream.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
}
