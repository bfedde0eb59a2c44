import { TextField } from './text-field.tsx'

/** The cap of whatever starts spending. */
export function SpendAtMost({
  value,
  onChange,
  problem,
  hint = 'Credits; empty: no cap. What would pass it is not run.',
}: {
  value: string
  /** Without it the cap is only shown. */
  onChange?: (value: string) => void
  problem?: string | undefined
  hint?: string
}) {
  return (
    <TextField
      label="Spend at most"
      type="number"
      min={0}
      step="any"
      value={value}
      {...(onChange === undefined ? {} : { onChange })}
      problem={problem}
      hint={hint}
    />
  )
}

/** The part of a body that caps it; nothing where no cap is typed. */
export const spending = (cap: string): { max_credits?: number } =>
  cap === '' ? {} : { max_credits: Number(cap) }
