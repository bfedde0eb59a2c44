import { afterAll, beforeAll, expect } from 'vitest'
import { listen, stopListening, takeFaults } from './outside-calls.ts'

// I5: a test file that makes an outside call inside a transaction fails.
beforeAll(() => {
  takeFaults()
  listen()
})
afterAll(() => {
  stopListening()
  expect(takeFaults(), 'calls to the outside').toEqual([])
})
