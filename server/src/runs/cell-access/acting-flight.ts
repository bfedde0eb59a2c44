import type { RunFacts } from '../../database/queue/run-facts.ts'

/** A row in flight, on whose behalf an action reads or writes rows. */
export type ActingFlight = Readonly<{
  facts: RunFacts
  row: Readonly<{ id: string }>
  position: Readonly<{ action: string }>
}>

/** Notes the statements that an action waits for, and whether the database went away under them. */
export type StatementWatch = { watch<Result>(asked: Promise<Result>): Promise<Result> }
