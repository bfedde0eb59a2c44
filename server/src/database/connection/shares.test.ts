import { expect, it, onTestFinished } from 'vitest'
import { createLog } from '#server/lib/log.ts'
import { makeDatabase } from '#test/plumbing/harness.ts'
import { insertOrganisation } from '../../organisation/store/organisations.ts'
import { type Db, isUnavailable, openStore } from './db.ts'
import { openTransaction } from './open-transaction.ts'

const url = await makeDatabase()

async function open() {
  const store = openStore({ url, log: createLog('silent'), connections: 20 })
  onTestFinished(() => store.close())
  const orgs = [await insertOrganisation(store.system, 'A'), await insertOrganisation(store.system, 'B')]
  return { store, orgs: orgs as [string, string] }
}

const look = (db: Db) => db.selectFrom('organisations').select('org_id').execute()

/** Opens `asked` transactions at once. Returns those that began and stay open, and the errors of the others. */
async function hold(db: Db, asked: number) {
  const begun: { end: () => Promise<void> }[] = []
  const failed: unknown[] = []
  const work = Array.from({ length: asked }, async () => {
    const { trx, rollback } = await openTransaction(db)
    await look(trx).then(
      () => begun.push({ end: rollback }),
      async (cause: unknown) => {
        failed.push(cause)
        await rollback()
      },
    )
  })
  const end = async () => {
    for (const one of begun) await one.end()
    await Promise.all(work)
    for (const one of begun) await one.end()
  }
  return { begun, failed, work, end }
}

it('I5: while a process works for several, one has at most a third of its connections', async () => {
  const { store, orgs } = await open()
  const [a, b] = orgs
  await look(store.org(b))
  const held = await hold(store.org(a), 11)
  await expect.poll(() => held.begun.length + held.failed.length).toBe(11)
  expect(held.begun).toHaveLength(4)
  // The others fail with the same error as when no connection is free.
  expect(held.failed.every(isUnavailable)).toBe(true)
  expect(await look(store.org(b))).toHaveLength(1)
  for (const one of held.begun.splice(0, 1)) await one.end()
  expect(await look(store.org(a))).toHaveLength(1)
  await held.end()
})

it('a waiting request gets a connection when another of its organisation is given back', async () => {
  const { store, orgs } = await open()
  const [a, b] = orgs
  await look(store.org(b))
  const held = await hold(store.org(a), 5)
  await expect.poll(() => held.begun.length).toBe(4)
  await held.begun[0]?.end()
  await expect.poll(() => held.begun.length).toBe(5)
  await held.end()
  expect(held.failed).toEqual([])
})

it('the only organisation of a process has all of them', async () => {
  const { store, orgs } = await open()
  const held = await hold(store.org(orgs[0]), 11)
  await expect.poll(() => held.begun.length).toBe(11)
  await held.end()
})
