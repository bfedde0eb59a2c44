import { useId, useState } from 'react'
import { Button } from '../../../../ui/button.tsx'
import { Combobox } from '../../../../ui/combobox.tsx'
import { Plus, X } from '../../../../ui/icons.tsx'
import { TextArea, TextField } from '../../../../ui/text-field.tsx'
import {
  ANSWER_TYPES,
  type AnswerRow,
  type AnswerShape,
  printAnswer,
  readExample,
  TYPE_LABELS,
} from './answer-rows.ts'
import { FieldShell, Part } from './field-shell.tsx'
import { JsonEditor } from './json-field.tsx'
import type { FieldProps } from './panel-context.ts'

const TYPES = ANSWER_TYPES.map((value) => ({
  value,
  label: TYPE_LABELS[value],
  ...(TYPE_LABELS[value].toLowerCase() === value ? {} : { note: value.replaceAll('_', ' ') }),
}))

/** The fields of an answer as rows. */
export function AnswerFields({ field, shape, onChange, problem }: FieldProps & { shape: AnswerShape }) {
  const [isPasting, setPasting] = useState(false)
  const rows = shape.kind === 'schema' ? [] : shape.rows
  const set = (next: AnswerRow[]) => onChange(printAnswer(next))
  return (
    <FieldShell field={field} problem={problem}>
      {(ties) => (
        <div
          role="group"
          aria-labelledby={ties.labelledBy}
          aria-describedby={ties.describedBy}
          data-field={field.name}
          className="flex flex-col gap-2"
        >
          {shape.kind === 'rows' ? (
            rows.map((row, place) => (
              <AnswerRowEditor
                // A row has no identity except its place.
                // oxlint-disable-next-line react/no-array-index-key
                key={place}
                number={place + 1}
                row={row}
                onChange={(next) => set(rows.with(place, next))}
                onRemove={() => set(rows.toSpliced(place, 1))}
              />
            ))
          ) : (
            <SchemaNote rows={rows} onReplace={() => onChange(printAnswer(rows))} />
          )}
          {shape.kind === 'rows' && (
            <div className="flex gap-2">
              <Button
                size="small"
                icon={Plus}
                onClick={() => set([...rows, { name: '', type: 'string', description: '', choices: [] }])}
              >
                Add field
              </Button>
              <Button size="small" aria-expanded={isPasting} onClick={() => setPasting(!isPasting)}>
                Paste an example
              </Button>
            </div>
          )}
          {isPasting && (
            <Example
              onUse={(found) => {
                const others = rows.filter(
                  ({ name }) => name !== '' && !found.some((one) => one.name === name),
                )
                set([...others, ...found])
                setPasting(false)
              }}
            />
          )}
        </div>
      )}
    </FieldShell>
  )
}

/** Tells that a schema shapes the answer, with the fields that it names. */
function SchemaNote({ rows, onReplace }: { rows: readonly AnswerRow[]; onReplace: () => void }) {
  return (
    <div className="flex flex-col gap-2 rounded-md border bg-subtle p-2 text-12">
      <p>
        A JSON schema shapes the answer. It stands under Advanced.
        {rows.length > 0 && ` Its fields: ${rows.map(({ name }) => name).join(', ')}.`}
      </p>
      <div>
        <Button size="small" onClick={onReplace}>
          Replace with fields
        </Button>
      </div>
    </div>
  )
}

function AnswerRowEditor({
  number,
  row,
  onChange,
  onRemove,
}: {
  number: number
  row: AnswerRow
  onChange: (row: AnswerRow) => void
  onRemove: () => void
}) {
  const isNamed = row.name === '' || /^[a-z][a-z0-9_]*$/.test(row.name)
  // The text stays as it is typed, also with a comma at its end.
  const [choices, setChoices] = useState(row.choices.join(', '))
  return (
    <Part name={`Field ${number}`}>
      <div className="grid grid-cols-[1fr_8.5rem_auto] items-start gap-2">
        <TextField
          label="Name"
          hideLabel
          placeholder="Name, e.g. industry"
          value={row.name}
          problem={isNamed ? undefined : 'Use small letters, digits and underscores'}
          onChange={(name) => onChange({ ...row, name })}
        />
        <Combobox
          label="Type"
          hideLabel
          value={row.type}
          choices={TYPES}
          onChange={(type) => onChange({ ...row, type })}
        />
        <Button kind="ghost" size="small" icon={X} iconOnly className="mt-1" onClick={onRemove}>
          {`Remove field ${number}`}
        </Button>
      </div>
      <TextField
        label="Description"
        hideLabel
        placeholder="Description: what belongs in this field"
        value={row.description}
        onChange={(description) => onChange({ ...row, description })}
      />
      {row.type === 'string' && (
        <TextField
          label="Choices"
          hideLabel
          placeholder="Choices (optional): Small, Medium, Large"
          value={choices}
          onChange={(text) => {
            setChoices(text)
            const items = text
              .split(',')
              .map((item) => item.trim())
              .filter(Boolean)
            onChange({ ...row, choices: [...new Set(items)] })
          }}
        />
      )}
    </Part>
  )
}

/** Makes fields from an answer that somebody would like to get. */
function Example({ onUse }: { onUse: (rows: AnswerRow[]) => void }) {
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const use = () => {
    const found = readExample(text)
    if (found === null) setProblem('Paste an object, such as {"industry": "Retail", "employees": 120}')
    else onUse(found)
  }
  return (
    <div className="flex flex-col gap-2 rounded-md border bg-subtle p-2">
      <TextArea
        label="Example"
        autoFocus
        rows={4}
        placeholder={'{"industry": "Retail", "employees": 120}'}
        value={text}
        problem={problem}
        onChange={setText}
        className="font-mono text-12"
      />
      <div>
        <Button size="small" kind="primary" disabled={text.trim() === ''} onClick={use}>
          Use
        </Button>
      </div>
    </div>
  )
}

/** The shape of an answer as a JSON schema, for what rows cannot say. */
export function AnswerSchema({
  field,
  shape,
  onChange,
}: Pick<FieldProps, 'field' | 'onChange'> & { shape: AnswerShape }) {
  const id = useId()
  const hint =
    shape.kind === 'saved schema'
      ? 'A schema is saved and not shown again. A new one replaces it.'
      : '{"type": "object", "properties": {"industry": {"type": "string"}}}'
  return (
    <div className="flex flex-col gap-1">
      <span id={id} className="text-12 font-medium">
        JSON schema
      </span>
      <JsonEditor
        name={`${field.name} schema`}
        ties={{ labelledBy: id, describedBy: undefined, isInvalid: false }}
        value={shape.kind === 'schema' ? shape.schema : null}
        hint={hint}
        onChange={(schema) => onChange(schema === null ? null : { json: schema })}
      />
      <p className="text-12 text-muted">{`Instead of ${field.label.toLowerCase()}, for nested answers.`}</p>
    </div>
  )
}
