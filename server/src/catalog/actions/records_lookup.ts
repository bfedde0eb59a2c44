import { EntityKind } from '#contract/records.ts'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done, unrunnable } from '../outcome.ts'
import { output } from '../outputs.ts'

const lookupType = field.choice([...EntityKind.options, 'entity'], {
  required: true,
  label: 'Look up',
  help: 'What to look for.',
  details: 'The word entity means a company.',
})

export default defineAction({
  id: 'records_lookup',
  name: 'Look up record',
  description: 'Reads a company, a person or a contact from Records.',
  category: 'records',
  synonyms: ['find record', 'read', 'history', 'database'],
  credits: 0,
  cached: false,
  inputs: {
    lookup_type: {
      ...lookupType,
      options: { fixed: EntityKind.options.map((kind) => ({ value: kind, label: kind })) },
    },
    identifier: field.text({
      required: true,
      label: 'Identifier',
      help: 'A domain, an email address, a LinkedIn URL, or an ID in a source, like hubspot:42.',
      placeholder: 'acme.com',
    }),
    events: {
      ...field.texts({
        label: 'Events',
        help: 'The types of events to return. Leave empty for all.',
        advanced: true,
        kind: 'choices',
      }),
      options: { from: 'record events', needs: ['lookup_type'] },
    },
    limit: field.number({
      whole: true,
      min: 1,
      max: 100,
      default: 10,
      label: 'Most events',
      help: 'Returns the latest events up to this many.',
      placeholder: '10',
      details: 'Default 10.',
      advanced: true,
    }),
  },
  outputs: {
    found: output.boolean('True if the entity exists.'),
    entity: output.json(
      'Its entity_id, kind, identifiers, fields by name, provenance of each, relationships.',
    ),
    events: output.table('Its latest events.', {
      type: 'string',
      at: 'string',
      source: 'string',
      data: 'json',
    }),
  },
  async run({ inputs: { lookup_type, identifier, events, limit = 10 }, context }) {
    const kind = lookup_type === 'entity' ? 'company' : lookup_type
    const eventTypes = events.map((type) => type.trim()).filter((type) => type !== '')
    const answer = await context.records.lookup({ kind, identifier, eventTypes, limit })
    if (!answer.ok) return unrunnable(answer.message)
    if (answer.value === null) return done({ found: false, entity: null, events: [] })
    return done({ found: true, ...answer.value })
  },
})
