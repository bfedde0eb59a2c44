import { EntityKind } from '#contract/records.ts'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done, unrunnable } from '../outcome.ts'
import { output } from '../outputs.ts'

const KINDS = EntityKind.options
const BETWEEN = KINDS.flatMap((from) => KINDS.map((to) => `${from}_to_${to}` as const))

export default defineAction({
  id: 'records_relationship',
  name: 'Relate records',
  description: 'Adds or removes a relationship between two records.',
  category: 'records',
  synonyms: ['link', 'connect', 'works at', 'relation'],
  credits: 0,
  cached: false,
  timeoutSeconds: 120,
  inputs: {
    relationship_target: field.choice([...KINDS, ...BETWEEN], {
      required: true,
      label: 'Related to',
      help: 'The kind of record at the other end.',
      details:
        'The long forms, such as person_to_company, also say what it comes from; otherwise that is the record with `from_identifier`.',
    }),
    operation: field.choice(['add', 'remove'], {
      required: true,
      label: 'Change',
      help: 'Add the relationship or remove it.',
    }),
    relationship_type: field.dropdown({
      required: true,
      from: 'record relationship types',
      label: 'Relationship',
      help: 'Its name, such as works at. Choose one or type a new one.',
      placeholder: 'works_at',
    }),
    from_identifier: field.text({
      required: true,
      label: 'From',
      help: 'The record it starts at: a domain, an email address, a LinkedIn URL, or an ID in a source, like hubspot:42.',
      placeholder: 'ada@acme.com',
    }),
    to_identifier: field.text({
      required: true,
      label: 'To',
      help: 'The record it leads to: a domain, an email address, a LinkedIn URL, or an ID in a source, like hubspot:42.',
      placeholder: 'acme.com',
    }),
  },
  outputs: { changed: output.boolean('True if the relationship was added or removed.') },
  async run({ inputs, context }) {
    const [fromKind, toKind] = readTarget(inputs.relationship_target)
    const answer = await context.records.relate(inputs.operation, {
      fromKind,
      from: inputs.from_identifier,
      toKind,
      to: inputs.to_identifier,
      type: inputs.relationship_type.trim(),
    })
    return answer.ok ? done(answer.value) : unrunnable(answer.message)
  },
})

function readTarget(target: EntityKind | (typeof BETWEEN)[number]): [EntityKind | null, EntityKind] {
  const [first, second] = target.split('_to_').map((word) => EntityKind.parse(word))
  if (first === undefined) throw new Error('a target is never empty')
  return second === undefined ? [null, first] : [first, second]
}
