import { z } from 'zod'
import { Column } from './columns.ts'
import { Credits } from './numbers.ts'
import { RowSelection } from './rows.ts'
import { boundedArray } from './schema-checks.ts'

export const MAX_STATISTICS_COLUMNS = 50
/** The number of rows up to which statistics are exact. Of more rows, a sample is read. */
export const MAX_EXACT_ROWS = 100_000
/** The number of most frequent values, and of bars of a histogram. */
export const MOST_FREQUENT = 10
export const MAX_BARS = 20

export const RowStatisticsBody = z.strictObject({
  columns: boundedArray(Column, { min: 1, max: MAX_STATISTICS_COLUMNS }),
  ...RowSelection,
})

const Bar = <Edge extends z.ZodType>(edge: Edge) => z.object({ from: edge, to: edge, count: z.int() })
const Moment = z.string().describe('UTC, ISO 8601')

export const ColumnStatistics = z.object({
  filled: z.int(),
  empty: z.int(),
  unique: z.int().describe('Different values, without empty ones'),
  most_frequent: z.array(
    z.object({
      value: z.string().describe('At most 1,000 characters'),
      count: z.int(),
    }),
  ),
  numbers: z
    .object({
      count: z.int(),
      sum: z.number(),
      average: z.number(),
      min: z.number(),
      median: z.number(),
      max: z.number(),
      histogram: z.array(Bar(z.number())),
    })
    .nullable()
    .describe('Over the values that are wholly a number; null if there are none'),
  dates: z
    .object({
      count: z.int(),
      min: Moment,
      median: Moment,
      max: Moment,
      histogram: z.array(Bar(Moment)),
    })
    .nullable()
    .describe('Over the values that are dates or date-times of ISO 8601; null if there are none'),
  action: z
    .object({
      statuses: z.record(z.string(), z.int()).describe('Rows by the status of their cell'),
      not_run: z.int(),
      credits: Credits.describe('What the results that the cells have now were billed'),
      providers: z.array(
        z.object({
          provider: z.string(),
          asked: z.int(),
          hits: z.int(),
          hit_rate: z.number().describe('From 0 to 1'),
        }),
      ),
    })
    .nullable()
    .describe('Of a column that names an action, otherwise null'),
})
export type ColumnStatistics = z.infer<typeof ColumnStatistics>

export const RowStatistics = z.object({
  rows: z.int().describe('The rows of the selection'),
  looked_at: z.int().describe('The rows that all counts below are of'),
  precision: z.enum(['exact', 'sampled']),
  columns: z.array(ColumnStatistics).describe('In the order of the request'),
})
export type RowStatistics = z.infer<typeof RowStatistics>
