import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import {
  CellTest,
  RunningTest,
  TestActionBody,
  TestEstimate,
  TestNewActionBody,
} from '#contract/cell-tests.ts'
import { success, Uuid } from '#contract/envelope.ts'
import type { FieldError } from '#contract/errors.ts'
import { CellDetail } from '#contract/runs.ts'
import { requireScope } from '../../api/http/caller.ts'
import { watchDisconnect } from '../../api/http/disconnect.ts'
import { accepted, ok } from '../../api/http/envelope.ts'
import type { RouteServices } from '../../api/http/event-streams.ts'
import { commitEffect, giveKeyBack } from '../../api/http/idempotency.ts'
import { API_PREFIX } from '../../api/http/openapi.ts'
import type { Api } from '../../api/services.ts'
import { notFound } from '../../lib/errors.ts'
import { parseLossless } from '../../lib/json/lossless-json.ts'
import { isObject } from '../../lib/json/object.ts'
import { withoutBlanksInSteps } from '../../lib/json/without-blanks.ts'
import { readUntil } from '../../lib/timing/read-until.ts'
import { inTurns } from '../../lib/timing/turns.ts'
import { estimateSheet } from '../../money/estimates/estimate.ts'
import { MILLIS } from '../../money/store/credits.ts'
import { readEnvironment } from '../../sheets/configuration-environment.ts'
import { ActionParams, actionOfPath, chainOfPath } from '../../sheets/routes/actions/action-resources.ts'
import { readDetail } from '../../sheets/routes/rows/cells.ts'
import { mayUse, SheetParams } from '../../sheets/routes/workflows/resources.ts'
import { viewOutputs } from '../../sheets/store/cells.ts'
import { findRowIds } from '../../sheets/store/rows.ts'
import { type Draft, listDraftErrors, makeDraft, type Tested } from '../cell-tests/draft.ts'
import { resolveOnRow } from '../cell-tests/dry-run.ts'
import { cannotKeep, keepTest, readTestedAction, startTest } from '../cell-tests/start-test.ts'
import { findTest, hasTestEnded, type TestFindings, type TestRecord } from '../store/cell-tests.ts'

const SHEET = '/workflows/:workflow_id/sheets/:sheet_id'
const ACTION = `${SHEET}/actions/:action_instance_id/test`
const NEW = `${SHEET}/actions/test`
/** The answers of tests of actions that are not added. `/actions/test/{test_id}` could be an action named `test`. */
const NEW_ANSWERS = `${SHEET}/tests`
const TestParams = ActionParams.extend({ test_id: Uuid })
const NewTestParams = SheetParams.extend({ test_id: Uuid })
/** The time for which a call waits for the answer of its test. */
const WAIT_MS = 30_000
const NUMBER_TEXTS = ['inputs', 'values']

type Body = z.output<typeof TestActionBody> | z.output<typeof TestNewActionBody>
type TestServices = Pick<RouteServices, 'catalogue' | 'prices' | 'config' | 'models' | 'egress' | 'publicUrl'>

const ANSWERS = {
  200: z.union([success(200, CellTest), success(200, TestEstimate)]),
  202: success(202, RunningTest).describe('The test goes on; read its answer later, for 24 hours'),
}

/** Registers the endpoints that run an action on one row without a run (H5). */
export function cellTestRoutes(api: Api, services: TestServices): void {
  const ending = new AbortController()
  api.addHook('preClose', async () => ending.abort())
  addTest(api, services, ending.signal)
  addTestOfNew(api, services, ending.signal)
  addAnswer(api, services, { path: ACTION, params: TestParams, resource: actionOfPath, of: 'an action' })
  const ofNew = {
    path: NEW_ANSWERS,
    params: NewTestParams,
    resource: chainOfPath,
    of: 'an action that is not added',
  }
  addAnswer(api, services, ofNew)
  addKeep(api, services)
}

const tags = ['Actions']

const testing = (services: TestServices) => ({
  scope: 'workflows:run' as const,
  body: 'document' as const,
  numberTexts: NUMBER_TEXTS,
  spends: true as const,
  selects: true as const,
  waits: true as const,
  furtherErrors: (request: FastifyRequest) => findErrors(services, request),
})

function addTest(api: Api, services: TestServices, ending: AbortSignal): void {
  api.post(
    ACTION,
    {
      config: { ...testing(services), resource: actionOfPath },
      schema: {
        tags,
        summary: 'Test an action on a row, with changes that are not saved; nothing of the sheet changes',
        params: ActionParams,
        body: TestActionBody,
        response: ANSWERS,
      },
    },
    async (request, reply) => {
      const { inputs, run_if } = request.body
      const given = { ...(inputs && { inputs }), ...(run_if !== undefined && { run_if }) }
      return answerTest({ request, reply, services, ending }, { action: request.action, given })
    },
  )
}

function addTestOfNew(api: Api, services: TestServices, ending: AbortSignal): void {
  api.post(
    NEW,
    {
      config: { ...testing(services), resource: chainOfPath },
      schema: {
        tags,
        summary: 'Test an action on a row before it is added',
        params: SheetParams,
        body: TestNewActionBody,
        response: ANSWERS,
      },
    },
    async (request, reply) => {
      const { row_id: _row, keep: _keep, max_credits: _cap, dry_run: _dry, ...given } = request.body
      return answerTest({ request, reply, services, ending }, { action: null, given })
    },
  )
}

type Place = {
  path: string
  params: typeof TestParams | typeof NewTestParams
  resource: (request: FastifyRequest) => Promise<void>
  of: string
}

function addAnswer(api: Api, services: TestServices, { path, params, resource, of }: Place): void {
  const config = { scope: 'workflows:run' as const, resource }
  api.get(
    `${path}/:test_id`,
    {
      config,
      schema: {
        tags,
        summary: `Get the answer of a test of ${of}, for 24 hours`,
        params,
        response: { 200: success(200, CellTest), 202: ANSWERS[202] },
      },
    },
    async (request) => {
      const test = await requireTest(request, request.params.test_id)
      return test.result === null
        ? running(test)
        : ok(await viewTest(test, outputsUrl(services, request, test.test_id)))
    },
  )

  api.get(
    `${path}/:test_id/outputs`,
    {
      config,
      schema: {
        tags,
        summary: `Get the outputs of a test of ${of}, of any size`,
        params,
        response: { 200: z.unknown().describe('The outputs themselves, without envelope') },
      },
    },
    async (request, reply) => {
      const { outputs } = await requireTest(request, request.params.test_id)
      if (outputs === null) throw notFound('Outputs of this test')
      const text = await inTurns(withoutBlanksInSteps(outputs))
      return reply.type('application/json; charset=utf-8').send(Buffer.from(text))
    },
  )
}

function addKeep(api: Api, services: TestServices): void {
  api.post(
    `${ACTION}/:test_id/keep`,
    {
      config: { scope: 'workflows:run', body: 'control', resource: actionOfPath },
      schema: {
        tags,
        summary: 'Write the answer of a test into the cell of its row, without charging it again',
        params: TestParams,
        response: { 200: success(200, CellDetail) },
      },
    },
    async (request) => {
      const { db, sheet, caller, action, params } = request
      const kept = await keepTest(db, { author: caller, sheet, action }, params.test_id)
      if (kept === null) throw notFound('Test')
      const place = { row_id: kept.row_id, action_instance_id: action.id }
      return ok(await readDetail(request, place, services.publicUrl()))
    },
  )
}

type Answering = {
  request: FastifyRequest
  reply: FastifyReply
  services: TestServices
  ending: AbortSignal
}

/** Checks, starts and awaits a test, or says what it would cost. */
async function answerTest({ request, reply, services, ending }: Answering, tested: Tested) {
  const body = request.body as Body
  if (body.dry_run === true) await giveKeyBack(request)
  const { db, sheet, caller, definition } = request
  const editing = createEditing(services, request)
  const draft = await makeDraft(editing, tested, definition, await findUnknownRow(request, body.row_id))
  // The values of a configuration may lead anywhere, with the secrets of the workflow: only who may save it may test it.
  if (!draft.isSaved) requireScope(caller, 'actions:write')
  const prices = await services.prices.current(db)
  if (body.dry_run === true) return ok(await estimateTest(request, services, draft, body.row_id))
  const testId = await startTest(db, { author: caller, sheet, prices }, draft, {
    rowId: body.row_id,
    keep: body.keep === true,
    maxCredits: body.max_credits,
  })
  const started = accepted({ test_id: testId, status: 'running' as const })
  const outside = await commitEffect(request, 202, started)
  const isEnded = await readUntil(
    () => hasTestEnded(outside, sheet.org_id, testId),
    (ended) => ended,
    { ms: WAIT_MS, signal: AbortSignal.any([ending, watchDisconnect(reply)]) },
  )
  const test = await findTest(outside, sheet, testId)
  if (test === undefined) throw notFound('Test')
  if (!isEnded) return running(test)
  const answer = await viewTest(test, outputsUrl(services, request, testId))
  if (body.keep === true && !answer.kept)
    throw cannotKeep(
      test.status === 'complete'
        ? 'the row was deleted or taken by a run meanwhile'
        : `the test ended as ${test.status}${answer.error === null ? '' : `: ${answer.error}`}`,
    )
  return ok(answer)
}

async function estimateTest(request: FastifyRequest, services: TestServices, draft: Draft, rowId: string) {
  const { db, sheet } = request
  const { catalogue } = await services.prices.current(db)
  const environment = await readEnvironment(db, sheet, services)
  const { id } = draft.instance
  const { credits } = await estimateSheet(
    db,
    { catalogue, environment },
    { sheet, definition: draft.definition, actions: [id], rows: { kind: 'ids', ids: [rowId] }, exact: true },
  )
  const { expected, at_most } = credits
  return { ...(await resolveOnRow(db, { sheet, catalogue }, rowId, draft)), credits: { expected, at_most } }
}

function createEditing(
  { catalogue, config, models, egress }: TestServices,
  { db, caller, sheet }: FastifyRequest,
) {
  return {
    db,
    author: caller,
    sheet,
    catalogue,
    installation: { config, models, egress },
    mayUse: (workflow: Parameters<typeof mayUse>[1]) => mayUse(caller, workflow),
  }
}

/** Finds the errors inside a body whose shape was already refused, so that all errors are reported at once (D5). */
async function findErrors(services: TestServices, request: FastifyRequest): Promise<FieldError[]> {
  const body = isObject(request.body) ? request.body : {}
  const { action_id, after, row_id, inputs, run_if } = body
  const given = { ...(isObject(inputs) ? { inputs } : {}), ...(isObject(run_if) ? { run_if } : {}) }
  const rows = Uuid.safeParse(row_id).success ? await findUnknownRow(request, String(row_id)) : []
  const tested: Tested | null =
    'action_instance_id' in Object(request.params)
      ? { action: request.action, given }
      : typeof action_id === 'string'
        ? { action: null, given: { action_id, ...(typeof after === 'string' ? { after } : {}), ...given } }
        : null
  const errors =
    tested === null ? [] : await listDraftErrors(createEditing(services, request), request.definition, tested)
  return [...rows, ...errors]
}

async function findUnknownRow({ db, sheet }: FastifyRequest, rowId: string): Promise<FieldError[]> {
  const known = await findRowIds(db, sheet, [rowId])
  return known.size > 0 ? [] : [{ field: 'row_id', message: 'the sheet has no such row' }]
}

/** Returns the test of the path: of this sheet, and of this action if the path names one. */
async function requireTest(
  { db, sheet, params, action }: FastifyRequest,
  testId: string,
): Promise<TestRecord> {
  const test = await findTest(db, sheet, testId)
  if (test === undefined) throw notFound('Test')
  const isOther = 'action_instance_id' in Object(params) && readTestedAction(test).id !== action.id
  if (isOther) throw notFound('Test')
  return test
}

const running = ({ test_id }: TestRecord) => accepted({ test_id, status: 'running' as const })

function outputsUrl({ publicUrl }: TestServices, { sheet, params }: FastifyRequest, testId: string) {
  const { action_instance_id: action }: { action_instance_id?: string } = Object(params)
  const { workflow_id, sheet_id } = sheet
  const place = action === undefined ? 'test' : `${encodeURIComponent(action)}/test`
  return () =>
    `${publicUrl()}${API_PREFIX}/workflows/${workflow_id}/sheets/${sheet_id}/actions/${place}/${testId}/outputs`
}

async function viewTest(
  { test_id, status, warnings, result, outputs, credits_millis, kept_at }: TestRecord,
  urlOf: () => string,
) {
  const { met, resolved, error, duration_ms, providers, cached } = parseLossless(
    result ?? '{}',
  ) as TestFindings
  const shown = outputs === null ? {} : (parseLossless(`{${await viewOutputs(outputs, urlOf)}}`) as object)
  return {
    test_id,
    status: status === 'parked' ? ('running' as const) : status,
    met,
    resolved,
    error,
    duration_ms,
    providers,
    outputs: null,
    ...shown,
    credits: credits_millis / MILLIS,
    cache_hit: cached,
    kept: kept_at !== null,
    warnings,
  }
}
