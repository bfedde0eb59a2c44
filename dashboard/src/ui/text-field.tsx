import { type ComponentProps, type ReactNode, useId } from 'react'
import { classNames } from './class-names.ts'

export const CONTROL =
  'w-full rounded-md border border-control bg-bg px-2 text-13 text-text aria-invalid:border-failed read-only:bg-subtle disabled:bg-subtle'

type Labelled = { label: string; problem?: string | undefined; hint?: ReactNode; hideLabel?: boolean }

/** A control with its label, hint and error. `children` gets the attributes that link them. */
export function Field({
  label,
  problem,
  hint,
  hideLabel,
  children,
}: Labelled & {
  children: (ties: { id: string; 'aria-invalid'?: true; 'aria-describedby'?: string }) => ReactNode
}) {
  const id = useId()
  const noteId = `${id}-note`
  const note = problem ?? hint
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={id} className={hideLabel === true ? 'sr-only' : 'text-12 font-medium'}>
        {label}
      </label>
      {children({
        id,
        ...(problem === undefined ? {} : { 'aria-invalid': true as const }),
        ...(note === undefined ? {} : { 'aria-describedby': noteId }),
      })}
      {note !== undefined && (
        <p
          id={noteId}
          className={classNames('text-12', problem === undefined ? 'text-muted' : 'text-failed')}
        >
          {note}
        </p>
      )}
    </div>
  )
}

type TextFieldProps = Omit<ComponentProps<'input'>, 'id' | 'onChange' | 'value'> &
  Labelled & { value: string; onChange?: (value: string) => void }

export function TextField({ label, problem, hint, hideLabel, onChange, className, ...rest }: TextFieldProps) {
  return (
    <Field label={label} problem={problem} hint={hint} {...(hideLabel === undefined ? {} : { hideLabel })}>
      {(ties) => (
        <input
          type="text"
          autoComplete="off"
          {...rest}
          {...ties}
          readOnly={onChange === undefined}
          onChange={(event) => onChange?.(event.target.value)}
          className={classNames(CONTROL, 'h-8', className)}
        />
      )}
    </Field>
  )
}

type TextAreaProps = Omit<ComponentProps<'textarea'>, 'id' | 'onChange' | 'value'> &
  Labelled & { value: string; onChange?: (value: string) => void }

export function TextArea({ label, problem, hint, hideLabel, onChange, className, ...rest }: TextAreaProps) {
  return (
    <Field label={label} problem={problem} hint={hint} {...(hideLabel === undefined ? {} : { hideLabel })}>
      {(ties) => (
        <textarea
          rows={3}
          {...rest}
          {...ties}
          readOnly={onChange === undefined}
          onChange={(event) => onChange?.(event.target.value)}
          className={classNames(CONTROL, 'py-1.5', className)}
        />
      )}
    </Field>
  )
}

type CheckboxProps = Omit<ComponentProps<'input'>, 'onChange' | 'type'> & {
  label: string
  onChange: (checked: boolean) => void
}

export function Checkbox({ label, onChange, ...rest }: CheckboxProps) {
  return (
    <label className="flex items-center gap-2">
      <input type="checkbox" {...rest} onChange={(event) => onChange(event.target.checked)} />
      {label}
    </label>
  )
}

export function SearchBox({
  label,
  value,
  onChange,
  className,
  ...rest
}: Omit<ComponentProps<'input'>, 'onChange' | 'value'> & {
  label: string
  value: string
  onChange: (value: string) => void
}) {
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      autoComplete="off"
      spellCheck={false}
      {...rest}
      value={value}
      onChange={(event) => onChange(event.target.value)}
      className={classNames(CONTROL, 'h-7', className)}
    />
  )
}
