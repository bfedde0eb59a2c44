import { expect, it } from 'vitest'
import { splitFullName } from './full-name.ts'

it.each(['(', '“', '"', '(a '])('a million characters of %j are no name, and soon gone through', (part) => {
  const name = splitFullName(`Ada Byron ${part.repeat(1_000_000 / part.length)}`)
  expect(name.first).toBe('Ada')
  expect(JSON.stringify(name).length).toBeLessThan(2000)
})
