import { expect, it } from 'vitest'
import { parsePath, walkPath } from './path.ts'

const value = { person: { name: 'Ann', tags: ['a', { b: 1 }], none: null }, 'two words': 2, list: [] }

it.each([
  ['', value],
  ['.person.name', 'Ann'],
  ['?.person?.name', 'Ann'],
  ['.person.tags[1].b', 1],
  ['.person.tags?.[1]?.b', 1],
  ['["two words"]', 2],
  ["?.['two words']", 2],
  [' .person .name ', 'Ann'],
  ['.person.name.length', 3],
  ['.list.length', 0],
  ['.gone', undefined],
  ['.gone?.further.down', undefined],
  ['.person.none?.x[0].y', undefined],
  ['.constructor', undefined],
  ['.__proto__', undefined],
  ['.person.name.toUpperCase', undefined],
])('%j is read without a sandbox', (path, read) => {
  expect(walkPath(value, parsePath(path) ?? [])).toEqual({ ok: true, value: read })
  expect(parsePath(path)).not.toBeNull()
})

it.each([
  ['.gone.further', "TypeError: cannot read property 'further' of undefined"],
  ['.person.none.x', "TypeError: cannot read property 'x' of null"],
])('%s fails as it would in JavaScript', (path, message) => {
  expect(walkPath(value, parsePath(path) ?? [])).toEqual({ ok: false, message })
})

it.each(['.trim()', ' + 1', '[i]', '?.', '.1', '["a\\n"]', 'x', '.a b', '.a;'])(
  '%j is more than a path',
  (path) => {
    expect(parsePath(path)).toBeNull()
  },
)
