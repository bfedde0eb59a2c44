import { useState } from 'react'
import { hasToken } from '../../tokens.ts'
import type { EditorMode } from '../editor/editor-view.ts'
import { checkFormula } from '../editor/formula-check.ts'
import { TokenEditor } from '../editor/token-editor.tsx'
import { FieldShell } from './field-shell.tsx'
import { InsertButton } from './insert-button.tsx'
import type { FieldProps } from './panel-context.ts'

const MODES: Readonly<Record<string, EditorMode>> = { prompt: 'prompt', formula: 'formula' }

/** A text in which columns are chips: one line, a prompt that grows, or a formula. */
export function TextInput({ field, value, text, onChange, problem }: FieldProps & { text: string }) {
  const [isPicking, setPicking] = useState(false)
  const mode = MODES[field.kind] ?? 'text'
  const fault = mode === 'formula' ? checkFormula(text) : null
  const wrong = problem ?? faultOfText(field.kind, text)
  return (
    <FieldShell
      field={field}
      problem={wrong}
      actions={<InsertButton label={field.label} isOpen={isPicking} onOpen={() => setPicking(true)} />}
    >
      {({ labelledBy, describedBy, isInvalid }) => (
        <>
          <TokenEditor
            labelledBy={labelledBy}
            describedBy={describedBy}
            field={field.name}
            value={text}
            mode={mode}
            hint={field.placeholder ?? ''}
            isInvalid={isInvalid || fault !== null}
            isSpaced={field.kind === 'text' || field.kind === 'prompt'}
            fault={fault}
            isPicking={isPicking}
            onPicked={() => setPicking(false)}
            // An emptied field is cleared, unless an empty text was saved.
            onChange={(typed) => onChange(typed === '' && value !== '' ? null : typed)}
          />
          {fault !== null && (
            <p role="alert" className="text-12 text-failed">
              {fault.message}
            </p>
          )}
        </>
      )}
    </FieldShell>
  )
}

/** Returns what is wrong with a text of a kind, as far as it can be told before it is saved. */
function faultOfText(kind: FieldProps['field']['kind'], text: string): string | undefined {
  if (text === '' || hasToken(text)) return undefined
  if (kind === 'number' && !/^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/.test(text))
    return 'Enter a number'
  return undefined
}
