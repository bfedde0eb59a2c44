import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import {
  AddActionBody,
  AddedAction,
  type Configuration,
  ConfigureActionBody,
  ActionDetail,
  ConfiguredAction,
  DeletedAction,
  GraphNode,
} from '#contract/actions.ts'
import { success, successWithWarnings } from '#contract/envelope.ts'
import type { FieldError } from '#contract/errors.ts'
import { created, ok } from '../../../api/http/envelope.ts'
import type { Api, Services } from '../../../api/services.ts'
import { typesIn } from '../../../catalog/configuration/chain-view.ts'
import { configureAction as configure } from '../../../catalog/configuration/configure.ts'
import { toGraph, toGraphNode } from '../../../catalog/configuration/node.ts'
import { addTexts } from '../../../catalog/configuration/warning-texts.ts'
import { describeInputs } from '../../../catalog/describe.ts'
import { isObject } from '../../../lib/json/object.ts'
import { addAction, configureAction, deleteAction, prepareAction, addTargetProblems } from '../../actions.ts'
import { listProblems } from '../../configuration-environment.ts'
import type { WorkflowFor } from '../../store/workflows.ts'
import { checkTargets } from '../../target-sheets.ts'
import { mayUse, SheetParams } from '../workflows/resources.ts'
import {
  ActionParams,
  actionOfPath,
  chainOfPath,
  deletableActionOfPath,
  readChain,
} from './action-resources.ts'

export const BASE = '/workflows/:workflow_id/sheets/:sheet_id/actions'
const tags = ['Actions']
/** The fields whose numbers are kept as text: what is configured, and the values of `run_if`. */
const NUMBER_TEXTS = ['inputs', 'values']

type Parts = Pick<Services, 'catalogue' | 'config' | 'models' | 'egress'>

export function actionRoutes(api: Api, parts: Parts): void {
  defineAdd(api, parts)
  defineGraph(api, parts)
  defineGet(api, parts)
  defineConfigure(api, parts)
  defineDelete(api, parts)
}

function defineAdd(api: Api, parts: Parts): void {
  api.post(
    `${BASE}/add`,
    {
      config: {
        scope: 'actions:write',
        body: 'document',
        numberTexts: NUMBER_TEXTS,
        resource: chainOfPath,
        furtherErrors: (request) => findErrorsInAdd(request, parts),
      },
      schema: {
        tags,
        summary: 'Add an action to the chain',
        params: SheetParams,
        body: AddActionBody,
        response: { 201: successWithWarnings(201, AddedAction) },
      },
    },
    async (request) => {
      const { action, chain, warnings } = await addAction(createEditing(request, parts), request.body)
      const link = chain.links.get(action.id)
      const data = {
        action_instance_id: action.id,
        action_id: action.action_id,
        display_name: action.display_name,
        inputs: link?.template === undefined ? [] : describeInputs(link.template),
        outputs: link?.outputs ?? [],
      }
      return created(data, { warnings: addTexts(warnings, link?.template) })
    },
  )
}

function defineGraph(api: Api, parts: Parts): void {
  api.get(
    `${BASE}/graph`,
    {
      config: { scope: 'actions:read', resource: chainOfPath },
      schema: {
        tags,
        summary: 'Get the chain: the input node, then every action in order',
        params: SheetParams,
        response: { 200: success(200, z.array(GraphNode)) },
      },
    },
    async (request) => ok(toGraph(await readChain(parts.catalogue, request))),
  )
}

function defineGet(api: Api, parts: Parts): void {
  api.get(
    `${BASE}/:action_instance_id`,
    {
      config: { scope: 'actions:read', resource: actionOfPath },
      schema: {
        tags,
        summary: 'Get an action, with warnings about its configuration',
        params: ActionParams,
        response: { 200: success(200, ActionDetail) },
      },
    },
    async (request) => {
      const { action, db, sheet } = request
      const chain = await readChain(parts.catalogue, request)
      const { author, mayUse: may } = createEditing(request, parts)
      const problems = await listProblems(db, sheet, { action, chain }, parts)
      const inputs = { before: action.inputs, after: action.inputs }
      const template = parts.catalogue.get(action.action_id)
      const targets = await checkTargets(db, { ...author, mayUse: may }, template, inputs)
      const warnings = addTexts([...problems, ...targets.warnings], template)
      const fields = template === undefined ? [] : describeInputs(template)
      const data = { ...toGraphNode(action, chain), fields }
      return ok(data, warnings.length === 0 ? {} : { warnings })
    },
  )
}

function defineConfigure(api: Api, parts: Parts): void {
  api.patch(
    `${BASE}/:action_instance_id`,
    {
      config: {
        scope: 'actions:write',
        body: 'document',
        numberTexts: NUMBER_TEXTS,
        resource: actionOfPath,
        furtherErrors: (request) => findErrorsInConfiguration(request, parts),
      },
      schema: {
        tags,
        summary: 'Configure an action; fields that are not sent keep their values',
        params: ActionParams,
        body: ConfigureActionBody,
        response: { 200: successWithWarnings(200, ConfiguredAction) },
      },
    },
    async (request) => {
      const { id, action_id } = request.action
      const warnings = await configureAction(createEditing(request, parts), id, request.body)
      return ok({ action_instance_id: id }, { warnings: addTexts(warnings, parts.catalogue.get(action_id)) })
    },
  )
}

function defineDelete(api: Api, parts: Parts): void {
  api.delete(
    `${BASE}/:action_instance_id`,
    {
      config: { scope: 'actions:write', body: 'control', resource: deletableActionOfPath },
      schema: {
        tags,
        summary: 'Delete an action; returns the actions that referred to its outputs',
        params: ActionParams,
        response: { 200: success(200, DeletedAction) },
      },
    },
    async (request) => {
      const { id } = request.action
      const dependent_actions = await deleteAction(createEditing(request, parts), id)
      return ok({ deleted: true as const, action_instance_id: id, dependent_actions })
    },
  )
}

function createEditing({ db, caller, sheet }: FastifyRequest, { catalogue, ...installation }: Parts) {
  return {
    db,
    author: caller,
    sheet,
    catalogue,
    installation,
    mayUse: (workflow: WorkflowFor) => mayUse(caller, workflow),
  }
}

/** Finds the errors inside a body whose shape was already refused, so that all errors are reported at once (D5). */
async function findErrorsInAdd(request: FastifyRequest, parts: Parts): Promise<FieldError[]> {
  const body = isObject(request.body) ? request.body : {}
  const { action_id, after } = body
  if (typeof action_id !== 'string') return []
  const { catalogue } = parts
  const given = { action_id, ...(typeof after === 'string' ? { after } : {}), ...pickSoundParts(body) }
  const made = prepareAction('', given, await readChain(catalogue, request), catalogue)
  const template = catalogue.get(action_id)
  return (await addTargetProblems(request.db, createEditing(request, parts), { template, before: {} }, made))
    .errors
}

/** Finds the errors inside a configuration whose shape was already refused (D5). */
async function findErrorsInConfiguration(request: FastifyRequest, parts: Parts): Promise<FieldError[]> {
  const { action, body, db } = request
  const chain = await readChain(parts.catalogue, request)
  const template = parts.catalogue.get(action.action_id)
  const made = configure(action, template, pickSoundParts(isObject(body) ? body : {}), typesIn(chain))
  return (
    await addTargetProblems(db, createEditing(request, parts), { template, before: action.inputs }, made)
  ).errors
}

/** Picks the parts of a configuration that can be checked although other parts have the wrong shape. */
function pickSoundParts({ inputs, run_if }: Record<string, unknown>): Configuration {
  return { ...(isObject(inputs) ? { inputs } : {}), ...(isObject(run_if) ? { run_if } : {}) }
}
