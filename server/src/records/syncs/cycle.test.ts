import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { mergeEntities, unmergeEntity } from '../merge.ts'
import { startDueCycles } from './scheduler.ts'
import { purgeDeletedSyncs } from './store/ticks.ts'
import { industryIs, makeSynced, makeSyncApp, namesOf } from './testing/sync-app.ts'

const syncs = await makeSyncApp()
const { app } = syncs
const full = await makeSyncApp({ LOAM_ROWS_PER_ORG: '2' })

describe('4.10: a cycle', () => {
  it('push_existing: false delivers members that enter from now on, each once', async () => {
    const org = await app.makeOrg()
    await syncs.put(org, ['before'])
    const sync = await makeSynced(syncs, {}, org)
    await sync.cycle()
    expect(await sync.workflow.rows()).toEqual([])
    await sync.enter('a', 'b')
    await sync.cycle()
    await sync.cycle()
    expect(await sync.workflow.rows()).toEqual(['a', 'b'])
    expect((await sync.show()).destinations).toMatchObject([{ delivered: 2, pending: 0, held: 0, failed: 0 }])
  })

  it('push_existing: true also delivers current members, but none that left', async () => {
    const org = await app.makeOrg()
    await syncs.put(org, ['a', 'gone', 'b'])
    await syncs.put(org, ['gone'], { industry: 'other' })
    const sync = await makeSynced(syncs, { push_existing: true }, org)
    await sync.cycle()
    await sync.enter('c')
    await sync.cycle()
    expect((await sync.workflow.rows()).toSorted()).toEqual(['a', 'b', 'c'])
  })

  it.each([
    ['suppress', ['a']],
    ['repush', ['a', 'a', 'a']],
  ])('reentry_mode %s: a member that leaves and returns twice is delivered as %j', async (mode, rows) => {
    const sync = await makeSynced(syncs, { reentry_mode: mode })
    await sync.enter('a')
    for (let n = 0; n < 2; n += 1) {
      await sync.cycle()
      await sync.leave('a')
      await sync.cycle()
      await sync.enter('a')
    }
    await sync.cycle()
    expect(await sync.workflow.rows()).toEqual(rows)
  })

  it('repush: a loop in which deliveries bring members back ends, and says why', async () => {
    const sync = await makeSynced(syncs, { reentry_mode: 'repush' })
    const names = Array.from({ length: 11 }, (_, n) => `c${n}`)
    const returnAgain = async (...some: string[]) => {
      await sync.leave(...some)
      await sync.cycle()
      await sync.enter(...some)
      await sync.cycle()
    }
    await sync.enter(...names)
    await sync.cycle()
    const setCount = (counted: number, hours: number) =>
      sql`update segment_deliveries set counted = ${counted}, counted_from = now() - ${hours} * interval '1 hour'
        where connection_id = ${sync.connectionId}`.execute(app.store.system)
    await setCount(287, 23)
    await returnAgain('c0')
    expect((await sync.workflow.rows()).filter((name) => name === 'c0')).toHaveLength(2)
    await returnAgain('c0')
    const worn = await sync.show()
    expect(worn).toMatchObject({ state: 'active', destinations: [{ delivered: 12, failed: 1, pending: 0 }] })
    expect(worn.last_import_error.message).toMatch(
      /delivered 288 times within 24 hours \(LOAM_SEGMENT_REPUSH_PER_DAY\).*reentry_mode suppress$/,
    )
    // The day is over: the member is delivered, and the count starts again.
    await setCount(288, 25)
    await sync.cycle()
    expect(await sync.show()).toMatchObject({
      last_import_error: null,
      destinations: [{ delivered: 13, failed: 0 }],
    })
    await setCount(288, 23)
    await returnAgain(...names)
    const ended = await sync.show()
    expect(ended).toMatchObject({ state: 'paused_error', destinations: [{ delivered: 13 }] })
    expect(ended.last_import_error.message).toMatch(/^10 members in a row .*LOAM_SEGMENT_REPUSH_PER_DAY/)
    expect(await sync.workflow.rows()).toHaveLength(13)
  })

  it('a change of a member that stays a member delivers nothing', async () => {
    const sync = await makeSynced(syncs, { reentry_mode: 'repush' })
    await sync.enter('a')
    await sync.cycle()
    await syncs.put(sync.org, ['a'], { city: 'Ulm' })
    await sync.cycle()
    expect(await sync.workflow.rows()).toEqual(['a'])
  })

  it.each([
    ['none', false, 0],
    ['all', false, 2],
    ['none', true, 2],
  ])('run: %s with auto_run %s queues %i of two rows (D16)', async (run, autoRun, queued) => {
    const sync = await makeSynced(syncs, { run })
    const { base } = sync.workflow
    await sync.org.call('POST', `${base}/actions/add`, {
      action_id: 'normalize_domain',
      inputs: { value: '{{input.who}}' },
    })
    if (autoRun) await sync.org.call('PATCH', base, { auto_run: true })
    await sync.enter('a', 'b')
    await sync.cycle()
    const rows = 'select count(*) from flights where sheet_id = $1'
    expect(await syncs.count(rows, [sync.workflow.id])).toBe(queued)
  })

  it('a member is delivered to each destination from its own position', async () => {
    const sync = await makeSynced(syncs)
    await sync.enter('a')
    await sync.cycle()
    const later = await syncs.makeWorkflow(sync.org)
    const all = await syncs.makeWorkflow(sync.org)
    const mapping = { field_mapping: { 'input.who': 'name' } }
    await syncs.sync(sync.org, sync.segmentId, { workflow_id: later.id, ...mapping })
    await syncs.sync(sync.org, sync.segmentId, { workflow_id: all.id, ...mapping, push_existing: true })
    await sync.enter('b')
    await sync.cycle()
    expect([await sync.workflow.rows(), await later.rows(), await all.rows()]).toEqual([
      ['a', 'b'],
      ['b'],
      ['a', 'b'],
    ])
  })

  it('fields and identifiers are mapped; what a member does not have stays empty; numbers keep their digits', async () => {
    const org = await app.makeOrg()
    const segmentId = await syncs.makeSegment(org)
    const workflow = await syncs.makeWorkflow(org)
    await org.call('POST', `${workflow.base}/inputs`, [
      { name: 'size', type: 'number' },
      { name: 'none', type: 'string' },
      { name: '__proto__', type: 'string' },
    ])
    const { body } = await syncs.sync(org, segmentId, {
      workflow_id: workflow.id,
      field_mapping: {
        'input.who': 'name',
        'input.Site': 'domain',
        'input.size': 'size',
        'input.none': 'constructor',
        'input.__proto__': 'name',
      },
    })
    await syncs.put(org, ['a'], { size: 12.5 })
    await syncs.cycle(org, body.data.sync_id)
    const { body: listed } = await org.call('POST', `${workflow.base}/rows/list`, {})
    const [row] = listed.data.rows
    expect(Object.entries(row.inputs)).toEqual([
      ['who', 'a'],
      ['Site', 'a.example'],
      ['size', '12.5'],
      ['none', null],
      ['__proto__', 'a'],
    ])
  })

  it('a row that was deleted does not come back', async () => {
    const sync = await makeSynced(syncs)
    await sync.enter('a')
    await sync.cycle()
    await sync.org.call('POST', `${sync.workflow.base}/rows/delete-all`)
    await sync.cycle()
    expect(await sync.workflow.rows()).toEqual([])
  })

  it('the same workflow again replaces the mapping, and delivers no member twice', async () => {
    const sync = await makeSynced(syncs)
    await sync.enter('a')
    await sync.cycle()
    const again = {
      workflow_id: sync.workflow.id,
      field_mapping: { 'input.who': 'domain' },
      push_existing: true,
    }
    const { body } = await syncs.sync(sync.org, sync.segmentId, again)
    expect(body.data).toMatchObject({ connection_id: sync.connectionId, reused_sync: true })
    await sync.enter('b')
    await sync.cycle()
    expect(await sync.workflow.rows()).toEqual(['a', 'b.example'])
    expect((await sync.show()).destinations).toHaveLength(1)
  })

  it('the feed may be pruned while a destination lags: no member is lost', async () => {
    const sync = await makeSynced(syncs)
    await sync.pause()
    await sync.enter('a', 'b')
    await sync.cycle()
    await app.store.query({
      text: 'delete from segment_changes where segment_id = $1',
      values: [sync.segmentId],
    })
    await sync.resumeDestination('push')
    await sync.cycle()
    expect(await sync.workflow.rows()).toEqual(['a', 'b'])
  })

  it('a member merged into another is not delivered again under its name, nor after an unmerge', async () => {
    const sync = await makeSynced(syncs)
    const { orgId } = sync.org
    const db = app.store.org(orgId)
    const [a = ''] = await sync.enter('a')
    await sync.cycle()
    const [b = ''] = await sync.enter('b')
    await mergeEntities(db, orgId, OPERATOR, { keptId: b, mergedId: a })
    await sync.cycle()
    expect(await sync.workflow.rows()).toEqual(['a'])
    await unmergeEntity(db, orgId, OPERATOR, a)
    await sync.cycle()
    expect((await sync.workflow.rows()).filter((name) => name === 'a')).toEqual(['a'])
  })

  it('two schedulers take a tick once, and two cycles at once deliver each member once', async () => {
    const sync = await makeSynced(syncs)
    await sync.enter(...namesOf(30))
    await app.store.query({ text: 'update segment_syncs set next_cycle_at = now()', values: [] })
    await Promise.all([1, 2, 3, 4].map(() => startDueCycles(app.store, 300, app.services.log)))
    const tick = 'select tick as count from segment_syncs where sync_id = $1'
    expect(await syncs.count(tick, [sync.syncId])).toBe(1)
    await Promise.all([1, 2, 3].map(() => sync.cycle()))
    expect((await sync.workflow.rows()).toSorted()).toEqual(namesOf(30).toSorted())
  })

  it('a deleted sync delivers nothing any more, its rows stay, and a new one starts from the beginning', async () => {
    const sync = await makeSynced(syncs)
    await sync.enter('a')
    await sync.cycle()
    const deleted = await sync.org.call('DELETE', sync.path)
    expect(deleted.body.data).toMatchObject({ sync_id: sync.syncId, state: 'deleted' })
    await sync.enter('b')
    await sync.cycle()
    expect(await sync.workflow.rows()).toEqual(['a'])
    expect((await sync.org.call('GET', sync.path)).status).toBe(404)
    expect((await sync.org.call('GET', '/records/syncs')).body.data).toEqual([])
    const again = { workflow_id: sync.workflow.id, field_mapping: { 'input.who': 'name' } }
    const { body } = await syncs.sync(sync.org, sync.segmentId, again)
    expect(body.data.reused_sync).toBe(false)
    while (await purgeDeletedSyncs(app.store.system));
    const left = 'select count(*) from segment_deliveries where connection_id = $1'
    expect(await syncs.count(left, [sync.connectionId])).toBe(0)
    expect(await sync.workflow.rows()).toEqual(['a'])
    expect((await sync.org.call('GET', '/records/syncs')).body.data).toHaveLength(1)
  })
})

describe('D52: breakers', () => {
  it.each([
    [500, 'active', 500],
    [501, 'pending_confirmation', 0],
  ])('a cycle of %i members leaves the sync %s', async (count, state, delivered) => {
    const sync = await makeSynced(syncs)
    await sync.enter(...namesOf(count))
    await sync.cycle()
    const shown = await sync.show()
    const isHeld = state === 'pending_confirmation'
    expect(shown).toMatchObject({
      state,
      held_count: isHeld ? count : 0,
      held_reason: isHeld ? 'flood' : null,
      destinations: [{ delivered, held: isHeld ? count : 0, pending: 0 }],
    })
    expect(await syncs.count('select count(*) from rows where sheet_id = $1', [sync.workflow.id])).toBe(
      delivered,
    )
  })

  it('the limit is 3 times the largest of the last 10 cycles, if that is more', async () => {
    const sync = await makeSynced(syncs)
    const cycleAfter = async (recent: number[], count: number, prefix: string) => {
      const text = 'update segment_syncs set recent_counts = $1 where sync_id = $2'
      await app.store.query({ text, values: [recent, sync.syncId] })
      await sync.enter(...namesOf(count, prefix))
      await syncs.cycle(sync.org, sync.syncId, app.store, { members: 5, factor: 3 })
      return (await sync.show()).state
    }
    const quiet = Array.from({ length: 9 }, () => 1)
    expect(await cycleAfter([], 5, 'a')).toBe('active')
    expect(await cycleAfter([...quiet, 12], 36, 'b')).toBe('active')
    const counts = 'select recent_counts[1] as count from segment_syncs where sync_id = $1'
    expect(await syncs.count(counts, [sync.syncId])).toBe(36)
    const length = 'select cardinality(recent_counts) as count from segment_syncs where sync_id = $1'
    expect(await syncs.count(length, [sync.syncId])).toBe(10)
    expect(await cycleAfter([...quiet, 12], 37, 'c')).toBe('pending_confirmation')
  })

  it.each([
    ['push', ['a', 'b', 'c']],
    ['skip', ['c']],
  ])('confirm %s: afterwards the rows are %j', async (choice, rows) => {
    const sync = await makeSynced(syncs)
    const tight = { members: 1, factor: 3 }
    const cycle = () => syncs.cycle(sync.org, sync.syncId, app.store, tight)
    await sync.enter('a', 'b')
    await cycle()
    expect(await sync.show()).toMatchObject({ state: 'pending_confirmation', held_count: 2 })
    const { status, body } = await sync.confirm(choice)
    expect([status, body.data.state, body.data.held_count, body.data.held_reason]).toEqual([
      200,
      'active',
      0,
      null,
    ])
    await cycle()
    await sync.enter('c')
    await cycle()
    expect(await sync.workflow.rows()).toEqual(rows)
    expect((await sync.confirm(choice)).status).toBe(409)
  })

  it('members that enter while others are held are held too, and those that leave are no longer counted', async () => {
    const sync = await makeSynced(syncs)
    await syncs.setFilter(sync.org, sync.segmentId, industryIs('software', 'banking'))
    await sync.enter('a', 'b')
    await sync.cycle()
    expect(await sync.show()).toMatchObject({ held_count: 2, held_reason: 'filter_changed' })
    await sync.enter('c')
    await sync.leave('a')
    await sync.cycle()
    expect(await sync.show()).toMatchObject({ held_count: 2, destinations: [{ held: 2, pending: 0 }] })
    await sync.confirm('push')
    await sync.cycle()
    expect(await sync.workflow.rows()).toEqual(['b', 'c'])
  })

  it('filter_changed: members of a new filter are held until confirmed; an equal filter holds none', async () => {
    const sync = await makeSynced(syncs)
    await syncs.put(sync.org, ['bank'], { industry: 'banking' })
    await syncs.setFilter(sync.org, sync.segmentId, industryIs('software'))
    await sync.enter('a')
    await sync.cycle()
    expect((await sync.show()).state).toBe('active')
    await syncs.setFilter(sync.org, sync.segmentId, industryIs('banking'))
    await sync.cycle()
    expect(await sync.show()).toMatchObject({
      state: 'pending_confirmation',
      held_reason: 'filter_changed',
      held_count: 1,
    })
    await sync.confirm('push')
    await sync.cycle()
    await sync.cycle()
    expect(await sync.workflow.rows()).toEqual(['a', 'bank'])
    expect((await sync.show()).state).toBe('active')
  })

  it.each([
    ['push', ['a', 'b', 'c']],
    ['skip', ['a', 'c']],
    [undefined, ['a', 'b', 'c']],
  ])('a destination paused over several cycles and resumed with %s has %j', async (choice, rows) => {
    const sync = await makeSynced(syncs)
    await sync.enter('a', 'x')
    await sync.cycle()
    expect((await sync.pause()).body.data.destinations).toMatchObject([{ state: 'paused' }])
    await sync.enter('b')
    await sync.cycle()
    await sync.cycle()
    expect(await sync.show()).toMatchObject({ state: 'active', destinations: [{ pending: 1, delivered: 2 }] })
    const { body } = await sync.resumeDestination(choice)
    expect(body.data.destinations).toMatchObject([{ state: 'active', pending: choice === 'skip' ? 0 : 1 }])
    await sync.cycle()
    await sync.enter('c')
    await sync.cycle()
    expect((await sync.workflow.rows()).filter((name) => name !== 'x')).toEqual(rows)
  })
})

it('LOAM_ROWS_PER_ORG: members without room for their rows are reported, and delivered once there is room', async () => {
  const sync = await makeSynced(full)
  const { org, workflow } = sync
  await org.call('POST', `${workflow.base}/rows`, { rows: [{ who: 'was here' }] })
  await sync.enter('a', 'b', 'c')
  await sync.cycle()
  const shown = await sync.show()
  expect(shown.last_import_error.message).toContain('its limit is 2 (LOAM_ROWS_PER_ORG)')
  const some = await workflow.rows()
  expect(some.length).toBeLessThanOrEqual(2)
  await org.call('POST', `${workflow.base}/rows/delete-all`)
  await sync.cycle()
  await org.call('POST', `${workflow.base}/rows/delete-all`)
  await sync.cycle()
  expect((await sync.show()).destinations).toMatchObject([{ delivered: 3, pending: 0, failed: 0 }])
})
