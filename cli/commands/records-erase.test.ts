import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, expect, it } from 'vitest'
import { newId } from '#server/lib/ids.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { ingestForCell } from '#server/records/cell-writes.ts'
import { createSegment } from '#server/records/segments/segments.ts'
import { recordFailure } from '#server/records/syncs/store/deliveries.ts'
import { changeSync } from '#server/records/syncs/store/syncs.ts'
import { makeSyncApp } from '#server/records/syncs/testing/sync-app.ts'
import { runLoam } from '../testing/loam.ts'

const syncs = await makeSyncApp()
const { app } = syncs
const folder = mkdtempSync(join(tmpdir(), 'loam-erase-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const ENV = { DATABASE_URL: app.databaseUrl, LOAM_SECRET: 'a secret for tests only', LOAM_DATA_DIR: folder }

async function records(orgId: string, ...args: string[]) {
  const { exit, stdout, stderr } = await runLoam(['records', ...args, '--org', orgId, '--json'], ENV)
  return { exit, answer: JSON.parse(stdout || stderr) }
}

/** Returns all rows of the tables of the record store, of segments and of syncs, as text by table. */
async function dumpStore(): Promise<Map<string, string>> {
  const tables = await app.store.system.introspection.getTables()
  const names = tables.map(({ name }) => name).filter((name) => /^(record|segment)_/.test(name))
  const dumps = names.map(async (name): Promise<[string, string]> => {
    const { rows } = await sql<{ text: string }>`select t::text as text from ${sql.table(name)} t`.execute(
      app.store.system,
    )
    return [name, rows.map(({ text }) => text.toLowerCase()).join('\n')]
  })
  return new Map(await Promise.all(dumps))
}

it("erase deletes a person's data: a dump of records, segments and syncs has no trace, even if the person was delivered", async () => {
  const org = await app.makeOrg()
  const { orgId } = org
  const db = app.store.org(orgId)
  const file = join(folder, 'people.csv')
  writeFileSync(file, 'email,name\nzelda@initech.com,Zelda Quux\ngriz@initech.com,Griz\n')
  await records(orgId, 'import', file, '--kind', 'person', '--source', 'crm')
  await ingestForCell(
    db,
    orgId,
    { runId: newId(), rowId: newId(), action: 'records_ingest_1' },
    {
      source: 'sheet',
      kind: 'person',
      identifiers: [{ name: 'email', value: 'Zelda@initech.com' }],
      fields: [{ name: 'hobby', value: 'kiting' }],
    },
  )
  const filter = [{ conditions: [{ variable: 'name', operator: 'is not empty' }] }]
  const { segment_id } = await createSegment(db, orgId, OPERATOR, { name: 'Named', kind: 'person', filter })
  const workflow = await syncs.makeWorkflow(org)
  const synced = await syncs.sync(org, segment_id, {
    workflow_id: workflow.id,
    field_mapping: { 'input.who': 'name', 'input.Site': 'email' },
    push_existing: true,
  })
  const { sync_id, connection_id } = synced.body.data
  await syncs.cycle(org, sync_id)
  expect((await workflow.rows()).toSorted()).toEqual(['Griz', 'Zelda Quux'])
  const zelda: string = (await records(orgId, 'get', 'zelda@initech.com')).answer.entity_id
  // The error of PostgreSQL for a refused member may quote a value.
  const reason = 'invalid value "Zelda Quux"'
  await recordFailure(db, { org_id: orgId, connection_id }, zelda, reason)
  const last_import_error = {
    message: 'It could not be delivered',
    reason,
    entity_id: zelda,
    at: new Date().toISOString(),
    connection_id,
  }
  await changeSync(db, { org_id: orgId, sync_id }, 'active', { last_import_error })

  const traces = /zelda|quux|kiting/
  const before = await dumpStore()
  const holding = [...before].filter(([, text]) => traces.test(text)).map(([name]) => name)
  expect(holding).toEqual(
    expect.arrayContaining(['record_statements', 'record_identifiers', 'segment_failures', 'segment_syncs']),
  )
  for (const name of ['record_cell_writes', 'segment_members', 'segment_changes', 'segment_deliveries']) {
    expect(before.get(name)).toContain(zelda)
  }
  expect((await records(orgId, 'erase', '--email', 'zelda@initech.com')).answer).toEqual({
    entity_ids: [zelda],
    mentions: 0,
  })
  const clean = async () => [...(await dumpStore())].filter(([, text]) => traces.test(text))
  expect(await clean()).toEqual([])
  await syncs.cycle(org, sync_id)
  expect(await clean()).toEqual([])
  expect((await syncs.show(org, sync_id)).destinations).toMatchObject([
    { delivered: 2, pending: 0, failed: 0 },
  ])
  // Rows of sheets do not belong to the record store: Delete Rows removes them.
  expect(await workflow.rows()).toContain('Zelda Quux')
})

/** Makes PostgreSQL refuse rows of this sheet and quote them in the error. */
async function refuseRows(sheetId: string): Promise<void> {
  const run = (text: string) => app.store.query({ text, values: [] })
  await run(`create function refuse_rows() returns trigger language plpgsql as $$
    begin raise exception 'refused %', new.data using errcode = '54000'; end $$`)
  await run(`create trigger refuse_rows before insert on rows for each row
    when (new.sheet_id = '${sheetId}') execute function refuse_rows()`)
}

it('erase also removes the data from the reasons of paused syncs and failed members', async () => {
  const org = await app.makeOrg()
  const { orgId } = org
  const db = app.store.org(orgId)
  const file = join(folder, 'failing.csv')
  const others = Array.from(
    { length: 9 },
    (_, n) => `crm:${n},Person ${n},${n === 4 ? 'under zelda@initech.com' : ''}`,
  )
  writeFileSync(
    file,
    ['external,name,manager', ...others, 'crm:zelda@initech.com,Zelda Quux,', ''].join('\n'),
  )
  await records(orgId, 'import', file, '--kind', 'contact', '--source', 'crm')
  const filter = [{ conditions: [{ variable: 'name', operator: 'is not empty' }] }]
  const { segment_id } = await createSegment(db, orgId, OPERATOR, { name: 'Named', kind: 'contact', filter })
  const workflow = await syncs.makeWorkflow(org)
  await refuseRows(workflow.id)
  const field_mapping = { 'input.who': 'name', 'input.Site': 'manager' }
  const body = { workflow_id: workflow.id, field_mapping, push_existing: true }
  const { sync_id } = (await syncs.sync(org, segment_id, body)).body.data
  await syncs.cycle(org, sync_id)
  const stopped = { state: 'paused_error', destinations: [{ delivered: 0, failed: 9 }] }
  const before = await syncs.show(org, sync_id)
  expect(before).toMatchObject(stopped)
  expect(before.last_import_error.message).toContain('Zelda Quux')
  const traces = /zelda|quux/
  const holding = [...(await dumpStore())].filter(([, text]) => traces.test(text)).map(([name]) => name)
  expect(holding).toEqual(expect.arrayContaining(['segment_failures', 'segment_syncs']))

  const { answer } = await records(orgId, 'erase', '--email', 'zelda@initech.com')
  expect(answer).toEqual({ entity_ids: [expect.any(String)], mentions: 1 })
  expect([...(await dumpStore())].filter(([, text]) => traces.test(text))).toEqual([])
  const after = await syncs.show(org, sync_id)
  expect(after).toMatchObject(stopped)
  expect(after.last_import_error.message).toMatch(/in a row .* erased$/)
})
