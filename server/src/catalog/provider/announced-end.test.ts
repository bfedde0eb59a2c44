import { expect, it } from 'vitest'
import { loadProviders } from '../providers/registry.ts'
import { describeEnd } from './announced-end.ts'

const ends = { on: '2027-02-16', part: 'version 1 of the tokens' }
const provider = { id: 'hubspot', name: 'HubSpot', ends }

it.each([
  ['2026-12-01T00:00:00Z', null],
  ['2026-12-18T00:00:00Z', /HubSpot: version 1 of the tokens ends on 2027-02-16, in 60 days; update Loam/],
  ['2027-02-15T12:00:00Z', /in 1 day;/],
  [
    '2027-03-01T00:00:00Z',
    /ended on 2027-02-16; update Loam, or move hubspot with LOAM_PROVIDER_URL_HUBSPOT/,
  ],
])('on %s an end on 2027-02-16 is told as %s', (now, told) => {
  const text = describeEnd(provider, new Date(now))
  if (told === null) expect(text).toBeNull()
  else expect(text).toMatch(told)
  expect(describeEnd({ ...provider, ends: null }, new Date(now))).toBeNull()
})

it('every end is a day', async () => {
  const wrong = (await loadProviders()).filter(
    (one) => one.ends !== null && !/^\d{4}-\d{2}-\d{2}$/.test(one.ends.on),
  )
  expect(wrong.map(({ id }) => id)).toEqual([])
})
