import { expect, it } from 'vitest'
import { useActions } from '../testing/run-action.ts'

const runAction = useActions()

it.each([
  ['+41 44 668 18 00', undefined, true, '+41446681800', 'CH', 'fixed_line'],
  ['0171 1234567', 'de', true, '+491711234567', 'DE', 'mobile'],
  ['(213) 373-4253', 'US', true, '+12133734253', 'US', 'fixed_line_or_mobile'],
  ['+1 213 373 4253', 'DE', true, '+12133734253', 'US', 'fixed_line_or_mobile'],
  ['0800 123', 'DE', false, '+49800123', 'DE', null],
  ['12', 'DE', false, null, null, null],
  ['call me', undefined, false, null, null, null],
  ['044 668 18 00', undefined, false, null, null, null],
])('parse_phone_number of %s in %s', async (value, default_country, valid, e164, country, type) => {
  const inputs = { value, ...(default_country === undefined ? {} : { default_country }) }
  const outcome = await runAction('parse_phone_number', inputs)
  expect(outcome).toMatchObject({ kind: 'done', outputs: { valid, e164, country, type } })
})

it('parse_phone_number also returns the spellings for people', async () => {
  const outcome = await runAction('parse_phone_number', { value: '+41446681800' })
  expect(outcome).toMatchObject({ outputs: { international: '+41 44 668 18 00', national: '044 668 18 00' } })
})

it('parse_phone_number fails for an unknown country', async () => {
  const outcome = await runAction('parse_phone_number', { value: '1', default_country: 'Germany' })
  expect(outcome).toEqual({
    kind: 'failed',
    message: expect.stringContaining('default_country must be a country'),
  })
})
