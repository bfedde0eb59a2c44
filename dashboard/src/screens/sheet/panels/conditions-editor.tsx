import { type ReactNode, useMemo } from 'react'
import { Button } from '../../../ui/button.tsx'
import { Combobox, type Choice } from '../../../ui/combobox.tsx'
import { Plus, X } from '../../../ui/icons.tsx'
import { printConditions } from '../condition-words.ts'
import { type ConditionGroup, type Leaf, operatorsFor, takesNoValue } from '../conditions.ts'
import { describeToken, listReferences } from '../references.ts'
import { soleToken } from '../tokens.ts'
import { useSight } from './editor/sight.ts'
import { TokenEditor } from './editor/token-editor.tsx'
import { useTargetInputs } from './fields/use-target-inputs.ts'
import { Group } from './panel.tsx'

type Props = {
  name: string
  /** The name of the field in the API. */
  field?: string
  groups: readonly ConditionGroup[]
  onChange: (groups: ConditionGroup[]) => void
  /** Set if the conditions are about the rows of the sheet that another field names. */
  isOverTarget?: boolean
  /** The content below the sentence, such as a count of rows. */
  children?: ReactNode
}

const JOINTS = ['AND', 'OR']
const EMPTY: Leaf = { variable: '', operator: 'is', values: [''], combinator: 'AND' }

/** The editor of condition groups. The first group, and the first condition of each group, has no combinator. */
export function ConditionsEditor({ name, field, groups, onChange, isOverTarget = false, children }: Props) {
  const sight = useSight()
  const variables = useVariables(isOverTarget)
  const newLeaf = (): Leaf => ({ ...EMPTY, variable: variables[0]?.value ?? '' })
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
    <Group name={name} {...(field === undefined ? {} : { field })}>
      {groups.map((group, at) => (
        // A group has no identity except its position.
        // oxlint-disable-next-line react/no-array-index-key
        <div key={at} className="flex flex-col gap-2 rounded-md border p-2">
          {at > 0 && (
            <Joint
              label="Groups joined by"
              value={group.combinator}
              onChange={(combinator) => setGroup(at, { ...group, combinator })}
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
                variables={variables}
                isOverTarget={isOverTarget}
                onChange={set}
                onRemove={() => setGroup(at, { ...group, conditions: group.conditions.toSpliced(place, 1) })}
              />
            )
          })}
        </div>
      ))}
      {groups.length > 0 && !isOverTarget && (
        <p className="text-12 break-words text-muted">{printConditions(groups, sight)}</p>
      )}
      {children}
      <div className="flex gap-2">
        <Button size="small" icon={Plus} onClick={addLeaf}>
          Add condition
        </Button>
        {groups.length > 0 && (
          <Button
            size="small"
            icon={Plus}
            onClick={() => onChange([...groups, { combinator: 'AND', conditions: [newLeaf()] }])}
          >
            Add group
          </Button>
        )}
      </div>
    </Group>
  )
}

type Variable = Choice & { type: string | undefined }

/** Returns the columns that conditions can be about: those of the row, or the inputs of another sheet. */
function useVariables(isOverTarget: boolean): Variable[] {
  const sight = useSight()
  const inputs = useTargetInputs()
  return useMemo(() => {
    if (!isOverTarget) {
      return listReferences(sight).map(({ token, label, type, sample }) => ({
        value: token,
        token,
        label,
        note: sample,
        type,
      }))
    }
    return inputs.map(({ name, type }) => ({
      value: `{{input.${name}}}`,
      token: `{{input.${name}}}`,
      label: name,
      type,
    }))
  }, [isOverTarget, sight, inputs])
}

function Joint({
  label,
  value,
  onChange,
}: {
  label: string
  value: Leaf['combinator']
  onChange: (value: Leaf['combinator']) => void
}) {
  return (
    <div className="w-24">
      <Combobox
        label={label}
        hideLabel
        value={value}
        choices={JOINTS}
        onChange={(combinator) => onChange(combinator === 'OR' ? 'OR' : 'AND')}
      />
    </div>
  )
}

function LeafEditor({
  name,
  leaf,
  isFirst,
  variables,
  isOverTarget,
  onChange,
  onRemove,
}: {
  name: string
  leaf: Leaf
  isFirst: boolean
  variables: readonly Variable[]
  isOverTarget: boolean
  onChange: (leaf: Leaf) => void
  onRemove: () => void
}) {
  const choices = useShownVariables(leaf.variable, variables)
  const type = choices.find(({ value }) => value === leaf.variable)?.type
  const [first = '', second = ''] = leaf.values
  const operators = operatorsFor(type)
  return (
    <div role="group" aria-label={name} className="flex flex-col gap-2">
      {!isFirst && (
        <Joint
          label="Combinator"
          value={leaf.combinator}
          onChange={(combinator) => onChange({ ...leaf, combinator })}
        />
      )}
      <div className="grid grid-cols-[1fr_1fr_auto] items-start gap-2">
        <Combobox
          label="Variable"
          hideLabel
          free
          placeholder="Choose a column"
          value={leaf.variable}
          choices={choices}
          onChange={(variable) => onChange({ ...leaf, variable: toVariable(variable, isOverTarget) })}
        />
        <Combobox
          label="Operator"
          hideLabel
          value={leaf.operator}
          choices={operators.includes(leaf.operator) ? operators : [...operators, leaf.operator]}
          onChange={(operator) =>
            onChange({ ...leaf, operator, values: operator === 'is between' ? [first, second] : [first] })
          }
        />
        <Button kind="ghost" size="small" icon={X} iconOnly className="mt-1" onClick={onRemove}>
          Remove
        </Button>
      </div>
      {!takesNoValue(leaf.operator) && (
        <div className="flex items-start gap-2">
          <div className="min-w-0 flex-1">
            <TokenEditor
              label="Value"
              hint="Value"
              value={first}
              onChange={(value) => onChange({ ...leaf, values: [value, ...leaf.values.slice(1)] })}
            />
          </div>
          {leaf.operator === 'is between' && (
            <div className="min-w-0 flex-1">
              <TokenEditor
                label="And"
                hint="and"
                value={second}
                onChange={(value) => onChange({ ...leaf, values: [first, value] })}
              />
            </div>
          )}
        </div>
      )}
    </div>
  )
}

/** Returns a typed name as a token of the other sheet's input. */
const toVariable = (text: string, isOverTarget: boolean): string =>
  isOverTarget && text !== '' && !text.includes('{{') ? `{{input.${text}}}` : text

/** Adds the column of a condition to the list, if it is not in it, so that it is shown by its name. */
function useShownVariables(variable: string, variables: readonly Variable[]): Variable[] {
  const sight = useSight()
  const content = soleToken(variable)
  if (content === null || variables.some(({ value }) => value === variable)) return [...variables]
  const { label, type, leads } = describeToken(content, sight)
  const shown = leads ? label : content.replace(/^input\./, '')
  return [...variables, { value: variable, label: shown, token: variable, type: leads ? type : undefined }]
}
