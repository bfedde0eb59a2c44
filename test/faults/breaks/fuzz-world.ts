import { sql } from 'kysely'
import { admitAgentRun, endAgentRun } from '#server/agent/store/agent-runs.ts'
import { slack } from '#server/catalog/providers/slack/provider.ts'
import { loadCatalogue } from '#server/catalog/registry.ts'
import { openStorage } from '#server/files/storage/open-storage.ts'
import { storeUpload } from '#server/files/uploads.ts'
import { readConfig } from '#server/lib/config/config.ts'
import { newId } from '#server/lib/ids.ts'
import { createSealer } from '#server/lib/security/secrets.ts'
import { addConnection } from '#server/organisation/connections.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { findMember } from '#server/organisation/store/members.ts'
import { ingestRecords } from '#server/records/ingest.ts'
import { checkRecord } from '#server/records/record.ts'
import { evaluateSegments } from '#server/records/segments/evaluate.ts'
import { createSegment } from '#server/records/segments/segments.ts'
import { switchWebhookOn } from '#server/runs/webhooks/webhooks.ts'
import { publishShortcut } from '#server/shortcuts/publish.ts'
import { callOver, makeSheet, runAll } from '#test/builders/sheets.ts'
import { type Installation, SECRET } from '#test/plumbing/installation.ts'

const ADMIN = 'admin@example.com'
const MANY = 1_000_000
type Ids = Record<string, string>
/**
 * The records that the ids of a path refer to, and a query or body that fits them. A schema alone does not
 * tell which those are.
 */
export type World = {
  key: string
  ids: Ids
  query: Record<string, string>
  body?: unknown
  /** Recreates what a request has used up. */
  renew: () => Promise<void>
}
const STEP = { action_id: 'normalize_domain', inputs: { value: '{{input.a}}' } }
const WATERFALL = {
  action_id: 'person_work_email_waterfall',
  inputs: {
    full_name: '{{input.a}}',
    company_domain: '{{input.b}}',
    email_providers: ['Hunter', 'Findymail'],
    email_validation: ['None'],
  },
}

/** The operations that share their path with Create Source, whose parameter is a type of source. */
const OF_A_SOURCE = new Set(['getSource', 'updateSource'])

/** Creates an organisation for an operation, so that no other operation sees what it creates or deletes. */
export async function createWorlds(installation: Installation, origin: string, listUrl: string) {
  const { store, folder } = installation
  const catalogue = await loadCatalogue()
  const sealer = createSealer(SECRET)
  const storage = openStorage(readConfig({ LOAM_DATA_DIR: `${folder}/server` }))
  let serial = 0

  async function getAdmin(orgId: string) {
    const member = await findMember(store.system, orgId, ADMIN)
    if (member === undefined) throw new Error('the administrator is gone')
    return member
  }

  return async function openOrg(path: string, operationId: string) {
    const { orgId, key } = await installation.makeOrg(`Generated ${operationId}`, MANY)
    const call = callOver(origin, key)
    const db = store.org(orgId)
    const member = await getAdmin(orgId)

    async function addSheet(ids: Ids): Promise<void> {
      const base = await makeSheet(call, ['a', 'b'], [STEP])
      const rows = [{ a: 'a.example' }, { a: '1', b: '2' }]
      const { data } = await call('POST', `${base}/rows`, { rows, run_after_add: 'none' })
      // A cell has outputs only after it has run, which may take longer than the next request.
      if (path.includes('/cells/')) await runAll(call, base)
      ids['workflow_id'] = ids['sheet_id'] = base.slice(-36)
      ids['row_id'] = data.row_ids[0]
    }

    async function addSegment(ids: Ids): Promise<void> {
      const given = {
        kind: 'company',
        identifiers: [{ kind: 'domain', value: 'a.example' }],
        fields: { name: 'A' },
      }
      const checked = checkRecord(given, new Date())
      if ('faults' in checked) throw new Error(JSON.stringify(checked.faults))
      await ingestRecords(db, orgId, { source: 'crm', actor: 'fuzz', records: [checked.record] })
      const filter = [{ conditions: [{ variable: 'name', operator: 'is', values: ['A'] }] }]
      const name = `Segment ${ids['workflow_id']}`
      const segment = await createSegment(db, orgId, OPERATOR, { name, kind: 'company', filter })
      ids['segment_id'] = segment.segment_id
    }

    async function addSync(ids: Ids): Promise<void> {
      const body = { workflow_id: ids['workflow_id'], field_mapping: { 'input.a': 'name' } }
      const { data } = await call('POST', `/records/segments/${ids['segment_id']}/sync`, body)
      ids['sync_id'] = data.sync_id
      ids['connection_id'] = data.connection_id ?? data.destinations?.[0]?.connection_id
    }

    async function addShortcut(ids: Ids): Promise<void> {
      const author = { ...OPERATOR, orgId, memberId: member.member_id }
      const shown = { name: 'Shortcut', description: '', cover_image: null, icon_emoji: null }
      const workflowId = ids['workflow_id'] ?? ''
      const shortcut = await publishShortcut({ db, author, catalogue }, workflowId, member, {
        shown,
        given: {},
      })
      ids['id'] = shortcut.shortcut_id
      const { data } = await call('POST', `/shortcuts/${shortcut.shortcut_id}/run`, {
        input_data: { a: 'x' },
      })
      ids['run_id'] = data.run_id ?? data.id
    }

    async function addBudget(ids: Ids): Promise<void> {
      const body = { scope: 'workflow', subject: ids['workflow_id'], period: 'month', limit: 5 }
      ids['budget_id'] = (await call('POST', '/credits/budgets', body)).data.budget_id
    }

    /** Adds a run that ended because it was out of credits. */
    async function addRun(ids: Ids): Promise<void> {
      const base = sheetOf(ids)
      await call('POST', `${base}/run-all`, { max_credits: 0 })
      ids['run_id'] = (await call('GET', `${base}/runs`)).data[0].run_id
    }

    async function addAgentRun(ids: Ids): Promise<void> {
      serial += 1
      const request_id = `generated-${serial}`
      const asked = { request_id, member_id: member.member_id, key_id: null, price_millis: 0 }
      const quota = { perHour: MANY, atOnce: MANY, maxSeconds: 60 }
      const admitted = await admitAgentRun(db, { ...asked, org_id: orgId, prompt: 'Who?' }, quota)
      if (admitted.kind !== 'admitted') throw new Error(admitted.kind)
      const answer = { answer: 'A', sources: [] }
      await endAgentRun(db, admitted.run, { model: 'a', error: null, answer, trace: [], spent: {} })
      ids['request_id'] = request_id
    }

    async function addSource(ids: Ids): Promise<void> {
      const body = { url: listUrl, items_path: 'items', name: 'List' }
      ids['source_instance_id'] = (
        await call('POST', '/sources/import_from_api', body)
      ).data.source_instance_id
    }

    async function addMember(): Promise<Partial<World>> {
      serial += 1
      const email = `invited-${serial}@example.com`
      await call('POST', '/org/members', { email, role: 'member' })
      return { query: { email } }
    }

    /** Makes cells fail that had a result before. */
    async function failCells(): Promise<void> {
      await sql`with failed as (
          update cells set status = 'failed', outputs = null, error = 'the site is down' where org_id = ${orgId}
        )
        insert into former_cells (org_id, sheet_id, row_id, action, by_run, status, outputs, run_id, revision, attempts,
          credits_millis, cached, learns, started_at, completed_at)
        select org_id, sheet_id, row_id, action, gen_random_uuid(), status, outputs, run_id, revision, attempts, credits_millis,
          cached, learns, started_at, completed_at
        from cells where org_id = ${orgId} and status = 'complete'`.execute(store.system)
    }

    /**
     * The records that the paths of some operations refer to, bodies that fit them, and what the operations
     * use up.
     */
    const needs: Record<string, (ids: Ids) => Promise<Partial<World> | void>> = {
      previewSource: async () => ({ body: { url: listUrl, items_path: 'items' } }),
      createSource: async () => ({ body: { url: listUrl, items_path: 'items', name: 'List' } }),
      async getSourceFieldOptions(ids) {
        ids['source_id'] = 'import_from_slack'
        ids['field_name'] = 'channels'
        const connection = { orgId, provider: slack, name: newId(), ownerId: null, shared: true }
        await addConnection(store.system, sealer, OPERATOR, { ...connection, fields: { secret: 'xoxb-1' } })
        return { body: {} }
      },
      syncSource: async ({ workflow_id }) => ({
        body: { workflow_id, field_mapping: { 'input.a': 'name' } },
      }),
      syncSegment: async ({ workflow_id }) => ({
        body: { workflow_id, field_mapping: { 'input.a': 'name' } },
      }),
      async listSegmentChanges({ segment_id = '' }) {
        await evaluateSegments(db, orgId, segment_id)
        return { query: { since: '0' } }
      },
      deleteSync: addSync,
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
      removeMember: addMember,
      getBudget: addBudget,
      updateBudget: addBudget,
      deleteBudget: addBudget,
      getRun: addRun,
      async resumeRun(ids) {
        await addRun(ids)
        return { body: { max_credits: 5 } }
      },
      getAgentRun: addAgentRun,
      async uploadFile() {
        return { query: { name: 'rows.csv' } }
      },
      restoreCell: failCells,
      getPreviousCellOutputs: failCells,
      listRows: async () => ({ body: {} }),
      deleteAllRows: async () => ({ body: {} }),
      runRows: async () => ({ body: { first_10: true } }),
      runAction: async () => ({ body: {} }),
      ...Object.fromEntries(['runShortcut', 'runApp'].map((name) => [name, giveInput])),
      ...Object.fromEntries(['runShortcutBatch', 'runAppBatch'].map((name) => [name, giveInputs])),
      async deleteRows(ids) {
        const { data } = await call('POST', `${sheetOf(ids)}/rows`, { rows: [{ a: '1' }] })
        return { body: { row_ids: data.row_ids } }
      },
      deleteInput: addInput,
      async changeInput(ids) {
        await addInput(ids)
        return { body: { description: 'x' } }
      },
      async duplicateInput(ids) {
        await addInput(ids)
        return { body: {} }
      },
      async getWaterfall(ids) {
        ids['action_instance_id'] = await addWaterfall(ids)
        ids['field_name'] = 'email_providers'
      },
      createView: giveView,
      getView: addView,
      deleteView: addView,
      async updateView(ids) {
        await addView(ids)
        return { body: { name: `Renamed ${serial}` } }
      },
      groupRows: async () => ({ body: { by: [{ variable: '{{input.a}}' }] } }),
      getRowStatistics: async () => ({ body: { columns: [{ variable: '{{input.a}}' }] } }),
      addComment: async ({ row_id }) => ({ body: { row_id, text: 'Why?' } }),
      async editComment(ids) {
        await addComment(ids)
        return { body: { text: 'Because' } }
      },
      deleteComment: addComment,
      testAction: async ({ row_id }) => ({ body: { row_id } }),
      testNewAction: async ({ row_id }) => ({ body: { ...STEP, row_id } }),
      getActionTest: addTest,
      getActionTestOutputs: addTest,
      keepActionTest: addTest,
      getNewActionTest: addNewTest,
      getNewActionTestOutputs: addNewTest,
      async deleteAction(ids) {
        const { data } = await call('POST', `${sheetOf(ids)}/actions/add`, STEP)
        ids['action_instance_id'] = data.action_instance_id
      },
      async reorderWaterfall(ids) {
        ids['action_instance_id'] = await addWaterfall(ids)
        ids['field_name'] = 'email_providers'
        return { body: { providers: ['Findymail', 'Hunter'] } }
      },
      async getActionFieldOptions(ids) {
        ids['action_instance_id'] = await addWaterfall(ids)
        ids['field_name'] = 'email_providers'
        return { body: {} }
      },
      async deleteSheet(ids) {
        const { data } = await call('POST', `/workflows/${ids['workflow_id']}/sheets`, { name: 'Child' })
        ids['sheet_id'] = data.sheet_id
      },
      async deleteWorkflow(ids) {
        ids['workflow_id'] = (await call('POST', '/workflows', { name: 'Workflow' })).data.workflow_id
      },
    }

    async function addInput(ids: Ids): Promise<void> {
      serial += 1
      ids['field_name'] = `spare_${serial}`
      await call('POST', `${sheetOf(ids)}/inputs`, [{ name: ids['field_name'], type: 'string' }])
    }

    async function giveView(): Promise<Partial<World>> {
      serial += 1
      return { body: { name: `View ${serial}` } }
    }

    async function addView(ids: Ids): Promise<void> {
      const { body } = await giveView()
      ids['view_id'] = (await call('POST', `${sheetOf(ids)}/views`, body)).data.view_id
    }

    async function addComment(ids: Ids): Promise<void> {
      const body = { row_id: ids['row_id'], text: 'Why?' }
      ids['comment_id'] = (await call('POST', `${sheetOf(ids)}/comments`, body)).data.comment_id
    }

    async function addTest(ids: Ids): Promise<void> {
      const path = `${sheetOf(ids)}/actions/${ids['action_instance_id']}/test`
      ids['test_id'] = (await call('POST', path, { row_id: ids['row_id'] })).data.test_id
    }

    async function addNewTest(ids: Ids): Promise<void> {
      const body = { ...STEP, row_id: ids['row_id'] }
      ids['test_id'] = (await call('POST', `${sheetOf(ids)}/actions/test`, body)).data.test_id
    }

    async function addWaterfall(ids: Ids): Promise<string> {
      return (await call('POST', `${sheetOf(ids)}/actions/add`, WATERFALL)).data.action_instance_id
    }

    return async function makeWorld(): Promise<World> {
      const ids: Ids = {
        action_id: STEP.action_id,
        action_instance_id: `${STEP.action_id}_1`,
        field_name: 'value',
        source_id: 'import_from_api',
      }
      if (path.includes('{')) await addSheet(ids)
      if (path.includes('{export_id}')) {
        ids['export_id'] = (await call('POST', `${sheetOf(ids)}/export`, {})).data.export_id
      }
      if (path.includes('{source_instance_id}')) await addSource(ids)
      if (OF_A_SOURCE.has(operationId)) {
        await addSource(ids)
        ids['source_id'] = ids['source_instance_id'] ?? ''
      }
      if (/\{(segment_id|sync_id)\}/.test(path)) await addSegment(ids)
      if (path.includes('{sync_id}') && needs[operationId] !== addSync) await addSync(ids)
      if (path.includes('{id}')) await addShortcut(ids)
      if (path.includes('{token}')) {
        const sheet = { org_id: orgId, sheet_id: ids['sheet_id'] ?? '' }
        ids['token'] = await switchWebhookOn(store.system, OPERATOR, sealer, { sheet })
      }
      const world: World = { key, ids, query: {}, renew }
      async function renew(): Promise<void> {
        Object.assign(world, await needs[operationId]?.(ids))
      }
      await renew()
      return world
    }
  }
}

const giveInput = async () => ({ body: { input_data: { a: 'x' } } })
const giveInputs = async () => ({ body: { rows: [{ a: 'x' }] } })

function sheetOf(ids: Ids): string {
  return `/workflows/${ids['workflow_id']}/sheets/${ids['sheet_id']}`
}

async function* once(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text)
}
