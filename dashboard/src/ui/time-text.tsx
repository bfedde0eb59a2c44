const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** `3 minutes ago`, with the exact time at hand. */
export function TimeText({ at }: { at: string | null }) {
  if (at === null) return <span className="text-muted">never</span>
  const date = new Date(at)
  return (
    <time dateTime={at} className="whitespace-nowrap" title={date.toLocaleString()}>
      {relativeTime(date, Date.now())}
    </time>
  )
}

export function relativeTime(date: Date, now: number): string {
  const seconds = Math.round((date.getTime() - now) / 1000)
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1]
  return relative.format(Math.trunc(seconds / size), unit)
}
