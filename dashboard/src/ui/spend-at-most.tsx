import { TextField } from './text-field.tsx'

/** The cap of whatever starts spending. */
export function SpendAtMost({
  value,
  onChange,
  problem,
  hint = 'Credits; empty: no cap. What would pass it is not run.',
}: {
  value: string
  onChange: (value: string) => void
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
      onChange={onChange}
      problem={problem}
      hint={hint}
    />
  )
}

/** The part of a body that caps it; nothing where no cap is typed. */
export const spending = (cap: string): { max_credits?: number } =>
  cap === '' ? {} : { max_credits: Number(cap) }
