import type { RecordInput } from '#contract/records.ts'
import type { TestApp } from '#test/plumbing/harness.ts'
import { describeEntity, describeHistory, findRoot } from '../entity.ts'
import { ingestRecords } from '../ingest.ts'
import { checkRecord } from '../record.ts'

export const NOW = new Date('2026-03-01T12:00:00Z')

export const company = (
  domains: string | string[],
  fields: Record<string, unknown> = {},
  at = '2026-01-01T00:00:00Z',
) => ({
  kind: 'company' as const,
  identifiers: [domains].flat().map((value) => ({ kind: 'domain' as const, value })),
  fields,
  observed_at: at,
})

/** Returns helpers for most tests of the record store. */
export function recordsOf(app: TestApp) {
  async function ingest(orgId: string, source: string, ...given: RecordInput[]) {
    const records = given.map((input) => {
      const checked = checkRecord(input, NOW)
      if ('faults' in checked) throw new Error(JSON.stringify(checked.faults))
      return checked.record
    })
    return ingestRecords(app.store.org(orgId), orgId, { source, actor: 'test', records })
  }
  async function only(orgId: string, source: string, record: RecordInput) {
    const { results, merged } = await ingest(orgId, source, record)
    const [result] = results
    if (result === undefined) throw new Error('no result')
    return { ...result, merged }
  }
  async function read(orgId: string, entityId: string) {
    const db = app.store.org(orgId)
    const root = await findRoot(db, orgId, entityId)
    if (root === undefined) throw new Error('no such entity')
    return { entity: await describeEntity(db, orgId, root), history: await describeHistory(db, orgId, root) }
  }
  return { ingest, only, read }
}
