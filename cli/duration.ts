const UNIT_MS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Returns the milliseconds of `30s`, `10m`, `24h`, `7d` or `0`, or undefined for any other text. */
export function parseDuration(text: string): number | undefined {
  if (/^0[smhd]?$/.test(text)) return 0
  const [, count, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  const unitMs = UNIT_MS[unit]
  return count === undefined || unitMs === undefined ? undefined : Number(count) * unitMs
}
