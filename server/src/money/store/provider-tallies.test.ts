import { expect, it } from 'vitest'
import { newId } from '#server/lib/ids.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import {
  addProviderTallies,
  forgetOldTallies,
  type ProviderTally,
  readHitRates,
  TIME_PLACES,
} from './provider-tallies.ts'

const app = await makeApp()
const DAY_MS = 24 * 60 * 60_000
const dayAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)
const createTimes = (...counts: [place: number, count: number][]) =>
  Array.from({ length: TIME_PLACES }, (_, n) => counts.find(([place]) => place === n)?.[1] ?? 0)

const tallyFor = (org: string, more: Partial<ProviderTally> = {}): ProviderTally => ({
  org,
  day: dayAgo(0),
  action: 'find',
  provider: 'Hunter',
  asked: 10,
  found: 4,
  verified: 3,
  creditsMillis: 4000,
  times: createTimes([5, 10]),
  ...more,
})
const read = (org: string, days = 30) => readHitRates(app.store.system, org, { days })

it('sums of a day from all processes are added up, and days make a rate', async () => {
  const { orgId } = await app.makeOrg()
  const later = tallyFor(orgId, { times: createTimes([9, 10]), creditsMillis: 2000 })
  await Promise.all([
    addProviderTallies(app.store, [
      tallyFor(orgId),
      tallyFor(orgId, { provider: 'Apollo', found: 0, creditsMillis: 0 }),
    ]),
    addProviderTallies(app.store, [
      later,
      tallyFor(orgId, { provider: 'Apollo', found: 0, creditsMillis: 0 }),
    ]),
  ])
  await addProviderTallies(app.store, [tallyFor(orgId, { day: dayAgo(3), times: createTimes([9, 10]) })])
  expect(await read(orgId)).toEqual([
    {
      action: 'find',
      provider: 'Hunter',
      asked: 30,
      found: 12,
      verified: 9,
      price_per_find: 0.833,
      // Ten answers took 32 to 64 ms and twenty took 512 to 1024 ms: the fifteenth is a quarter into the second range.
      p50_ms: 640,
    },
    {
      action: 'find',
      provider: 'Apollo',
      asked: 20,
      found: 0,
      verified: 6,
      price_per_find: null,
      p50_ms: 48,
    },
  ])
})

it('only the days that are asked about count, and only those of the organisation', async () => {
  const [mine, other] = [await app.makeOrg(), await app.makeOrg()]
  await addProviderTallies(app.store, [
    tallyFor(mine.orgId, { day: dayAgo(20) }),
    tallyFor(mine.orgId, { day: dayAgo(40) }),
    tallyFor(other.orgId, { day: dayAgo(0), asked: 1000 }),
  ])
  expect(await read(mine.orgId)).toMatchObject([{ asked: 10 }])
  expect(await read(mine.orgId, 5)).toEqual([])
})

it('a deleted organisation is left out, and the others are counted', async () => {
  const { orgId } = await app.makeOrg()
  await addProviderTallies(app.store, [tallyFor(newId()), tallyFor(orgId)])
  expect(await read(orgId)).toMatchObject([{ asked: 10 }])
})

it('old sums are forgotten', async () => {
  const { orgId } = await app.makeOrg()
  await addProviderTallies(app.store, [
    tallyFor(orgId, { day: dayAgo(150) }),
    tallyFor(orgId, { day: dayAgo(90) }),
  ])
  await forgetOldTallies(app.store.system)
  expect(await read(orgId, 1000)).toMatchObject([{ asked: 10 }])
})
