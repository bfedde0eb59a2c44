import type { EntityKind } from '#contract/records.ts'
import type { TestApp } from '#test/plumbing/harness.ts'
import { newId } from '../../../lib/ids.ts'
import { OPERATOR } from '../../../organisation/store/audit.ts'
import { evaluateSegments, type EvaluateOptions } from '../evaluate.ts'
import { createSegment } from '../segments.ts'
import { listChanges } from '../store/changes.ts'
import { listMembers } from '../store/members.ts'

export const where = (variable: string, operator: string, ...values: string[]) => ({
  variable,
  operator,
  values,
})
export const filterOf = (...conditions: unknown[]) => [{ conditions }]

/** Returns helpers for most tests of segments. */
export function segmentsOf(app: TestApp) {
  async function create(orgId: string, filter: unknown, kind: EntityKind = 'company') {
    const db = app.store.org(orgId)
    const { segment_id } = await createSegment(db, orgId, OPERATOR, { name: newId(), kind, filter })
    return segment_id
  }
  const evaluate = (orgId: string, segmentId?: string, options?: EvaluateOptions) =>
    evaluateSegments(app.store.org(orgId), orgId, segmentId, options)

  async function members(orgId: string, segmentId: string) {
    const key = { org_id: orgId, segment_id: segmentId }
    const found = await listMembers(app.store.org(orgId), key, { after: null, limit: 10_000 })
    return found.map(({ entity_id }) => entity_id)
  }
  async function feed(orgId: string, segmentId: string) {
    const key = { org_id: orgId, segment_id: segmentId }
    return listChanges(app.store.org(orgId), key, { after: 0, limit: 10_000 })
  }
  return { create, evaluate, members, feed }
}
