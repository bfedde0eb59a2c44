import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import {
  Budget,
  CreateBudgetBody,
  CreatedBudget,
  DeletedBudget,
  UpdateBudgetBody,
} from '#contract/budgets.ts'
import { success, Uuid } from '#contract/envelope.ts'
import { created, ok } from '../../api/http/envelope.ts'
import type { Api, Services } from '../../api/services.ts'
import { notFound } from '../../lib/errors.ts'
import { changeBudget, createBudget, removeBudget, viewBudget } from '../budgets.ts'
import { type BudgetRecord, listBudgets } from '../store/budgets.ts'
import { getLedgerReach } from './credits.ts'

const tags = ['Credits']
const BASE = '/credits/budgets'
const BudgetParams = z.object({ budget_id: Uuid })

export function budgetRoutes(api: Api, { sealer }: Pick<Services, 'sealer'>): void {
  api.get(
    BASE,
    {
      config: { scope: 'credits:read' },
      schema: {
        tags,
        summary: 'List budgets, newest first',
        response: { 200: success(200, z.array(Budget)) },
      },
    },
    async ({ db, caller }) => {
      const views: z.infer<typeof Budget>[] = []
      for (const budget of await listBudgets(db, caller.orgId, getLedgerReach(caller).member))
        views.push(await viewBudget(db, budget))
      return ok(views)
    },
  )

  api.post(
    BASE,
    {
      config: { scope: 'credits:write', body: 'control' },
      schema: {
        tags,
        summary: 'Create a budget that limits the spending of a period, or warns of it',
        body: CreateBudgetBody,
        response: { 201: success(201, CreatedBudget) },
      },
    },
    async ({ db, caller, body }) =>
      created(await createBudget(db, { actor: caller, orgId: caller.orgId }, sealer, body)),
  )

  api.get(
    `${BASE}/:budget_id`,
    {
      config: { scope: 'credits:read', resource: resolveBudget },
      schema: {
        tags,
        summary: 'Get a budget',
        params: BudgetParams,
        response: { 200: success(200, Budget) },
      },
    },
    async ({ db, budget }) => ok(await viewBudget(db, budget)),
  )

  api.patch(
    `${BASE}/:budget_id`,
    {
      config: { scope: 'credits:write', body: 'control', resource: resolveBudget },
      schema: {
        tags,
        summary: 'Change a budget; a lower limit applies to the next reservation',
        params: BudgetParams,
        body: UpdateBudgetBody,
        response: { 200: success(200, Budget) },
      },
    },
    async ({ db, caller, budget, body }) => ok(await changeBudget(db, caller, budget, body)),
  )

  api.delete(
    `${BASE}/:budget_id`,
    {
      config: { scope: 'credits:write', body: 'control', resource: resolveBudget },
      schema: {
        tags,
        summary: 'Remove a budget and its limit',
        params: BudgetParams,
        response: { 200: success(200, DeletedBudget) },
      },
    },
    async ({ db, caller, budget }) => {
      await removeBudget(db, caller, budget)
      return ok({ budget_id: budget.budget_id, deleted: true as const })
    },
  )
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The budget that the path names. */
    budget: BudgetRecord
  }
}

async function resolveBudget(request: FastifyRequest): Promise<void> {
  const { db, caller } = request
  const { budget_id } = BudgetParams.parse(request.params)
  const seen = await listBudgets(db, caller.orgId, getLedgerReach(caller).member)
  const budget = seen.find((one) => one.budget_id === budget_id.toLowerCase())
  if (budget === undefined) throw notFound('Budget')
  request.budget = budget
}
