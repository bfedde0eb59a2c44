import { z } from 'zod'
import { ConfigureActionBody } from './actions.ts'

export const MAX_CHECKED_ROWS = 1000

export const CheckConditionsBody = z.strictObject({
  run_if: ConfigureActionBody.shape.run_if.unwrap(),
  rows: z.int().min(1).max(MAX_CHECKED_ROWS).default(100).describe('The number of rows to look at'),
})

export const CheckedConditions = z
  .object({
    looked_at: z.int().describe('Rows that were looked at, evenly spread over the sheet'),
    passed: z.int().describe('Rows of these that meet the condition'),
    words: z.string().describe('The condition as a sentence'),
  })
  .meta({ id: 'CheckedConditions' })
