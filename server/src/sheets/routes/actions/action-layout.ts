import type { FastifyRequest } from 'fastify'
import {
  ActionOutputs,
  FieldOptions,
  FieldOptionsBody,
  MoveActionBody,
  MovedAction,
  NamedAction,
  NoteBody,
  NotedAction,
  ReorderedWaterfall,
  ReorderWaterfallBody,
} from '#contract/actions.ts'
import { success } from '#contract/envelope.ts'
import { NameBody } from '#contract/workflows.ts'
import { ok } from '../../../api/http/envelope.ts'
import type { RouteServices } from '../../../api/http/event-streams.ts'
import type { Api } from '../../../api/services.ts'
import { notFound } from '../../../lib/errors.ts'
import { createRunEnvironment } from '../../../runs/run-environment.ts'
import { labelAction, moveAction, reorderWaterfall } from '../../action-layout.ts'
import { discoverActionOutputs } from '../../action-outputs.ts'
import type { SheetRecord } from '../../store/sheets.ts'
import { hasOptions, listOptions, warnOfNoOptions } from './action-options.ts'
import {
  ActionFieldParams,
  actionFieldOfPath,
  actionOfPath,
  ActionParams,
  requireField,
} from './action-resources.ts'
import { BASE } from './actions.ts'

const tags = ['Actions']
const ACTION = `${BASE}/:action_instance_id`

/** Registers the endpoints that arrange and label a chain, and that list its fields' options and its outputs. */
export function actionLayoutRoutes(api: Api, services: RouteServices): void {
  defineRename(api, services)
  defineNote(api, services)
  defineMove(api, services)
  defineReorder(api, services)
  defineOutputs(api, services)
  defineOptions(api, services)
}

function defineRename(api: Api, { catalogue }: RouteServices): void {
  api.patch(
    `${ACTION}/name`,
    {
      config: { scope: 'actions:write', body: 'control', resource: actionOfPath },
      schema: {
        tags,
        summary: 'Rename an action',
        params: ActionParams,
        body: NameBody,
        response: { 200: success(200, NamedAction) },
      },
    },
    async (request) => {
      const { id } = request.action
      const { name: display_name } = request.body
      await labelAction(createEditing(request, catalogue), id, { display_name })
      return ok({ action_instance_id: id, display_name })
    },
  )
}

function defineNote(api: Api, { catalogue }: RouteServices): void {
  api.post(
    `${ACTION}/notes`,
    {
      config: { scope: 'actions:write', body: 'control', resource: actionOfPath },
      schema: {
        tags,
        summary: 'Save a note on an action',
        params: ActionParams,
        body: NoteBody,
        response: { 200: success(200, NotedAction) },
      },
    },
    async (request) => {
      const { id } = request.action
      const { note } = request.body
      await labelAction(createEditing(request, catalogue), id, { note })
      const { sheet_id } = request.sheet
      return ok({ action_instance_id: id, sheet_id, note })
    },
  )
}

function defineMove(api: Api, { catalogue }: RouteServices): void {
  api.patch(
    `${ACTION}/move`,
    {
      config: { scope: 'actions:write', body: 'control', resource: actionOfPath },
      schema: {
        tags,
        summary: 'Move an action to another place in the chain',
        params: ActionParams,
        body: MoveActionBody,
        response: { 200: success(200, MovedAction) },
      },
    },
    async (request) => {
      const { id } = request.action
      const after = await moveAction(createEditing(request, catalogue), id, request.body.after)
      return ok({ moved: true as const, action_instance_id: id, after })
    },
  )
}

function defineReorder(api: Api, { catalogue }: RouteServices): void {
  api.patch(
    `${ACTION}/waterfall/:field_name`,
    {
      config: {
        scope: 'actions:write',
        body: 'control',
        resource: actionFieldOfPath(catalogue, (field) => field.waterfall !== undefined),
      },
      schema: {
        tags,
        summary: 'Reorder the providers of a waterfall',
        params: ActionFieldParams,
        body: ReorderWaterfallBody,
        response: { 200: success(200, ReorderedWaterfall) },
      },
    },
    async (request) => {
      const { id } = request.action
      const { field_name } = request.params
      const { waterfall } = requireField(catalogue, request)
      if (waterfall === undefined) throw notFound('Field')
      const { providers, warnings } = await reorderWaterfall(
        createEditing(request, catalogue),
        id,
        { name: field_name, ...waterfall },
        request.body.providers,
      )
      return ok(
        { reordered: true as const, action_instance_id: id, field_name, providers },
        warnings.length === 0 ? {} : { warnings },
      )
    },
  )
}

function defineOutputs(api: Api, { catalogue }: RouteServices): void {
  api.get(
    `${ACTION}/outputs`,
    {
      config: { scope: 'actions:read', resource: actionOfPath },
      schema: {
        tags,
        summary: 'List the outputs of an action, including those that its latest run has shown',
        params: ActionParams,
        response: { 200: success(200, ActionOutputs) },
      },
    },
    async (request) => {
      const outputs = await discoverActionOutputs(createEditing(request, catalogue), request.action)
      return ok({ action_instance_id: request.action.id, outputs })
    },
  )
}

function defineOptions(api: Api, { catalogue, prices, config, egress, store, sealer }: RouteServices): void {
  const environment = createRunEnvironment(store, sealer, config.providerKeys)
  const optionServices = { config, egress, keysOf: (sheet: SheetRecord) => environment.keysOf(sheet) }
  api.post(
    `${ACTION}/options/:field_name`,
    {
      config: {
        scope: 'actions:read',
        waits: true,
        callsOut: 'repeatable',
        body: 'control',
        resource: actionFieldOfPath(catalogue, hasOptions),
      },
      schema: {
        tags,
        summary: 'List the options of a dropdown or waterfall',
        params: ActionFieldParams,
        body: FieldOptionsBody,
        response: { 200: success(200, FieldOptions) },
      },
    },
    async (request) => {
      const priced = await prices.current(request.db)
      const field = requireField(priced.catalogue, request)
      const options = await listOptions(field, request, request.body.context ?? {}, optionServices)
      if (options.length === 0) request.warnings.push(warnOfNoOptions(field))
      return ok({ options })
    },
  )
}

function createEditing({ db, caller, sheet }: FastifyRequest, catalogue: RouteServices['catalogue']) {
  return { db, author: caller, sheet, catalogue }
}
