import type { describeEntity } from '#server/records/entity.ts'
import { formatDetails, formatTime } from '../output.ts'

type Entity = Awaited<ReturnType<typeof describeEntity>>

const MAX_LISTED = 20

export function formatEntity(entity: Entity): string {
  const { entity_id, kind, identifiers, fields, relationships, events } = entity
  const details: [string, string][] = [
    ...identifiers.map((identifier): [string, string] => [identifier.kind, identifier.value]),
    ...Object.entries(fields).map(([name, { value, source, at }]): [string, string] => [
      name,
      `${typeof value === 'string' ? value : JSON.stringify(value)}  (${source}, ${at.slice(0, 10)})`,
    ]),
    ...relationships
      .slice(0, MAX_LISTED)
      .map(({ direction, type, kind: other, entity_id: id }): [string, string] => [
        type,
        `${direction} ${other} ${id}`,
      ]),
    ...events
      .slice(0, MAX_LISTED)
      .map(({ type, at, data }): [string, string] => [type, `${formatTime(at)} ${JSON.stringify(data)}`]),
  ]
  return formatDetails(`${kind} ${entity_id}`, details)
}
