import { EntityKind } from '#contract/records.ts'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done, unrunnable } from '../outcome.ts'
import { output } from '../outputs.ts'
import { entityKind, fieldsToSet } from '../records/fields.ts'

export default defineAction({
  id: 'records_update',
  name: 'Update record',
  description: 'Updates fields of a company, a person or a contact in Records.',
  category: 'records',
  synonyms: ['edit record', 'write', 'save'],
  credits: 0,
  cached: false,
  timeoutSeconds: 120,
  inputs: {
    scope: entityKind({ label: 'Update', help: 'The kind of record to update.' }),
    identifier: field.text({
      required: true,
      label: 'Identifier',
      help: 'A domain, an email address, a LinkedIn URL, or an ID in a source, like hubspot:42.',
      placeholder: 'acme.com',
    }),
    company_fields_to_set: fieldsToSet('company'),
    person_fields_to_set: fieldsToSet('person'),
    contact_fields_to_set: fieldsToSet('contact'),
  },
  alsoRequired({ scope }) {
    const kind = EntityKind.safeParse(scope)
    return kind.success ? [`${kind.data}_fields_to_set` as const] : []
  },
  outputs: {
    entity_id: output.text('The entity; empty when the record store has none with the identifier.'),
    updated: output.boolean('True if the entity now shows other values.'),
  },
  async run({ inputs, context }) {
    const { scope, identifier } = inputs
    const fields = inputs[`${scope}_fields_to_set`]
    if (fields.length === 0) return unrunnable(`${scope}_fields_to_set is required where scope is ${scope}`)
    const answer = await context.records.update({ kind: scope, identifier, fields })
    if (!answer.ok) return unrunnable(answer.message)
    return done(answer.value ?? { entity_id: null, updated: false })
  },
})
