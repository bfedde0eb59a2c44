import { classNames } from './class-names.ts'

/** A switch between on and off. */
export function Switch({
  label,
  labelledBy,
  describedBy,
  field,
  checked,
  disabled,
  onChange,
}: {
  label?: string
  /** The id of the visible label, instead of `label`. */
  labelledBy?: string | undefined
  describedBy?: string | undefined
  /** The name of the field in the API. */
  field?: string
  checked: boolean
  disabled?: boolean
  onChange: (checked: boolean) => void
}) {
  return (
    <button
      type="button"
      role="switch"
      aria-checked={checked}
      aria-label={label}
      aria-labelledby={labelledBy}
      aria-describedby={describedBy}
      data-field={field}
      disabled={disabled}
      onClick={() => onChange(!checked)}
      className={classNames(
        'h-4 w-7 shrink-0 rounded-full border border-control p-px transition-colors disabled:cursor-not-allowed disabled:opacity-60',
        checked ? 'border-accent bg-accent' : 'bg-hover',
      )}
    >
      <span
        className={classNames(
          'block size-3 rounded-full transition-transform',
          checked ? 'translate-x-3 bg-white' : 'bg-control',
        )}
      />
    </button>
  )
}

/** A switch with its visible label beside it. */
export function LabelledSwitch({
  label,
  checked,
  disabled,
  onChange,
}: {
  label: string
  checked: boolean
  disabled?: boolean
  onChange: (checked: boolean) => void
}) {
  return (
    <label className="flex items-center gap-1.5 text-12 text-muted">
      <Switch
        label={label}
        checked={checked}
        {...(disabled === undefined ? {} : { disabled })}
        onChange={onChange}
      />
      {label}
    </label>
  )
}
