import { MAX_ACTIONS, MAX_NOTE } from '#contract/actions.ts'
import { MAX_OUTPUT_FIELDS, MAX_PROMPT } from '#contract/agent.ts'
import { MAX_BUDGETS } from '#contract/budgets.ts'
import { MAX_SORT_COLUMNS } from '#contract/columns.ts'
import { MAX_COMMENT, MAX_MENTIONS } from '#contract/comments.ts'
import { EXPORT_HOURS, EXPORT_LINK_MINUTES, MAX_FILE_NAME } from '#contract/exports.ts'
import { MAX_INPUTS } from '#contract/inputs.ts'
import { MAX_SEARCHED } from '#contract/operators.ts'
import { MAX_ENTITY_BYTES, MAX_RECORD_CHARS } from '#contract/records.ts'
import { MAX_GROUP_BYTES, MAX_GROUPS } from '#contract/row-groups.ts'
import { MAX_EXACT_ROWS } from '#contract/row-statistics.ts'
import {
  DEFAULT_PAGE_SIZE,
  MAX_FILTER_VALUES,
  MAX_FILTERS,
  MAX_PAGE_SIZE,
  MAX_ROW_BYTES,
  MAX_ROW_IDS,
  MAX_ROWS_PER_ADD,
  MAX_SELECTED_IDS,
  MAX_VALUE_BYTES,
} from '#contract/rows.ts'
import { MAX_ROW_IDS_PER_ACTION_RUN } from '#contract/runs.ts'
import { MAX_CHANGES } from '#contract/segments.ts'
import { DEFAULT_RUNS_PAGE, MAX_RUNS_PAGE, MAX_SHORTCUT_ROWS, MAX_WAIT_SECONDS } from '#contract/shortcuts.ts'
import { MAX_NAME } from '#contract/text.ts'
import { KNOWLEDGE_MAX_BYTES } from '#contract/user.ts'
import { MAX_VIEWS } from '#contract/views.ts'
import { MAX_ITEMS_PER_DELIVERY } from '#contract/webhooks.ts'
import { BODY_CLASSES } from '#server/api/http/body.ts'
import { MAX_UPLOADS_AT_ONCE } from '#server/files/routes/uploads.ts'
import { UPLOAD_DAYS } from '#server/files/uploads.ts'
import { SETTINGS } from '#server/lib/config/config.ts'
import { MAX_RECORD_BYTES } from '#server/lib/csv/file-fault.ts'
import { INVITATION_DAYS } from '#server/organisation/store/invitations.ts'
import { KEPT_DELIVERIES } from '#server/runs/webhooks/store/webhook-deliveries.ts'
import { MAX_INLINE_BYTES } from '#server/sheets/store/cells.ts'
import { MAX_PAGE_BYTES } from '#server/sheets/store/row-values.ts'
import { MAX_PAID_PREVIEW, MAX_PREVIEW } from '#server/sources/request.ts'

const { control, document, knowledge, rows } = BODY_CLASSES

/** The limits on what callers may send and get: what is limited, the limit, and the answer beyond it. */
export const LIMITS: [what: string, atMost: string, beyond: string][] = [
  [
    'requests by one key',
    `${setting('LOAM_RATE_LIMIT_PER_MINUTE', 'a minute')}, ${setting('LOAM_RATE_LIMIT_PER_DAY', 'a day')}`,
    '429 with `Retry-After`; a key may have a limit of its own',
  ],
  [
    'open connections',
    `${setting('LOAM_CONNECTIONS', 'a process')}, ${setting('LOAM_CONNECTIONS_PER_ADDRESS', 'an address without a valid key')}`,
    'the longest idle ones are closed',
  ],
  ['deliveries to one webhook', setting('LOAM_WEBHOOK_PER_MINUTE', 'a minute'), '429 with `Retry-After`'],
  [
    'streams of events open at once',
    `${setting('LOAM_STREAMS_PER_KEY', 'a key')}, ${setting('LOAM_STREAMS_PER_ORG', 'an organisation')}`,
    '429',
  ],
  [
    'calls of the web agent',
    `${setting('LOAM_AGENT_PER_HOUR', 'an hour')}, ${setting('LOAM_AGENT_CONCURRENCY', 'at once')}, by one organisation`,
    '429 `RATE_LIMITED`, 503 `AGENT_BUSY`',
  ],
  [
    'one call of the web agent',
    setting('LOAM_AGENT_TIMEOUT_SECONDS', 's'),
    '504 `AGENT_TIMEOUT`, not charged',
  ],
  [
    'a body with names, states, a few ids',
    `${bytes(control.bytes)}, ${count(control.values)} values`,
    '413; 400 for values',
  ],
  [
    'a body with a configuration, a selection, a prompt, a source',
    `${bytes(document.bytes)}, ${count(document.values)} values`,
    '413; 400 for values',
  ],
  [
    'a body with rows: Add Rows, shortcut runs, webhooks',
    `${bytes(rows.bytes)}, ${count(rows.values)} values`,
    '413; 400 for values',
  ],
  ['a body with the knowledge file', bytes(knowledge.bytes), '413'],
  ['a body whose request is answered already', '64 MiB, 10 s', 'the connection is closed'],
  [
    'a request that stops arriving, an answer that is not read',
    setting('LOAM_REQUEST_STALL_SECONDS', 's'),
    'the connection is closed',
  ],
  ['the knowledge file', `${bytes(KNOWLEDGE_MAX_BYTES)} of UTF-8`, '400'],
  ['a name', `${count(MAX_NAME)} characters`, '400'],
  ['a note on an action', `${count(MAX_NOTE)} characters`, '400'],
  ['inputs, actions of a sheet', `${count(MAX_INPUTS)}, ${count(MAX_ACTIONS)}`, '400'],
  ['rows in one Add Rows', count(MAX_ROWS_PER_ADD), '400'],
  ['items in one delivery to a webhook', count(MAX_ITEMS_PER_DELIVERY), '400'],
  ['a value of a row', `${bytes(MAX_VALUE_BYTES)} of JSON`, 'the row is rejected, `value_too_large`'],
  ['all values of a row', `${bytes(MAX_ROW_BYTES)} of JSON`, 'the row is rejected, `row_too_large`'],
  ['a page of List Rows', `${count(MAX_PAGE_SIZE)} rows, ${count(DEFAULT_PAGE_SIZE)} by default`, '400'],
  ['inputs on one page of List Rows', bytes(MAX_PAGE_BYTES), '400 with the number of rows that fit'],
  ['outputs of one cell inline', bytes(MAX_INLINE_BYTES), '`outputs_ref` instead'],
  ['row ids of List Rows, of Delete Rows', `${count(MAX_ROW_IDS)} each`, '400'],
  ['row ids of Run Action', count(MAX_ROW_IDS_PER_ACTION_RUN), '400'],
  ['row ids of Run Rows, of Export Sheet', `${count(MAX_SELECTED_IDS)} each`, '400; use filters for more'],
  ['row ids that are left out of a run or a deletion', count(MAX_SELECTED_IDS), '400'],
  ['columns of a sort, of groups', `${MAX_SORT_COLUMNS} each`, '400'],
  ['views of a sheet', count(MAX_VIEWS), '409'],
  [
    'an order of rows (`order_id`)',
    '10 minutes after its last use; 100 of an organisation',
    '410 `ORDER_EXPIRED`',
  ],
  ['filters, values of one filter', `${count(MAX_FILTERS)}, ${count(MAX_FILTER_VALUES)}`, '400'],
  [
    'a text to search for in filters and conditions (`contains`, `starts with`, `find`)',
    `${count(MAX_SEARCHED)} characters`,
    '400',
  ],
  ['rows that `first_10` runs', '10', ''],
  [
    'groups of one answer',
    `${count(MAX_GROUPS)}, with ${bytes(MAX_GROUP_BYTES)} of values`,
    'the largest groups',
  ],
  [
    'rows that statistics of columns are exact for',
    count(MAX_EXACT_ROWS),
    'a sample, and `precision` says so',
  ],
  ['looking at rows for groups or statistics', '10 seconds', '400; select fewer rows'],
  ['a comment', `${count(MAX_COMMENT)} characters, ${MAX_MENTIONS} members mentioned`, '400'],
  [
    'an imported file',
    `any number of rows, of ${bytes(MAX_RECORD_BYTES)} each and ${bytes(MAX_VALUE_BYTES)} a value`,
    'the import fails and names the line',
  ],
  [
    'uploads of an organisation at once',
    `${MAX_UPLOADS_AT_ONCE} at one API process`,
    '429 with `Retry-After`',
  ],
  ['an uploaded file', `${UPLOAD_DAYS} days after its last use`, '400 for its `file_ref`'],
  [
    'the link to an export, the export',
    `${EXPORT_LINK_MINUTES} minutes, ${EXPORT_HOURS} hours`,
    '403 and 404',
  ],
  ['the name of an export', `${count(MAX_FILE_NAME)} characters`, 'the name is cut'],
  [
    'rows of a preview of a source',
    `${count(MAX_PREVIEW)}; ${MAX_PAID_PREVIEW} if a provider or model is paid with the installation's key`,
    '`metadata.capped`',
  ],
  [
    "previews with the installation's keys and models",
    `${setting('LOAM_PREVIEWS_PER_HOUR', 'an hour')}, by one organisation`,
    '429 with `Retry-After`',
  ],
  [
    'a page of Get Source Data',
    `${count(MAX_PAGE_SIZE)} rows, ${count(DEFAULT_PAGE_SIZE)} by default`,
    '400',
  ],
  ['rows of one batch of a shortcut', count(MAX_SHORTCUT_ROWS), '400'],
  ['a page of shortcut runs', `${count(MAX_RUNS_PAGE)}, ${count(DEFAULT_RUNS_PAGE)} by default`, '400'],
  ['`?wait` on a shortcut run', `${MAX_WAIT_SECONDS} s`, '400'],
  ['a prompt of the web agent', `${count(MAX_PROMPT)} characters`, '400 `INVALID_REQUEST`'],
  ['fields of its `output_schema`', count(MAX_OUTPUT_FIELDS), '400 `INVALID_OUTPUT_SCHEMA`'],
  ['budgets of an organisation', count(MAX_BUDGETS), '409'],
  [
    'fields, events of a record of the record store',
    `${count(MAX_RECORD_CHARS)} characters of JSON each`,
    'the record is refused',
  ],
  [
    'fields of an entity',
    `${MAX_ENTITY_BYTES / 1024 ** 2} MiB`,
    'the import, merge or cell fails with this reason',
  ],
  ["changes in one answer of a segment's feed", count(MAX_CHANGES), '`hasMore`'],
  ['deliveries of segment members', `every ${setting('LOAM_SEGMENT_CYCLE_SECONDS', 's')}`, ''],
  [
    'deliveries of a member that leaves its segment and returns, to one workflow',
    setting('LOAM_SEGMENT_REPUSH_PER_DAY', 'in 24 hours'),
    'the delivery counts as `failed` until the day is over',
  ],
  ['deliveries to a webhook that are stored', `the last ${KEPT_DELIVERIES}`, ''],
  ['an invitation', `${INVITATION_DAYS} days`, '404'],
  [
    'rows of an organisation',
    setting('LOAM_ROWS_PER_ORG', 'in all sheets'),
    '409 `ROW_LIMIT_REACHED`; pulls wait',
  ],
  [
    'uploaded files and exports of an organisation',
    setting('LOAM_STORAGE_MB_PER_ORG', 'MB'),
    '`STORAGE_LIMIT_REACHED`',
  ],
  [
    'exports of an organisation, waiting or running',
    setting('LOAM_EXPORTS_PER_ORG', 'in all'),
    '429; two exports and two imports of an organisation run at once',
  ],
  ['inputs and actions of a sheet together', '8 MiB of JSON', '413'],
  [
    'revisions of a sheet',
    `${setting('LOAM_REVISIONS_KEPT', 'kept')} and 16 MiB; 32 MiB of new ones within 2 minutes`,
    'older ones are removed; 429',
  ],
  ['outputs of one cell', '16 MiB of JSON', 'the cell is `failed` with this reason'],
  ['records of one `lookup_rows_in_sheet`', '8 MiB', 'the cell is `failed` with this reason'],
  ['outputs inline on one page of List Rows', '8 MiB', '`outputs_ref` instead'],
  [
    'requests in progress in one API process',
    '256, fewer (down to 32) under overload (`LOAM_OVERLOAD_MS`)',
    '503 for callers with 4 or more requests in progress',
  ],
  ['headers of a request', '120 s', 'the connection is closed'],
  ['calls of `/readyz` from one address', '1,200 a minute', '429'],
  ['levels of nesting in a body', '64', '400'],
  ['keys of one object in a body', '50,000', '400'],
  ['errors and warnings in one answer', '100 each', 'the last one gives the number of the others'],
  [
    'an answer from another service',
    '10 MB, and as JSON 300,000 values, 50,000 keys of one object',
    'the cell is `failed`, the pull refused',
  ],
  ['answers from other services in memory, in one process', '128 MB', 'the largest call is retried later'],
  ['a web page that is read', '100,000 elements, 512 levels', 'the cell is `failed` with this reason'],
  ['a CSV file', '2,000 columns, 4 MB a row', 'the import fails and names the line'],
  ['a record of a source', '2,000 fields, 2 MiB', 'the record is counted as skipped'],
  ["the wait in a provider's `Retry-After`", 'a day', 'the wait is cut'],
  [
    'recipients of mail',
    `50 in one \`send_email\`; ${setting('LOAM_MAIL_PER_HOUR', 'an hour')} and organisation`,
    'rows and alerts wait for the next hour; an invitation is only available as a link',
  ],
  [
    'budget alerts that wait to be sent',
    '2,000 an organisation',
    'later alerts are only shown in the budget',
  ],
  ['workflows, working API keys, connections of an organisation', '20,000, 1,000, 1,000', '409'],
  ['environment variables of a workflow, of the organisation', '500 each, 4 MiB together', '409'],
  ['pending invitations of an organisation', '1,000', '409 `MEMBER_LIMIT_REACHED`'],
]

/** Formats the default of a setting with its unit and the name of the setting. */
function setting(name: keyof typeof SETTINGS, unit: string): string {
  const value: unknown = SETTINGS[name].parse(undefined)
  return `${typeof value === 'number' ? count(value) : String(value)} ${unit} (\`${name}\`)`
}

function count(value: number): string {
  return value.toLocaleString('en-US')
}

function bytes(value: number): string {
  const mebi = value / 1024 / 1024
  return Number.isInteger(mebi) ? `${mebi} MiB` : `${count(value / 1024)} KiB`
}
