import { z } from 'zod'
import { AddActionBody, ConfigureActionBody } from './actions.ts'
import { Uuid, Warning } from './envelope.ts'
import { Credits } from './numbers.ts'
import { CELL_STATUSES, OutputsRef } from './rows.ts'
import { DryRun, MaxCredits } from './spending.ts'

/** The fields of every test. */
const TESTING = {
  row_id: Uuid.describe('The row on which the action is tested'),
  keep: z
    .boolean()
    .optional()
    .describe('Writes a complete answer into the cell of the row, without charging it again'),
  max_credits: MaxCredits.optional().describe('The credit limit of the test; 0 tests only what is free'),
  dry_run: DryRun,
}

export const TestActionBody = ConfigureActionBody.pick({ inputs: true, run_if: true }).extend(TESTING)
export const TestNewActionBody = AddActionBody.extend(TESTING)

const Resolved = z
  .record(z.string(), z.unknown())
  .describe(
    'The inputs with the values of the row. Environment variables stay references; long texts are cut',
  )
const Met = z.boolean().nullable().describe('Whether the condition is met; null without a condition')

export const TestEstimate = z
  .object({
    resolved: Resolved,
    met: Met,
    warnings: z.array(Warning),
    credits: z.object({ expected: Credits, at_most: Credits }),
  })
  .meta({ id: 'TestEstimate' })

export const CellTest = z
  .object({
    test_id: Uuid,
    status: z.enum(CELL_STATUSES),
    met: Met,
    resolved: Resolved,
    outputs: z.unknown().describe('Null unless the test is complete'),
    outputs_ref: OutputsRef.optional(),
    error: z.string().nullable(),
    credits: Credits,
    cache_hit: z.boolean(),
    duration_ms: z.int(),
    providers: z.array(z.unknown()).describe('The providers that were asked, as in the provenance of a cell'),
    kept: z.boolean().describe('Whether the answer was written into the cell'),
    warnings: z.array(Warning),
  })
  .meta({ id: 'CellTest' })
export type CellTest = z.infer<typeof CellTest>

export const RunningTest = z.object({ test_id: Uuid, status: z.literal('running') })
