import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { success, successWithMessage } from '#contract/envelope.ts'
import { FIRST_ROWS, Queued, Run, RunActionBody, RunAllBody, RunRowsBody, Stopped } from '#contract/runs.ts'
import type { Definition } from '../../../chain/definition.ts'
import { invalid } from '../../../lib/errors.ts'
import { chooseOnly, type RowChoice, startRun, stopRuns } from '../../../runs/queue.ts'
import { inTransaction } from '../../../store/connection/db.ts'
import { MILLIS } from '../../../store/organisation/credits.ts'
import { listRuns, type RunRecord } from '../../../store/runs/runs.ts'
import { getDefinition } from '../../../store/sheets/definitions.ts'
import { findRowIds } from '../../../store/sheets/rows.ts'
import { nameRun, ok } from '../../http/envelope.ts'
import type { Api } from '../../services.ts'
import { ActionParams, actionOfPath } from '../actions/action-resources.ts'
import { isEmptySelection, resolveSelection, type SelectionBody } from '../rows/row-selection.ts'
import { SheetParams, sheetOfPath } from '../workflows/resources.ts'

const BASE = '/workflows/:workflow_id/sheets/:sheet_id'

export function runRoutes(api: Api): void {
  const run = { scope: 'workflows:run' as const, body: 'document' as const, resource: sheetOfPath }
  const queued = { 200: successWithMessage(200, Queued) }

  api.post(
    `${BASE}/run`,
    {
      config: run,
      schema: {
        tags: ['Runs'],
        summary: 'Run rows: all their actions, also those that are complete, run and are billed again',
        params: SheetParams,
        body: RunRowsBody,
        response: queued,
      },
    },
    async (request, reply) => {
      const { body, sheet, db } = request
      const definition = await getDefinition(db, sheet)
      if (body.row_ids !== undefined) await requireRows(request, body.row_ids)
      const rows: RowChoice =
        body.row_ids !== undefined
          ? { kind: 'ids', ids: [...new Set(body.row_ids)] }
          : body.first_10 === true
            ? { kind: 'first', count: FIRST_ROWS }
            : choiceOf(body, definition)
      return queue(request, reply, allActions(definition), rows)
    },
  )

  api.post(
    `${BASE}/run-all`,
    {
      config: run,
      schema: {
        tags: ['Runs'],
        summary: 'Run all rows: all their actions, also those that are complete, run and are billed again',
        params: SheetParams,
        body: RunAllBody,
        response: queued,
      },
    },
    async (request, reply) => {
      const actions = allActions(await getDefinition(request.db, request.sheet))
      return queue(request, reply, actions, chooseOnly(request.body.only, actions))
    },
  )

  api.post(
    `${BASE}/actions/:action_instance_id/run`,
    {
      config: { scope: 'workflows:run', body: 'document', resource: actionOfPath },
      schema: {
        tags: ['Runs'],
        summary: 'Run one action',
        params: ActionParams,
        body: RunActionBody,
        response: queued,
      },
    },
    async (request, reply) => {
      const { body, sheet, db, params } = request
      const definition = await getDefinition(db, sheet)
      const actions = allActions(definition)
      const from = actions.indexOf(params.action_instance_id)
      const chosen = body.run_next_action ? actions.slice(from) : actions.slice(from, from + 1)
      const ids = body.row_ids ?? []
      if (ids.length > 0) await requireRows(request, ids)
      return queue(
        request,
        reply,
        chosen,
        ids.length > 0 ? { kind: 'ids', ids: [...new Set(ids)] } : choiceOf(body, definition),
      )
    },
  )

  api.post(
    `${BASE}/stop`,
    {
      config: run,
      schema: {
        tags: ['Runs'],
        summary: 'Stop what runs on a sheet',
        params: SheetParams,
        response: { 200: successWithMessage(200, Stopped) },
      },
    },
    async ({ db, caller, sheet }) => {
      const rows_stopped = await inTransaction(db, (trx) => stopRuns(trx, caller, sheet))
      const message = `${rows_stopped} queued rows were stopped; cells that are running may finish`
      return ok({ rows_stopped }, { message })
    },
  )

  api.get(
    `${BASE}/runs`,
    {
      config: { scope: 'workflows:data:read', resource: sheetOfPath },
      schema: {
        tags: ['Runs'],
        summary: 'The latest runs of a sheet, newest first',
        params: SheetParams,
        response: { 200: success(200, z.array(Run)) },
      },
    },
    async ({ db, sheet }) => ok((await listRuns(db, sheet, 100)).map(viewRun)),
  )
}

function viewRun({ credits_millis, created_at, finished_at, ...run }: RunRecord) {
  return {
    ...run,
    credits: credits_millis / MILLIS,
    created_at: created_at.toISOString(),
    finished_at: finished_at?.toISOString() ?? null,
  }
}

export function allActions(definition: Definition): string[] {
  if (definition.actions.length === 0) throw invalid('body', 'the sheet has no action to run; add one first')
  return definition.actions.map((action) => action.id)
}

export function choiceOf(body: SelectionBody, definition: Definition): RowChoice {
  const selection = resolveSelection(body, definition)
  return isEmptySelection(selection) ? { kind: 'all' } : { kind: 'matching', selection }
}

/** D21: any listed row unknown is a 400 and nothing is queued. */
export async function requireRows({ db, sheet }: FastifyRequest, ids: readonly string[]): Promise<void> {
  const known = await findRowIds(db, sheet, ids)
  const missing = ids.findIndex((id) => !known.has(id.toLowerCase()))
  if (missing >= 0) throw invalid(`row_ids[${missing}]`, 'is not a row of this sheet')
}

async function queue(
  { db, caller, sheet }: FastifyRequest,
  reply: FastifyReply,
  actions: string[],
  rows: RowChoice,
) {
  const { runId, rowsQueued } = await inTransaction(db, (trx) =>
    startRun(trx, caller, { sheet, actions, rows, trigger: 'api' }),
  )
  nameRun(reply, rowsQueued > 0 ? runId : null)
  return ok({ rows_queued: rowsQueued }, { message: `${rowsQueued} rows queued` })
}
