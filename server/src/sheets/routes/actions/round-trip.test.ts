import { expect, it } from 'vitest'
import type { Field } from '#server/catalog/fields/field.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { makeChain } from '../../../api/testing/chain.ts'

const app = await makeApp()
const actions = app.services.catalogue.list()

const LONG = '12345678901234567890.10'
const TOKEN = '{{input.email}}'

/** Odd values as JSON text, so that numbers keep their digits. Each is sent to every field; some fields refuse some. */
const ODD: readonly string[] = [
  JSON.stringify(TOKEN),
  JSON.stringify(` a ${TOKEN}\n\t"b" \\ {{input.none}} 🙂 `),
  JSON.stringify(`{"a": "${TOKEN}", "n": ${LONG}, "list": [1.50, {"deep": "${TOKEN}${TOKEN}"}]}`),
  JSON.stringify(`(${TOKEN} ?? "").map((x) => \`\${x} {{\`)[0]?.["é"] // }}`),
  JSON.stringify('12.50'),
  'true',
  'false',
  `["${TOKEN}", " b ", "", "{\\"a\\": [1]}"]`,
  `[${LONG}, {"a": ${LONG}, "b": [null, true, "${TOKEN}"]}, "x"]`,
  `[{"name": "n", "value": "${TOKEN}", "label": "L", "more": "kept"}, {"name": "m", "value": {"a": [${LONG}]}}, {}]`,
  `{"id": ${LONG}, "who": "${TOKEN}", "__proto__": {"a": "b"}, "deep": {"list": [[], {}]}}`,
  '[]',
  '{}',
]

/** Values that are only right for one kind of field. */
function valuesOf({ kind, options, waterfall }: Field): string[] {
  const conditions = (value: string) =>
    `[{"combinator": "OR", "conditions": [{"variable": "${TOKEN}", "operator": "is", "values": [${value}]}, {"combinator": "AND", "variable": "${TOKEN}", "operator": "is not empty", "values": []}]}]`
  const steps = (waterfall?.providers ?? []).map(({ name, supportsOwnKey }) =>
    supportsOwnKey ? { name, use_own_key: true } : name,
  )
  return [
    ...(options !== undefined && 'fixed' in options ? options.fixed.map(({ value }) => `"${value}"`) : []),
    ...(waterfall === undefined
      ? []
      : [JSON.stringify(steps), JSON.stringify(steps.toReversed().slice(0, 1))]),
    ...(kind === 'conditions' ? [conditions('"a"'), conditions(LONG)] : []),
    ...(kind === 'answer_fields'
      ? [
          '{"fields": [{"name": "industry", "type": "string", "description": "One of \\"a\\", b"}, {"name": "size", "type": "number"}]}',
          `{"json": {"type": "object", "properties": {"n": {"type": "number", "maximum": ${LONG}}}}}`,
        ]
      : []),
  ]
}

const RUN_IF = `{"conditions": [{"conditions": [{"variable": "${TOKEN}", "operator": "contains", "values": [${LONG}]}]}]}`

it.each(actions)(
  'H3: whatever $id is configured with survives Configure with what Get Action shows, byte for byte',
  async ({ id, inputs }) => {
    const org = await app.makeOrg()
    const chain = await makeChain(app, org)
    const instance = await chain.add(id)
    const path = `/api/v1${chain.sheet}/actions/${instance}`
    const send = async (method: 'GET' | 'PATCH', payload?: string) => {
      const headers = { authorization: `Bearer ${org.key}`, 'content-type': 'application/json' }
      const answer = await app.api.inject({
        method,
        url: path,
        headers,
        ...(payload === undefined ? {} : { payload }),
      })
      return { status: answer.statusCode, text: answer.body }
    }
    const fields = Object.entries(inputs)
    const rounds = Math.max(ODD.length, ...fields.map(([, field]) => valuesOf(field).length))
    const accepted = new Map<string, number>()
    for (let round = 0; round < rounds; round += 1) {
      const given = new Map(
        fields.map(([name, field]) => {
          const values = [...valuesOf(field), ...ODD]
          return [name, values[round % values.length] ?? 'null']
        }),
      )
      const first = await configure(send, given)
      for (const name of first) accepted.set(name, (accepted.get(name) ?? 0) + 1)
      const before = await chain.definition()
      const shown = await send('GET')
      const { status } = await send('PATCH', pickConfiguration(shown.text))
      expect([id, round, status]).toEqual([id, round, 200])
      expect((await send('GET')).text).toBe(shown.text)
      expect(await chain.definition()).toEqual(before)
    }
    // Every field took a value of its kind; otherwise this would show nothing about it.
    for (const [name] of fields) expect([name, (accepted.get(name) ?? 0) > 0]).toEqual([name, true])
  },
)

type Send = (method: 'GET' | 'PATCH', payload?: string) => Promise<{ status: number; text: string }>

/** Configures the fields, leaving out those that the server refuses by name. Returns the names of the accepted ones. */
async function configure(send: Send, given: ReadonlyMap<string, string>): Promise<string[]> {
  const left = new Map(given)
  for (;;) {
    const values = [...left].map(([name, value]) => `${JSON.stringify(name)}: ${value}`)
    const { status, text } = await send(
      'PATCH',
      `{"inputs": {${values.join(', ')}}, "run_if": ${RUN_IF}, "note": " a\\n{{input.email}} "}`,
    )
    if (status === 200) return [...left.keys()]
    expect([status, text]).toEqual([400, text])
    const named = [...left.keys()].filter((name) => new RegExp(`"field":"inputs\\.${name}["\\[.]`).test(text))
    expect(named, text).not.toEqual([])
    for (const name of named) left.delete(name)
  }
}

/** Cuts what Configure takes out of the text of Get Action, without parsing numbers. */
function pickConfiguration(text: string): string {
  const keys = ['inputs', 'run_if', 'continue_workflow_if_action_fails', 'note']
  const { data } = JSON.parse(text, (_key, value: unknown, context?: { source: string }) =>
    typeof value === 'number' ? `\u0001${context?.source}\u0001` : value,
  ) as { data: Record<string, unknown> }
  const picked = Object.fromEntries(keys.flatMap((key) => (key in data ? [[key, data[key]]] : [])))
  return JSON.stringify(picked).replaceAll(/"\\u0001([^"]*)\\u0001"/g, '$1')
}
