import { useMemo, useState } from 'react'
import { Combobox, type Choice } from '../../../../ui/combobox.tsx'
import { X } from '../../../../ui/icons.tsx'
import { describeToken, listReferences } from '../../references.ts'
import { soleToken } from '../../tokens.ts'
import { CHIP, nameChip } from '../editor/chips.ts'
import { useSight } from '../editor/sight.ts'
import { labelChoice } from './choice-labels.ts'
import { FieldShell } from './field-shell.tsx'
import type { FieldProps } from './panel-context.ts'
import { useOptions } from './use-options.ts'

type Props = FieldProps & { texts: readonly string[] }

/** Several columns of the row, as chips. */
export function ColumnsField(props: Props) {
  const sight = useSight()
  const choices = useMemo(
    () =>
      listReferences(sight).map(({ token, label, sample }) => ({ value: token, label, note: sample, token })),
    [sight],
  )
  return <Several {...props} choices={choices} adds="Add column" />
}

/** Several of the values that the server offers, or typed ones. */
export function ChoicesField(props: Props) {
  const { options, note } = useOptions(props.field)
  const choices =
    props.field.options?.map((value) => ({ value, label: labelChoice(value) })) ??
    options.map(({ value, label }) => ({ value, label }))
  const field = note === undefined ? props.field : { ...props.field, help: note }
  return <Several {...props} field={field} choices={choices} adds="Add" />
}

function Several({
  field,
  texts,
  onChange,
  problem,
  choices,
  adds,
}: Props & { choices: Choice[]; adds: string }) {
  const [typed, setTyped] = useState('')
  const set = (next: readonly string[]) => onChange(next.length === 0 ? null : next)
  const rest = choices.filter(({ value }) => !texts.includes(value))
  const add = (value: string) => {
    // Typed text becomes an item with Enter; a choice at once.
    if (rest.some((choice) => choice.value === value)) {
      set([...texts, value])
      setTyped('')
    } else setTyped(value)
  }
  return (
    <FieldShell field={field} problem={problem}>
      {(ties) => (
        <div
          role="group"
          aria-labelledby={ties.labelledBy}
          aria-describedby={ties.describedBy}
          data-field={field.name}
          className="flex flex-col gap-2"
          onKeyDown={(event) => {
            const isListed = rest.some(({ label = '' }) =>
              label.toLowerCase().includes(typed.trim().toLowerCase()),
            )
            // A listed choice is taken by the list itself.
            if (event.key !== 'Enter' || typed.trim() === '' || isListed) return
            event.preventDefault()
            set([...texts, typed.trim()])
            setTyped('')
          }}
        >
          {texts.length > 0 && (
            <ul aria-label={`Chosen for ${field.label}`} className="flex flex-wrap gap-1">
              {texts.map((text, place) => (
                // The same value may be listed twice through the API.
                // oxlint-disable-next-line react/no-array-index-key
                <li key={`${place} ${text}`} className="flex max-w-full items-center">
                  <Chosen text={text} choices={choices} onRemove={() => set(texts.toSpliced(place, 1))} />
                </li>
              ))}
            </ul>
          )}
          <Combobox
            label={adds}
            hideLabel
            free
            value={typed}
            choices={rest}
            placeholder={adds}
            onChange={add}
          />
        </div>
      )}
    </FieldShell>
  )
}

function Chosen({ text, choices, onRemove }: { text: string; choices: Choice[]; onRemove: () => void }) {
  const sight = useSight()
  const content = soleToken(text)
  const chip = content === null ? null : describeToken(content, sight)
  const name = chip?.label ?? choices.find(({ value }) => value === text)?.label ?? text
  return (
    <span className="flex max-w-full items-center gap-0.5">
      {chip === null ? (
        <span className={CHIP}>
          <span className="truncate">{name}</span>
        </span>
      ) : (
        <span
          role="img"
          aria-label={nameChip(chip)}
          {...(chip.leads ? {} : { 'aria-invalid': true })}
          data-token={text}
          title={chip.sample}
          className={CHIP}
        >
          <span className="truncate">{name}</span>
        </span>
      )}
      <button
        type="button"
        aria-label={`Remove ${name}`}
        onClick={onRemove}
        className="rounded p-0.5 text-muted hover:bg-hover hover:text-text"
      >
        <X aria-hidden className="size-3" />
      </button>
    </span>
  )
}
