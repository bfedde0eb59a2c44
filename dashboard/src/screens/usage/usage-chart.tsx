import { figure, plural } from '../../ui/figure.ts'

const DAY_MS = 86_400_000
const MAX_DAYS = 90
const FEW_DAYS = 7

type Day = { day: string; credits: number }

/** Returns every day from the first one with spending, including days without any, up to the last 90 days. */
export function fillDays(known: readonly Day[], until: string): Day[] {
  const creditsByDay = new Map(known.map(({ day, credits }) => [day, credits]))
  const end = Date.parse(until)
  const first = Math.min(...known.map(({ day }) => Date.parse(day)), end - (FEW_DAYS - 1) * DAY_MS)
  const start = Math.max(first, end - (MAX_DAYS - 1) * DAY_MS)
  const count = Math.round((end - start) / DAY_MS) + 1
  return Array.from({ length: count }, (_, place) => {
    const day = new Date(start + place * DAY_MS).toISOString().slice(0, 10)
    return { day, credits: creditsByDay.get(day) ?? 0 }
  })
}

/** A bar chart of the credits per day. The table below shows the same figures. */
export function UsageChart({ days }: { days: readonly Day[] }) {
  const most = days.reduce((highest, day) => (day.credits > highest.credits ? day : highest), {
    day: '',
    credits: 0,
  })
  return (
    <figure
      role="img"
      aria-label={`Chart of credits by day: at most ${figure(most.credits)} on ${most.day}`}
      className="rounded-lg border px-3 pt-3 pb-2"
    >
      <div className="flex h-24 items-end gap-px">
        {days.map(({ day, credits }) => (
          <div
            key={day}
            title={`${day}: ${plural(credits, 'credit')}`}
            className="flex h-full min-w-0 flex-1 items-end justify-center rounded-sm hover:bg-hover"
          >
            <div
              className="w-full max-w-10 rounded-t-sm bg-accent"
              style={{
                height: credits === 0 ? '1px' : `max(2px, ${(credits / most.credits) * 100}%)`,
                opacity: credits === 0 ? 0.25 : 1,
              }}
            />
          </div>
        ))}
      </div>
      <div className="mt-1 flex justify-between text-11 text-muted tabular-nums">
        <span>{days[0]?.day}</span>
        <span>{`highest ${figure(most.credits)}`}</span>
        <span>{days.at(-1)?.day}</span>
      </div>
    </figure>
  )
}
