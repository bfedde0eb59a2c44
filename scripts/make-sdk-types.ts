import { globSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'

export const TYPES_FILE = 'sdk/src/wire.ts'

/** The bodies of errors, which the SDK turns into errors of its own. */
const LEFT_OUT = new Set(['Error', 'ValidationError', 'TooManyRequests'])

/** The part of JSON Schema that the contract uses. */
type JsonSchema = {
  $ref?: string
  $defs?: Record<string, JsonSchema>
  type?: string | string[]
  description?: string
  enum?: unknown[]
  const?: unknown
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  allOf?: JsonSchema[]
  properties?: Record<string, JsonSchema>
  required?: string[]
  additionalProperties?: boolean | JsonSchema
  items?: JsonSchema
  prefixItems?: JsonSchema[]
}

type Named = { name: string; schema: z.ZodType; io: 'input' | 'output' }

/**
 * Returns the types of the SDK, made from the contract: every schema with an id, and the other exports of the contract
 * that the SDK imports by their name. Bodies and queries are typed as callers send them.
 */
export async function printSdkTypes(): Promise<string> {
  const types = new Map<string, string>()
  const shared = new Map<string, string>()
  for (const { name, schema, io } of await listSchemas()) {
    const { $defs = {}, ...root } = describe(name, schema, io)
    // A schema with an id is described among the definitions.
    if (root.$ref === undefined)
      types.set(name, `${comment(root, '')}export type ${name} = ${print(root, '')}`)
    for (const [id, definition] of Object.entries($defs)) {
      if (io === 'output' || !shared.has(id))
        shared.set(id, `${comment(definition, '')}export type ${id} = ${print(definition, '')}`)
    }
  }
  const all = new Map([...shared, ...types])
  const names = [...all.keys()].filter((name) => !LEFT_OUT.has(name)).toSorted()
  const head =
    '// Generated from contract/ by `node scripts/make-sdk-types.ts`; change the contract, not this file.'
  return `${[head, ...names.map((name) => all.get(name))].join('\n\n')}\n`
}

function describe(name: string, schema: z.ZodType, io: Named['io']): JsonSchema {
  const [given, read] = [io, 'output' as const].map(
    (io) => z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as JsonSchema,
  )
  // A query arrives as texts; its fields are typed as the numbers that they are read as.
  if (!name.endsWith('Query')) return given ?? {}
  return { ...read, required: given?.required ?? [] }
}

async function listSchemas(): Promise<Named[]> {
  const found = new Map<string, Named>()
  for (const file of globSync('contract/*.ts').toSorted()) {
    if (file.endsWith('.test.ts')) continue
    const exported = (await import(pathToFileURL(file).href)) as Record<string, unknown>
    for (const [name, schema] of Object.entries(exported)) {
      if (!(schema instanceof z.ZodType)) continue
      const id = z.globalRegistry.get(schema)?.id
      const io = /(Body|Query)$/.test(name) ? 'input' : 'output'
      if (id === undefined) found.set(name, { name, schema, io })
      else found.set(id, { name: id, schema, io: 'output' })
    }
  }
  const imported = listImportedNames()
  const missing = [...imported].filter((name) => !found.has(name))
  if (missing.length > 0)
    throw new Error(`the contract exports no ${missing.join(', ')}, which sdk/src imports`)
  return [...found.values()].filter(
    ({ name, schema }) =>
      imported.has(name) || (z.globalRegistry.get(schema)?.id === name && !LEFT_OUT.has(name)),
  )
}

/** Returns the names that the files of the SDK import from the types. */
function listImportedNames(): Set<string> {
  const texts = globSync('sdk/src/**/*.ts').map((file) => readFileSync(file, 'utf8'))
  return new Set(
    texts.flatMap((text) =>
      [...text.matchAll(/import type \{([^}]*)\} from '[./]*\/wire\.ts'/g)].flatMap(([, names = '']) =>
        names
          .split(',')
          .map((name) => name.trim())
          .filter(Boolean),
      ),
    ),
  )
}

function print(schema: JsonSchema, indent: string): string {
  if (schema.$ref !== undefined) return schema.$ref.replace(/^.*\//, '')
  if (schema.const !== undefined) return JSON.stringify(schema.const).replaceAll('"', "'")
  if (schema.enum !== undefined) return schema.enum.map(printLiteral).join(' | ')
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return join(choices, ' | ', indent)
  if (schema.allOf !== undefined) return join(schema.allOf, ' & ', indent)
  if (Array.isArray(schema.type)) {
    return schema.type.map((type) => print({ ...schema, type }, indent)).join(' | ')
  }
  const type = schema.type ?? 'any'
  switch (type) {
    case 'string':
    case 'boolean':
    case 'null':
      return type
    case 'number':
    case 'integer':
      return 'number'
    case 'array':
      return printArray(schema, indent)
    case 'object':
      return printObject(schema, indent)
    default:
      return 'unknown'
  }
}

const printLiteral = (value: unknown) => (typeof value === 'string' ? `'${value}'` : JSON.stringify(value))

const join = (schemas: JsonSchema[], between: string, indent: string) =>
  [...new Set(schemas.map((one) => print(one, indent)))].join(between)

function printArray({ items = {}, prefixItems }: JsonSchema, indent: string): string {
  if (prefixItems !== undefined) return `[${prefixItems.map((item) => print(item, indent)).join(', ')}]`
  const item = print(items, indent)
  return / [|&] /.test(item) && !item.startsWith('{') ? `(${item})[]` : `Array<${item}>`
}

function printObject(schema: JsonSchema, indent: string): string {
  const { properties = {}, required = [], additionalProperties } = schema
  const deeper = `${indent}  `
  const others =
    typeof additionalProperties === 'object' ? `Record<string, ${print(additionalProperties, deeper)}>` : null
  const fields = Object.entries(properties).map(([name, field]) => {
    const isRequired = required.includes(name)
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : `'${name}'`
    const type = print(field, deeper)
    const optional = isRequired || type === 'unknown' ? type : `${type} | undefined`
    return `${comment(field, deeper)}${deeper}${key}${isRequired ? '' : '?'}: ${optional}`
  })
  if (fields.length === 0) return others ?? 'Record<string, unknown>'
  const object = `{\n${fields.join('\n')}\n${indent}}`
  return others === null ? object : `${object} & ${others}`
}

/** Returns the description as a comment before a type or a field. */
const comment = ({ description }: JsonSchema, indent: string) =>
  description === undefined ? '' : `${indent}/** ${description.replaceAll('*/', '*\\/')} */\n`

if (import.meta.main) await writeFile(TYPES_FILE, await printSdkTypes())
