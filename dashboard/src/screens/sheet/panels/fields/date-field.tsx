import { useState } from 'react'
import { classNames } from '../../../../ui/class-names.ts'
import { CONTROL } from '../../../../ui/text-field.tsx'
import { FieldShell } from './field-shell.tsx'
import type { FieldProps } from './panel-context.ts'
import { TextInput } from './text-field.tsx'

/** A date from a calendar. A column or another way to write a date stays a text. */
export function DateField({ text, ...props }: FieldProps & { text: string }) {
  const [isText, setText] = useState(() => text !== '' && !/^\d{4}-\d\d-\d\d$/.test(text))
  const { field, problem, onChange } = props
  if (isText) return <TextInput {...props} text={text} />
  return (
    <FieldShell
      field={field}
      problem={problem}
      actions={
        <button type="button" className="text-12 text-accent-text" onClick={() => setText(true)}>
          Use a column
        </button>
      }
    >
      {({ labelledBy, describedBy, isInvalid }) => (
        <input
          type="date"
          role="textbox"
          aria-labelledby={labelledBy}
          aria-describedby={describedBy}
          {...(isInvalid ? { 'aria-invalid': true } : {})}
          data-field={field.name}
          value={text}
          onChange={({ target }) => onChange(target.value === '' ? null : target.value)}
          className={classNames(CONTROL, 'h-8')}
        />
      )}
    </FieldShell>
  )
}
