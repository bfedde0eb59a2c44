import { beforeAll, describe, expect, it } from 'vitest'
import { createLog } from '#server/lib/log.ts'
import { targets } from '#test/plumbing/databases.ts'
import { makeDatabase } from '#test/plumbing/harness.ts'
import { openStore, type Store } from './db.ts'

describe.each(targets())('columns that are known from an earlier result, on $name', (target) => {
  let store: Store

  beforeAll(async () => {
    store = openStore({ url: await makeDatabase(target), log: createLog('silent'), connections: 1 })
    return () => store.close()
  })

  it('each result has rows of its own', async () => {
    const read = (a: number, b: string | null) =>
      store.query<{ a: number; b: string | null }>({
        name: 'known',
        text: 'select $1::int as a, $2::text as b union all select 9, null',
        values: [a, b],
      })
    const first = await read(1, 'one')
    const second = await read(2, null)
    expect(first).toEqual([
      { a: 1, b: 'one' },
      { a: 9, b: null },
    ])
    expect(second).toEqual([
      { a: 2, b: null },
      { a: 9, b: null },
    ])
    for (const row of second) row.a = 3
    expect(await read(4, 'four')).toMatchObject([{ a: 4, b: 'four' }, { a: 9 }])
  })

  it.each([
    ['select 1 as a, true as b', { a: 1, b: true }],
    [`select '1' as a, 'true' as b`, { a: '1', b: 'true' }],
    [`select '{"x": 1}'::json as a, array[1, 2] as b`, { a: { x: 1 }, b: [1, 2] }],
    ['select null::int as a, null::boolean as b', { a: null, b: null }],
    ['select 1 as a, 2 as a', { a: 2 }],
    ['select 1 as a, 2 as b, 3 as c', { a: 1, b: 2, c: 3 }],
  ])('columns of the same names are read by their types: %s', async (text, row) => {
    for (let n = 0; n < 2; n += 1) expect(await store.query({ text })).toEqual([row])
  })

  it('more kinds of results than are remembered are read as well', async () => {
    for (let n = 0; n < 600; n += 1)
      expect(await store.query({ text: `select ${n} as a, ${n} as b${n}` })).toEqual([{ a: n, [`b${n}`]: n }])
  })
})
