import { expect, it } from 'vitest'
import { plural } from './plural.ts'

it('a count and its noun agree', () => {
  expect([0, 1, 2].map((count) => plural(count, 'row'))).toEqual(['0 rows', '1 row', '2 rows'])
})
