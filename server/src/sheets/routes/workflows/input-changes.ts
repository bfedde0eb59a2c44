import { success } from '#contract/envelope.ts'
import { ChangedInput, ChangeInputBody, DuplicateInputBody, Input } from '#contract/inputs.ts'
import { created, ok } from '../../../api/http/envelope.ts'
import type { Api, Services } from '../../../api/services.ts'
import { changeInput } from '../../input-changes.ts'
import { duplicateInput } from '../../input-copies.ts'
import type { WorkflowFor } from '../../store/workflows.ts'
import { BASE, InputParams, viewInput } from './inputs.ts'
import { mayUse, sheetOfPath } from './resources.ts'

const tags = ['Inputs']

/** Registers the endpoints that change an input of a sheet, or copy it with its values. */
export function inputChangeRoutes(api: Api, { catalogue }: Pick<Services, 'catalogue'>): void {
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
}
