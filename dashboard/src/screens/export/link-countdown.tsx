import { useEffect, useState } from 'react'

/** Counts down the validity of a signed link. Screen readers announce only its end. */
export function LinkCountdown({ until }: { until: string }) {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  const seconds = Math.max(0, Math.round((new Date(until).getTime() - now) / 1000))
  if (seconds === 0) return <span role="status">The link has expired</span>
  const twoDigits = (value: number) => String(value).padStart(2, '0')
  return (
    <span className="text-muted tabular-nums">{`Link valid for ${twoDigits(Math.floor(seconds / 60))}:${twoDigits(seconds % 60)}`}</span>
  )
}
