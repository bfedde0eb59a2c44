import { EXAMPLE_IDS, type Operations } from './operation.ts'

const SHEET = '/workflows/{workflow_id}/sheets/{sheet_id}'

export const ROWS: Operations = {
  [`POST ${SHEET}/rows`]: {
    id: 'addRows',
    description:
      'Adds up to 1,000 rows, keyed by input name. Valid rows are added even if others are refused; `rejected` lists the refused rows with the reasons. `run_after_add` runs the new rows.',
    body: { rows: [{ company: 'Stripe', website: 'https://www.stripe.com/about' }], run_after_add: 'all' },
  },
  [`POST ${SHEET}/rows/list`]: {
    id: 'listRows',
    description:
      'Rows with their cells: one page of all rows, the rows of `row_ids`, those of a view, or those that match all filters. They are in the order of insertion, or of `sort`: then `order_id` reads on in the same order while rows change, until 10 minutes after its last use.',
    body: {
      page_no: 1,
      page_size: 20,
      filters: [{ variable: '{{input.company}}', operator: 'contains', values: ['stri'] }],
    },
  },
  [`POST ${SHEET}/rows/groups`]: {
    id: 'groupRows',
    description:
      'Groups the rows of a selection by up to three columns: the 1,000 largest groups with their counts, aggregates of numbers, and a `selection` that finds the rows of each wherever rows are selected.',
    body: {
      by: [{ variable: '{{input.company}}' }, { action_instance_id: EXAMPLE_IDS.action_instance_id }],
      aggregates: [{ variable: '{{input.website}}', function: 'max' }],
    },
  },
  [`POST ${SHEET}/rows/statistics`]: {
    id: 'getRowStatistics',
    description:
      'Statistics of up to 50 columns over the rows of a selection: filled and different values, the most frequent ones, figures and histograms of numbers and dates, and of actions their statuses, credits and hit rates. Exact up to 100,000 rows; of more, a sample of rows is looked at, and `precision` says so.',
    body: { columns: [{ variable: '{{input.company}}' }, { field: 'created_at' }] },
  },
  [`POST ${SHEET}/rows/delete`]: {
    id: 'deleteRows',
    description:
      'Deletes up to 200 rows by `row_ids`; `rejected` lists ids that are not rows of this sheet. Or deletes the rows of a selection, or `all: true`, without those of `exclude_row_ids`: the lists of the answer are then empty.',
    body: { row_ids: [EXAMPLE_IDS.row_id] },
  },
  [`POST ${SHEET}/rows/delete-all`]: {
    id: 'deleteAllRows',
    description:
      'Deletes every row of a sheet, or the rows chosen by a selector of Run Rows. Unknown fields are refused.',
    body: { filters: [{ variable: '{{input.company}}', operator: 'is empty' }] },
  },
  [`GET ${SHEET}/rows/{row_id}`]: {
    id: 'getRow',
    description:
      'One row with its values, its cells with their provenance and billing, and the ids of the rows before and after it: by insertion, in the order of `order_id`, or among the rows of `view_id`.',
  },
  [`GET ${SHEET}/rows/{row_id}/history`]: {
    id: 'getRowHistory',
    description:
      'Who added a row, which values people changed in the last year, and the runs whose results it has, or had in the last week.',
    query: { limit: '50' },
  },
  [`GET ${SHEET}/rows/{row_id}/cells/{action_instance_id}`]: {
    id: 'getCell',
    description: 'One cell with its provenance: attempts, providers asked, duration, cost, cache.',
  },
  [`GET ${SHEET}/rows/{row_id}/cells/{action_instance_id}/outputs`]: {
    id: 'getCellOutputs',
    description: 'The full outputs of a cell, for outputs so large that List Rows returns only a reference.',
  },
  [`GET ${SHEET}/rows/{row_id}/cells/{action_instance_id}/outputs/previous`]: {
    id: 'getPreviousCellOutputs',
    description: 'The full outputs that a cell had before it ran again and failed; kept for 7 days.',
  },
  [`POST ${SHEET}/rows/{row_id}/cells/{action_instance_id}/restore`]: {
    id: 'restoreCell',
    description:
      'Restores the former result of a cell that ran again and failed; results are kept for 7 days.',
  },
  [`GET ${SHEET}/comments`]: {
    id: 'listComments',
    description: 'The comments of a sheet, or of one row, newest first.',
    query: { resolved: 'false' },
  },
  [`POST ${SHEET}/comments`]: {
    id: 'addComment',
    description:
      'Adds a comment to a row, or to one cell or value of it. Members with access whom the text names as `@<email>` get a mail; a warning names the others.',
    body: { row_id: EXAMPLE_IDS.row_id, text: 'Is this still their website? @ada@example.com' },
  },
  [`PATCH ${SHEET}/comments/{comment_id}`]: {
    id: 'editComment',
    description:
      'Changes the text of a comment, which only its author may, or marks it as resolved or open again.',
    body: { resolved: true },
  },
  [`DELETE ${SHEET}/comments/{comment_id}`]: {
    id: 'deleteComment',
    description: 'Deletes a comment. Only its author and administrators may.',
  },
  [`GET ${SHEET}/changes`]: {
    id: 'streamChanges',
    streams: true,
    description:
      'Server-sent events named `change`, one at the start and one after each change of inputs, actions, rows or runs. Each event means that the client should reload what it shows. It holds the `revision` of inputs and actions, the number of `rows` and the latest `run`. With `Last-Event-ID` the first event is left out if nothing has changed since that event.',
  },
  'POST /files': {
    id: 'uploadFile',
    description:
      'Stores a CSV or XLSX file, sent as the body, under a name that cannot be guessed: the `file_ref` of Import CSV. The file is kept until 7 days after its last use.',
    query: { name: 'leads.csv' },
    file: 'Company,Website\nStripe,stripe.com\n',
  },
  [`POST ${SHEET}/csv`]: {
    id: 'importFile',
    description:
      'Imports a CSV or XLSX file that was uploaded before (`POST /files`, `loam file put`). `mapping` maps headers to existing inputs. 202 means that the import is queued: call Get Import for its progress.',
    body: { file_ref: 'leads.csv', mapping: { Company: 'company', Website: 'website' } },
  },
  [`GET ${SHEET}/csv`]: {
    id: 'getImport',
    description: 'The progress of the latest import of a sheet, or the reason of its failure.',
  },
  [`POST ${SHEET}/export`]: {
    id: 'exportSheet',
    description:
      'Starts an export of all rows, or of the selected rows, as one snapshot. Call Get Export for its link.',
    body: { format: 'csv', file_name: 'leads' },
  },
  [`GET ${SHEET}/export/{export_id}`]: {
    id: 'getExport',
    description:
      'An export, with a signed link once the file is ready. Only the member who started it can see it, for 24 hours.',
  },
  [`GET ${SHEET}/webhook/deliveries`]: {
    id: 'listWebhookDeliveries',
    description: 'The latest deliveries to the webhook of a sheet, with the result of each.',
  },
}

export const RUNS: Operations = {
  [`POST ${SHEET}/run`]: {
    id: 'runRows',
    description:
      'Runs the whole chain on rows, chosen by exactly one selector: `row_ids`, `first_10`, or filters. Every chosen row runs again and is billed again, except results that the cache of the sheet still holds. With `from: failure` each row runs from its first failed or missing cell, and other rows are not queued.',
    body: { row_ids: [EXAMPLE_IDS.row_id] },
  },
  [`POST ${SHEET}/estimate`]: {
    id: 'estimateRun',
    description:
      'Estimates the cost of a run without running anything. `at_most` is never below the credits that these rows are billed later; `expected` is based on earlier results of the actions. Choose rows by one selector of Run Rows, `all`, `only` as in Run All Rows, or `new_rows`; `action_instance_id` and `run_next_action` are those of Run Action. Above 10,000 rows a sample of 2,000 is used, unless `exact` is set.',
    body: { first_10: true },
  },
  [`POST ${SHEET}/run-all`]: {
    id: 'runAllRows',
    description:
      'Runs the whole chain on every row. Complete cells run and are billed again unless the cache holds their result. `only` restricts it to rows that are unfinished or failed; `from: failure` runs each row from its first failed or missing cell only.',
    body: { only: 'failed' },
  },
  [`POST ${SHEET}/actions/{action_instance_id}/run`]: {
    id: 'runAction',
    description:
      'Runs one action on rows, and with `run_next_action` also the actions after it. `only` restricts it to rows whose cell of the action is empty or failed. Results stay until there are new ones.',
    body: { row_ids: [EXAMPLE_IDS.row_id], run_next_action: true },
  },
  [`POST ${SHEET}/stop`]: {
    id: 'stopRuns',
    description: 'Cancels queued rows; cells that are already running finish.',
  },
  [`GET ${SHEET}/runs`]: { id: 'listRuns', description: 'The latest runs of a sheet with their counts.' },
  [`GET ${SHEET}/runs/{run_id}`]: {
    id: 'getRun',
    description:
      'A run with its counts, its cost and its credit limit, and the limit that stopped rows for lack of credits.',
  },
  [`GET ${SHEET}/causes`]: {
    id: 'listCauses',
    description:
      'Failed cells as they stand, grouped by cause: the same action with the same error, whatever numbers, ids, addresses and quoted values are in it. Send the `cause` of an entry as a selector of rows, to list, run, export or delete its rows.',
    query: { limit: '50' },
  },
  [`POST ${SHEET}/runs/{run_id}/resume`]: {
    id: 'resumeRun',
    description:
      'Resumes rows that ended `out_of_credits` at that cell, with the revision and the prices of the run; complete cells are neither run nor billed again. `max_credits` is the new total limit of the run, null for none. Rows that have been deleted or run since are left as they are.',
    body: { max_credits: 100 },
  },
}
