import type { Run } from '../../api/sheet.ts'

export const STATES: Readonly<Record<Run['state'], string>> = {
  running: 'Running',
  finished: 'Finished',
  stopped: 'Stopped',
}

const TRIGGERS: Readonly<Record<string, string>> = {
  shortcut: 'Shortcut',
  auto_run: 'Auto-run',
  schedule: 'Schedule',
  webhook: 'Webhook',
  source: 'Source',
  segment: 'Segment',
  send_to_sheet: 'Rows sent from a sheet',
  agent: 'Agent',
  test: 'Test of an action',
}

const WAYS = { dashboard: 'in the dashboard', api: 'with an API key' } as const

/** Returns who or what started a run: a person and where, or what runs by itself. */
export function printStarter({ trigger, created_by, started_in }: Run): string {
  const person = created_by.includes('@') ? created_by : null
  if (trigger === 'api') {
    return started_in === null ? created_by : `${created_by}, ${WAYS[started_in]}`
  }
  const words = TRIGGERS[trigger] ?? trigger
  return person === null ? words : `${words}, ${person}`
}
