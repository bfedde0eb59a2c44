import { z } from 'zod'
import { ConfigureActionBody, MAX_ACTIONS } from './actions.ts'
import { Uuid } from './envelope.ts'
import { Choices, Description, INPUT_TYPES, InputName, MAX_INPUTS, problemOfChoices } from './inputs.ts'
import { boundedArray, crossCheck } from './schema-checks.ts'
import { SETTINGS } from './sheets.ts'
import { Name } from './text.ts'

const MAX_SHEETS = 200
const FORMER = 'The name that it has now, if `name` is to be a new one for it'

const FileInput = z
  .strictObject({
    name: InputName,
    was: InputName.exactOptional().describe(FORMER),
    type: z.enum(INPUT_TYPES).exactOptional().describe('`string` if it is left out'),
    description: Description.exactOptional(),
    choices: Choices.exactOptional(),
  })
  .check(
    crossCheck((context) => {
      const { type = 'string', choices } = context.value
      const message = problemOfChoices({ type, choices })
      if (message !== null)
        context.issues.push({ code: 'custom', input: choices, path: ['choices'], message })
    }),
  )
export type FileInput = z.output<typeof FileInput>

const { inputs, run_if, continue_workflow_if_action_fails, note } = ConfigureActionBody.shape

const FileAction = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z0-9_]{1,100}$/, 'must be of a-z, 0-9 and _')
    .refine((id) => id !== 'input' && id !== 'env', 'must not be input or env')
    .exactOptional()
    .describe('The name of the action in the tokens of this file; its template if it is left out'),
  action: z.string().min(1, 'must not be empty').max(255).describe('The id of its template'),
  name: Name.exactOptional().describe('The name of its template if it is left out'),
  was: Name.exactOptional().describe(FORMER),
  inputs,
  run_if,
  continue_workflow_if_action_fails,
  note,
})
export type FileAction = z.output<typeof FileAction>

const FileSheet = z
  .strictObject({
    sheet: Name,
    was: Name.exactOptional().describe(FORMER),
    ...SETTINGS,
    inputs: boundedArray(FileInput, { max: MAX_INPUTS }).exactOptional(),
    actions: boundedArray(FileAction, { max: MAX_ACTIONS }).exactOptional(),
  })
  .check(
    crossCheck((context) => {
      const { inputs, actions } = context.value
      for (const path of listRepeated(inputs, 'name')) context.issues.push(repeated(['inputs', ...path]))
      for (const path of listRepeated(actions, 'id')) context.issues.push(repeated(['actions', ...path]))
    }),
  )
export type FileSheet = z.output<typeof FileSheet>

/** A workflow as a file: names instead of ids, so that it fits any organisation. */
export const WorkflowFile = z
  .strictObject({
    loam: z.literal(1).describe('The version of this form'),
    workflow: Name,
    was: Name.exactOptional().describe(FORMER),
    sheets: boundedArray(FileSheet, { min: 1, max: MAX_SHEETS }).describe('The main sheet first'),
  })
  .check(
    crossCheck((context) => {
      for (const path of listRepeated(context.value.sheets, 'sheet'))
        context.issues.push(repeated(['sheets', ...path]))
    }),
  )
  .meta({ id: 'WorkflowFile' })
export type WorkflowFile = z.output<typeof WorkflowFile>

/** Returns the places of items whose name an earlier one has. Single items may be malformed. */
function listRepeated(items: unknown, key: string): [number, string][] {
  if (!Array.isArray(items)) return []
  const seen = new Set<unknown>()
  return items.flatMap((item: unknown, place): [number, string][] => {
    const name: unknown = typeof item === 'object' && item !== null ? Reflect.get(item, key) : undefined
    if (typeof name !== 'string') return []
    if (seen.has(name)) return [[place, key]]
    seen.add(name)
    return []
  })
}

const repeated = (path: (string | number)[]) =>
  ({ code: 'custom', input: undefined, path, message: 'must be unique' }) as const

export const PlanBody = z.strictObject({
  definition: z
    .record(z.string(), z.unknown())
    .describe(
      'A workflow file; its errors are named by their path in it, as `sheets[0].actions[1].inputs.url`',
    ),
  workflow_id: Uuid.exactOptional().describe('The workflow to change; found by its name if it is left out'),
  allow_destroy: z
    .boolean()
    .exactOptional()
    .describe('Allows inputs, actions and child sheets to be removed; false if it is left out'),
})

/** A workflow file as it is read. */
export const WrittenFile = z
  .object({
    loam: z.literal(1),
    workflow: z.string(),
    sheets: z.array(
      z.object({
        sheet: z.string(),
        auto_run: z.boolean().exactOptional(),
        cache_enabled: z.boolean().exactOptional(),
        cache_since: z.string().nullable().exactOptional(),
        inputs: z.array(z.record(z.string(), z.unknown())).exactOptional(),
        actions: z.array(z.record(z.string(), z.unknown())).exactOptional(),
      }),
    ),
  })
  .meta({ id: 'WrittenWorkflowFile' })

export const DefinitionChange = z
  .object({
    op: z.enum(['add', 'change', 'rename', 'move', 'destroy']),
    kind: z.enum(['workflow', 'sheet', 'input', 'action']),
    sheet: z.string().nullable().describe('The name of the sheet; null for the workflow'),
    name: z.string(),
    field: z.string().exactOptional(),
    before: z.unknown().optional(),
    after: z.unknown().optional(),
  })
  .meta({ id: 'DefinitionChange' })
export type DefinitionChange = z.infer<typeof DefinitionChange>

export const Plan = z
  .object({
    workflow_id: Uuid.nullable().describe('Null as long as the workflow does not exist'),
    workflow: z.string(),
    changes: z.array(DefinitionChange),
    summary: z.object({ add: z.int(), change: z.int(), destroy: z.int() }),
    applied: z.boolean(),
  })
  .meta({ id: 'DefinitionPlan' })
export type Plan = z.infer<typeof Plan>
