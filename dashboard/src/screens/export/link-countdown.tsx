import { useEffect, useState } from 'react'

/** Counts down to the end of a signed link; read out only when it has ended. */
export function LinkCountdown({ until }: { until: string }) {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  const seconds = Math.max(0, Math.round((new Date(until).getTime() - now) / 1000))
  if (seconds === 0) return <span role="status">The link has expired</span>
  const two = (value: number) => String(value).padStart(2, '0')
  return (
    <span className="text-muted tabular-nums">{`Link valid for ${two(Math.floor(seconds / 60))}:${two(seconds % 60)}`}</span>
  )
}
