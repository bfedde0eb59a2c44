/** `value` of `max`; while `max` is unknown it says only that something is under way. */
export function ProgressBar({
  label,
  value,
  max,
  slim,
}: {
  label: string
  value: number
  max: number | null
  slim?: boolean
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
      <div className="h-full origin-left rounded bg-accent" style={{ width: `${share * 100}%` }} />
    </div>
  )
}
