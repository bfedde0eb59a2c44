import { defineAction } from '../define.ts'
import { done } from '../outcome.ts'
import { output } from '../outputs.ts'
import { entityKind, fieldValues, identifiers, recordSource } from '../records/fields.ts'

export default defineAction({
  id: 'records_ingest',
  name: 'Save to Records',
  description: 'Saves what a row knows about a company, a person or a contact to Records.',
  category: 'records',
  synonyms: ['store', 'save', 'record', 'database'],
  credits: 0,
  cached: false,
  timeoutSeconds: 120,
  inputs: {
    source: recordSource,
    entity_kind: entityKind({ label: 'Record type', help: 'What the row is about.' }),
    identifiers,
    fields: fieldValues({ label: 'Fields', help: 'The values to save.' }),
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
