import { expect, it } from 'vitest'
import { nameParameters } from './named-parameters.ts'

it('parameters have the places in which they are first named, and operators are left alone', () => {
  const { text, names } = nameParameters(
    `select @rows::uuid[], @k::int from t where data @> '{}' and n = any(@rows)`,
  )
  expect(text).toBe(`select $1::uuid[], $2::int from t where data @> '{}' and n = any($1)`)
  expect(names).toEqual(['rows', 'k'])
})
