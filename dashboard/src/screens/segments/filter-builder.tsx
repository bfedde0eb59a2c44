import type { RecordField } from '#contract/segment-forms.ts'
import { Button } from '../../ui/button.tsx'
import { Combobox } from '../../ui/combobox.tsx'
import { problemWithin } from '../../ui/field-problem.ts'
import { Plus, X } from '../../ui/icons.tsx'
import { TextField } from '../../ui/text-field.tsx'
import {
  type Condition,
  type EventCondition,
  type FieldCondition,
  type Group,
  type Joint,
  newCondition,
  takesNoValue,
} from './filter-groups.ts'

const JOINTS = [
  { value: 'AND', label: 'and' },
  { value: 'OR', label: 'or' },
]
const readJoint = (value: string): Joint => (value === 'OR' ? 'OR' : 'AND')

type Props = {
  groups: readonly Group[]
  onChange: (groups: Group[]) => void
  fields: readonly RecordField[]
  /** The error of the server. Its fields name the path of a condition. */
  error: unknown
}

/** The editor of groups of conditions on fields and events. Conditions are combined from left to right. */
export function FilterBuilder({ groups, onChange, fields, error }: Props) {
  const first = fields[0]?.name ?? ''
  const setGroup = (place: number, group: Group) =>
    onChange(group.conditions.length === 0 ? groups.toSpliced(place, 1) : groups.with(place, group))
  const add = (condition: Condition) => {
    const last = groups.at(-1)
    if (last === undefined) onChange([{ joint: 'AND', conditions: [condition] }])
    else setGroup(groups.length - 1, { ...last, conditions: [...last.conditions, condition] })
  }
  let number = 0
  return (
    <div role="group" aria-label="Filter" className="flex flex-col gap-2">
      {groups.map((group, at) => (
        // A group has no identity except its position.
        // oxlint-disable-next-line react/no-array-index-key
        <div key={at} className="flex flex-col gap-2 rounded-md border p-3">
          {at > 0 && (
            <div className="w-28">
              <Combobox
                label="Groups joined by"
                value={group.joint}
                choices={JOINTS}
                onChange={(joint) => setGroup(at, { ...group, joint: readJoint(joint) })}
              />
            </div>
          )}
          {group.conditions.map((condition, place) => {
            number += 1
            return (
              <ConditionEditor
                // oxlint-disable-next-line react/no-array-index-key
                key={place}
                name={`Condition ${number}`}
                condition={condition}
                isFirst={place === 0}
                fields={fields}
                problem={(part) => problemWithin(error, `filter[${at}].conditions[${place}].${part}`)}
                onChange={(next) =>
                  setGroup(at, { ...group, conditions: group.conditions.with(place, next) })
                }
                onRemove={() => setGroup(at, { ...group, conditions: group.conditions.toSpliced(place, 1) })}
              />
            )
          })}
        </div>
      ))}
      <div className="flex flex-wrap gap-2">
        <Button size="small" icon={Plus} onClick={() => add(newCondition(first))}>
          Add condition
        </Button>
        <Button
          size="small"
          icon={Plus}
          onClick={() => add({ about: 'event', event: '', withinDays: '30', atLeast: '', joint: 'AND' })}
        >
          Add event
        </Button>
        <Button
          size="small"
          icon={Plus}
          onClick={() => onChange([...groups, { joint: 'AND', conditions: [newCondition(first)] }])}
        >
          Add group
        </Button>
      </div>
    </div>
  )
}

type EditorProps<One extends Condition> = {
  condition: One
  onChange: (condition: One) => void
  problem: (part: string) => string | undefined
}

function ConditionEditor({
  name,
  condition,
  isFirst,
  fields,
  problem,
  onChange,
  onRemove,
}: EditorProps<Condition> & {
  name: string
  isFirst: boolean
  fields: readonly RecordField[]
  onRemove: () => void
}) {
  return (
    <div
      role="group"
      aria-label={name}
      className="flex flex-wrap items-start gap-2 max-sm:flex-col max-sm:items-stretch"
    >
      {!isFirst && (
        <div className="w-20">
          <Combobox
            label="Combinator"
            value={condition.joint}
            choices={JOINTS}
            onChange={(joint) => onChange({ ...condition, joint: readJoint(joint) })}
          />
        </div>
      )}
      {condition.about === 'field' ? (
        <FieldEditor condition={condition} fields={fields} onChange={onChange} problem={problem} />
      ) : (
        <EventEditor condition={condition} onChange={onChange} problem={problem} />
      )}
      <Button kind="ghost" icon={X} iconOnly onClick={onRemove} className="max-sm:self-start sm:mt-[22px]">
        Remove
      </Button>
    </div>
  )
}

function FieldEditor({
  condition,
  fields,
  onChange,
  problem,
}: EditorProps<FieldCondition> & { fields: readonly RecordField[] }) {
  const { variable, operator, values } = condition
  const [one = '', other = ''] = values
  const known = fields.find(({ name }) => name === variable)
  const operators = known?.operators ?? fields.flatMap((field) => field.operators)
  return (
    <>
      <div className="min-w-36 flex-1">
        <Combobox
          label="Variable"
          free
          value={variable}
          choices={fields.map(({ name, type }) => ({ value: name, note: type }))}
          onChange={(next) => onChange({ ...condition, variable: next })}
          problem={problem('variable')}
        />
      </div>
      <div className="min-w-36 flex-1">
        <Combobox
          label="Operator"
          value={operator}
          choices={[...new Set(operators)]}
          onChange={(next) =>
            onChange({ ...condition, operator: next, values: next === 'is between' ? [one, other] : [one] })
          }
          problem={problem('operator')}
        />
      </div>
      {!takesNoValue(operator) && (
        <div className="min-w-28 flex-1">
          <TextField
            label="Value"
            value={one}
            onChange={(value) => onChange({ ...condition, values: [value, ...values.slice(1)] })}
            problem={problem('values')}
          />
        </div>
      )}
      {operator === 'is between' && (
        <div className="min-w-28 flex-1">
          <TextField
            label="And"
            value={other}
            onChange={(value) => onChange({ ...condition, values: [one, value] })}
          />
        </div>
      )}
    </>
  )
}

function EventEditor({ condition, onChange, problem }: EditorProps<EventCondition>) {
  const set = (change: Partial<EventCondition>) => onChange({ ...condition, ...change })
  return (
    <>
      <div className="min-w-36 flex-1">
        <TextField
          label="Event"
          value={condition.event}
          onChange={(event) => set({ event })}
          placeholder="signup"
          problem={problem('event')}
        />
      </div>
      <div className="w-28">
        <TextField
          label="Within days"
          type="number"
          min={0}
          step="any"
          value={condition.withinDays}
          onChange={(withinDays) => set({ withinDays })}
          placeholder="any time"
          problem={problem('within_days')}
        />
      </div>
      <div className="w-28">
        <TextField
          label="At least"
          type="number"
          min={1}
          value={condition.atLeast}
          onChange={(atLeast) => set({ atLeast })}
          placeholder="1"
          problem={problem('at_least')}
        />
      </div>
    </>
  )
}
