import { callOver, makeSheet } from '#test/builders/sheets.ts'
import type { Json } from '#test/plumbing/harness.ts'
import { check, say } from '../checks/installation.ts'

type Sent = { method: string; path: string; body?: string | Buffer; type?: string }

/** Sends a request. `what` names it in the output. */
export type Send = (what: string, sent: Sent) => Promise<{ status: number; text: string }>

/** The server that is attacked, and the key of the attacker. */
export type Target = { origin: string; key: string; send: Send }

export type SendOptions = {
  /** Prints every answer. */
  list: boolean
  /** A text that only another organisation has. */
  canary: string
}

/** Returns a target. A 5xx, or the canary in an answer, is a failed check. */
export function targetOf(origin: string, key: string, { list, canary }: SendOptions): Target {
  const send: Send = async (what, { method, path, body, type }) => {
    const answer = await fetch(`${origin}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': type ?? 'application/json' },
      ...(body === undefined ? {} : { body }),
      signal: AbortSignal.timeout(60_000),
    })
    const text = await answer.text()
    if (list) say(`  ${what}: ${answer.status} ${text.slice(0, 120)}`)
    if (answer.status >= 500) check(`${what}: ${text.slice(0, 200)}`, answer.status, 'no 5xx')
    if (text.includes(canary)) check(`${what}: what others hold`, 'shown', 'hidden')
    return { status: answer.status, text }
  }
  return { origin, key, send }
}

/**
 * Puts hostile texts into every field of every body of the API, and into queries and headers. `url` serves a JSON list.
 */
export async function sendRequests(
  { origin, key, send }: Target,
  texts: readonly [what: string, text: string][],
  url: string,
): Promise<number> {
  const call = callOver(origin, key)
  const chain = [{ action_id: 'normalize_domain', inputs: { value: '{{input.text}}' } }]
  const sheet = await makeSheet(call, ['text'], chain)
  const row = await call('POST', `${sheet}/rows`, { rows: [{ text: 'a' }] })
  const source = await call('POST', '/sources/import_from_api', { url, name: 'A' }).catch(() => undefined)
  const ids: Record<string, string> = {
    workflow_id: sheet.slice(-36),
    sheet_id: sheet.slice(-36),
    row_id: row.data.row_ids[0],
    action_instance_id: 'normalize_domain_1',
    action_id: 'normalize_domain',
    field_name: 'value',
    source_id: 'import_from_api',
    source_instance_id: source?.data.source_instance_id ?? source?.data.instance_id ?? 'x',
  }
  const document = (await fetch(`${origin}/api/v1/openapi.json`).then((answer) => answer.json())) as Json
  let shapes = 0
  for (const [path, item] of Object.entries<Json>(document.paths)) {
    for (const [method, operation] of Object.entries<Json>(item)) {
      if (['agent', 'hooks', 'changes'].some((word) => path.includes(word))) continue
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? ids['workflow_id'] ?? '')
      const fields = fieldsOf(operation, document)
      for (const field of fields) {
        const [what, text] = texts[(shapes * 7) % texts.length] ?? ['', '']
        for (const value of [text, [text, text], { [text]: text }, [{ [text.slice(0, 900)]: text }]]) {
          shapes += 1
          const body = JSON.stringify({ [field]: value, [text.slice(0, 200)]: 1 })
          const named = `${method.toUpperCase()} ${path}, ${what} in ${field}`
          await send(named, { method: method.toUpperCase(), path: filled, body })
        }
      }
      const [what, text] = texts[(shapes * 7) % texts.length] ?? ['', '']
      if (method !== 'get') continue
      shapes += 1
      const query = `?cursor=${encodeURIComponent(text.toWellFormed()).slice(0, 6000)}&limit=${'9'.repeat(300)}`
      await send(`GET ${path}, ${what}`, { method: 'GET', path: `${filled}${query}` })
    }
  }
  return shapes
}

/** Returns the names of the fields of a body. */
function fieldsOf(operation: Json, document: Json): string[] {
  const schema = operation.requestBody?.content?.['application/json']?.schema ?? {}
  const names = (one: Json, depth: number): string[] => {
    if (depth > 4) return []
    const found =
      typeof one.$ref === 'string' ? document.components.schemas[one.$ref.split('/').at(-1) ?? ''] : one
    return [
      ...Object.keys(found?.properties ?? {}),
      ...[found?.anyOf, found?.oneOf, found?.allOf].flatMap((list: Json[] = []) =>
        list.flatMap((part) => names(part, depth + 1)),
      ),
    ]
  }
  return [...new Set(names(schema, 0))]
}
