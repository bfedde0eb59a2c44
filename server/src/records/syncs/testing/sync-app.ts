import { sql } from 'kysely'
import type { Store } from '#server/database/connection/db.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { createSegment, updateSegment } from '#server/records/segments/segments.ts'
import { company, recordsOf } from '#server/records/testing/records.ts'
import { type ApiResponse, type Json, makeApp, type TestOrg } from '#test/plumbing/harness.ts'
import { runCycle } from '../cycle.ts'
import type { FloodLimits } from '../plan.ts'
import { startDueCycles } from '../scheduler.ts'

export type SyncApp = Awaited<ReturnType<typeof makeSyncApp>>

const NEVER = new AbortController().signal
export const FLOOD: FloodLimits = { members: 500, factor: 3 }
const FIRST_SECOND = Date.parse('2026-01-01T00:00:00Z')
const MAX_AT_ONCE = 1000

export const industryIs = (...values: string[]) => [
  {
    conditions: values.map((value) => ({
      variable: 'industry',
      operator: 'is',
      values: [value],
      combinator: 'OR',
    })),
  },
]

/** Starts an application with segments of companies, whose cycles run when a test calls them. */
export async function makeSyncApp(settings: Record<string, string> = {}) {
  const app = await makeApp({ settings })
  const records = recordsOf(app)
  let serial = 0

  /** Ingests companies by name: `acme` gets the domain acme.example. The latest call counts. Returns their entities. */
  async function put(org: TestOrg, names: readonly string[], fields: Record<string, unknown> = {}) {
    const ids: string[] = []
    for (let start = 0; start < names.length; start += MAX_AT_ONCE) {
      serial += 1
      const at = new Date(FIRST_SECOND + serial * 1000).toISOString()
      const given = names
        .slice(start, start + MAX_AT_ONCE)
        .map((name) => company(`${name}.example`, { name, industry: 'software', ...fields }, at))
      const { results } = await records.ingest(org.orgId, 'crm', ...given)
      ids.push(...results.map(({ entity_id }) => entity_id))
    }
    return ids
  }

  async function makeSegment(org: TestOrg): Promise<string> {
    serial += 1
    // Makes the field known, because an unknown field in a filter gives a warning.
    await put(org, ['nobody'], { industry: 'none' })
    const segment = { name: `Segment ${serial}`, kind: 'company' as const, filter: industryIs('software') }
    return (await createSegment(app.store.org(org.orgId), org.orgId, OPERATOR, segment)).segment_id
  }

  async function makeWorkflow(org: TestOrg, key = org.key) {
    const call = (method: string, path: string, body?: unknown) => app.call(key, method, path, body)
    const { body } = await call('POST', '/workflows', { name: 'Target' })
    const id: string = body.data.workflow_id
    const base = `/workflows/${id}/sheets/${id}`
    await call('POST', `${base}/inputs`, [
      { name: 'who', type: 'string' },
      { name: 'Site', type: 'url' },
    ])
    return {
      id,
      base,
      /** Lists the names in the rows, in order. */
      rows: async (): Promise<string[]> => {
        const all: string[] = []
        for (let page = 1; ; page += 1) {
          const listed = await org.call('POST', `${base}/rows/list`, { page_size: 200, page_no: page })
          const rows: { inputs: { who: string } }[] = listed.body.data.rows
          all.push(...rows.map(({ inputs }) => inputs.who))
          if (all.length >= listed.body.data.total_count || rows.length === 0) return all
        }
      },
    }
  }

  /** Runs the cycle of a sync now, as a worker that takes its tick. */
  async function cycle(org: TestOrg, syncId: string, store: Store = app.store, flood = FLOOD): Promise<void> {
    await sql`update segment_syncs set next_cycle_at = now() where sync_id = ${syncId}`.execute(
      app.store.system,
    )
    await startDueCycles(store, 300, app.services.log)
    await runCycle(store.org(org.orgId), { org_id: org.orgId, sync_id: syncId }, flood, NEVER)
  }

  return {
    app,
    put,
    makeSegment,
    makeWorkflow,
    cycle,
    setFilter: (org: TestOrg, segment_id: string, filter: unknown) =>
      updateSegment(app.store.org(org.orgId), { org_id: org.orgId, segment_id }, OPERATOR, { filter }),
    sync: (org: TestOrg, segmentId: string, body: object, key = org.key): Promise<ApiResponse> =>
      app.call(key, 'POST', `/records/segments/${segmentId}/sync`, body),
    show: async (org: TestOrg, syncId: string): Promise<Json> =>
      (await org.call('GET', `/records/syncs/${syncId}`)).body.data,
    count: async (text: string, values: unknown[]): Promise<number> =>
      Number((await app.store.query<{ count: number }>({ text, values }))[0]?.count),
  }
}

/** Creates a segment synced into one workflow. */
export async function makeSynced(syncs: SyncApp, body: object = {}, org?: TestOrg) {
  const owner = org ?? (await syncs.app.makeOrg())
  const segmentId = await syncs.makeSegment(owner)
  const workflow = await syncs.makeWorkflow(owner)
  const mapping = { field_mapping: { 'input.who': 'name' } }
  const answer = await syncs.sync(owner, segmentId, { workflow_id: workflow.id, ...mapping, ...body })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  const { sync_id: syncId, connection_id: connectionId } = answer.body.data
  const path = `/records/syncs/${syncId}`
  return {
    org: owner,
    segmentId,
    workflow,
    syncId,
    connectionId,
    path,
    enter: (...names: string[]) => syncs.put(owner, names),
    leave: (...names: string[]) => syncs.put(owner, names, { industry: 'other' }),
    cycle: () => syncs.cycle(owner, syncId),
    show: () => syncs.show(owner, syncId),
    confirm: (choice: string) => owner.call('POST', `${path}/confirm`, { choice }),
    resume: () => owner.call('POST', `${path}/resume`),
    pause: (connection: string = connectionId) =>
      owner.call('POST', `${path}/destinations/${connection}/pause`),
    resumeDestination: (choice?: string, connection: string = connectionId) =>
      owner.call(
        'POST',
        `${path}/destinations/${connection}/resume`,
        choice === undefined ? undefined : { choice },
      ),
  }
}

export const namesOf = (count: number, prefix = 'c') =>
  Array.from({ length: count }, (_, n) => `${prefix}${n + 1}`)
