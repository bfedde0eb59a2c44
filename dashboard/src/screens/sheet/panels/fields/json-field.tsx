import { useEffect, useState } from 'react'
import { hasToken } from '../../tokens.ts'
import { TokenEditor } from '../editor/token-editor.tsx'
import { FieldShell, type Ties } from './field-shell.tsx'
import { InsertButton } from './insert-button.tsx'
import { type FieldProps, usePanel } from './panel-context.ts'
import { printJson, readJson } from './values.ts'

/** JSON as text, checked as it is typed. Text that is not JSON is kept here and reported, never saved. */
export function JsonEditor({
  name,
  ties,
  label,
  field,
  value,
  hint = '',
  onChange,
}: {
  /** The name under which the panel holds the fault. */
  name: string
  ties?: Ties
  label?: string
  field?: string
  value: unknown
  hint?: string
  onChange: (value: unknown) => void
}) {
  const { setFault } = usePanel()
  const [typed, setTyped] = useState<string | null>(null)
  // Text that means the saved value is shown as it was typed, also with other blanks.
  const read = typed === null ? null : readJson(typed)
  const isCurrent = read === null || !read.ok || JSON.stringify(read.value) === JSON.stringify(value ?? null)
  const text = typed !== null && isCurrent ? typed : printJson(value)
  const fault = read !== null && !read.ok ? read.fault : null
  useEffect(() => {
    setFault(name, fault)
    return () => setFault(name, null)
  }, [name, fault, setFault])
  return (
    <>
      <TokenEditor
        labelledBy={ties?.labelledBy}
        describedBy={ties?.describedBy}
        label={label}
        field={field}
        mode="json"
        hint={hint}
        value={text}
        isInvalid={fault !== null || ties?.isInvalid === true}
        onChange={(next) => {
          setTyped(next)
          const result = readJson(next)
          if (result.ok) onChange(result.value)
        }}
      />
      {fault !== null && (
        <p role="alert" className="text-12 text-failed">
          {fault}
        </p>
      )}
    </>
  )
}

/** A value that no form can show, as JSON. */
export function JsonField({ field, value, onChange, problem }: FieldProps) {
  return (
    <FieldShell field={field} problem={problem}>
      {(ties) => (
        <JsonEditor name={field.name} ties={ties} field={field.name} value={value} onChange={onChange} />
      )}
    </FieldShell>
  )
}

/** A body as text, JSON or not. It is saved as text, byte for byte. */
export function PayloadField({ field, text, onChange, problem }: FieldProps & { text: string }) {
  const [isPicking, setPicking] = useState(false)
  return (
    <FieldShell
      field={field}
      problem={problem}
      actions={<InsertButton label={field.label} isOpen={isPicking} onOpen={() => setPicking(true)} />}
    >
      {({ labelledBy, describedBy, isInvalid }) => (
        <>
          <TokenEditor
            labelledBy={labelledBy}
            describedBy={describedBy}
            field={field.name}
            mode="json"
            hint={field.placeholder ?? '{"name": "Ada"}'}
            value={text}
            isInvalid={isInvalid}
            isPicking={isPicking}
            onPicked={() => setPicking(false)}
            onChange={(typed) => onChange(typed === '' ? null : typed)}
          />
          <BodyNote text={text} />
        </>
      )}
    </FieldShell>
  )
}

/** Tells what a body that looks like JSON lacks. It is sent as text all the same. */
function BodyNote({ text }: { text: string }) {
  if (!/^\s*[[{]/.test(text)) return null
  const filled = text.replaceAll(/\{\{[^{}]*\}\}/g, '0')
  const read = readJson(filled)
  if (read.ok || (hasToken(text) && readJson(text.replaceAll(/\{\{[^{}]*\}\}/g, '"0"')).ok)) return null
  return <p className="text-12 text-out-of-credits">{`${read.fault}. It is sent as text.`}</p>
}
