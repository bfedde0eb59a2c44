import { type KeyboardEvent, type RefObject, useId, useLayoutEffect, useRef, useState } from 'react'
import { classNames } from '../../../ui/class-names.ts'
import { Options } from '../../../ui/combobox.tsx'
import { CONTROL, Field } from '../../../ui/text-field.tsx'
import type { Reference } from '../references.ts'

type Props = {
  label: string
  value: string
  onChange: (value: string) => void
  references: readonly Reference[]
  problem?: string | undefined
  hint?: string | undefined
  code?: boolean
  hideLabel?: boolean
}

/** Returns the text after the last `{{` before the caret, or null if that token is closed. */
function findOpenToken(text: string, caret: number): { from: number; typed: string } | null {
  const from = text.lastIndexOf('{{', caret - 1)
  if (from < 0) return null
  const typed = text.slice(from + 2, caret)
  return /[{}\n]/.test(typed) ? null : { from, typed }
}

/** A text field with tokens. After `{{` it lists the references that the action can use. */
export function ReferenceField({ value, onChange, references, code, ...labels }: Props) {
  const element = useRef<HTMLTextAreaElement>(null)
  const [caret, setCaret] = useState<number | null>(null)
  const [active, setActive] = useState(0)
  const listId = useId()
  const open = caret === null ? null : findOpenToken(value, caret)
  const wanted = open?.typed.trim().toLowerCase() ?? ''
  const found =
    open === null ? [] : references.filter(({ token }) => token.toLowerCase().includes(wanted)).slice(0, 50)
  const isOpen = found.length > 0

  useGrowingHeight(element, value)
  const insert = (token: string) => {
    if (open === null || caret === null) return
    const rest = value.slice(caret).replace(/^\s*\}\}/, '')
    const text = `${value.slice(0, open.from)}${token}${rest}`
    onChange(text)
    setCaret(null)
    const at = open.from + token.length
    requestAnimationFrame(() => element.current?.setSelectionRange(at, at))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (!isOpen) return
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) {
      event.preventDefault()
      setActive((active + step + found.length) % found.length)
    } else if (event.key === 'Enter' || event.key === 'Tab') {
      event.preventDefault()
      insert(found[active]?.token ?? '')
    } else if (event.key === 'Escape') {
      event.preventDefault()
      event.stopPropagation()
      setCaret(null)
    }
  }
  return (
    <Field {...labels}>
      {(ties) => (
        <>
          <textarea
            {...ties}
            ref={element}
            rows={1}
            spellCheck={false}
            value={value}
            {...(isOpen ? { 'aria-controls': listId, 'aria-activedescendant': `${listId}-${active}` } : {})}
            onChange={(event) => {
              onChange(event.target.value)
              setCaret(event.target.selectionStart)
              setActive(0)
            }}
            onBlur={() => setCaret(null)}
            onKeyDown={onKeyDown}
            className={classNames(
              CONTROL,
              'min-h-8 resize-none py-1.5',
              code === true && 'font-mono text-12',
            )}
          />
          {isOpen && (
            <Options id={listId} label="References" anchor={element.current}>
              {found.map((reference, place) => (
                <Option
                  key={reference.token}
                  id={`${listId}-${place}`}
                  reference={reference}
                  isActive={place === active}
                  onChoose={() => insert(reference.token)}
                />
              ))}
            </Options>
          )}
        </>
      )}
    </Field>
  )
}

/** Lets the field grow with its text, up to 240 pixels. */
function useGrowingHeight(element: RefObject<HTMLTextAreaElement | null>, value: string): void {
  useLayoutEffect(() => {
    const area = element.current
    if (area === null) return
    area.style.height = 'auto'
    area.style.height = `${Math.min(240, area.scrollHeight + 2)}px`
  }, [element, value])
}

function Option({
  id,
  reference: { token, type },
  isActive,
  onChoose,
}: {
  id: string
  reference: Reference
  isActive: boolean
  onChoose: () => void
}) {
  return (
    <li
      id={id}
      role="option"
      aria-label={token}
      aria-selected={isActive}
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
      className={classNames(
        'flex cursor-pointer justify-between gap-4 rounded px-2 py-1 font-mono text-12 hover:bg-hover',
        isActive && 'bg-hover',
      )}
    >
      <span className="truncate">{token}</span>
      <span className="text-muted">{type}</span>
    </li>
  )
}
