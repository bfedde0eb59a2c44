import type { z } from 'zod'
import type { Warning } from '#contract/envelope.ts'
import { success } from '#contract/envelope.ts'
import { Estimate, EstimateBody } from '#contract/estimates.ts'
import { FIRST_ROWS } from '#contract/runs.ts'
import { sum } from '../../../catalog/configuration/cell-price.ts'
import type { Definition } from '../../../chain/definition.ts'
import { estimateDownstream } from '../../../estimates/downstream.ts'
import { type EstimateRequest, estimateSheet } from '../../../estimates/estimate.ts'
import { invalid } from '../../../lib/errors.ts'
import { listSpendable } from '../../../org/budgets.ts'
import { readEnvironment } from '../../../org/configuration-environment.ts'
import { MILLIS } from '../../../store/organisation/credits.ts'
import { getOverview } from '../../../store/organisation/ledger.ts'
import { getDefinition } from '../../../store/sheets/definitions.ts'
import { ok } from '../../http/envelope.ts'
import type { RouteServices } from '../../http/event-streams.ts'
import type { Api } from '../../services.ts'
import { SheetParams, sheetOfPath } from '../workflows/resources.ts'
import { allActions, choiceOf, requireRows } from './runs.ts'

type Body = z.infer<typeof EstimateBody>
type Limit = z.infer<typeof Estimate>['limits'][number]

export function estimateRoutes(
  api: Api,
  { prices, config, egress }: Pick<RouteServices, 'prices' | 'config' | 'egress'>,
): void {
  api.post(
    '/workflows/:workflow_id/sheets/:sheet_id/estimate',
    {
      config: { scope: 'workflows:run', body: 'document', resource: sheetOfPath },
      schema: {
        tags: ['Runs'],
        summary: 'What a run would cost: at most, and as expected; nothing is run',
        params: SheetParams,
        body: EstimateBody,
        response: { 200: success(200, Estimate) },
      },
    },
    async (request) => {
      const { db, sheet, body, caller } = request
      const definition = await getDefinition(db, sheet)
      if (body.row_ids !== undefined) await requireRows(request, body.row_ids)
      const wanted: EstimateRequest = {
        sheet,
        definition,
        actions: actionsOf(body, definition),
        rows: rowsOf(body, definition),
        exact: body.exact,
      }
      const { catalogue, version } = await prices.current(db)
      const parts = { catalogue, environment: await readEnvironment(db, sheet, { config, egress }) }
      const { running, ...own } = await estimateSheet(db, parts, wanted)
      const downstream = await estimateDownstream(db, parts, wanted, { running })
      const isBounded = downstream.every(({ at_most }) => at_most !== null)
      const expected = sum([own.credits.expected, ...downstream.map((one) => one.expected)])
      const at_most = isBounded
        ? sum([own.credits.at_most, ...downstream.map((one) => one.at_most ?? 0)])
        : null
      const { balance = 0, held = 0 } = (await getOverview(db, caller.orgId)) ?? {}
      const free = (balance - held) / MILLIS
      const limits = [
        ...(body.max_credits === undefined
          ? []
          : [limitOf('max_credits', body.max_credits, expected, at_most)]),
        ...(await listSpendable(db, { caller, sheet })).map(({ remaining, ...budget }) => ({
          ...limitOf('budget', remaining, expected, at_most),
          ...budget,
        })),
        limitOf('balance', free, expected, at_most),
      ]
      request.warnings.push(...warningsOf(limits, downstream, isBounded))
      return ok({
        ...own,
        revision: sheet.revision,
        price_version: version,
        credits: { ...own.credits, expected, at_most },
        downstream,
        balance: {
          now: balance / MILLIS,
          held: held / MILLIS,
          after_expected: sum([free, -expected]),
          after_at_most: at_most === null ? null : sum([free, -at_most]),
        },
        limits,
      })
    },
  )
}

function actionsOf({ action_instance_id, run_next_action }: Body, definition: Definition): string[] {
  const all = allActions(definition)
  if (action_instance_id === undefined) return all
  const from = all.indexOf(action_instance_id)
  if (from < 0) throw invalid('action_instance_id', `the sheet has no action ${action_instance_id}`)
  return run_next_action ? all.slice(from) : all.slice(from, from + 1)
}

function rowsOf(body: Body, definition: Definition): EstimateRequest['rows'] {
  if (body.new_rows !== undefined) return { kind: 'new', count: body.new_rows }
  if (body.row_ids !== undefined) return { kind: 'ids', ids: [...new Set(body.row_ids)] }
  if (body.first_10 === true) return { kind: 'first', count: FIRST_ROWS }
  return body.all === true ? { kind: 'all' } : choiceOf(body, definition)
}

function limitOf(kind: Limit['kind'], remaining: number, expected: number, atMost: number | null): Limit {
  const covers =
    atMost !== null && atMost <= remaining ? 'at_most' : expected <= remaining ? 'expected' : 'none'
  return { kind, remaining, covers }
}

const LEFT = { max_credits: 'it may', budget: 'are left in a budget', balance: 'are left' }

function warningsOf(limits: readonly Limit[], downstream: readonly unknown[], isBounded: boolean): Warning[] {
  const exceeded = limits
    .filter(({ covers }) => covers !== 'at_most')
    .map(({ kind, remaining }) => ({
      field: kind === 'max_credits' ? 'max_credits' : 'body',
      code: `may_exceed_${kind}`,
      message: `the run may cost more than the ${remaining} credits that ${LEFT[kind]}`,
    }))
  const sends = {
    field: 'body',
    code: 'spends_downstream',
    message: 'rows that are sent on run there, and cost credits too',
  }
  const unbounded = {
    field: 'body',
    code: 'unbounded',
    message: 'how many rows are sent on, or where to, is only known when it runs',
  }
  return [...exceeded, ...(downstream.length > 0 ? [sends] : []), ...(isBounded ? [] : [unbounded])]
}
