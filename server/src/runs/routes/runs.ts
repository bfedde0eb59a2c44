import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { success, successWithMessage, Uuid } from '#contract/envelope.ts'
import {
  Queued,
  ResumeRunBody,
  Run,
  RunActionBody,
  RunAllBody,
  RunRowsBody,
  Stopped,
} from '#contract/runs.ts'
import { nameRun, ok } from '../../api/http/envelope.ts'
import { giveKeyBack } from '../../api/http/idempotency.ts'
import type { Api } from '../../api/services.ts'
import type { Definition } from '../../catalog/chain/definition.ts'
import { type Db, inTransaction } from '../../database/connection/db.ts'
import type { SortKey } from '../../database/tables/selection.ts'
import { invalid, notFound, reasonOf } from '../../lib/errors.ts'
import { plural } from '../../lib/plural.ts'
import { toCap } from '../../money/caps.ts'
import { estimatedParts } from '../../money/estimates/estimated-parts.ts'
import {
  answerDryRun,
  answerEstimate,
  DRY_RUN_ANSWER,
  type EstimateServices,
} from '../../money/routes/dry-runs.ts'
import { MILLIS } from '../../money/store/credits.ts'
import { ActionParams, actionOfPath } from '../../sheets/routes/actions/action-resources.ts'
import { chooseRows, chooseSort, toRowChoice, requireRows } from '../../sheets/routes/rows/choose-rows.ts'
import { faultsInSelection } from '../../sheets/routes/rows/row-selection.ts'
import { SheetParams, sheetOfPath } from '../../sheets/routes/workflows/resources.ts'
import { getDefinition } from '../../sheets/store/definitions.ts'
import { chooseFromFailure, type StartGroup } from '../failure-starts.ts'
import { FIRST_PIECE, launchRest } from '../launch-pieces.ts'
import { startRun, stopRuns } from '../queue.ts'
import { readResumption } from '../resumable-rows.ts'
import { resumeRun } from '../resume.ts'
import { chooseOnly, type RowChoice, type RunChoice, sortChoice } from '../row-choice.ts'
import { listRuns, type RunRecord } from '../store/runs.ts'

const RunParams = SheetParams.extend({ run_id: Uuid })
const MAX_RUNS = 100
const BASE = '/workflows/:workflow_id/sheets/:sheet_id'

const run = {
  scope: 'workflows:run' as const,
  body: 'document' as const,
  numberTexts: ['values'],
  resource: sheetOfPath,
  spends: true as const,
  selects: true as const,
  furtherErrors: faultsInSelection,
}

const queued = { 200: z.union([successWithMessage(200, Queued), DRY_RUN_ANSWER]) }

export function runRoutes(api: Api, services: EstimateServices): void {
  defineRun(api, services)
  defineRunAll(api, services)
  defineRunAction(api, services)
  defineStop(api)
  defineList(api)
  defineGet(api)
  defineResume(api, services)
}

function defineRun(api: Api, services: EstimateServices): void {
  api.post(
    `${BASE}/run`,
    {
      config: run,
      schema: {
        tags: ['Runs'],
        summary: 'Run rows: all their actions run and are billed again, including complete ones',
        params: SheetParams,
        body: RunRowsBody,
        response: queued,
      },
    },
    async (request, reply) => {
      const { body, sheet, db } = request
      const definition = await getDefinition(db, sheet)
      const actions = allActions(definition)
      const chosen = await chooseRows(request, body, definition)
      const sort = await chooseSort(request, body, definition)
      const fromRows = (rows: RowChoice) =>
        body.from === 'failure' ? chooseFromFailure(rows, actions, definition) : rows
      return queue(request, reply, services, { ...body, definition, actions, rows: chosen, fromRows, sort })
    },
  )
}

function defineRunAll(api: Api, services: EstimateServices): void {
  api.post(
    `${BASE}/run-all`,
    {
      config: run,
      schema: {
        tags: ['Runs'],
        summary: 'Run all rows: all their actions run and are billed again, including complete ones',
        params: SheetParams,
        body: RunAllBody,
        response: queued,
      },
    },
    async (request, reply) => {
      const { body, sheet, db } = request
      const definition = await getDefinition(db, sheet)
      const actions = allActions(definition)
      const chosen = body.only ? chooseOnly(body.only, actions) : await chooseRows(request, body, definition)
      const fromRows = (rows: RowChoice) =>
        body.from === 'failure' ? chooseFromFailure(rows, actions, definition) : rows
      const sort = body.only ? [] : await chooseSort(request, body, definition)
      return queue(request, reply, services, { ...body, definition, actions, rows: chosen, fromRows, sort })
    },
  )
}

function defineRunAction(api: Api, services: EstimateServices): void {
  api.post(
    `${BASE}/actions/:action_instance_id/run`,
    {
      config: { ...run, resource: actionOfPath },
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
      const given: RowChoice =
        ids.length > 0
          ? { kind: 'ids', ids: [...new Set(ids)] }
          : await toRowChoice(request, body, definition)
      const { only } = body
      const rows: RowChoice =
        only === undefined ? given : { kind: 'cells', rows: given, action: params.action_instance_id, only }
      const sort = await chooseSort(request, body, definition)
      return queue(request, reply, services, { ...body, definition, actions: chosen, rows, sort })
    },
  )
}

function defineStop(api: Api): void {
  api.post(
    `${BASE}/stop`,
    {
      config: run,
      schema: {
        tags: ['Runs'],
        summary: 'Stop the runs of a sheet',
        params: SheetParams,
        response: { 200: successWithMessage(200, Stopped) },
      },
    },
    async ({ db, caller, sheet }) => {
      const rows_stopped = await inTransaction(db, (trx) => stopRuns(trx, caller, sheet))
      const message = `Stopped rows: ${rows_stopped}; cells that are running may finish`
      return ok({ rows_stopped }, { message })
    },
  )
}

function defineList(api: Api): void {
  api.get(
    `${BASE}/runs`,
    {
      config: { scope: 'workflows:data:read', resource: sheetOfPath },
      schema: {
        tags: ['Runs'],
        summary: 'List the latest runs of a sheet, newest first',
        params: SheetParams,
        response: { 200: success(200, z.array(Run)) },
      },
    },
    async ({ db, sheet }) => ok((await listRuns(db, sheet, { limit: MAX_RUNS })).map(viewRun)),
  )
}

function defineGet(api: Api): void {
  api.get(
    `${BASE}/runs/:run_id`,
    {
      config: { scope: 'workflows:data:read', resource: sheetOfPath },
      schema: {
        tags: ['Runs'],
        summary: 'Get a run of a sheet: its progress, its cost, and what stopped it',
        params: RunParams,
        response: { 200: success(200, Run) },
      },
    },
    async ({ db, sheet, params }) => {
      const [run] = await listRuns(db, sheet, { limit: 1, runId: params.run_id })
      if (run === undefined) throw notFound('Run')
      return ok(viewRun(run))
    },
  )
}

function defineResume(api: Api, services: EstimateServices): void {
  api.post(
    `${BASE}/runs/:run_id/resume`,
    {
      config: run,
      schema: {
        tags: ['Runs'],
        summary: 'Resume the rows of a run that ran out of credits; complete cells are not billed again',
        params: RunParams,
        body: ResumeRunBody,
        response: queued,
      },
    },
    async (request, reply) => {
      const { db, caller, sheet, params, body } = request
      if (body.dry_run === true) return answerResumption(request, services)
      const rows_queued = await inTransaction(db, (trx) =>
        resumeRun(trx, caller, sheet, { runId: params.run_id, maxCredits: body.max_credits }),
      )
      nameRun(reply, rows_queued > 0 ? params.run_id : null)
      return ok({ rows_queued }, { message: `${plural(rows_queued, 'row')} queued` })
    },
  )
}

function viewRun({ credits_millis, cap_millis, held_millis, created_at, finished_at, ...run }: RunRecord) {
  return {
    ...run,
    max_credits: cap_millis === null ? null : cap_millis / MILLIS,
    credits: credits_millis / MILLIS,
    credits_held: held_millis / MILLIS,
    created_at: created_at.toISOString(),
    finished_at: finished_at?.toISOString() ?? null,
  }
}

export function allActions(definition: Definition): string[] {
  if (definition.actions.length === 0) throw invalid('body', 'the sheet has no action to run; add one first')
  return definition.actions.map((action) => action.id)
}

type Queueing = {
  definition: Definition
  actions: string[]
  rows: RowChoice
  /** Returns the places where the rows begin; at the first action without it. */
  fromRows?: (rows: RowChoice) => RunChoice
  /** The order in which the rows start. */
  sort: SortKey[]
  max_credits?: number | undefined
  dry_run?: boolean | undefined
}

async function queue(
  request: FastifyRequest,
  reply: FastifyReply,
  services: EstimateServices,
  { definition, actions, rows, fromRows = (chosen) => chosen, sort, max_credits, dry_run }: Queueing,
) {
  const { db, caller, sheet } = request
  const sorted = async (trx: Db) => (sort.length === 0 ? rows : sortChoice(trx, sheet, rows, sort))
  if (dry_run === true) {
    const counted = rows.kind === 'first' ? await inTransaction(db, sorted) : rows
    const wanted = { sheet, definition, actions, rows: fromRows(counted), exact: false }
    const [first, ...others] = await estimatedParts(db, wanted)
    return answerDryRun(request, services, { maxCredits: max_credits, trigger: 'api' }, first, ...others)
  }
  // A call with a key is one transaction that contains its answer.
  const first = db.isTransaction ? undefined : FIRST_PIECE
  const { runId, joined, rowsQueued, isLaunched } = await inTransaction(db, async (trx) => {
    const chosen = fromRows(await sorted(trx))
    const started = { sheet, actions, rows: chosen, trigger: 'api' as const, ...toCap(max_credits) }
    return startRun(trx, caller, started, first)
  })
  if (!isLaunched && !db.isTransaction) {
    const { org_id, sheet_id } = sheet
    request.endForeground()
    // The run is stored, and a worker goes on with it.
    await launchRest(db, { org_id, sheet_id, run_id: runId }).catch((cause: unknown) =>
      request.log.warn(
        { run_id: runId, cause: reasonOf(cause) },
        'rows of a run are left to be launched by a worker',
      ),
    )
  }
  nameRun(reply, rowsQueued > 0 ? (joined ?? runId) : null)
  return ok({ rows_queued: rowsQueued }, { message: `${plural(rowsQueued, 'row')} queued` })
}

type Resumption = FastifyRequest<{
  Params: z.infer<typeof RunParams>
  Body: z.infer<typeof ResumeRunBody>
}>

/** Replies with what the rows that would go on may cost, from the action at which each ended. */
async function answerResumption(
  request: Pick<Resumption, 'params' | 'body'> & FastifyRequest,
  services: EstimateServices,
) {
  const db = await giveKeyBack(request)
  const { sheet, params, body } = request
  const { run, groups, left } = await readResumption(db, sheet, params.run_id, body.max_credits)
  const definition = await getDefinition(db, run.sheet)
  const nothing: StartGroup = { actions: run.actions, rows: { kind: 'ids', ids: [] } }
  const [first = nothing, ...others] = groups
  const wantedOf = ({ actions, rows }: StartGroup) => ({
    sheet: run.sheet,
    definition,
    actions,
    rows,
    exact: false,
  })
  const catalogue = await services.prices.catalogueAt(db, run.price_version)
  const given = {
    maxCredits: left,
    trigger: run.trigger,
    prices: { catalogue, version: run.price_version },
  }
  return answerEstimate(request, services, given, wantedOf(first), ...others.map(wantedOf))
}
