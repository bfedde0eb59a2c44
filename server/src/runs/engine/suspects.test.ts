import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createEnding } from './ending.ts'
import type { Flight } from './flights/flight.ts'
import { createSuspects } from './suspects.ts'

type Life = { died: boolean; tested: Map<string, number> }

/**
 * Lives one life of a worker that has these rows as suspects. It ends when the guilty row is run, or all are settled.
 */
async function live(rows: Map<string, number | null>, guilty: string | null): Promise<Life> {
  const end = new AbortController()
  const tested = new Map<string, number>()
  const suspects = createSuspects({
    ending: createEnding(end.signal),
    async mark({ row }, size) {
      tested.set(row.id, size)
      return true
    },
  })
  const died = Promise.withResolvers<boolean>()
  const walks = [...rows].map(async ([id, testedIn]) => {
    const settled = await suspects.enter(flightOf(id, testedIn))
    if (end.signal.aborted) return
    if (id === guilty) {
      died.resolve(true)
      return
    }
    await sleep(1)
    if (end.signal.aborted) return
    rows.delete(id)
    tested.delete(id)
    settled()
  })
  void Promise.all(walks).then(() => died.resolve(false))
  const result = await died.promise
  end.abort()
  return { died: result, tested: new Map(tested) }
}

const flightOf = (id: string, testedIn: number | null): Flight => ({
  facts: {
    org_id: '',
    run_id: '',
    sheet_id: '',
    revision: 1,
    actions: ['a'],
    cache_enabled: false,
    fresh_since: null,
    continue_on_fail: false,
    hops: 0,
    key_id: null,
    price_version: 1,
    trigger: 'api',
    workflow_id: '',
    cap_purse_id: null,
    member: null,
  },
  row: { id, data: null, cells: null, unreadBytes: 0 },
  fence: { run: '', ticket: 1, attempt: 2 },
  position: {
    action: 'a',
    retries: 0,
    heldMillis: 0,
    reservation: null,
    refusal: null,
    state: null,
    stalledClaims: 2,
    isTakenOver: true,
    hasFailed: false,
    testedIn,
  },
  runState: 'running',
})

/** Lives until no suspect is left, or a row was alone twice when its worker died. */
async function convict(count: number, guilty: string | null) {
  const rows = new Map<string, number | null>(Array.from({ length: count }, (_, n) => [`row ${n}`, null]))
  for (let deaths = 1; ; deaths += 1) {
    const { died, tested } = await live(rows, guilty)
    if (!died) return { deaths, convicted: null, left: rows.size }
    for (const [id, size] of tested) if (rows.has(id)) rows.set(id, size)
    const convicted = [...rows].find(([, size]) => size === 0)?.[0]
    if (convicted !== undefined) return { deaths: deaths + 1, convicted, left: rows.size }
  }
}

it('R6: of a few suspects the guilty one is found after three deaths, and all others finish', async () => {
  expect(await convict(40, 'row 7')).toEqual({ deaths: 3, convicted: 'row 7', left: 1 })
})

it('R17: of a thousand suspects the guilty one is found by ever smaller groups', async () => {
  expect(await convict(1000, 'row 700')).toEqual({ deaths: 5, convicted: 'row 700', left: 1 })
})

it('R17: if no suspect is guilty, all of them finish in one life', async () => {
  expect(await convict(1000, null)).toEqual({ deaths: 1, convicted: null, left: 0 })
})
