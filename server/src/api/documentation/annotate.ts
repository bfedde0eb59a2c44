import type { OpenAPIV3_1 } from 'openapi-types'
import { z } from 'zod'
import { ConditionGroup } from '../../catalog/chain/condition-shape.ts'
import { isObject } from '../../lib/json/object.ts'
import type { Operations } from './operation.ts'
import { ORGANISATION } from './organisation.ts'
import { RECORDS } from './records.ts'
import { ROWS, RUNS } from './rows.ts'
import { AGENT, SHORTCUTS, SOURCES } from './services.ts'
import { VIEWS } from './views.ts'
import { WEBHOOK_RECEIVER } from './webhook-receiver.ts'
import { ACTIONS, WORKFLOWS } from './workflows.ts'

export const OPERATIONS: Operations = {
  ...ORGANISATION,
  ...WORKFLOWS,
  ...ACTIONS,
  ...ROWS,
  ...VIEWS,
  ...RUNS,
  ...SHORTCUTS,
  ...AGENT,
  ...SOURCES,
  ...RECORDS,
}

type Document = OpenAPIV3_1.Document
type Schema = OpenAPIV3_1.SchemaObject
type Media = OpenAPIV3_1.MediaTypeObject

/** Marks an operation whose body is optional, for `annotate`. */
export const BODY_IS_OPTIONAL = 'x-body-is-optional'

const PREFIX = '/api/v1'
const METHODS = ['get', 'put', 'post', 'patch', 'delete'] as const

const STATUSES: Record<string, string> = {
  200: 'Done',
  201: 'Created',
  202: 'Accepted; runs in the background',
  400: 'The request is invalid; `errors` names each field and what to do',
  401: 'No valid key',
  403: 'The key lacks the permission for this operation',
  404: 'The resource does not exist, or the key may not see it',
  409: 'The resource is not in a state that allows the operation; the message says why',
  410: 'The number is too old or was never issued: restart from the beginning',
  413: 'The body is larger than this route accepts',
  415: 'The body is not JSON',
  422: 'The `Idempotency-Key` was used with another request',
  429: 'Too many requests; `Retry-After` says when to come back',
  500: 'The server failed; its log names the request by `x-request-id`',
  503: 'The server or its database cannot answer now; try again after `Retry-After`',
}

/** The value of a field of an action (part "Configure Action"). */
const FIELD_VALUE: Schema = {
  description: 'Text with tokens, a toggle, a list of names, or a list of objects; null clears the field',
  anyOf: [
    { type: 'string' },
    { type: 'boolean' },
    { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'object', additionalProperties: true }] } },
    { type: 'object', additionalProperties: true },
    { type: 'null' },
  ],
}
const RUN_IF: Schema = {
  type: ['object', 'null'],
  description: 'When the action runs; null clears the condition, {} changes nothing',
  properties: {
    conditions: { type: 'array', items: { $ref: '#/components/schemas/ConditionGroup' } },
  },
  additionalProperties: true,
}
const ROW: Schema = {
  type: 'object',
  description: 'Values by input name',
  additionalProperties: { type: ['string', 'number', 'boolean', 'object', 'array', 'null'], items: {} },
}

/**
 * Completes the document that was generated from the routes: ids, descriptions, examples, and the types that
 * the server's own checks enforce.
 */
export function annotate(document: Document): Document {
  for (const [path, item] of Object.entries(document.paths ?? {})) {
    for (const method of METHODS) {
      const operation = item?.[method]
      if (operation !== undefined)
        annotateOperation(operation, `${method.toUpperCase()} ${stripPrefix(path)}`)
    }
  }
  const conditionGroup = z.toJSONSchema(ConditionGroup, { io: 'input', unrepresentable: 'any' })
  delete conditionGroup.$schema
  const schemas = { ...document.components?.schemas, ConditionGroup: conditionGroup as Schema }
  const paths = Object.assign({}, document.paths, { '/hooks/{token}': WEBHOOK_RECEIVER })
  return {
    ...document,
    paths,
    tags: listTags(paths),
    components: { ...document.components, schemas },
  }
}

const TAGS: Readonly<Record<string, string>> = {
  Actions: 'The catalogue, and the chain of actions of a sheet',
  Agent: 'Questions to the web agent',
  Credits: 'Balance, ledger, usage, prices and budgets',
  Exports: 'Sheets as files to download',
  Imports: 'Files to upload and import',
  Inputs: 'The input columns of a sheet',
  Organisation: 'Members and knowledge of the organisation',
  Rows: 'Rows and their cells',
  Runs: 'Runs of rows, their progress and their cost',
  'Segment syncs': 'Deliveries of segment members to workflows',
  Segments: 'Saved filters over records',
  Sheets: 'The sheets of a workflow and their settings',
  Shortcuts: 'Workflows published as forms that others run',
  'Shortcuts (legacy prefix)': 'The shortcut endpoints under their former address',
  Sources: 'Imports of records from other systems',
  User: 'The owner of the API key',
  Views: 'Named filters, orders and columns of a sheet',
  Webhooks: 'Rows that other systems post',
  Workflows: 'Workflows, their copies and their sharing',
}

/** Returns the tags of all operations, in the order of the document. */
function listTags(paths: NonNullable<Document['paths']>): OpenAPIV3_1.TagObject[] {
  const operations = Object.values(paths).flatMap((item) => METHODS.flatMap((method) => item?.[method] ?? []))
  return [...new Set(operations.flatMap(({ tags = [] }) => tags))].map((name) => ({
    name,
    description: TAGS[name] ?? name,
  }))
}

function stripPrefix(path: string): string {
  return path.startsWith(PREFIX) ? path.slice(PREFIX.length).replace(/\/$/, '') : path
}

function annotateOperation(operation: OpenAPIV3_1.OperationObject, key: string): void {
  if (BODY_IS_OPTIONAL in operation) {
    delete operation[BODY_IS_OPTIONAL]
    if (operation.requestBody !== undefined && 'content' in operation.requestBody)
      operation.requestBody.required = false
  }
  const known = OPERATIONS[key]
  if (known === undefined) return
  operation.operationId = known.id
  operation.description = [known.description, operation.description].filter(Boolean).join('\n\n')
  for (const [status, response] of Object.entries(operation.responses ?? {})) {
    if ('description' in response) response.description = STATUSES[status] ?? response.description
  }
  if (known.streams === true) {
    const content = { 'text/event-stream': { schema: { type: 'string' as const } } }
    operation.responses = {
      200: { description: 'The stream, until the caller leaves', content },
      ...operation.responses,
    }
  }
  const answer = operation.responses?.['200']
  if (known.writesCsv === true && answer !== undefined && 'content' in answer) {
    answer.content = { ...answer.content, 'text/csv': { schema: { type: 'string' } } }
  }
  for (const parameter of operation.parameters ?? []) {
    const value = 'name' in parameter ? known.query?.[parameter.name] : undefined
    if ('name' in parameter && value !== undefined) parameter.example = value
  }
  if (known.file !== undefined) {
    const schema = { type: 'string' as const, format: 'binary' }
    const content = { 'application/octet-stream': { schema, example: known.file } }
    operation.requestBody = { required: true, content, description: 'The bytes of the file, of any type' }
  }
  const media = findJsonBody(operation)
  if (media === undefined) return
  if (known.body !== undefined) media.example = known.body
  allowUnknownFields(media.schema)
  typeFields(media.schema)
}

function findJsonBody({ requestBody }: OpenAPIV3_1.OperationObject): Media | undefined {
  if (requestBody === undefined || !('content' in requestBody)) return undefined
  return requestBody.content['application/json']
}

/**
 * Removes `additionalProperties: false`: the server accepts bodies with unknown fields and warns about them.
 */
function allowUnknownFields(schema: unknown): void {
  if (Array.isArray(schema)) return schema.forEach(allowUnknownFields)
  if (!isObject(schema)) return
  if (schema['additionalProperties'] === false) delete schema['additionalProperties']
  Object.values(schema).forEach(allowUnknownFields)
}

function typeFields(schema: Schema | undefined): void {
  const properties = schema?.properties
  if (properties === undefined) return
  if (properties['run_if'] !== undefined) properties['run_if'] = RUN_IF
  const { inputs, rows } = properties as Record<string, Schema | undefined>
  if (inputs?.type === 'object') inputs.additionalProperties = FIELD_VALUE
  if (rows?.type === 'array') Object.assign(rows, { items: ROW })
}
