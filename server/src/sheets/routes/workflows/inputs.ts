import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { success } from '#contract/envelope.ts'
import type { FieldError } from '#contract/errors.ts'
import {
  ChangedInput,
  ChangeInputBody,
  CreateInputsBody,
  DuplicateInputBody,
  Input,
} from '#contract/inputs.ts'
import { created, ok } from '../../../api/http/envelope.ts'
import type { Api, Services } from '../../../api/services.ts'
import type { InputColumn } from '../../../catalog/chain/definition.ts'
import { printToken } from '../../../catalog/chain/references.ts'
import { changeInput } from '../../input-changes.ts'
import { duplicateInput } from '../../input-copies.ts'
import { addInputs, findConflicts, removeInput } from '../../inputs.ts'
import { getDefinition } from '../../store/definitions.ts'
import type { WorkflowFor } from '../../store/workflows.ts'
import { mayUse, sheetOfPath, SheetParams } from './resources.ts'

const BASE = '/workflows/:workflow_id/sheets/:sheet_id/inputs'
const tags = ['Inputs']
const InputParams = SheetParams.extend({ field_name: z.string().trim() })
const response = { 200: success(200, z.array(Input)) }

export function inputRoutes(api: Api, { catalogue }: Pick<Services, 'catalogue'>): void {
  api.get(
    BASE,
    {
      config: { scope: 'workflows:read', resource: sheetOfPath },
      schema: { tags, summary: 'List the inputs of a sheet', params: SheetParams, response },
    },
    async ({ db, sheet }) => {
      const { inputs } = await getDefinition(db, sheet)
      return ok(inputs.map(viewInput))
    },
  )

  api.post(
    BASE,
    {
      config: {
        scope: 'workflows:write',
        body: 'document',
        resource: sheetOfPath,
        bodyName: 'inputs',
        furtherErrors: findConflictsInBody,
      },
      schema: {
        tags,
        summary: 'Create inputs, all or none; returns every input',
        params: SheetParams,
        body: CreateInputsBody,
        response,
      },
    },
    async ({ caller, db, sheet, body }) => {
      const inputs = await addInputs(db, caller, sheet, body)
      return ok(inputs.map(viewInput))
    },
  )

  api.patch(
    `${BASE}/:field_name`,
    {
      config: { scope: 'workflows:write', body: 'document', exact: true, resource: sheetOfPath },
      schema: {
        tags,
        summary: 'Rename an input with every reference to it, or change its type, choices or description',
        params: InputParams,
        body: ChangeInputBody,
        response: { 200: success(200, ChangedInput) },
      },
    },
    async ({ caller, db, sheet, params, body }) => {
      const editing = {
        db,
        author: caller,
        sheet,
        catalogue,
        mayUse: (workflow: WorkflowFor) => mayUse(caller, workflow),
      }
      const { input, references_changed, warnings } = await changeInput(editing, params.field_name, body)
      return ok({ ...viewInput(input), references_changed }, warnings.length === 0 ? {} : { warnings })
    },
  )

  api.post(
    `${BASE}/:field_name/duplicate`,
    {
      config: { scope: 'workflows:write', body: 'document', exact: true, resource: sheetOfPath },
      schema: {
        tags,
        summary: 'Copy an input with its values',
        params: InputParams,
        body: DuplicateInputBody,
        response: { 201: success(201, Input) },
      },
    },
    async ({ caller, db, sheet, params, body }) => {
      const wanted = { name: params.field_name, copyName: body.name }
      const { input, warnings } = await duplicateInput(db, caller, sheet, wanted)
      return created(viewInput(input), warnings.length === 0 ? {} : { warnings })
    },
  )

  api.delete(
    `${BASE}/:field_name`,
    {
      config: { scope: 'workflows:write', body: 'control', resource: sheetOfPath },
      schema: {
        tags,
        summary: 'Delete an input; returns the remaining inputs',
        params: InputParams,
        response,
      },
    },
    async ({ caller, db, sheet, params }) => {
      const inputs = await removeInput(db, caller, sheet, params.field_name)
      return ok(inputs.map(viewInput))
    },
  )
}

async function findConflictsInBody({ db, sheet, body }: FastifyRequest): Promise<FieldError[]> {
  return Array.isArray(body) ? findConflicts(body, (await getDefinition(db, sheet)).inputs) : []
}

function viewInput({ name, type, description, choices }: InputColumn) {
  return {
    name,
    type,
    description,
    reference: printToken({ kind: 'input', name }),
    ...(choices === undefined ? {} : { choices: [...choices] }),
  }
}
