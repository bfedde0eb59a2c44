import { useId, useState } from 'react'
import { Button } from '../../../../ui/button.tsx'
import { classNames } from '../../../../ui/class-names.ts'
import { Plus, X } from '../../../../ui/icons.tsx'
import { LabelledSwitch } from '../../../../ui/switch.tsx'
import { CONTROL } from '../../../../ui/text-field.tsx'
import { hasToken } from '../../tokens.ts'
import { TokenEditor } from '../editor/token-editor.tsx'
import { FieldShell } from './field-shell.tsx'
import { InsertButton } from './insert-button.tsx'
import { JsonEditor } from './json-field.tsx'
import type { FieldProps } from './panel-context.ts'
import { type Pair, printPairs, renamePair } from './values.ts'

/** Names and values as rows, or as raw JSON. */
export function PairsField({
  field,
  value,
  pairs,
  onChange,
  problem,
}: FieldProps & { pairs: readonly Pair[] | null }) {
  const [isRaw, setRaw] = useState(false)
  const showsRaw = isRaw || pairs === null
  const set = (next: readonly Pair[]) => onChange(next.length === 0 ? null : printPairs(next))
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
          {showsRaw ? (
            <JsonEditor
              name={field.name}
              label={`${field.label} as JSON`}
              value={value}
              hint={'[{"name": "limit", "value": "10"}]'}
              onChange={onChange}
            />
          ) : (
            pairs.map((pair, place) => (
              <PairRow
                // A row has no identity except its place.
                // oxlint-disable-next-line react/no-array-index-key
                key={place}
                number={place + 1}
                pair={pair}
                onChange={(next) => set(pairs.with(place, next))}
                onRemove={() => set(pairs.toSpliced(place, 1))}
              />
            ))
          )}
          <div className="flex items-center justify-between gap-2">
            {showsRaw ? (
              <span />
            ) : (
              <Button
                size="small"
                icon={Plus}
                onClick={() => set([...pairs, { name: '', value: '', rest: {} }])}
              >
                Add row
              </Button>
            )}
            <LabelledSwitch label="Raw JSON" checked={showsRaw} disabled={pairs === null} onChange={setRaw} />
          </div>
        </div>
      )}
    </FieldShell>
  )
}

function PairRow({
  number,
  pair,
  onChange,
  onRemove,
}: {
  number: number
  pair: Pair
  onChange: (pair: Pair) => void
  onRemove: () => void
}) {
  const [isPicking, setPicking] = useState(false)
  const [isTemplate] = useState(() => hasToken(pair.name))
  const id = useId()
  const rename = (name: string) => onChange(renamePair(pair, name))
  return (
    <div role="group" aria-label={`Row ${number}`} className="flex items-start gap-1">
      <div className="w-[36%] shrink-0">
        {isTemplate ? (
          <TokenEditor label="Name" value={pair.name} onChange={rename} />
        ) : (
          <input
            id={id}
            type="text"
            aria-label="Name"
            placeholder="Name"
            autoComplete="off"
            spellCheck={false}
            value={pair.name}
            onChange={(event) => rename(event.target.value)}
            className={classNames(CONTROL, 'h-8')}
          />
        )}
      </div>
      <div className="min-w-0 flex-1">
        <TokenEditor
          label="Value"
          hint="Value"
          value={pair.value}
          isPicking={isPicking}
          onPicked={() => setPicking(false)}
          onChange={(value) => onChange({ ...pair, value })}
        />
      </div>
      <span className="flex h-8 items-center">
        <InsertButton label="Value" isOpen={isPicking} onOpen={() => setPicking(true)} />
        <Button kind="ghost" size="small" icon={X} iconOnly onClick={onRemove}>
          {`Remove row ${number}`}
        </Button>
      </span>
    </div>
  )
}
