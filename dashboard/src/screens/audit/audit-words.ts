import { plural } from '../../ui/figure.ts'

/**
 * The words of each entry of the audit log after its author. `{target}` is the link to what it is about, another name in
 * braces is that part of the details. `{N rows}` and `{credits}` count them.
 */
export const AUDIT_WORDS: Readonly<Record<string, string>> = {
  'organisation.created': 'created the organisation {name}',
  'knowledge.written': 'changed the knowledge file',
  'member.invited': 'invited {target} as {role}',
  'member.added': 'added {target} as {role}',
  'member.removed': 'removed {target} from the organisation',
  'member.role_changed': 'changed the role of {target} from {from} to {to}',
  'invitation.accepted': 'accepted the invitation of {target}',
  'invitation.revoked': 'revoked the invitation of {target}',
  'membership.confirmed': 'confirmed the membership of {target}',
  'sign_in_link.created': 'created a sign-in link for {target}',
  'session.started': 'signed in',
  'session.revoked': 'ended a session',
  'key.created': 'created an API key for {email}',
  'key.rotated': 'rotated an API key',
  'key.revoked': 'revoked an API key',
  'env.set': 'set the variable {target}',
  'env.unset': 'deleted the variable {target}',
  'connection.added': 'connected {target}',
  'connection.removed': 'removed the connection {target}',
  'workflow.created': 'created the workflow {target}',
  'workflow.renamed': 'renamed a workflow to {name}',
  'workflow.duplicated': 'duplicated a workflow as {target}',
  'workflow.deleted': 'deleted the workflow {target}',
  'workflow.shared': 'shared {target} with {email}',
  'workflow.unshared': 'stopped sharing {target} with {email}',
  'sheet.created': 'added the sheet {target}',
  'sheet.renamed': 'renamed a sheet to {name}',
  'sheet.updated': 'changed the settings of {target}',
  'sheet.deleted': 'deleted the sheet {target}',
  'view.created': 'added the view {name} to {target}',
  'view.changed': 'changed a view of {target}',
  'view.deleted': 'deleted a view of {target}',
  'definition.applied': 'applied a workflow file to {target}',
  'sheet.exported': 'exported {target}',
  'action.added': 'added an action to {target}',
  'action.configured': 'changed an action of {target}',
  'action.deleted': 'deleted an action of {target}',
  'action.moved': 'moved an action of {target}',
  'action.renamed': 'renamed an action of {target}',
  'action.noted': 'changed the note of an action of {target}',
  'action.waterfall_reordered': 'changed the order of providers in {target}',
  'action.outputs_discovered': 'found new outputs of an action of {target}',
  'inputs.created': 'added the inputs {names} to {target}',
  'input.changed': 'changed the input {name} of {target}',
  'input.duplicated': 'duplicated the input {name} of {target}',
  'input.deleted': 'deleted the input {name} of {target}',
  'definition.restored': 'undid or redid a change of {target}',
  'rows.edited': 'edited {N rows} of {target}',
  'rows.deleted': 'deleted {N rows} of {target}',
  'rows.restored': 'restored {N rows} of {target}',
  'comment.deleted': 'deleted a comment of {author} in {target}',
  'cell.restored': 'restored an earlier result in {target}',
  'cell.kept': 'kept the result of a test in {target}',
  'run.started': 'started a run of {target}',
  'run.stopped': 'stopped the runs of {target}',
  'run.resumed': 'resumed a run of {target}',
  'schedule.set': 'scheduled {target}',
  'schedule.unset': 'removed the schedule of {target}',
  'webhook.enabled': 'enabled the webhook of {target}',
  'webhook.rotated': 'gave the webhook of {target} a new address',
  'webhook.capped': 'changed the daily credit limit of the webhook of {target}',
  'webhook.disabled': 'disabled the webhook of {target}',
  'file.uploaded': 'uploaded the file {name}',
  'import.started': 'imported a file into {target}',
  'source.created': 'added the source {target}',
  'source.changed': 'changed the source {target}',
  'source.synced': 'synced the source {target} to a workflow',
  'source.status': 'changed the status of the source {target} to {status}',
  'source.max_credits': 'changed the credit limit of the source {target}',
  'source.deleted': 'deleted the source {target}',
  'segment.created': 'created the segment {target}',
  'segment.updated': 'changed the segment {target}',
  'segment.synced': 'synced the segment {target} to a workflow',
  'segment.deleted': 'deleted the segment {target}',
  'segment_sync.resumed': 'resumed the sync of a segment',
  'segment_sync.confirmed': 'decided about held members of a segment: {choice}',
  'segment_sync.deleted': 'deleted the sync of a segment',
  'segment_sync.destination_paused': 'paused a destination of a segment',
  'segment_sync.destination_resumed': 'resumed a destination of a segment',
  'records.imported': 'imported records from {target}',
  'records.merged': 'merged two records',
  'records.unmerged': 'separated two merged records',
  'records.erased': 'erased personal data from records',
  'records.sources_ordered': 'changed the order of sources of records',
  'shortcut.published': 'published the shortcut {target}',
  'shortcut.republished': 'published a new version of the shortcut {target}',
  'shortcut.updated': 'changed the shortcut {target}',
  'shortcut.unpublished': 'unpublished the shortcut {target}',
  'shortcut.archived': 'archived the shortcut {target}',
  'shortcut.shared': 'shared the shortcut {target} with {email}',
  'shortcut.unshared': 'stopped sharing the shortcut {target} with {email}',
  'shortcut.run': 'ran the shortcut {target}',
  'budget.created': 'created the budget {target}',
  'budget.changed': 'changed the budget {target}',
  'budget.deleted': 'deleted the budget {target}',
  'credits.granted': 'granted {credits}',
  'credits.refunded': 'refunded {credits}',
}

type Entry = {
  action: string
  target: string
  subject: { name: string; path: string | null } | null
  details: Readonly<Record<string, unknown>>
}
type Part = { text: string; path?: string | null }

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Returns what was done in words, in parts: plain text, and the name of what it was done to with its page. */
export function describeEntry({ action, target, subject, details }: Entry): Part[] {
  const words = AUDIT_WORDS[action] ?? `${action.replaceAll(/[._]/g, ' ')}: {target}`
  return words
    .split(/(\{[^}]+\})/)
    .filter((part) => part !== '')
    .map((part) => {
      if (part === '{target}') {
        const known = subject ?? (ID.test(target) ? null : { name: target, path: null })
        return { text: known?.name ?? toText(details['name']), path: known?.path ?? null }
      }
      if (part === '{N rows}') {
        const { count } = details
        return { text: typeof count === 'number' ? plural(count, 'row') : 'rows' }
      }
      if (part === '{credits}') {
        const { amount } = details
        return { text: typeof amount === 'number' ? plural(amount, 'credit') : 'credits' }
      }
      if (part === '{status}') return { text: toText(details['to']).replaceAll('_', ' ') }
      return { text: part.startsWith('{') ? toText(details[part.slice(1, -1)]) : part }
    })
}

/** Returns a part of the details as text. */
function toText(value: unknown): string {
  if (Array.isArray(value)) return value.map(toText).join(', ')
  if (typeof value === 'string' && value !== '') return value
  return typeof value === 'number' ? value.toLocaleString('en') : 'something that was deleted'
}

/** The filters of the audit log: parts of the names of its entries before the dot. */
export const AUDIT_AREAS = [
  { value: '', label: 'Everything' },
  { value: 'member', label: 'Members' },
  { value: 'session', label: 'Signing in' },
  { value: 'key', label: 'API keys' },
  { value: 'env', label: 'Variables' },
  { value: 'connection', label: 'Connections' },
  { value: 'workflow', label: 'Workflows' },
  { value: 'sheet', label: 'Sheets' },
  { value: 'action', label: 'Actions' },
  { value: 'input', label: 'Inputs' },
  { value: 'rows', label: 'Rows' },
  { value: 'run', label: 'Runs' },
  { value: 'schedule', label: 'Schedules' },
  { value: 'webhook', label: 'Webhooks' },
  { value: 'import', label: 'Imports' },
  { value: 'source', label: 'Sources' },
  { value: 'segment', label: 'Segments' },
  { value: 'records', label: 'Records' },
  { value: 'shortcut', label: 'Shortcuts' },
  { value: 'budget', label: 'Budgets' },
  { value: 'credits', label: 'Credits' },
] as const
