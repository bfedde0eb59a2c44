import { useEffect, useState } from 'react'
import { Combobox, type Choice } from '../../../../ui/combobox.tsx'
import { hasToken } from '../../tokens.ts'
import { labelChoice } from './choice-labels.ts'
import { FieldShell } from './field-shell.tsx'
import { type FieldProps, usePanel } from './panel-context.ts'
import { TextInput } from './text-field.tsx'
import { useOptions } from './use-options.ts'

/** One value from a list: a fixed one, a sheet, or what a provider offers. */
export function ChoiceField({ text, ...props }: FieldProps & { text: string }) {
  const { field, problem, onChange } = props
  // A field that was filled with a column stays a text, in which the column is a chip.
  const [isText] = useState(() => hasToken(text))
  const { options, note } = useOptions(field)
  const isNew = usePanel().node === null
  const only = field.kind === 'model' && isNew && options.length === 1 ? options[0]?.value : undefined
  // A new action starts with the model of a server that offers one.
  const [isFilled, setFilled] = useState(false)
  useEffect(() => {
    if (only === undefined || isFilled) return
    setFilled(true)
    if (text === '') onChange(only)
  }, [only, isFilled, text, onChange])
  if (isText) return <TextInput {...props} text={text} />
  const choices: Choice[] =
    field.options?.map((value) => ({ value, label: labelChoice(value) })) ??
    options.map(({ value, label, extras }) => ({ value, label, note: printExtras(extras) }))
  return (
    <FieldShell field={note === undefined ? field : { ...field, help: note }} problem={problem}>
      {(ties) => (
        <Combobox
          label={field.label}
          ties={ties}
          field={field.name}
          free
          value={text}
          choices={addSaved(choices, text, field.kind)}
          placeholder={field.placeholder ?? 'Choose'}
          onChange={(chosen) => onChange(chosen === '' ? null : chosen)}
        />
      )}
    </FieldShell>
  )
}

/** Adds the saved sheet, which is chosen by an id, if this person cannot open it. */
function addSaved(choices: Choice[], saved: string, kind: string): Choice[] {
  const isHidden =
    kind === 'sheet' && saved !== '' && choices.length > 0 && !choices.some(({ value }) => value === saved)
  return isHidden && /^[\da-f-]{36}$/i.test(saved)
    ? [...choices, { value: saved, label: 'A sheet that you cannot open' }]
    : choices
}

/** Returns the price and the context of a model, where the server knows them. */
function printExtras(extras: Record<string, unknown> = {}): string {
  const { credits, context_tokens: tokens } = extras
  return [
    typeof credits === 'number' ? `${credits} ${credits === 1 ? 'credit' : 'credits'}` : '',
    typeof tokens === 'number' ? `${Math.round(tokens / 1000)}k context` : '',
  ]
    .filter(Boolean)
    .join(', ')
}
