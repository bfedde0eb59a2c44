import {
  type ComponentProps,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { classNames } from './class-names.ts'
import { Check, ChevronDown } from './icons.tsx'
import { CONTROL, Field } from './text-field.tsx'

export type Choice<Value extends string = string> = {
  value: Value
  label?: string
  note?: string
  /** The token that the choice stands for. */
  token?: string
}

type Props<Value extends string> = {
  label: string
  value: Value
  choices: readonly (Value | Choice<Value>)[]
  onChange: (value: Value) => void
  problem?: string | undefined
  hint?: ReactNode
  hideLabel?: boolean
  placeholder?: string
  disabled?: boolean | undefined
  /** The name of the field in the API. */
  field?: string | undefined
  /** Links the control to a label and a line that stand elsewhere, instead of showing its own. */
  ties?: { labelledBy: string; describedBy: string | undefined; isInvalid: boolean }
  /** Accepts typed text that is not among the choices, so values can be any text. */
  free?: (string extends Value ? boolean : never) | undefined
}

const asChoice = <Value extends string>(one: Value | Choice<Value>): Choice<Value> =>
  typeof one === 'string' ? { value: one } : one
const getLabel = (choice: Choice) => choice.label ?? choice.value

/** A choice of one option, found by typing. The list is a popover, so that no dialog or panel clips it. */
export function Combobox<Value extends string>({ hint, hideLabel, ties, ...props }: Props<Value>) {
  if (ties !== undefined) {
    const { labelledBy, describedBy, isInvalid } = ties
    return (
      <ComboboxControl
        {...props}
        attributes={{
          'aria-labelledby': labelledBy,
          ...(describedBy === undefined ? {} : { 'aria-describedby': describedBy }),
          ...(isInvalid ? { 'aria-invalid': true } : {}),
        }}
      />
    )
  }
  return (
    <Field
      label={props.label}
      problem={props.problem}
      hint={hint}
      {...(hideLabel === undefined ? {} : { hideLabel })}
    >
      {(attributes) => <ComboboxControl {...props} attributes={attributes} />}
    </Field>
  )
}

function ComboboxControl<Value extends string>({
  label,
  value,
  choices,
  onChange,
  placeholder,
  disabled,
  field,
  free,
  attributes,
}: Omit<Props<Value>, 'hint' | 'hideLabel' | 'ties' | 'problem'> & {
  attributes: ComponentProps<'input'>
}) {
  const input = useRef<HTMLInputElement>(null)
  const listId = useId()
  const list = useChoiceList({ value, choices, onChange, disabled, free })
  const { open, typed, shown, active, chosen } = list
  return (
    <div className="relative">
      <input
        {...attributes}
        ref={input}
        type="text"
        role="combobox"
        aria-expanded={open}
        aria-controls={listId}
        aria-autocomplete="list"
        {...(open && shown[active] !== undefined ? { 'aria-activedescendant': `${listId}-${active}` } : {})}
        autoComplete="off"
        spellCheck={false}
        disabled={disabled}
        data-field={field}
        data-token={chosen?.token}
        placeholder={placeholder}
        value={typed ?? (chosen === undefined ? value : getLabel(chosen))}
        onClick={list.show}
        onBlur={list.hide}
        onKeyDown={list.onKeyDown}
        onChange={(event) => list.type(event.target.value)}
        className={classNames(
          CONTROL,
          'h-8 truncate pr-7',
          chosen?.token !== undefined && typed === null && 'font-medium text-accent-text!',
        )}
      />
      <ChevronDown aria-hidden className="pointer-events-none absolute top-2 right-2 size-4 text-muted" />
      {open && (
        <Options id={listId} label={label} anchor={input.current}>
          {shown.map((choice, place) => (
            <Option
              key={choice.value}
              id={`${listId}-${place}`}
              choice={choice}
              active={place === active}
              selected={choice.value === value}
              onChoose={() => list.choose(choice)}
            />
          ))}
          {shown.length === 0 && free !== true && <li className="px-2 py-1 text-muted">No results</li>}
        </Options>
      )}
    </div>
  )
}

/** Holds the list of a combobox: whether it is open, what was typed, and the choices that match it. */
function useChoiceList<Value extends string>({
  value,
  choices,
  onChange,
  disabled,
  free,
}: Pick<Props<Value>, 'value' | 'choices' | 'onChange' | 'disabled' | 'free'>) {
  const [open, setOpen] = useState(false)
  const [typed, setTyped] = useState<string | null>(null)
  const [active, setActive] = useState(0)
  const all = choices.map(asChoice)
  const chosen = all.find((choice) => choice.value === value)
  const shown =
    typed === null
      ? all
      : all.filter((choice) => getLabel(choice).toLowerCase().includes(typed.trim().toLowerCase()))

  const show = () => {
    if (disabled === true || open) return
    setTyped(null)
    setActive(
      Math.max(
        0,
        all.findIndex((choice) => choice.value === value),
      ),
    )
    setOpen(true)
  }
  const hide = () => {
    setOpen(false)
    setTyped(null)
  }
  const choose = (choice: Choice<Value> | undefined) => {
    if (choice !== undefined) onChange(choice.value)
    hide()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault()
      if (!open) return show()
      const step = event.key === 'ArrowDown' ? 1 : -1
      setActive((active + step + shown.length) % Math.max(1, shown.length))
    } else if (event.key === 'Enter' && open) {
      event.preventDefault()
      choose(shown[active])
    } else if (event.key === 'Escape' && open) {
      event.preventDefault()
      event.stopPropagation()
      hide()
    } else if (event.key === 'Tab') hide()
    return undefined
  }
  const type = (text: string) => {
    setTyped(text)
    setActive(0)
    setOpen(true)
    const exact = all.find((choice) => getLabel(choice) === text)
    if (exact !== undefined) onChange(exact.value)
    // A free text is a value, because only values of the type string may be free.
    else if (free === true) onChange(text as Value)
  }
  return { open, typed, shown, active, chosen, show, hide, choose, onKeyDown, type }
}

function Option({
  id,
  choice,
  active,
  selected,
  onChoose,
}: {
  id: string
  choice: Choice
  active: boolean
  selected: boolean
  onChoose: () => void
}) {
  const element = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (active) element.current?.scrollIntoView({ block: 'nearest' })
  }, [active])
  return (
    <li
      ref={element}
      id={id}
      role="option"
      aria-selected={selected}
      data-token={choice.token}
      // The field keeps the focus: only leaving the field closes the list.
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
      className={classNames(
        'flex cursor-pointer items-center gap-2 rounded px-2 py-1 hover:bg-hover',
        active && 'bg-hover',
      )}
    >
      <span className="min-w-0 flex-1 truncate">{getLabel(choice)}</span>
      {choice.note !== undefined && (
        <span className="max-w-[45%] truncate text-12 text-muted">{choice.note}</span>
      )}
      {selected && <Check aria-hidden className="size-3.5 text-accent-text" />}
    </li>
  )
}

/** Shows an element in the top layer, below its field, or above it if there is more room. */
export function usePlacedPopover(popover: RefObject<HTMLElement | null>, anchor: HTMLElement | null): void {
  useLayoutEffect(() => {
    const element = popover.current
    if (element === null || anchor === null) return
    element.showPopover()
    const place = () => {
      const at = anchor.getBoundingClientRect()
      const below = innerHeight - at.bottom - 8
      const above = at.top - 8
      const isBelow = below >= Math.min(260, element.scrollHeight) || below >= above
      element.style.minWidth = `${Math.max(at.width, 120)}px`
      element.style.left = `${Math.min(at.left, innerWidth - Math.max(at.width, 120) - 8)}px`
      element.style.maxHeight = `${Math.min(260, isBelow ? below : above)}px`
      element.style.top = isBelow ? `${at.bottom + 2}px` : ''
      element.style.bottom = isBelow ? '' : `${innerHeight - at.top + 2}px`
    }
    place()
    addEventListener('scroll', place, true)
    addEventListener('resize', place)
    return () => {
      removeEventListener('scroll', place, true)
      removeEventListener('resize', place)
    }
  }, [popover, anchor])
}

export const POPOVER =
  'fixed max-w-[min(480px,90vw)] overflow-y-auto rounded-md border bg-raised p-1 text-13 text-text shadow-raised'

/** A list in the top layer, placed below its field, or above it if there is more room. */
export function Options({
  id,
  label,
  anchor,
  children,
}: {
  id: string
  label: string
  anchor: HTMLElement | null
  children: ReactNode
}) {
  const list = useRef<HTMLUListElement>(null)
  usePlacedPopover(list, anchor)
  return (
    <ul ref={list} id={id} role="listbox" aria-label={label} popover="manual" className={POPOVER}>
      {children}
    </ul>
  )
}
