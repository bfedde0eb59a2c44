import { Button } from '../../../ui/button.tsx'
import { Combobox } from '../../../ui/combobox.tsx'
import { Plus, X } from '../../../ui/icons.tsx'
import { TextField } from '../../../ui/text-field.tsx'
import { type ConditionGroup, type Leaf, operatorsFor, takesNoValue } from '../conditions.ts'
import type { Reference } from '../references.ts'
import { Group } from './panel.tsx'

type Props = {
  name: string
  groups: readonly ConditionGroup[]
  onChange: (groups: ConditionGroup[]) => void
  references: readonly Reference[]
}

const JOINTS = ['AND', 'OR']

/** The editor of condition groups. The first group, and the first condition of each group, has no combinator. */
export function ConditionsEditor({ name, groups, onChange, references }: Props) {
  const newLeaf = (): Leaf => ({
    variable: references[0]?.token ?? '',
    operator: 'is',
    values: [''],
    combinator: 'AND',
  })
  const setGroup = (place: number, group: ConditionGroup) =>
    onChange(group.conditions.length === 0 ? groups.toSpliced(place, 1) : groups.with(place, group))
  const last = groups.length - 1
  const addLeaf = () => {
    const group = groups[last]
    if (group === undefined) onChange([{ combinator: 'AND', conditions: [newLeaf()] }])
    else setGroup(last, { ...group, conditions: [...group.conditions, newLeaf()] })
  }
  let number = 0
  return (
    <Group name={name}>
      {groups.map((group, at) => (
        // A group has no identity except its position.
        // oxlint-disable-next-line react/no-array-index-key
        <div key={at} className="flex flex-col gap-2 rounded-md border p-2">
          {at > 0 && (
            <Combobox
              label="Groups joined by"
              value={group.combinator}
              choices={JOINTS}
              onChange={(combinator) =>
                setGroup(at, { ...group, combinator: combinator === 'OR' ? 'OR' : 'AND' })
              }
            />
          )}
          {group.conditions.map((leaf, place) => {
            number += 1
            const set = (next: Leaf) =>
              setGroup(at, { ...group, conditions: group.conditions.with(place, next) })
            return (
              <LeafEditor
                // oxlint-disable-next-line react/no-array-index-key
                key={place}
                name={`Condition ${number}`}
                leaf={leaf}
                isFirst={place === 0}
                references={references}
                onChange={set}
                onRemove={() => setGroup(at, { ...group, conditions: group.conditions.toSpliced(place, 1) })}
              />
            )
          })}
        </div>
      ))}
      <div className="flex gap-2">
        <Button size="small" icon={Plus} onClick={addLeaf}>
          Add condition
        </Button>
        <Button
          size="small"
          icon={Plus}
          onClick={() => onChange([...groups, { combinator: 'AND', conditions: [newLeaf()] }])}
        >
          Add group
        </Button>
      </div>
    </Group>
  )
}

function LeafEditor({
  name,
  leaf,
  isFirst,
  references,
  onChange,
  onRemove,
}: {
  name: string
  leaf: Leaf
  isFirst: boolean
  references: readonly Reference[]
  onChange: (leaf: Leaf) => void
  onRemove: () => void
}) {
  const type = references.find(({ token }) => token === leaf.variable)?.type
  const [first = '', second = ''] = leaf.values
  return (
    <div role="group" aria-label={name} className="grid grid-cols-2 gap-2">
      {!isFirst && (
        <Combobox
          label="Combinator"
          value={leaf.combinator}
          choices={JOINTS}
          onChange={(combinator) => onChange({ ...leaf, combinator: combinator === 'OR' ? 'OR' : 'AND' })}
        />
      )}
      <Combobox
        label="Variable"
        free
        value={leaf.variable}
        choices={references.map(({ token, type }) => ({ value: token, note: type }))}
        onChange={(variable) => onChange({ ...leaf, variable })}
      />
      <Combobox
        label="Operator"
        value={leaf.operator}
        choices={operatorsFor(type)}
        onChange={(operator) =>
          onChange({ ...leaf, operator, values: operator === 'is between' ? [first, second] : [first] })
        }
      />
      {!takesNoValue(leaf.operator) && (
        <TextField
          label="Value"
          value={first}
          onChange={(value) => onChange({ ...leaf, values: [value, ...leaf.values.slice(1)] })}
        />
      )}
      {leaf.operator === 'is between' && (
        <TextField
          label="And"
          value={second}
          onChange={(value) => onChange({ ...leaf, values: [first, value] })}
        />
      )}
      <div className="flex items-end">
        <Button size="small" kind="ghost" icon={X} onClick={onRemove}>
          Remove
        </Button>
      </div>
    </div>
  )
}
