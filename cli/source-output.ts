import type { SourceState } from '#contract/sources.ts'
import { plural } from '#server/lib/plural.ts'
import type { listSources } from '#server/sources/store/sources.ts'
import { formatDetails, formatTable, formatTime } from './output.ts'

/** Formats each record as a line of JSON. */
export function formatRecords(rows: readonly Record<string, unknown>[]): string {
  return rows.map((row) => JSON.stringify(row)).join('\n')
}

/** Formats the instructions for a source that receives its records: the script or the address to use. */
export function formatReception(
  reception: Pick<SourceState, 'pixel_script' | 'webhook_url'> | null,
): string[] {
  return [
    ...(reception?.pixel_script === undefined ? [] : [`Add this to the pages: ${reception.pixel_script}`]),
    ...(reception?.webhook_url === undefined ? [] : [`Send POST requests to: ${reception.webhook_url}`]),
  ]
}

export function formatSources(listed: Awaited<ReturnType<typeof listSources>>): string {
  return formatTable(
    ['ID', 'TYPE', 'STATUS', 'RECORDS', 'NEXT PULL', 'NAME'],
    listed.map(({ instance_id, slug, status, lead_count, next_pull_at, name }) => [
      instance_id,
      slug,
      status,
      String(lead_count),
      formatTime(status === 'active' ? next_pull_at : null),
      name,
    ]),
    'No sources.',
  )
}

export function formatSourceState(state: SourceState): string {
  const { last_pull: last, pull_under_way: now, last_error: error } = state
  const time = (text: string | null) => formatTime(text === null ? null : new Date(text))
  const counts = (pull: NonNullable<typeof now | typeof last>) =>
    `${pull.new} new, ${pull.updated} updated, ${pull.unchanged} unchanged, ${pull.skipped} skipped, ${plural(pull.pages, 'page')}`
  const details: [string, string][] = [
    ['id', state.source_instance_id],
    ['type', `${state.source_id} (${state.provider})`],
    ['status', state.status],
    ['records', String(state.lead_count)],
    ['credits', `${state.credits_spent}${state.max_credits === null ? '' : ` of ${state.max_credits}`}`],
  ]
  if (state.received === null)
    details.push(['schedule', state.schedule ?? 'once'], ['next pull', time(state.next_pull_at)])
  else {
    const { total, unresolved, waiting, last_at } = state.received
    details.push([
      'received',
      `${total}, ${unresolved} unresolved, ${waiting} waiting; last ${time(last_at)}`,
    ])
  }
  if (state.pixel_script !== undefined) details.push(['script', state.pixel_script])
  if (state.webhook_url !== undefined) details.push(['webhook', state.webhook_url])
  if (now !== null) details.push(['pulling', `since ${time(now.started_at)}: ${counts(now)}`])
  if (last !== null) details.push(['last pull', `${time(last.finished_at)}: ${counts(last)}`])
  if (last?.note) details.push(['note', last.note])
  if (error !== null)
    details.push(['error', `${time(error.at)}: ${error.message}`], ['what to do', error.hint])
  for (const sync of state.syncs) {
    details.push([
      'workflow',
      `${sync.workflow_id}: ${plural(sync.delivered, 'row')}, ${plural(sync.waiting, 'change')} waiting`,
    ])
  }
  return formatDetails(state.name, details)
}
