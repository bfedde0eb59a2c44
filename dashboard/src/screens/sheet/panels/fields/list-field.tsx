import { useState } from 'react'
import { Button } from '../../../../ui/button.tsx'
import { Plus, X } from '../../../../ui/icons.tsx'
import { TokenEditor } from '../editor/token-editor.tsx'
import { FieldShell } from './field-shell.tsx'
import { InsertButton } from './insert-button.tsx'
import type { FieldProps } from './panel-context.ts'

/** Several texts, one a line. */
export function ListField({ field, texts, onChange, problem }: FieldProps & { texts: readonly string[] }) {
  const set = (next: string[]) => onChange(next.length === 0 ? null : next)
  return (
    <FieldShell field={field} problem={problem}>
      {(ties) => (
        <div
          role="group"
          aria-labelledby={ties.labelledBy}
          aria-describedby={ties.describedBy}
          data-field={field.name}
          className="flex flex-col gap-1.5"
        >
          {texts.map((text, place) => (
            <Item
              // An item has no identity except its place.
              // oxlint-disable-next-line react/no-array-index-key
              key={place}
              number={place + 1}
              text={text}
              hint={field.placeholder ?? ''}
              onChange={(next) => set(texts.with(place, next))}
              onRemove={() => set(texts.toSpliced(place, 1))}
            />
          ))}
          <div>
            <Button size="small" icon={Plus} onClick={() => set([...texts, ''])}>
              Add item
            </Button>
          </div>
        </div>
      )}
    </FieldShell>
  )
}

function Item({
  number,
  text,
  hint,
  onChange,
  onRemove,
}: {
  number: number
  text: string
  hint: string
  onChange: (text: string) => void
  onRemove: () => void
}) {
  const [isPicking, setPicking] = useState(false)
  const name = `Item ${number}`
  return (
    <div className="flex items-start gap-1">
      <div className="min-w-0 flex-1">
        <TokenEditor
          label={name}
          hint={hint}
          value={text}
          isPicking={isPicking}
          onPicked={() => setPicking(false)}
          onChange={onChange}
        />
      </div>
      <span className="flex h-8 items-center">
        <InsertButton label={name} isOpen={isPicking} onOpen={() => setPicking(true)} />
        <Button kind="ghost" size="small" icon={X} iconOnly onClick={onRemove}>
          {`Remove item ${number}`}
        </Button>
      </span>
    </div>
  )
}
