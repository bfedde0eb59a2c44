import { expect, it } from 'vitest'
import type { Position } from '../flights/flight.ts'
import { createClaimWait, readState, stateOfCut, wasCutOff } from './parked-state.ts'

const at = (state: unknown, isTakenOver = false): Position => ({
  action: 'a',
  retries: 0,
  heldMillis: 0,
  reservation: null,
  refusal: null,
  state,
  stalledClaims: 1,
  isTakenOver,
  hasFailed: false,
  testedIn: null,
})

it.each([
  ['nothing', null, undefined],
  ['what the action handed over', { open: 1 }, { open: 1 }],
  ['a wait for another row, which is none of the action', createClaimWait('r'), undefined],
])('a cell that is parked in the middle keeps %s, and that it was cut off', (_name, state, own) => {
  expect(wasCutOff(at(state))).toBe(false)
  const kept: unknown = JSON.parse(JSON.stringify(stateOfCut(at(state))))
  expect([wasCutOff(at(kept)), readState(kept)]).toEqual([true, own])
  const again: unknown = JSON.parse(JSON.stringify(stateOfCut(at(kept))))
  expect(again).toEqual(kept)
})

it('a cell that was taken over was cut off', () => {
  expect(wasCutOff(at(null, true))).toBe(true)
})
