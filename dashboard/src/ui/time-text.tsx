import { useSyncExternalStore } from 'react'

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

const TICK_MS = 15_000
const subscribe = (onTick: () => void) => {
  const timer = setInterval(onTick, TICK_MS)
  return () => clearInterval(timer)
}

/** A relative time such as `3 minutes ago`, updated as time passes. The exact time is in the tooltip. */
export function TimeText({ at }: { at: string | null }) {
  useSyncExternalStore(subscribe, () => Math.floor(Date.now() / TICK_MS))
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
  // A future time is rounded: two weeks that began a moment ago are 14 days, not 13. A past time counts whole units.
  return relative.format(seconds > 0 ? Math.round(seconds / size) : Math.trunc(seconds / size), unit)
}
