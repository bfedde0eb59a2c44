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
  description: 'Adds a relationship between two entities of the record store, or removes it.',
  category: 'records',
  credits: 0,
  cached: false,
  timeoutSeconds: 120,
  inputs: {
    relationship_target: field.choice([...KINDS, ...BETWEEN], {
      required: true,
      description:
        'The kind of the target. Long forms such as person_to_company also give the kind of the start; otherwise the entity with from_identifier decides.',
    }),
    operation: field.choice(['add', 'remove'], {
      required: true,
      description: 'Add or remove the relationship.',
    }),
    relationship_type: field.dropdown({
      required: true,
      from: 'record relationship types',
      description: 'The name of the relationship, such as works_at: an existing or a new one.',
    }),
    from_identifier: field.text({
      required: true,
      description: 'The start of the relationship: a domain, an email address, a LinkedIn URL, or source:id.',
    }),
    to_identifier: field.text({
      required: true,
      description: 'The end of the relationship, in the same form.',
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
