import { expect, it } from 'vitest'
import { isMet } from '../../dashboard/src/screens/sheet/conditions.ts'

it.each([
  ['is', '1.0', '1', true],
  ['is not', '1.0', '1', false],
  ['is', 'Acme', 'acme', false],
  ['greater than', '9007199254740993', '9007199254740992', true],
  ['less than', '.5', '1', true],
  ['greater than', '+15551234', '1', false],
  ['is after', '2026-02-01', '2026-01-31', true],
])('D34: the panel explains %s of %j and %j as the server decides it: %s', (operator, value, wanted, met) => {
  expect(isMet({ operator, values: [wanted] }, value)).toBe(met)
})
