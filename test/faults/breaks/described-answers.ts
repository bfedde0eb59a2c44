import { z } from 'zod'
import type { Json } from '#test/plumbing/harness.ts'

const REFERENCE = '#/components/schemas/'
export type Answer = { status: number; type: string; text: string }

/** Compares responses with their description in an OpenAPI document. Each schema is compiled once. */
export function createJudge(schemas: Record<string, Json>) {
  const validators = new Map<Json, z.ZodType>()

  /**
   * Returns the schemas that a schema refers to, directly or indirectly. Otherwise the whole document would
   * be read for each response.
   */
  function schemasOf(schema: Json, found: Record<string, Json> = {}): Record<string, Json> {
    for (const [, name = ''] of JSON.stringify(schema).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (found[name] !== undefined) continue
      found[name] = schemas[name]
      schemasOf(schemas[name], found)
    }
    return found
  }

  function validatorOf(schema: Json): z.ZodType {
    const known = validators.get(schema)
    if (known !== undefined) return known
    const whole = JSON.stringify({ ...schema, $defs: schemasOf(schema) })
    const made = z.fromJSONSchema(JSON.parse(whole.replaceAll(REFERENCE, '#/$defs/')))
    validators.set(schema, made)
    return made
  }

  /** Returns what is wrong with a response, or null. Of a stream only the existence is checked. */
  return function judge({ status, type, text }: Answer, operation: Json): string | null {
    if (status >= 500) return `${status} ${text.slice(0, 300)}`
    const described = operation.responses[status]
    if (described === undefined) return `${status} is not described: ${text.slice(0, 300)}`
    if (described.content !== undefined && described.content[type] === undefined)
      return `${status} is not described as ${type}: ${text.slice(0, 300)}`
    const schema = described.content?.['application/json']?.schema
    if (schema === undefined || type !== 'application/json') return null
    let read: unknown
    try {
      read = JSON.parse(text)
    } catch {
      return `${status} is no JSON: ${text.slice(0, 200)}`
    }
    const { error } = validatorOf(schema).safeParse(read)
    if (error === undefined) return null
    const issues = error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`)
    return `${status} off its schema: ${issues.slice(0, 3).join('; ')} in ${text.slice(0, 300)}`
  }
}
