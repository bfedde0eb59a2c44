import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { evaluate } from '#server/catalog/chain/condition-evaluate.ts'
import { parseConditionGroups } from '#server/catalog/chain/condition-shape.ts'
import type { LookupQuery } from '#server/catalog/define.ts'
import type { Store } from '#server/database/connection/db.ts'
import type { RunFacts } from '#server/database/queue/run-facts.ts'
import { getDefinition } from '#server/sheets/store/definitions.ts'
import { findSheet } from '#server/sheets/store/sheets.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { DatabaseUse } from '../engine/cells/database-use.ts'
import { countStatements } from '../engine/testing/counting-store.ts'
import { createSheetWalks, type LookUp } from './sheet-walk.ts'
import { createTargetReach } from './target-sheet.ts'

const app = await makeApp()

/** Makes a sheet in an organisation of its own, with rows of these names. */
async function makeTarget(...names: unknown[]) {
  const org = await app.makeOrg()
  const { workflow_id } = (await org.call('POST', '/workflows', { name: 'Target' })).body.data
  const base = `/workflows/${workflow_id}/sheets/${workflow_id}`
  await org.call('POST', `${base}/inputs`, [{ name: 'name', type: 'string' }])
  const add = async (...more: unknown[]) => {
    for (let from = 0; from < more.length; from += 500) {
      const rows = more.slice(from, from + 500).map((name) => ({ name }))
      expect((await org.call('POST', `${base}/rows`, { rows })).status).toBe(201)
    }
  }
  await add(...names)
  const sheet =
    (await findSheet(app.store.org(org.orgId), org.orgId, workflow_id)) ?? expect.fail('it was made')
  return { org, add, target: { sheet, definition: await getDefinition(app.store.org(org.orgId), sheet) } }
}

const where = (operator: string, ...values: string[]) => [
  { conditions: [{ variable: '{{input.name}}', operator, values }] },
]
const query = (conditions: unknown, more: Partial<LookupQuery> = {}): LookupQuery => ({
  targetSheetId: 'of the target',
  conditions,
  limit: 10,
  order: 'oldest',
  ...more,
})
const newCall = () => ({ signal: new AbortController().signal, database: new DatabaseUse() })
const namesIn = (answer: Awaited<ReturnType<LookUp>>) =>
  answer.ok ? answer.value.records.map(({ name }) => name) : answer.message

/** Blocks every scan until it is released: scans read cells. */
async function holdScans() {
  const client = new pg.Client({ connectionString: app.databaseUrl })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('begin; lock table cells in access exclusive mode')
  const listScans = () =>
    app.store.query<{ pid: number }>({
      text: `select pid from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%weighed%' and pid <> pg_backend_pid()`,
    })
  const untilHeld = () => expect.poll(async () => (await listScans()).length).toBe(1)
  return { listScans, untilHeld, release: () => client.query('rollback') }
}

it('P20: lookups at the same time share a walk, and each has the answer that it has alone', async () => {
  const names = Array.from({ length: 1100 }, (_, n) => (n % 7 === 0 ? `${n % 50}.0` : `Name ${n % 300}`))
  const { target } = await makeTarget(...names, null, '', '["a"]')
  const queries = [
    ...Array.from({ length: 40 }, (_, n) => query(where('is', `Name ${n * 9}`), { limit: 1 + (n % 3) })),
    ...Array.from({ length: 20 }, (_, n) => query(where('is', `${n * 3}`), { limit: 100 })),
    query(where('is', '')),
    query(where('is', '["a"]')),
    query(where('contains', 'NAME 1'), { limit: 3 }),
    query([...where('is', 'Name 1'), { ...where('is', 'Name 2')[0], combinator: 'OR' }]),
    query([...where('is', 'Name 1'), { ...where('is not', 'Name 1')[0], combinator: 'AND' }]),
    query([]),
    query(where('is', 'Name 1'), { order: 'newest', limit: 2 }),
    query(where('starts with', 'Name 29'), { order: 'newest', limit: 2 }),
    query([{ conditions: [{ variable: '{{input.name}}', operator: 'is' }] }]),
  ]
  const alone = []
  for (const one of queries) alone.push(await createSheetWalks(app.store)(target, one, newCall()))
  const store = countStatements(app.store)
  const lookUp = createSheetWalks(store)
  const together = await Promise.all(queries.map((one) => lookUp(target, one, newCall())))
  expect(together).toEqual(alone)
  // Two pages in each order.
  expect(store.texts.filter((text) => text.includes('weighed'))).toHaveLength(4)
  for (const [n, { conditions }] of queries.entries()) {
    const parsed = parseConditionGroups(conditions, 'conditions')
    if (!parsed.ok) continue
    const matching = [...names, '', '', '["a"]'].filter((name) =>
      evaluate(parsed.value, () => name, { resolveValue: (text) => text }),
    )
    expect(together[n]).toMatchObject({ ok: true, value: { count: matching.length } })
  }
  expect(together.at(-1)).toEqual({ ok: false, message: 'conditions[0].conditions[0].values: required' })
})

it('lookups of two organisations at the same time share nothing', async () => {
  const [ours, theirs] = [await makeTarget('a', 'ours'), await makeTarget('a', 'b', 'theirs')]
  const store = countStatements(app.store)
  const lookUp = createSheetWalks(store)
  const ask = ({ target }: typeof ours) => lookUp(target, query([]), newCall())
  const answers = await Promise.all([ours, theirs, ours, theirs].map(ask))
  expect(answers.map(namesIn)).toEqual([
    ['a', 'ours'],
    ['a', 'b', 'theirs'],
    ['a', 'ours'],
    ['a', 'b', 'theirs'],
  ])
  expect(store.texts.filter((text) => text.includes('weighed'))).toHaveLength(2)
  // The target of another organisation has no rows for a caller of this one.
  const foreign = { ...theirs.target, sheet: { ...theirs.target.sheet, org_id: ours.org.orgId } }
  expect(namesIn(await lookUp(foreign, query([]), newCall()))).toEqual([])
})

it('a lookup sees all rows that were committed before it asked, also during the walk of another', async () => {
  const { target, add } = await makeTarget('first')
  const read = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const org: Store['org'] = (orgId) =>
    app.store.org(orgId).withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        const isPage = result.rows.some((row) => 'looked' in row)
        if (isPage) read.resolve()
        if (isPage) await released.promise
        return result
      },
    })
  const lookUp = createSheetWalks({ ...app.store, org })
  const before = lookUp(target, query([]), newCall())
  await read.promise
  await add('second')
  const after = lookUp(target, query([]), newCall())
  released.resolve()
  expect(namesIn(await before)).toEqual(['first'])
  expect(namesIn(await after)).toEqual(['first', 'second'])
})

it('a lookup whose action has ended ends at once, and all other lookups are answered', async () => {
  const { target } = await makeTarget('a')
  const lookUp = createSheetWalks(app.store)
  const held = await holdScans()
  const [first, second] = [new AbortController(), new AbortController()]
  const ask = ({ signal }: AbortController) => lookUp(target, query([]), { ...newCall(), signal })
  const walking = [ask(first), ask(new AbortController())]
  await held.untilHeld()
  const waiting = [ask(second), ask(new AbortController())]
  const ends = [walking[0], waiting[0]].map((asked) => expect(asked).rejects.toThrow('aborted'))
  first.abort()
  second.abort()
  await Promise.all(ends)
  expect(await held.listScans()).toHaveLength(1)
  await held.release()
  for (const other of [walking[1], waiting[1]])
    expect(await other).toMatchObject({ ok: true, value: { count: 1 } })
})

it('the statement of a walk is cancelled when the actions of all its lookups have ended', async () => {
  const { target } = await makeTarget('a')
  const lookUp = createSheetWalks(app.store)
  const held = await holdScans()
  const actions = Array.from({ length: 3 }, () => new AbortController())
  const asked = actions.map(({ signal }) => lookUp(target, query([]), { ...newCall(), signal }))
  const ended = Promise.allSettled(asked)
  await held.untilHeld()
  for (const action of actions) action.abort()
  expect((await ended).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  // The table is still locked: nothing but the cancellation ends the statement.
  await expect.poll(async () => (await held.listScans()).length).toBe(0)
  await held.release()
})

it('an outage under a walk is noted for each of its lookups and for those that wait for it', async () => {
  const { target } = await makeTarget('a')
  const lookUp = createSheetWalks(app.store)
  const held = await holdScans()
  const calls = [newCall(), newCall(), newCall()]
  const walking = calls.slice(0, 2).map((call) => lookUp(target, query([]), call))
  const ended = Promise.allSettled(walking)
  await held.untilHeld()
  const waiting = lookUp(target, query([]), calls[2] ?? newCall())
  await sleep(5)
  expect(calls.map(({ database }) => database.hangs(1))).toEqual([true, true, true])
  const [scan] = await held.listScans()
  await app.store.query({ text: 'select pg_terminate_backend($1)', values: [scan?.pid] })
  expect((await ended).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(calls.slice(0, 2).map(({ database }) => database.fault)).toEqual([
    expect.any(Error),
    expect.any(Error),
  ])
  await held.release()
  expect(await waiting).toMatchObject({ ok: true, value: { count: 1 } })
})

it('pages of large rows are bounded, and so is the memory of a lookup and a walk', async () => {
  const large = (n: number) => `${n} ${randomBytes(350_000).toString('hex')}`
  const names = Array.from({ length: 12 }, (_, n) => large(n))
  const { target, add } = await makeTarget()
  for (const name of names) await add(name)
  const store = countStatements(app.store)
  const lookUp = createSheetWalks(store)
  const all = query(where('is not empty'), { limit: 11 })
  const queries = [
    ...Array.from({ length: 12 }, () => all),
    query(where('is not empty'), { limit: 12 }),
    query(where('is', names[7] ?? '')),
  ]
  const answers = await Promise.all(queries.map((one) => lookUp(target, one, newCall())))
  for (const answer of answers.slice(0, 12)) {
    expect(answer).toMatchObject({ ok: true, value: { count: 12, records: { length: 11 } } })
    expect(namesIn(answer)).toEqual(names.slice(0, 11))
  }
  expect(answers[12]).toMatchObject({ ok: false, message: expect.stringContaining('8,388,608 bytes') })
  expect(namesIn(answers[13] ?? expect.fail('it was asked'))).toEqual([names[7]])
  // Each row is a page; the lookups beyond what a walk keeps share a second walk.
  const scans = store.texts.filter((text) => text.includes('weighed')).length
  expect(scans).toBeGreaterThanOrEqual(24)
  expect(scans).toBeLessThan(40)
})

it('cells that ask for the same target at the same time share a statement, others do not', async () => {
  const [ours, theirs] = [await makeTarget(), await makeTarget()]
  const store = countStatements(app.store)
  const reachTarget = createTargetReach(store, app.services.catalogue)
  const ask = (from: typeof ours, to: typeof ours, key_id: string | null = null) => {
    const facts = { ...from.target.sheet, key_id } as unknown as RunFacts
    return reachTarget({ facts, action: 'lookup_1', sheetId: to.target.sheet.sheet_id })
  }
  const found = await Promise.all([
    ask(ours, ours),
    ask(ours, ours),
    ask(theirs, ours),
    ask(ours, theirs),
    ask(theirs, theirs),
    ask(ours, ours, ours.org.orgId),
  ])
  const [our, their] = [ours, theirs].map(({ target }) => target.sheet.sheet_id)
  expect(found.map((answer) => (answer.ok ? answer.value.sheet.sheet_id : undefined))).toEqual([
    our,
    our,
    undefined,
    undefined,
    their,
    our,
  ])
  expect(store.texts).toHaveLength(5)
  await ask(ours, ours)
  expect(store.texts).toHaveLength(6)
})
