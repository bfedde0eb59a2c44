import { useMutation } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { sheetCall } from '../../../api/calls.ts'
import { send } from '../../../api/client.ts'
import { selectionBody } from '../../../api/sheet.ts'
import { Button } from '../../../ui/button.tsx'
import { Combobox } from '../../../ui/combobox.tsx'
import { CopyAsCurl } from '../../../ui/copy-button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Plus, X } from '../../../ui/icons.tsx'
import { TextField } from '../../../ui/text-field.tsx'
import { useSheet } from '../sheet-view.ts'
import {
  ACTION_OPERATORS,
  INPUT_OPERATORS,
  buildSelection,
  listFilterColumns,
  isStatusTerm,
  STATUS_CHOICES,
  takesNoValue,
  type Term,
  readTerms,
} from './filter-terms.ts'

export function Filters({ column, onClose }: { column?: string; onClose: () => void }) {
  const { address, columns, sheet } = useSheet()
  const newTerm = (key: string): Term =>
    columns.find((one) => one.key === key)?.kind === 'action'
      ? { column: key, operator: 'is', value: 'failed' }
      : { column: key, operator: 'is equal to', value: '' }
  const [terms, setTerms] = useState<Term[]>(() => [
    ...readTerms(address.selection, columns),
    ...(column === undefined ? [] : [newTerm(column)]),
  ])
  const selection = buildSelection(terms, address.selection)
  // The server checks the filters before they are written to the address.
  const apply = useMutation({
    mutationFn: () =>
      send(sheetCall(sheet, 'POST /rows/list', { body: { page_size: 1, ...selectionBody(selection) } })),
    onSuccess: () => {
      address.select(selection)
      onClose()
    },
  })
  const change = (place: number, term: Term) => setTerms(terms.with(place, term))
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title="Filters"
      submit={{ label: 'Apply', onSubmit: () => apply.mutate(), busy: apply.isPending }}
      footer={
        <>
          <CopyAsCurl call={sheetCall(sheet, 'POST /rows/list', { body: selectionBody(selection) })} />
          <Button
            onClick={() => {
              address.select({
                ...address.selection,
                filters: [],
                status_filters: [],
                created_at: null,
                cause: '',
              })
              onClose()
            }}
          >
            Clear filters
          </Button>
        </>
      }
      error={apply.error}
    >
      {terms.length === 0 && (
        <p className="text-muted">No filters: all rows are shown. A row must match all filters.</p>
      )}
      {terms.map((term, place) => (
        <TermLine
          // A line has no identity except its position.
          // oxlint-disable-next-line react/no-array-index-key
          key={place}
          term={term}
          onChange={(next) => change(place, next)}
          onColumn={(key) => change(place, newTerm(key))}
          onRemove={() => setTerms(terms.toSpliced(place, 1))}
        />
      ))}
      <div>
        <Button
          icon={Plus}
          onClick={() => setTerms([...terms, newTerm(columns[0]?.key ?? '')])}
          disabled={columns.length === 0}
        >
          Add filter
        </Button>
      </div>
    </Dialog>
  )
}

function TermLine({
  term,
  onChange,
  onColumn,
  onRemove,
}: {
  term: Term
  onChange: (term: Term) => void
  onColumn: (key: string) => void
  onRemove: () => void
}) {
  const { columns } = useSheet()
  const id = useId()
  const isAction = isStatusTerm(term)
  return (
    <div role="group" aria-labelledby={id} className="flex items-end gap-2">
      <span id={id} className="sr-only">
        Filter
      </span>
      <div className="grid min-w-0 flex-1 gap-2 sm:grid-cols-3">
        <Combobox
          label="Column"
          value={term.column}
          choices={listFilterColumns(columns)}
          onChange={onColumn}
        />
        <Combobox
          label="Operator"
          value={term.operator}
          choices={isAction ? ACTION_OPERATORS : INPUT_OPERATORS}
          onChange={(operator) => onChange({ ...term, operator })}
        />
        {isAction ? (
          <Combobox
            label="Status"
            value={term.value}
            choices={STATUS_CHOICES}
            onChange={(value) => onChange({ ...term, value })}
          />
        ) : (
          !takesNoValue(term.operator) && (
            <TextField label="Value" value={term.value} onChange={(value) => onChange({ ...term, value })} />
          )
        )}
      </div>
      <Button kind="ghost" icon={X} iconOnly onClick={onRemove} className="h-8!">
        Remove
      </Button>
    </div>
  )
}
