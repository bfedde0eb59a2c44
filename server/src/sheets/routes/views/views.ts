import { z } from 'zod'
import { success, Uuid } from '#contract/envelope.ts'
import { completeSettings, CreateViewBody, DeletedView, UpdateViewBody, View } from '#contract/views.ts'
import { created, ok } from '../../../api/http/envelope.ts'
import type { Api } from '../../../api/services.ts'
import { getDefinition } from '../../store/definitions.ts'
import { listViews } from '../../store/views.ts'
import { addView, changeView, describeView, removeView, requireView, warnOfShown } from '../../views.ts'
import { faultsInSelection, viewChainOf } from '../rows/row-selection.ts'
import { sheetOfPath, SheetParams } from '../workflows/resources.ts'

const BASE = '/workflows/:workflow_id/sheets/:sheet_id/views'
const ViewParams = SheetParams.extend({ view_id: Uuid })
const tags = ['Views']
const read = { scope: 'workflows:read' as const, resource: sheetOfPath }
const write = {
  scope: 'workflows:write' as const,
  resource: sheetOfPath,
  body: 'document' as const,
  numberTexts: ['values'],
  exact: true as const,
  furtherErrors: faultsInSelection,
}

export function viewRoutes(api: Api): void {
  defineRead(api)
  defineWrite(api)
  defineDelete(api)
}

function defineRead(api: Api): void {
  api.get(
    BASE,
    {
      config: read,
      schema: {
        tags,
        summary: 'List the views of a sheet: the default one first, then by age',
        params: SheetParams,
        response: { 200: success(200, z.array(View)) },
      },
    },
    async (request) => {
      const { db, sheet, caller } = request
      const views = await listViews(db, sheet, caller)
      const settings = views.map((view) => completeSettings(view.settings))
      const chain = await viewChainOf(request, await getDefinition(db, sheet), ...settings)
      return ok(views.map((view) => describeView(view, chain)))
    },
  )

  api.get(
    `${BASE}/:view_id`,
    {
      config: read,
      schema: { tags, summary: 'Get a view', params: ViewParams, response: { 200: success(200, View) } },
    },
    async (request) => {
      const { db, sheet, caller, params } = request
      const view = await requireView(db, caller, sheet, params.view_id)
      const chain = await viewChainOf(request, await getDefinition(db, sheet), view.settings)
      return ok(describeView(view, chain), { warnings: warnOfShown(view, chain) })
    },
  )
}

function defineWrite(api: Api): void {
  api.post(
    BASE,
    {
      config: write,
      schema: {
        tags,
        summary: 'Create a view',
        params: SheetParams,
        body: CreateViewBody,
        response: { 201: success(201, View) },
      },
    },
    async (request) => {
      const { db, sheet, caller, body } = request
      const chain = await viewChainOf(request, await getDefinition(db, sheet), body)
      const view = await addView(db, { author: caller, sheet, chain }, body)
      return created(describeView(view, chain), { warnings: warnOfShown(view, chain) })
    },
  )

  api.patch(
    `${BASE}/:view_id`,
    {
      config: write,
      schema: {
        tags,
        summary: 'Change a view',
        params: ViewParams,
        body: UpdateViewBody,
        response: { 200: success(200, View) },
      },
    },
    async (request) => {
      const { db, sheet, caller, body, params } = request
      const former = await requireView(db, caller, sheet, params.view_id)
      const chain = await viewChainOf(request, await getDefinition(db, sheet), body, former.settings)
      const view = await changeView(db, { author: caller, sheet, chain }, params.view_id, body)
      return ok(describeView(view, chain), { warnings: warnOfShown(view, chain) })
    },
  )
}

function defineDelete(api: Api): void {
  api.delete(
    `${BASE}/:view_id`,
    {
      config: { scope: 'workflows:write', resource: sheetOfPath, body: 'control' },
      schema: {
        tags,
        summary: 'Delete a view',
        params: ViewParams,
        response: { 200: success(200, DeletedView) },
      },
    },
    async ({ db, sheet, caller, params: { view_id } }) => {
      await removeView(db, { author: caller, sheet }, view_id)
      return ok({ view_id, deleted: true as const })
    },
  )
}
