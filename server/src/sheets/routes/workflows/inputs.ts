import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { success } from '#contract/envelope.ts'
import type { FieldError } from '#contract/errors.ts'
import { CreateInputsBody, Input } from '#contract/inputs.ts'
import { ok } from '../../../api/http/envelope.ts'
import type { Api } from '../../../api/services.ts'
import type { InputColumn } from '../../../catalog/chain/definition.ts'
import { printToken } from '../../../catalog/chain/references.ts'
import { addInputs, findConflicts, removeInput } from '../../inputs.ts'
import { getDefinition } from '../../store/definitions.ts'
import { sheetOfPath, SheetParams } from './resources.ts'

export const BASE = '/workflows/:workflow_id/sheets/:sheet_id/inputs'
const tags = ['Inputs']
export const InputParams = SheetParams.extend({ field_name: z.string().trim() })
const response = { 200: success(200, z.array(Input)) }

export function inputRoutes(api: Api): void {
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

export function viewInput({ name, type, description, choices }: InputColumn) {
  return {
    name,
    type,
    description,
    reference: printToken({ kind: 'input', name }),
    ...(choices === undefined ? {} : { choices: [...choices] }),
  }
}
