import { z } from 'zod'
import { Uuid } from './envelope.ts'
import { boundedArray } from './schema-checks.ts'
import { Name } from './text.ts'

/** The output types of the specification. `boolean` is our addition. */
export const OUTPUT_TYPES = [
  'string',
  'json',
  'url',
  'email',
  'number',
  'date',
  'boolean',
  'raw_array',
  'structured_array',
] as const
export type OutputType = (typeof OUTPUT_TYPES)[number]

export const MAX_ACTIONS = 500
export const MAX_NOTE = 10_000
const MAX_PROVIDERS = 100
/** The maximum length of one action's inputs, in characters of JSON. */
export const MAX_CONFIGURATION = 1_000_000

/** The controls that a screen shows for inputs. */
export const FIELD_KINDS = [
  'text',
  'prompt',
  'model',
  'formula',
  'answer_fields',
  'pairs',
  'url',
  'number',
  'boolean',
  'choice',
  'choices',
  'list',
  'date',
  'column',
  'columns',
  'sheet',
  'connection',
  'file',
  'conditions',
  'waterfall',
  'json',
] as const
export type FieldKind = (typeof FIELD_KINDS)[number]

/** The texts of a field for people. */
export const FieldWords = z.object({
  label: z.string().describe('The name of the field on the screen'),
  help: z.string().describe('One line for people'),
  placeholder: z.string().nullable().describe('An example value'),
  group: z.enum(['main', 'advanced']).describe('`advanced`: most people leave it as it is'),
})

export type FieldWords = z.infer<typeof FieldWords>

export const InputDescriptor = z
  .object({
    name: z.string(),
    type: z.string(),
    required: z.boolean(),
    description: z.string(),
    ...FieldWords.shape,
    kind: z.enum(FIELD_KINDS).describe('The control that a screen shows for it'),
  })
  .meta({ id: 'InputDescriptor' })
export type InputDescriptor = z.infer<typeof InputDescriptor>

export const OutputDescriptor = z
  .object({
    name: z.string(),
    type: z.enum(OUTPUT_TYPES),
    reference: z.string(),
    description: z.string().exactOptional(),
    columns: z
      .array(
        z.object({ name: z.string(), type: z.enum(OUTPUT_TYPES), structured_array_reference: z.string() }),
      )
      .exactOptional()
      .describe('Only on structured_array'),
    choices: z.array(z.string()).exactOptional().describe('The texts that the value may be'),
  })
  .meta({ id: 'OutputDescriptor' })
export type OutputDescriptor = z.infer<typeof OutputDescriptor>

const Instance = z.object({
  action_instance_id: z.string().describe('The template id with a suffix that is never used again'),
  action_id: z.string(),
  display_name: z.string(),
})

export const AddedAction = Instance.extend({
  inputs: z.array(InputDescriptor),
  outputs: z.array(OutputDescriptor),
}).meta({ id: 'ActionInstance' })

const JsonObject = z.record(z.string(), z.unknown())

export const Suggestion = z
  .object({
    action_id: z.string(),
    reason: z.string().describe('The columns that it suits, in words'),
    inputs: JsonObject.describe('Values by field name for Add Action, with tokens of those columns'),
  })
  .meta({ id: 'ActionSuggestion' })

export const GraphNode = Instance.extend({
  inputs: JsonObject.exactOptional().describe('Configured values; absent on the input node'),
  outputs: z.array(OutputDescriptor).exactOptional().describe('Absent for actions without outputs'),
  continue_workflow_if_action_fails: z.boolean().exactOptional(),
  run_if: JsonObject.exactOptional().describe('Always in nested form'),
  note: z.string().exactOptional(),
  next: z.array(z.string()).describe('The instances that follow; [] at the end'),
}).meta({ id: 'ActionNode' })
export type GraphNode = z.infer<typeof GraphNode>

export const ActionDetail = GraphNode.extend({
  fields: z.array(InputDescriptor).describe('The inputs of its template'),
}).meta({ id: 'ActionDetail' })

/** Adds an error at each path whose text PostgreSQL cannot store in a JSON document. */
const storable = <Schema extends z.ZodType>(schema: Schema): Schema =>
  schema.superRefine((value, context) => {
    for (const path of unstorable(value)) {
      context.addIssue({
        code: 'custom',
        path,
        message: 'must be well-formed Unicode without NUL characters',
      })
    }
  })

/** Returns the paths of the texts that cannot be stored. Bodies are at most 64 levels deep, so recursion is safe. */
function unstorable(value: unknown, path: PropertyKey[] = []): PropertyKey[][] {
  if (typeof value === 'string') return isStorable(value) ? [] : [path]
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap((item, place) => unstorable(item, [...path, place]))
  return Object.entries(value).flatMap(([key, entry]) =>
    isStorable(key) ? unstorable(entry, [...path, key]) : [path],
  )
}

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

const Note = storable(z.string().trim().max(MAX_NOTE))

/** The fields that Add Action and Configure Action share. */
const CONFIGURATION = {
  inputs: storable(JsonObject).exactOptional().describe('Values by field name; null clears a field'),
  run_if: storable(JsonObject)
    .nullable()
    .exactOptional()
    .describe('`{conditions: [...]}`; null clears the condition, {} changes nothing'),
  continue_workflow_if_action_fails: z.boolean().exactOptional(),
  continue_workflow_on_failure: z
    .boolean()
    .exactOptional()
    .meta({ deprecated: true, description: 'Older spelling of continue_workflow_if_action_fails' }),
  note: Note.exactOptional(),
}

export const ConfigureActionBody = z.strictObject(CONFIGURATION)
export type Configuration = z.infer<typeof ConfigureActionBody>

export const AddActionBody = z.strictObject({
  action_id: z.string(),
  after: z.string().exactOptional().describe('An action_instance_id, or `input`; the end by default'),
  name: z
    .string()
    .transform((text) => (text.trim() === '' ? undefined : text))
    .pipe(Name.optional())
    .exactOptional(),
  ...CONFIGURATION,
})

export const ConfiguredAction = Instance.pick({ action_instance_id: true })
export const DeletedAction = z.object({
  deleted: z.literal(true),
  action_instance_id: z.string(),
  dependent_actions: z
    .array(z.object({ action_instance_id: z.string(), inputs: JsonObject }))
    .describe('The actions that referred to its outputs, with the affected fields'),
})
export const ActionOutputs = z.object({
  action_instance_id: z.string(),
  outputs: z.array(OutputDescriptor),
})
export const NamedAction = Instance.pick({ action_instance_id: true, display_name: true })

export const MoveActionBody = z
  .strictObject({
    after: z.string().exactOptional().describe('`input` is the start; the end when omitted'),
  })
  .default({})
export const MovedAction = z.object({
  moved: z.literal(true),
  action_instance_id: z.string(),
  after: z.string().describe('The action that it now follows'),
})

const Provider = z.union(
  [z.string(), z.object({ name: z.string(), use_own_key: z.boolean().exactOptional() })],
  'must be a provider name or {name, use_own_key}',
)
export const ReorderWaterfallBody = z.strictObject({
  providers: boundedArray(Provider, { min: 1, max: MAX_PROVIDERS }),
})
export const ReorderedWaterfall = z.object({
  reordered: z.literal(true),
  action_instance_id: z.string(),
  field_name: z.string(),
  providers: z.array(Provider),
})

export const NoteBody = z.strictObject({ note: Note.min(1, 'must not be empty') })
export const NotedAction = z.object({ action_instance_id: z.string(), sheet_id: Uuid, note: z.string() })

export const FieldOptionsBody = z
  .strictObject({ context: JsonObject.exactOptional().describe('Values of parent fields') })
  .default({})
export const FieldOptions = z.object({
  options: z.array(z.object({ value: z.string(), label: z.string(), extras: JsonObject.exactOptional() })),
})
