import { judge } from '../parts/report.ts'

/** A line of the engine's table. */
export type Line = { '#': string; what: string; result: string; 'of bare': string; bar: string; met: string }

export const count = (value: number): string => Math.round(value).toLocaleString('en')
export const rate = (cellsPerSecond: number): string => `${count(cellsPerSecond)} cells/s`

export function line(id: string, what: string, result: string, rest: Partial<Line> = {}): Line {
  return { '#': id, what, result, 'of bare': '', bar: '', met: '', ...rest }
}

export function held(
  value: number,
  limit: number,
  unit: string,
  kind: 'at least' | 'at most' = 'at least',
): Pick<Line, 'bar' | 'met'> {
  const { held: met, sign } = judge(value, limit, kind)
  return { bar: `${sign} ${limit.toLocaleString('en')}${unit}`, met: met ? 'yes' : 'NO' }
}
