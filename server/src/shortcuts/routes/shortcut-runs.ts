import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { success, successWithMessage } from '#contract/envelope.ts'
import {
  ListShortcutRunsQuery,
  QueuedShortcutBatch,
  QueuedShortcutRun,
  RunShortcutBatchBody,
  RunShortcutBody,
  RunShortcutQuery,
  ShortcutRun,
  ShortcutRunPage,
} from '#contract/shortcuts.ts'
import { watchDisconnect } from '../../api/http/disconnect.ts'
import { created, nameRun, ok } from '../../api/http/envelope.ts'
import { commitEffect, giveKeyBack } from '../../api/http/idempotency.ts'
import type { Api } from '../../api/services.ts'
import type { Db } from '../../database/connection/db.ts'
import { notFound } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { plural } from '../../lib/plural.ts'
import { readUntil } from '../../lib/timing/read-until.ts'
import { answerEstimate, DRY_RUN_ANSWER, type EstimateServices } from '../../money/routes/dry-runs.ts'
import { nameInRows, type NameRow } from '../../sheets/rows/value-warnings.ts'
import { getDefinition } from '../../sheets/store/definitions.ts'
import { findSheet } from '../../sheets/store/sheets.ts'
import { queueShortcutRuns, readShortcutRows } from '../queue.ts'
import { readShortcutRuns } from '../run-status.ts'
import { countShortcutRuns, findShortcutRun, listShortcutRuns } from '../store/shortcut-runs.ts'
import { runnableOfPath, shortcutOfPath, ShortcutParams, ShortcutRunParams } from './shortcut-resources.ts'

/** The path that the endpoints begin with, and their tags in OpenAPI. */
type Place = { prefix: string; tags: string[] }

const read = {
  scope: 'shortcuts:read' as const,
  narrowedKeys: 'allowed' as const,
  resource: shortcutOfPath,
}

const run = {
  scope: 'shortcuts:run' as const,
  narrowedKeys: 'allowed' as const,
  body: 'rows' as const,
  resource: runnableOfPath,
  numberTexts: ['input_data', 'rows'],
  spends: true as const,
}

export function shortcutRunRoutes(api: Api, services: EstimateServices, place: Place): void {
  defineRun(api, services, place)
  defineRunBatch(api, services, place)
  defineList(api, place)
  defineGet(api, place)
}

function defineRun(api: Api, services: EstimateServices, { prefix, tags }: Place): void {
  const closing = new AbortController()
  api.addHook('preClose', async () => closing.abort())
  api.post(
    `${prefix}/:id/run`,
    {
      config: { ...run, waits: true },
      schema: {
        tags,
        summary: 'Run a shortcut',
        params: ShortcutParams,
        querystring: RunShortcutQuery,
        body: RunShortcutBody,
        response: {
          200: z
            .union([success(200, ShortcutRun), DRY_RUN_ANSWER])
            .describe('The finished run, if the call waited for it; the estimated cost, with `dry_run`'),
          201: successWithMessage(201, QueuedShortcutRun),
        },
      },
    },
    async (request, reply) => {
      const { db, caller, shortcut, body, query } = request
      if (body.dry_run === true) return estimateRows(request, services, [body.input_data], () => 'input_data')
      const { runId, runs, warnings } = await queueShortcutRuns(db, caller, shortcut, {
        given: [body.input_data],
        batchId: null,
        nameRow: () => 'input_data',
        maxCredits: body.max_credits,
      })
      request.warnings.push(...warnings)
      nameRun(reply, runId)
      const [made] = runs
      if (made === undefined) throw new Error('a run was queued without its record')
      const { shortcut_run_id: id, row_id: data_id, created_at } = made
      const data = { id, data_id, status: 'pending' as const, created_at: created_at.toISOString() }
      const queued = created(data, { message: 'The run is queued' })
      if (query.wait > 0) {
        const outside = await commitEffect(request, 201, queued, runId)
        const ended = await waitForEnd(outside, caller.orgId, made.shortcut_run_id, {
          ms: query.wait * 1000,
          signal: AbortSignal.any([closing.signal, watchDisconnect(reply)]),
        })
        if (ended !== null) return ok(ended)
      }
      return queued
    },
  )
}

function defineRunBatch(api: Api, services: EstimateServices, { prefix, tags }: Place): void {
  api.post(
    `${prefix}/:id/run/batch`,
    {
      config: run,
      schema: {
        tags,
        summary: 'Run a shortcut on many rows, all or none',
        params: ShortcutParams,
        body: RunShortcutBatchBody,
        response: { 200: DRY_RUN_ANSWER, 201: successWithMessage(201, QueuedShortcutBatch) },
      },
    },
    async (request, reply) => {
      const { db, caller, shortcut, body } = request
      if (body.dry_run === true) return estimateRows(request, services, body.rows, nameInRows)
      const batch_id = newId()
      const { runId, runs, warnings } = await queueShortcutRuns(db, caller, shortcut, {
        given: body.rows,
        batchId: batch_id,
        nameRow: nameInRows,
        maxCredits: body.max_credits,
      })
      request.warnings.push(...warnings)
      nameRun(reply, runId)
      const run_count = runs.length
      return created(
        { batch_id, run_count },
        { message: `${plural(run_count, 'run is', 'runs are')} queued` },
      )
    },
  )
}

function defineList(api: Api, { prefix, tags }: Place): void {
  api.get(
    `${prefix}/:id/runs`,
    {
      config: read,
      schema: {
        tags,
        summary: 'List the runs of a shortcut',
        params: ShortcutParams,
        querystring: ListShortcutRunsQuery,
        response: { 200: success(200, ShortcutRunPage) },
      },
    },
    async ({ db, shortcut, query }) => {
      const { org_id, shortcut_id } = shortcut
      const { limit, offset, batch_id: batchId, mode } = query
      const page = await listShortcutRuns(
        db,
        { orgId: org_id, shortcutId: shortcut_id },
        { batchId, mode },
        { limit, offset },
      )
      const runs = await readShortcutRuns(db, org_id, page)
      const filtered = batchId !== undefined || mode !== undefined
      const total = filtered ? runs.length : await countShortcutRuns(db, org_id, shortcut_id)
      return ok({ runs, pagination: { limit, offset, total } })
    },
  )
}

function defineGet(api: Api, { prefix, tags }: Place): void {
  api.get(
    `${prefix}/:id/runs/:run_id`,
    {
      config: read,
      schema: {
        tags,
        summary: 'Get a run of a shortcut',
        params: ShortcutRunParams,
        response: { 200: success(200, ShortcutRun) },
      },
    },
    async ({ db, shortcut, params }) => {
      const found = await readRun(db, shortcut.org_id, params.run_id)
      if (found === undefined || found.app_id !== shortcut.shortcut_id) throw notFound('Run')
      return ok(found)
    },
  )
}

/** Estimates what rows would cost on the version of the shortcut. */
async function estimateRows(
  request: FastifyRequest<{ Body: { max_credits?: number | undefined } }>,
  services: EstimateServices,
  given: readonly unknown[],
  nameRow: NameRow,
) {
  const db = await giveKeyBack(request)
  const { shortcut, body } = request
  const { data, warnings } = await readShortcutRows(shortcut, given, nameRow)
  const sheet = await findSheet(db, shortcut.org_id, shortcut.workflow_id)
  if (sheet === undefined) throw notFound('Shortcut')
  request.warnings.push(...warnings)
  const { revision, continue_on_fail } = shortcut
  const frozen = { ...sheet, revision, continue_on_fail }
  const definition = await getDefinition(db, frozen)
  return answerEstimate(
    request,
    services,
    { maxCredits: body.max_credits, trigger: 'shortcut' },
    {
      sheet: frozen,
      definition,
      actions: definition.actions.map(({ id }) => id),
      rows: { kind: 'given', data },
      exact: false,
    },
  )
}

async function readRun(db: Db, orgId: string, id: string): Promise<ShortcutRun | undefined> {
  const found = await findShortcutRun(db, orgId, id)
  return found === undefined ? undefined : (await readShortcutRuns(db, orgId, [found]))[0]
}

/** Returns the run if it ends in time, else null. */
async function waitForEnd(
  db: Db,
  orgId: string,
  id: string,
  options: { ms: number; signal: AbortSignal },
): Promise<ShortcutRun | null> {
  const hasEnded = (run: ShortcutRun | undefined) => run === undefined || run.completed_at !== null
  const run = await readUntil(() => readRun(db, orgId, id), hasEnded, options)
  return run === undefined || run.completed_at === null ? null : run
}
