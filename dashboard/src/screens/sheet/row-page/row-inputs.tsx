import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { sheetCall, type SheetId } from '../../../api/calls.ts'
import { fetchData } from '../../../api/client.ts'
import { keys } from '../../../api/keys.ts'
import { sendUntilReceived } from '../../../api/outbox.ts'
import { useCan } from '../../../api/session.ts'
import { Field, TextArea, CONTROL } from '../../../ui/text-field.tsx'
import { notify, notifyProblem } from '../../../ui/toasts.tsx'
import { valueText } from '../cell-text.ts'
import type { Column, InputColumn } from '../columns.ts'
import { addressOf } from '../grid/look.ts'
import { describeUnfit } from '../input-fit.ts'

type Row = { row_id: string; inputs: Record<string, unknown> }

/** The inputs of a row as a form. A field is saved when it is left, or by Enter. */
export function RowInputs({ sheet, row, columns }: { sheet: SheetId; row: Row; columns: readonly Column[] }) {
  const save = useSave(sheet, row.row_id)
  const can = useCan()
  const inputs = columns.filter((column) => column.kind === 'input')
  return (
    <section aria-label="Inputs" className="flex flex-col gap-3">
      <h2 className="text-14 font-semibold">Inputs</h2>
      {inputs.length === 0 && <p className="text-muted">This sheet has no inputs.</p>}
      {inputs.map((column) => (
        <InputField
          key={column.key}
          column={column}
          value={row.inputs[column.name]}
          onSave={can('workflows:data:write') ? (text) => save.mutate({ [column.name]: text }) : null}
        />
      ))}
    </section>
  )
}

/** Saves values of the row. The notice offers to undo the edit. */
function useSave(sheet: SheetId, rowId: string) {
  const queries = useQueryClient()
  const readAgain = () => queries.invalidateQueries({ queryKey: keys.sheet(sheet.sheetId).cells })
  const undo = async (editId: string) => {
    try {
      await fetchData(sheetCall(sheet, 'POST /internal/edits/:edit_id/undo', { params: { edit_id: editId } }))
    } catch (error) {
      notifyProblem(error)
    } finally {
      await readAgain()
    }
  }
  return useMutation({
    mutationFn: async (inputs: Record<string, string>) => {
      const body = { rows: [{ row_id: rowId, inputs }] }
      return (await sendUntilReceived(sheetCall(sheet, 'PATCH /internal/rows', { body }))).data
    },
    onSuccess: ({ edit_id, rejected }) => {
      const reasons = rejected.flatMap(({ errors }) =>
        errors.map(({ field, message }) => `${field}: ${message}`),
      )
      if (reasons.length > 0) notifyProblem(`Not saved. ${reasons.join('; ')}`)
      else if (edit_id !== null) notify('Row saved', { label: 'Undo', run: () => void undo(edit_id) })
      void readAgain()
    },
    onError: (error) => notifyProblem(error),
  })
}

function InputField({
  column,
  value,
  onSave,
}: {
  column: InputColumn
  value: unknown
  onSave: ((text: string) => void) | null
}) {
  const saved = valueText(value)
  // Null while the field shows the saved value, which a colleague may change.
  const [typed, setTyped] = useState<string | null>(null)
  const text = typed ?? saved
  const finish = () => {
    if (typed !== null && typed !== saved) onSave?.(typed)
    setTyped(null)
  }
  const unfit = describeUnfit(text, column)
  const url = addressOf(text)
  const hint = unfit ?? (
    <>
      {column.description}
      {url !== null && (
        <a href={url} target="_blank" rel="noopener noreferrer" className="text-accent-text underline">
          {url.startsWith('mailto:') ? 'Write a mail' : 'Open the link'}
        </a>
      )}
    </>
  )
  const note = unfit !== null || url !== null || column.description !== '' ? { hint } : {}
  const choices = column.type === 'boolean' ? ['true', 'false'] : (column.choices ?? [])
  if (choices.length > 0 && ['', ...choices].includes(text)) {
    return (
      <Field label={column.name} {...note}>
        {(ties) => (
          <select
            {...ties}
            disabled={onSave === null}
            value={text}
            onChange={(event) => onSave?.(event.target.value)}
            className={`${CONTROL} h-8`}
          >
            {['', ...choices].map((choice) => (
              <option key={choice} value={choice}>
                {choice}
              </option>
            ))}
          </select>
        )}
      </Field>
    )
  }
  return (
    <TextArea
      label={column.name}
      {...note}
      rows={Math.min(8, Math.max(1, Math.ceil(text.length / 90), text.split('\n').length))}
      value={text}
      {...(onSave === null ? {} : { onChange: setTyped })}
      onBlur={finish}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && !event.shiftKey) {
          event.preventDefault()
          finish()
        } else if (event.key === 'Escape') setTyped(null)
      }}
    />
  )
}
