import { defineAction } from '../define.ts'
import { done } from '../outcome.ts'
import { output } from '../outputs.ts'
import { entityKind, fieldValues, identifiers, recordSource } from '../records/fields.ts'

export default defineAction({
  id: 'records_ingest',
  name: 'Ingest record',
  description: 'Saves a company, a person or a contact of a row to Records.',
  category: 'records',
  credits: 0,
  cached: false,
  timeoutSeconds: 120,
  inputs: {
    source: recordSource,
    entity_kind: entityKind('The kind of entity.'),
    identifiers,
    fields: fieldValues({ description: 'The fields of the record' }),
  },
  outputs: {
    entity_id: output.text('The entity of the record store.'),
    accepted: output.boolean('True if Records accepted the record.'),
    created: output.boolean('True if the entity did not exist before.'),
    reason: output.text('Why the record was not accepted.'),
  },
  async run({ inputs: { source, entity_kind, ...given }, context }) {
    const answer = await context.records.ingest({ source, kind: entity_kind, ...given })
    return answer.ok
      ? done({ ...answer.value, accepted: true, reason: null })
      : done({ entity_id: null, accepted: false, created: false, reason: answer.message })
  },
})
