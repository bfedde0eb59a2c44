import { expect, it } from 'vitest'
import { TIME_ZONES } from '../../dashboard/src/screens/schedule/time-zones.ts'

it('the list of time zones begins with UTC, and has each once', () => {
  expect(TIME_ZONES[0]).toBe('UTC')
  expect(TIME_ZONES).toContain('Europe/Berlin')
  expect(new Set(TIME_ZONES).size).toBe(TIME_ZONES.length)
})
