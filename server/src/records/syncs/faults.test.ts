import { describe, expect, it } from 'vitest'
import type { Store } from '../../database/connection/db.ts'
import { killedAt, Killed } from '../../sources/pulls/testing/fault-store.ts'
import { runCycle } from './cycle.ts'
import { FLOOD, makeSynced, makeSyncApp, namesOf } from './testing/sync-app.ts'

const syncs = await makeSyncApp()
const { app } = syncs
const NEVER = new AbortController().signal
const MAX_STATEMENTS = 500

describe('D62: an import error', () => {
  it('a removed mapped input pauses the sync with its reason; resumed after a repair it loses no member', async () => {
    const sync = await makeSynced(syncs)
    const { base } = sync.workflow
    await sync.enter('a')
    await sync.org.call('DELETE', `${base}/inputs/who`)
    await sync.cycle()
    expect(await sync.show()).toMatchObject({
      state: 'paused_error',
      last_import_error: { message: expect.stringContaining('input.who'), at: expect.any(String) },
      destinations: [{ delivered: 0, pending: 1 }],
    })
    expect((await sync.resume()).body.data).toMatchObject({ state: 'active', last_import_error: null })
    await sync.cycle()
    expect((await sync.show()).state).toBe('paused_error')
    await sync.org.call('POST', `${base}/inputs`, [{ name: 'who', type: 'string' }])
    await sync.enter('b')
    await sync.resume()
    await sync.cycle()
    expect(await sync.workflow.rows()).toEqual(['a', 'b'])
    expect(await sync.show()).toMatchObject({ state: 'active', last_import_error: null })
  })

  it('a deleted workflow pauses the sync, until its destination is paused', async () => {
    const sync = await makeSynced(syncs)
    const other = await syncs.makeWorkflow(sync.org)
    const mapping = { field_mapping: { 'input.who': 'name' } }
    await syncs.sync(sync.org, sync.segmentId, { workflow_id: other.id, ...mapping })
    await sync.org.call('DELETE', `/workflows/${sync.workflow.id}`)
    await sync.enter('a')
    await sync.cycle()
    const shown = await sync.show()
    expect(shown).toMatchObject({ state: 'paused_error', destinations: [{ pending: 1 }, { pending: 1 }] })
    expect(shown.last_import_error.message).toContain(sync.workflow.id)
    await sync.pause()
    await sync.resume()
    await sync.cycle()
    expect(await other.rows()).toEqual(['a'])
    expect((await sync.show()).state).toBe('active')
  })
})

/** Makes PostgreSQL refuse rows with this text, as it may refuse a value that is too large. */
async function refuse(text: string): Promise<() => Promise<void>> {
  const run = (statement: string) => app.store.query({ text: statement, values: [] })
  const name = `refuse_${text}`
  await run(`create function ${name}() returns trigger language plpgsql as $$
    begin raise exception 'refused ${text}' using errcode = '54000'; end $$`)
  await run(`create trigger ${name} before insert on rows for each row
    when (new.data::text like '%${text}%') execute function ${name}()`)
  return async () => {
    await run(`drop trigger ${name} on rows`)
    await run(`drop function ${name}`)
  }
}

describe('a failed member is retried with its reason shown, never skipped silently', () => {
  it('the others continue, and it is delivered once the cause is removed', async () => {
    const sync = await makeSynced(syncs)
    const repair = await refuse('poison')
    await sync.enter(...namesOf(6), 'poison', ...namesOf(6, 'd'))
    await sync.cycle()
    const good = [...namesOf(6), ...namesOf(6, 'd')]
    expect((await sync.workflow.rows()).toSorted()).toEqual(good.toSorted())
    await sync.cycle()
    expect(await sync.show()).toMatchObject({
      state: 'active',
      last_import_error: { message: expect.stringContaining('refused poison') },
      destinations: [{ delivered: 12, pending: 0, failed: 1 }],
    })
    const tries = 'select attempts as count from segment_failures where connection_id = $1'
    expect(await syncs.count(tries, [sync.connectionId])).toBe(2)
    await repair()
    await sync.cycle()
    expect((await sync.workflow.rows()).toSorted()).toEqual([...good, 'poison'].toSorted())
    expect(await sync.show()).toMatchObject({
      last_import_error: null,
      destinations: [{ delivered: 13, failed: 0 }],
    })
  })

  it('one that leaves is no longer retried', async () => {
    const sync = await makeSynced(syncs)
    const repair = await refuse('venom')
    await sync.enter('venom')
    await sync.cycle()
    await sync.leave('venom')
    await sync.cycle()
    expect(await sync.show()).toMatchObject({ last_import_error: null, destinations: [{ failed: 0 }] })
    await repair()
  })

  it('when all fail the sync pauses instead of trying every member', async () => {
    const sync = await makeSynced(syncs)
    const repair = await refuse('toxic')
    await sync.enter(...namesOf(25, 'toxic'))
    await sync.cycle()
    expect(await sync.show()).toMatchObject({
      state: 'paused_error',
      last_import_error: { message: expect.stringContaining('in a row') },
      destinations: [{ delivered: 0, failed: 9, pending: 16 }],
    })
    await repair()
    await sync.resume()
    await sync.cycle()
    expect((await sync.workflow.rows()).toSorted()).toEqual(namesOf(25, 'toxic').toSorted())
  })
})

/** Returns true if the cycle completed before it was killed. */
async function survives(store: Store, orgId: string, syncId: string): Promise<boolean> {
  try {
    await runCycle(store.org(orgId), { org_id: orgId, sync_id: syncId }, FLOOD, NEVER)
    return true
  } catch (cause) {
    if (cause instanceof Killed) return false
    throw cause
  }
}

describe('killed during cycles: no member delivered twice under suppress, none lost', () => {
  it('before any statement', async () => {
    const sync = await makeSynced(syncs)
    const other = await syncs.makeWorkflow(sync.org)
    const mapping = { field_mapping: { 'input.who': 'name' } }
    await syncs.sync(sync.org, sync.segmentId, { workflow_id: other.id, ...mapping })
    const expected: string[] = []
    for (let at = 1; ; at += 1) {
      if (at > MAX_STATEMENTS) throw new Error('the cycle never completed')
      const names = namesOf(3, `k${at}-`)
      expected.push(...names)
      await sync.enter(...names)
      const tick = 'update segment_syncs set tick = tick + 1 where sync_id = $1'
      await app.store.query({ text: tick, values: [sync.syncId] })
      if (await survives(killedAt(app.store, at), sync.org.orgId, sync.syncId)) break
    }
    expect(expected.length).toBeGreaterThan(60)
    expect((await sync.workflow.rows()).toSorted()).toEqual(expected.toSorted())
    expect((await other.rows()).toSorted()).toEqual(expected.toSorted())
    expect(await sync.show()).toMatchObject({
      state: 'active',
      destinations: [{ delivered: expected.length, pending: 0, failed: 0 }, { delivered: expected.length }],
    })
  })

  it('a database outage midway is no failure of a member: the next attempt continues', async () => {
    const sync = await makeSynced(syncs)
    await sync.enter(...namesOf(20))
    const run = (text: string) => app.store.query({ text, values: [] })
    await run(`create function cut_off() returns trigger language plpgsql as $$
      begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$`)
    await run('create trigger cut_off before insert on rows for each statement execute function cut_off()')
    await expect(sync.cycle()).rejects.toThrow()
    await run('drop trigger cut_off on rows')
    expect(await sync.show()).toMatchObject({
      state: 'active',
      last_import_error: null,
      destinations: [{ failed: 0, delivered: 0, pending: 20 }],
    })
    await sync.cycle()
    expect((await sync.workflow.rows()).toSorted()).toEqual(namesOf(20).toSorted())
    expect(await sync.show()).toMatchObject({ state: 'active', destinations: [{ failed: 0, delivered: 20 }] })
  })
})
