import { plural } from '#server/lib/plural.ts'
import type { Explanation, ExplainedCondition } from '#server/records/segments/explain.ts'
import { toCountBounds } from '#server/records/segments/filter.ts'
import type { SegmentRecord } from '#server/records/segments/store/segments.ts'
import { formatDetails } from '../output.ts'

export type SegmentView = ReturnType<typeof viewSegment>

/** Returns a segment in the form for programs. */
export function viewSegment(segment: SegmentRecord) {
  const { segment_id, name, kind, filter, filter_hash, filter_version, member_count } = segment
  return {
    segment_id,
    name,
    kind,
    filter,
    filter_hash,
    filter_version,
    members: member_count,
    is_evaluated: segment.evaluated_version === filter_version,
    created_at: segment.created_at,
    updated_at: segment.updated_at,
  }
}

export function formatSegment(view: SegmentView): string {
  return formatDetails(`Segment ${view.segment_id}`, [
    ['name', view.name],
    ['kind', view.kind],
    ['members', String(view.members)],
    ['filter', JSON.stringify(view.filter)],
  ])
}

export function formatExplanation({
  entity_id,
  matches,
  is_member,
  reason,
  changes_at,
  conditions,
}: Explanation): string {
  const lines = conditions.map((one) => {
    const time = one.changes_at === null ? '' : `; can change at ${one.changes_at}`
    return `  ${one.holds ? 'yes' : 'no '}  ${describe(one)}; seen: ${JSON.stringify(one.seen)}${time}`
  })
  return [
    `${entity_id} is ${matches ? 'in' : 'not in'} the segment${reason === null ? '' : `: ${reason}`}`,
    ...lines,
    ...(matches === is_member
      ? []
      : ['The list of members is not up to date yet: the next evaluation changes it.']),
    changes_at === null ? 'Time alone does not change this.' : `Time alone can change this at ${changes_at}.`,
  ].join('\n')
}

function describe({ condition }: ExplainedCondition): string {
  const joined = condition.combinator === 'OR' ? 'or ' : ''
  if ('variable' in condition) {
    const { variable, operator, values = [] } = condition
    return [`${joined}${variable}`, operator, ...values.map((value) => JSON.stringify(value))].join(' ')
  }
  const { atLeast, atMost } = toCountBounds(condition)
  const count = atMost === Infinity ? `at least ${atLeast}` : `${atLeast} to ${atMost}`
  if ('event' in condition) {
    const days = condition.within_days === undefined ? '' : ` within ${plural(condition.within_days, 'day')}`
    return `${joined}${count} of event ${condition.event}${days}`
  }
  const end = condition.to === undefined ? `from ${condition.from}` : `to ${condition.to}`
  const where = condition.where === undefined ? '' : ` where ${JSON.stringify(condition.where)}`
  return `${joined}${count} by ${condition.relationship} ${end}${where}`
}
