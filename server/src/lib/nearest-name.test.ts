import { expect, it } from 'vitest'
import { didYouMean, findNearest } from './nearest-name.ts'

const NAMES = ['LOAM_DATA_DIR', 'LOAM_ROLES', 'http_api_call', 'filter', 'id', 'n']

it.each([
  ['LOAM_DATADIR', 'LOAM_DATA_DIR'],
  ['loam_roels', 'LOAM_ROLES'],
  ['http_api_cal', 'http_api_call'],
  ['fitler', 'filter'],
  ['ip', 'id'],
  ['something else', undefined],
  ['N', 'n'],
  ['x', undefined],
  ['', undefined],
  ['x'.repeat(1_000_000), undefined],
])('%.30s is most likely %s', (given, meant) => {
  expect(findNearest(given, NAMES)).toBe(meant)
})

it('prints a hint, or nothing', () => {
  expect([didYouMean('fliter', NAMES), didYouMean('unlike', NAMES)]).toEqual(['; did you mean filter?', ''])
})
