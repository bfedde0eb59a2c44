import { expect, it, onTestFinished } from 'vitest'
import { createLog } from '#server/lib/log.ts'
import { makeStore } from '#test/plumbing/harness.ts'
import { createWorkerIds, startHeartbeat } from './heartbeat.ts'

const { store, databaseUrl } = await makeStore()

/** Changes when PostgreSQL says that it was started, for connections that are made from now on. */
async function pretendStart(ago: string): Promise<void> {
  await store.query({ text: 'create schema if not exists pretended' })
  await store.query({
    text: `create or replace function pretended.pg_postmaster_start_time() returns timestamptz language sql
      as $$ select now() - interval '${ago}' $$`,
  })
  const database = new URL(databaseUrl).pathname.slice(1)
  await store.query({ text: `alter database ${database} set search_path = pretended, pg_catalog, public` })
}

/** Adds another process that was heard of 4 s ago and has no lock. */
const addSilent = () =>
  store.query({
    text: `insert into workers (worker_id, lock_key, beat_at) values ('other', 1, now() - interval '4 seconds')
      on conflict (worker_id) do update set beat_at = excluded.beat_at`,
  })
const isListed = async () =>
  (await store.query({ text: `select from workers where worker_id = 'other'` })).length > 0

/** Returns for how long the own process has reported that it lives. */
async function livedFor(): Promise<number> {
  const text = `select extract(epoch from beat_at - $1)::float as s from workers where worker_id = 'own'`
  const [own] = await store.query<{ s: number }>({ text, values: [began] })
  return own?.s ?? 0
}
let began = ''

async function startOwn(): Promise<void> {
  began = new Date().toISOString()
  const ids = createWorkerIds()
  ids.add('own')
  const heartbeat = startHeartbeat({ databaseUrl, store, log: createLog('silent'), silenceMs: 600_000 }, ids)
  onTestFinished(() => heartbeat.stop())
}

it('R2: after a restart of PostgreSQL, living processes have time to take their locks again', async () => {
  await pretendStart('3 seconds')
  await addSilent()
  await startOwn()
  // Steady for long enough to judge.
  await expect.poll(livedFor).toBeGreaterThan(4)
  await addSilent()
  await expect.poll(livedFor).toBeGreaterThan(6)
  expect(await isListed()).toBe(true)
  await pretendStart('6 seconds')
  await expect.poll(isListed).toBe(false)
})

it('R1: a process that was heard of since the start and has no lock is dead', async () => {
  await pretendStart('1 hour')
  await addSilent()
  await startOwn()
  await expect.poll(isListed).toBe(false)
})
