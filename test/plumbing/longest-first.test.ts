import { existsSync } from 'node:fs'
import { expect, it } from 'vitest'
import { LONG_FILES } from './longest-first.ts'

it.each(Object.keys(LONG_FILES))('the file %s, which is to begin early, is there', (path) => {
  expect(existsSync(path)).toBe(true)
})
