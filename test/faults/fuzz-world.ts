import { sql } from 'kysely'
import { loadCatalogue } from '#server/catalog/registry.ts'
import { openStorage } from '#server/files/storage/open-storage.ts'
import { storeUpload } from '#server/files/uploads.ts'
import { readConfig } from '#server/lib/config/config.ts'
import { createSealer } from '#server/lib/security/secrets.ts'
import { switchWebhookOn } from '#server/org/webhooks.ts'
import { ingestRecords } from '#server/records/ingest.ts'
import { checkRecord } from '#server/records/record.ts'
import { createSegment } from '#server/segments/segments.ts'
import { publishShortcut } from '#server/shortcuts/publish.ts'
import { OPERATOR } from '#server/store/organisation/audit.ts'
import { findMember } from '#server/store/organisation/members.ts'
import { type Installation, SECRET } from '#test/installation.ts'
import { type Call, makeSheet } from '#test/sheets.ts'

type Org = { orgId: string; adminEmail: string }
type Ids = Record<string, string>
/** What the ids of a path name, and a query or body that fits them; a schema alone does not say which those are. */
export type World = { ids: Ids; query: Record<string, string>; body?: unknown }
const STEP = { action_id: 'normalize_domain', inputs: { value: '{{input.a}}' } }

/** Makes things that the ids of a path name; some requests take them away, so each operation begins with its own. */
export async function createWorlds({ store, folder }: Installation, call: Call, org: Org, listUrl: string) {
  const { orgId } = org
  const db = store.org(orgId)
  const catalogue = await loadCatalogue()
  const given = {
    kind: 'company',
    identifiers: [{ kind: 'domain', value: 'a.example' }],
    fields: { name: 'A' },
  }
  const checked = checkRecord(given, new Date())
  if ('faults' in checked) throw new Error(JSON.stringify(checked.faults))
  await ingestRecords(db, orgId, { source: 'crm', actor: 'fuzz', records: [checked.record] })

  const storage = openStorage(readConfig({ LOAM_DATA_DIR: `${folder}/server` }))
  let serial = 0

  async function addSegment(world: Ids, workflow_id: string): Promise<void> {
    const filter = [{ conditions: [{ variable: 'name', operator: 'is', values: ['A'] }] }]
    const name = `Segment ${workflow_id}`
    const segment = await createSegment(db, orgId, OPERATOR, { name, kind: 'company', filter })
    world['segment_id'] = segment.segment_id
    const body = { workflow_id, field_mapping: { 'input.a': 'name' } }
    const { data } = await call('POST', `/records/segments/${segment.segment_id}/sync`, body)
    world['sync_id'] = data.sync_id
    world['connection_id'] = data.connection_id ?? data.destinations?.[0]?.connection_id
  }

  async function addShortcut(world: Ids, workflowId: string): Promise<void> {
    const member = await findMember(store.system, orgId, org.adminEmail)
    if (member === undefined) throw new Error('the administrator is gone')
    const author = { ...OPERATOR, orgId, memberId: member.member_id }
    const shown = { name: 'Shortcut', description: '', cover_image: null, icon_emoji: null }
    const shortcut = await publishShortcut({ db, author, catalogue }, workflowId, member, shown, {})
    world['id'] = shortcut.shortcut_id
    const { data } = await call('POST', `/shortcuts/${shortcut.shortcut_id}/run`, { input_data: { a: 'x' } })
    world['run_id'] = data.run_id ?? data.id
  }

  /** What some operations need besides. */
  const needs: Record<string, (ids: Ids) => Promise<Partial<World>>> = {
    previewSource: async () => ({ body: { url: listUrl, items_path: 'items' } }),
    createSource: async () => ({ body: { url: listUrl, items_path: 'items', name: 'List' } }),
    syncSource: async ({ workflow_id }) => ({
      body: { workflow_id, field_mapping: { 'input.a': 'name' } },
    }),
    syncSegment: async ({ workflow_id }) => ({
      body: { workflow_id, field_mapping: { 'input.a': 'name' } },
    }),
    async confirmHeldMembers({ sync_id }) {
      await sql`update segment_syncs set state = 'pending_confirmation', held_reason = 'flood' where sync_id = ${sync_id}`.execute(
        store.system,
      )
      return { body: { choice: 'push' } }
    },
    async importFile() {
      const file = { orgId, name: 'rows.csv', createdBy: 'fuzz' }
      const { file_ref } = await storeUpload({ db: store.system, storage }, file, once('a,b\n1,2\n'))
      return { body: { file_ref, mapping: { a: 'a', b: 'b' } } }
    },
    async removeMember() {
      serial += 1
      const email = `invited-${serial}@example.com`
      await call('POST', '/org/members', { email, role: 'member' })
      return { query: { email } }
    },
    async deleteSheet(ids) {
      const { data } = await call('POST', `/workflows/${ids['workflow_id']}/sheets`, { name: 'Child' })
      ids['sheet_id'] = data.sheet_id
      return {}
    },
  }

  return async function makeWorld(path: string, operationId: string): Promise<World> {
    const base = await makeSheet(call, ['a', 'b'], [STEP])
    const [, , workflow_id = ''] = base.split('/')
    const run_after_add = path.includes('/cells/') ? 'all' : 'none'
    const rows = await call('POST', `${base}/rows`, {
      rows: [{ a: 'a.example' }, { a: '1', b: '2' }],
      run_after_add,
    })
    const world: Ids = { workflow_id, sheet_id: workflow_id }
    world['row_id'] = rows.data.row_ids[0]
    world['action_instance_id'] = 'normalize_domain_1'
    world['field_name'] = 'value'
    world['source_id'] = 'import_from_api'
    if (path.includes('{export_id}')) {
      world['export_id'] = (await call('POST', `${base}/export`, {})).data.export_id
    }
    if (path.includes('{source_instance_id}')) {
      const body = { url: listUrl, items_path: 'items', name: 'List' }
      const { data } = await call('POST', '/sources/import_from_api', body)
      world['source_instance_id'] = data.source_instance_id
    }
    if (/\{(segment_id|sync_id)\}/.test(path)) await addSegment(world, workflow_id)
    if (path.includes('{id}')) await addShortcut(world, workflow_id)
    if (path.includes('{token}')) {
      const sheet = { org_id: orgId, sheet_id: workflow_id }
      world['token'] = await switchWebhookOn(store.system, OPERATOR, createSealer(SECRET), sheet)
    }
    return { ids: world, query: {}, ...(await needs[operationId]?.(world)) }
  }
}

async function* once(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text)
}
