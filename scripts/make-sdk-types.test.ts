import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { printSdkTypes, TYPES_FILE } from './make-sdk-types.ts'

it('the types of the SDK match the contract: npm run docs', async () => {
  expect(readFileSync(TYPES_FILE, 'utf8')).toBe(await printSdkTypes())
})
