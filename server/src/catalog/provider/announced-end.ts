import { plural } from '../../lib/plural.ts'

/** The last day of a version of a provider's API, as YYYY-MM-DD, and the part of the API that ends. */
export type AnnouncedEnd = { on: string; part: string }

const DAY_MS = 86_400_000
/** An end is reported from this many days before it. */
const WARNED_DAYS = 60

type Ending = { id: string; name: string; ends: AnnouncedEnd | null }

/** Returns what to tell operators about the end of a provider's API, or null while it is far away. */
export function describeEnd({ id, name, ends }: Ending, now: Date): string | null {
  if (ends === null) return null
  const days = Math.ceil((Date.parse(ends.on) - now.getTime()) / DAY_MS)
  if (days > WARNED_DAYS) return null
  const when = days > 0 ? `ends on ${ends.on}, in ${plural(days, 'day')}` : `ended on ${ends.on}`
  return `${name}: ${ends.part} ${when}; update Loam, or move ${id} with LOAM_PROVIDER_URL_${id.toUpperCase()}`
}
