import { type RawBuilder, sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { newId } from '#server/lib/ids.ts'
import { targets } from '#test/plumbing/databases.ts'
import { makeStore } from '#test/plumbing/harness.ts'
import type { Lines } from './copy-out.ts'
import { openSnapshot, type Snapshot } from './snapshot.ts'

describe.each(targets())('a snapshot on $name', async (target) => {
  const { store, databaseUrl } = await makeStore(target)
  const never = new AbortController().signal

  async function withSnapshot<Result>(work: (snapshot: Snapshot) => Promise<Result>): Promise<Result> {
    const snapshot = await openSnapshot(store.system, databaseUrl, newId(), never)
    try {
      return await work(snapshot)
    } finally {
      await snapshot.close()
    }
  }

  async function textOf(blocks: AsyncIterable<Lines>): Promise<{ text: string; count: number }> {
    const parts: Lines[] = []
    for await (const block of blocks) parts.push(block)
    return {
      text: Buffer.concat(parts.map(({ bytes }) => bytes)).toString('utf8'),
      count: parts.reduce((sum, { count }) => sum + count, 0),
    }
  }
  const copy = (statement: RawBuilder<unknown>) =>
    withSnapshot((snapshot) => textOf(snapshot.copy(statement, '\n')))

  it.each(["'", "''; drop table rows; --", '\\', "\\'; --", '$1', '"', '{"a",NULL}', 'Zürich 🌱', ''])(
    'values stay values in a COPY, which takes no parameters: %j',
    async (value) => {
      const { text } = await copy(sql`select to_json(${value}::text), to_json(${[value, 'x']}::text[])`)
      const [one, list] = text.trimEnd().split('\u0001')
      expect([JSON.parse(one ?? ''), JSON.parse(list ?? '')]).toEqual([value, [value, 'x']])
    },
  )

  it('lines come whole and in order, however long they are', async () => {
    const lengths = [0, 10, 300_000, 5, 2_000_000, 1]
    const { text, count } = await copy(
      sql`select '[' || repeat('ä', n) || ']' from unnest(${lengths}::int[]) n`,
    )
    expect(text.split('\n').map((line) => line.length)).toEqual([...lengths.map((n) => n + 2), 0])
    expect(count).toBe(lengths.length)
  })

  it('is read no faster than it is taken: what waits in memory stays small', async () => {
    const before = process.memoryUsage().rss
    const rows = await withSnapshot(async (snapshot) => {
      let count = 0
      let peak = 0
      const statement = sql`select repeat('x', 1000) from generate_series(1, 200000)`
      for await (const block of snapshot.copy(statement, '\n')) {
        count += block.count
        peak = Math.max(peak, process.memoryUsage().rss)
        if (count < 50_000) await new Promise((resolve) => setTimeout(resolve, 1))
      }
      expect((peak - before) / 2 ** 20).toBeLessThan(150)
      return count
    })
    expect(rows).toBe(200_000)
  })

  it('speaks for one organisation, and sees what was there when it was opened', async () => {
    const orgId = newId()
    const other = newId()
    await store.query({
      text: 'insert into organisations (org_id, name) values ($1, $3), ($2, $3)',
      values: [orgId, other, 'x'],
    })
    const names = sql<{ name: string }>`select name from organisations`
    const snapshot = await openSnapshot(store.system, databaseUrl, orgId, never)
    expect(await snapshot.query(names)).toEqual([{ name: 'x' }])
    await store.query({ text: 'update organisations set name = $2 where org_id = $1', values: [orgId, 'y'] })
    expect(await snapshot.query(names)).toEqual([{ name: 'x' }])
    expect((await textOf(snapshot.copy(names, '\r\n'))).text).toBe('x\r\n')
    await snapshot.close()
  })

  it('ends when it is aborted, or when its reader stops; a failing statement reports its cause', async () => {
    const ending = new AbortController()
    const snapshot = await openSnapshot(store.system, databaseUrl, newId(), ending.signal)
    const endless = sql`select generate_series(1, 1000000000)`
    const reading = textOf(snapshot.copy(endless, '\n'))
    ending.abort()
    await expect(reading).rejects.toThrow('Connection terminated')
    await snapshot.close()
    await withSnapshot(async (left) => {
      for await (const block of left.copy(endless, '\n')) if (block.count > 0) break
    })
    await expect(copy(sql`select 1 / (n - 5) from generate_series(1, 9) n`)).rejects.toThrow(
      'division by zero',
    )
  })
})
