import { expect, it } from 'vitest'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { makeChain } from '../../../api/testing/chain.ts'
import { signIn } from '../../../api/testing/session.ts'

const app = await makeApp()
const org = await app.makeOrg()
const session = await signIn(app, org.orgId, org.adminEmail)
const chain = await makeChain(app, org)

type Words = { name: string; label: string; help: string; placeholder: string | null; group: string }

/** Checks the words of the fields of one form. `required` names those that must not be hidden. */
function checkWords(where: string, fields: readonly Words[], required: readonly string[]): void {
  const labels = fields.map(({ label }) => label.toLowerCase())
  expect([where, new Set(labels).size]).toEqual([where, labels.length])
  for (const { name, label, help, placeholder, group } of fields) {
    const at = `${where}.${name}`
    expect(label, at).toMatch(/^[A-Z][^_\n]{1,39}$/)
    expect(help, at).toMatch(/^[A-Z][^\n`{}[\]<>]{4,158}[.?]$/)
    // No ids, no JSON, no names of the program's parts.
    expect(help, at).not.toMatch(
      /[a-z0-9]_[a-z0-9]|\bJSON\b|\bboolean\b|\bstring\b|\bnull\b|\btoken\b(?! of)/,
    )
    expect(placeholder === null || placeholder.trim() !== '', at).toBe(true)
    expect(['main', 'advanced'], at).toContain(group)
    if (required.includes(name)) expect([at, group]).toEqual([at, 'main'])
  }
}

const requiredOf = (fields: Json[]): string[] =>
  fields.flatMap(({ name, required }) => (required ? [name] : []))

it('H1: every field of the catalogue has words for people, alike in the catalogue, Add Action and Get Action', async () => {
  const { body } = await org.call('GET', '/actions')
  for (const { action_id, inputs } of body.data) {
    checkWords(action_id, inputs, requiredOf(inputs))
    const one = await org.call('GET', `/actions/${action_id}`)
    expect(one.body.data.inputs).toEqual(inputs)
    const added = await chain.call('POST', '/add', { action_id })
    const got = await chain.call('GET', `/${added.body.data.action_instance_id}`)
    const plain = inputs.map(({ options: _o, option_labels: _l, providers: _p, ...words }: Json) => words)
    expect([added.body.data.inputs, got.body.data.fields]).toEqual([plain, plain])
    for (const warning of [...added.body.warnings, ...(got.body.warnings ?? [])]) {
      expect(warning.text, action_id).toMatch(/^["A-Z]/)
      expect(warning.text, action_id).not.toMatch(/inputs\.|required_field|[a-z]_[a-z]/)
    }
  }
})

it('H1: options of fixed choices have labels, never ids', async () => {
  const { body } = await org.call('GET', '/actions')
  for (const { action_id, inputs } of body.data) {
    for (const { name, options, option_labels } of inputs as Json[]) {
      expect([action_id, name, option_labels?.length]).toEqual([action_id, name, options?.length])
      for (const label of option_labels ?? []) expect(label, `${action_id}.${name}`).not.toContain('_')
    }
  }
})

it('H1: every field of a source has words for people', async () => {
  const { body } = await session.call('GET', '/source-types')
  expect(body.data.length).toBeGreaterThan(20)
  for (const { source_id, slug = source_id, fields } of body.data) {
    checkWords(slug, fields, requiredOf(fields))
    for (const { name, fields: nested } of fields) checkWords(`${slug}.${name}`, nested, requiredOf(nested))
  }
})

it('H1: every field of a connection has words for people', async () => {
  const { body } = await session.call('GET', '/providers')
  expect(body.data.length).toBeGreaterThan(40)
  for (const { provider, field_sets, optional_fields, fields } of body.data) {
    const names = fields.map(({ name }: Words) => name)
    expect(names).toEqual([...new Set([...field_sets.flat(), ...optional_fields])])
    checkWords(provider, fields, field_sets.flat())
  }
})
