import { expect, it } from 'vitest'
import { arrayOf, groupBy } from './groups.ts'

const of = (run: string | null, ticket: number) => ({ run, ticket })
const VALUES = [({ run }: ReturnType<typeof of>) => run, ({ ticket }: ReturnType<typeof of>) => ticket]

it('items with the same values are of one group, even if others come between them', () => {
  const items = [of('a', 1), of('a', 1), of('a', 2), of('b', 1), of('a', 1), of(null, 1)]
  const { places, firsts } = groupBy(items, VALUES)
  expect(places).toEqual([1, 1, 2, 3, 1, 4])
  expect(firsts).toEqual([items[0], items[2], items[3], items[5]])
  expect(groupBy([], VALUES)).toEqual({ places: [], firsts: [] })
})

it('groups that take turns keep their places', () => {
  const items = [
    of('a', 1),
    of('a', 2),
    of('a', 3),
    of('a', 1),
    of('a', 2),
    of('a', 3),
    of('a', 2),
    of('b', 3),
  ]
  expect(groupBy(items, VALUES).places).toEqual([1, 2, 3, 1, 2, 3, 2, 4])
})

it('null is a value of an array as well', () => {
  expect(arrayOf(['a', null, 1, false])).toBe('{a,NULL,1,false}')
})
