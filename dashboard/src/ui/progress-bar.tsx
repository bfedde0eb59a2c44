import { classNames } from './class-names.ts'

/** A progress bar of `value` out of `max`. While `max` is null, it only shows that work is in progress. */
export function ProgressBar({
  label,
  value,
  max,
  slim,
  isFull = false,
}: {
  label: string
  value: number
  max: number | null
  slim?: boolean
  /** Marks a limit that is used up. */
  isFull?: boolean
}) {
  const share = max === null || max === 0 ? 0 : Math.min(1, value / max)
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={max ?? 100}
      {...(max === null ? {} : { 'aria-valuenow': Math.min(value, max) })}
      className={
        slim === true
          ? 'h-0.5 w-full overflow-hidden rounded bg-hairline'
          : 'h-1.5 w-full overflow-hidden rounded bg-hairline'
      }
    >
      <div
        className={classNames('h-full origin-left rounded', isFull ? 'bg-failed' : 'bg-accent')}
        style={{ width: `${share * 100}%` }}
      />
    </div>
  )
}
