import type { Operations } from './operation.ts'
import { ORGANISATION } from './organisation.ts'
import { RECORDS } from './records.ts'
import { ROWS, RUNS } from './rows.ts'
import { AGENT, SHORTCUTS, SOURCES } from './services.ts'
import { ACTIONS, WORKFLOWS } from './workflows.ts'

export const OPERATIONS: Operations = {
  ...ORGANISATION,
  ...WORKFLOWS,
  ...ACTIONS,
  ...ROWS,
  ...RUNS,
  ...SHORTCUTS,
  ...AGENT,
  ...SOURCES,
  ...RECORDS,
}
