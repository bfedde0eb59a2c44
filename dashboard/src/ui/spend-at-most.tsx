import { TextField } from './text-field.tsx'

/** The field for the credit limit of anything that spends credits. */
export function SpendAtMost({
  value,
  onChange,
  problem,
  hint = 'Credit limit (optional). The run stops before exceeding it.',
}: {
  value: string
  /** Receives the typed value. If absent, the limit is read-only. */
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

/** Returns the body field of the credit limit, or no field if nothing was typed. */
export const spending = (limit: string): { max_credits?: number } =>
  limit === '' ? {} : { max_credits: Number(limit) }
