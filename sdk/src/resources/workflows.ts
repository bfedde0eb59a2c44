import type { Call } from '../call.ts'
import type { CallOptions } from '../options.ts'
import { path, type SheetRef, sheetPath } from '../paths.ts'
import { Resource, type Warned } from '../resource.ts'
import type {
  ChangedInput,
  ChangeInputBody,
  CreatedSheet,
  CreatedWorkflow,
  CreateInputsBody,
  CreateSheetBody,
  DefinitionPlan,
  DeletedSheet,
  DeletedWorkflow,
  Input,
  NameBody,
  NamedSheet,
  NamedWorkflow,
  PlanBody,
  Sheet,
  UpdateSheetBody,
  Warning,
  WebhookDelivery,
  Workflow,
  WorkflowOverview,
  WrittenWorkflowFile,
} from '../wire.ts'

export class WorkflowMethods extends Resource {
  create(body: NameBody, options?: CallOptions): Call<CreatedWorkflow> {
    return this.call('POST', '/workflows', options, { body })
  }

  list(options?: CallOptions): Call<Workflow[]> {
    return this.call('GET', '/workflows', options)
  }

  get(workflow_id: string, options?: CallOptions): Call<WorkflowOverview> {
    return this.call('GET', path`/workflows/${workflow_id}`, options)
  }

  rename(workflow_id: string, name: string, options?: CallOptions): Call<NamedWorkflow> {
    return this.call('PATCH', path`/workflows/${workflow_id}/name`, options, { body: { name } })
  }

  duplicate(workflow_id: string, name: string, options?: CallOptions): Call<NamedWorkflow> {
    return this.call('POST', path`/workflows/${workflow_id}/duplicate`, options, { body: { name } })
  }

  delete(workflow_id: string, options?: CallOptions): Call<DeletedWorkflow> {
    return this.call('DELETE', path`/workflows/${workflow_id}`, options)
  }

  /** Returns the workflow as a file. `warnings` is not enumerable, so that the file can be applied as it is. */
  definition(workflow_id: string, options?: CallOptions): Call<Warned<WrittenWorkflowFile>> {
    return this.whole('GET', path`/workflows/${workflow_id}/definition`, options).map((answer) => {
      const { data, warnings = [] } = answer as { data: WrittenWorkflowFile; warnings?: Warning[] }
      return Object.defineProperty(data, 'warnings', { value: warnings }) as Warned<WrittenWorkflowFile>
    })
  }
}

/** A workflow file, as people write it. Its errors are reported by their path in it. */
export type Definition = PlanBody['definition'] | WrittenWorkflowFile
export type DefinitionBody = Omit<PlanBody, 'definition'> & { definition: Definition }

export class DefinitionMethods extends Resource {
  /** Returns what `apply` would change. */
  plan(body: DefinitionBody, options?: CallOptions): Call<Warned<DefinitionPlan>> {
    return this.warned('POST', '/definitions/plan', options, { body, reads: true })
  }

  apply(body: DefinitionBody, options?: CallOptions): Call<Warned<DefinitionPlan>> {
    return this.warned('POST', '/definitions/apply', options, { body })
  }
}

export class SheetMethods extends Resource {
  create(workflow_id: string, body: CreateSheetBody, options?: CallOptions): Call<CreatedSheet> {
    return this.call('POST', path`/workflows/${workflow_id}/sheets`, options, { body })
  }

  update(sheet: SheetRef, body: UpdateSheetBody, options?: CallOptions): Call<Sheet> {
    return this.call('PATCH', sheetPath(sheet), options, { body })
  }

  rename(sheet: SheetRef, name: string, options?: CallOptions): Call<NamedSheet> {
    return this.call('PATCH', sheetPath(sheet, '/name'), options, { body: { name } })
  }

  delete(sheet: SheetRef, options?: CallOptions): Call<DeletedSheet> {
    return this.call('DELETE', sheetPath(sheet), options)
  }

  webhookDeliveries(sheet: SheetRef, options?: CallOptions): Call<WebhookDelivery[]> {
    return this.call('GET', sheetPath(sheet, '/webhook/deliveries'), options)
  }
}

export class InputMethods extends Resource {
  list(sheet: SheetRef, options?: CallOptions): Call<Input[]> {
    return this.call('GET', sheetPath(sheet, '/inputs'), options)
  }

  /** Adds inputs. Returns all inputs of the sheet. */
  create(sheet: SheetRef, inputs: CreateInputsBody, options?: CallOptions): Call<Input[]> {
    return this.call('POST', sheetPath(sheet, '/inputs'), options, { body: inputs })
  }

  update(
    sheet: SheetRef,
    name: string,
    ...[body, options]: [body: ChangeInputBody, options?: CallOptions]
  ): Call<ChangedInput> {
    return this.call('PATCH', sheetPath(sheet, path`/inputs/${name}`), options, { body })
  }

  duplicate(
    sheet: SheetRef,
    name: string,
    ...[copy, options]: [copy?: string, options?: CallOptions]
  ): Call<Input> {
    const body = copy === undefined ? {} : { name: copy }
    return this.call('POST', sheetPath(sheet, path`/inputs/${name}/duplicate`), options, { body })
  }

  /** Deletes an input. Returns the remaining ones. */
  delete(sheet: SheetRef, name: string, options?: CallOptions): Call<Input[]> {
    return this.call('DELETE', sheetPath(sheet, path`/inputs/${name}`), options)
  }
}
