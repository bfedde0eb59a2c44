import { expect, it } from 'vitest'
import type { SourceType } from '#contract/screens.ts'
import { signIn } from '#server/api/testing/session.ts'
import { readFields, typeFields } from '../../dashboard/src/screens/sources/field-texts.ts'
import { makeApp } from '../plumbing/harness.ts'

const app = await makeApp()
const org = await app.makeOrg()
const session = await signIn(app, org.orgId, org.adminEmail)
const types: SourceType[] = (await session.call('GET', '/source-types')).body.data

/** Returns a value of the type of a field, as the API takes it. */
function sampleOf({ type, choices, fields }: SourceType['fields'][number]): unknown {
  const one = () =>
    Object.fromEntries(fields.map((field) => [field.name, sampleOf({ ...field, fields: [] })]))
  switch (type) {
    case 'number':
      return 7
    case 'boolean':
      return false
    case 'choice':
      return choices[0]
    case 'list':
      return ['a', 'b: c']
    case 'pairs':
      return { 'X-Team': 'sales', page: '1=2' }
    case 'object':
      return one()
    case 'objects':
      return [one(), one()]
    case 'json':
      return { type: 'cursor', path: 'meta.next' }
    case 'text':
    case 'connection':
      return 'some text'
  }
}

it.each(types)('H14: nothing is lost when $source_id is opened for an edit and saved', ({ fields }) => {
  const values = Object.fromEntries(fields.map((field) => [field.name, sampleOf(field)]))
  expect(readFields(fields, typeFields(fields, values))).toEqual(values)
})
