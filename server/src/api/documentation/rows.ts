import { EXAMPLE_IDS, type Operations } from './operation.ts'

const SHEET = '/workflows/{workflow_id}/sheets/{sheet_id}'

export const ROWS: Operations = {
  [`POST ${SHEET}/rows`]: {
    id: 'addRows',
    description:
      'Adds up to 1,000 rows, keyed by input name. Good rows go in although others are refused: those are in `rejected` with their reasons. `run_after_add` runs the new rows.',
    body: { rows: [{ company: 'Stripe', website: 'https://www.stripe.com/about' }], run_after_add: 'all' },
  },
  [`POST ${SHEET}/rows/list`]: {
    id: 'listRows',
    description:
      'Rows in the order of insertion, with their cells: a page of them, those of `row_ids`, or those that filters find. Entries of filters must all hold.',
    body: {
      page_no: 1,
      page_size: 20,
      filters: [{ variable: '{{input.company}}', operator: 'contains', values: ['stri'] }],
    },
  },
  [`POST ${SHEET}/rows/delete`]: {
    id: 'deleteRows',
    description: 'Deletes up to 200 rows; ids that are not of this sheet are in `rejected`.',
    body: { row_ids: [EXAMPLE_IDS.row_id] },
  },
  [`POST ${SHEET}/rows/delete-all`]: {
    id: 'deleteAllRows',
    description:
      'Deletes every row of a sheet, or those that a selector of Run Rows chooses. Unknown fields are refused.',
    body: { filters: [{ variable: '{{input.company}}', operator: 'is empty' }] },
  },
  [`GET ${SHEET}/rows/{row_id}/cells/{action_instance_id}`]: {
    id: 'getCell',
    description:
      'One cell with its provenance: attempts, who was asked, how long it took, what it cost, cache.',
  },
  [`GET ${SHEET}/rows/{row_id}/cells/{action_instance_id}/outputs`]: {
    id: 'getCellOutputs',
    description: 'The outputs of a cell in full, where List Rows only refers to them because of their size.',
  },
  [`GET ${SHEET}/rows/{row_id}/cells/{action_instance_id}/outputs/previous`]: {
    id: 'getPreviousCellOutputs',
    description: 'The outputs that a cell had before it ran again and failed, in full; kept for 7 days.',
  },
  [`POST ${SHEET}/rows/{row_id}/cells/{action_instance_id}/restore`]: {
    id: 'restoreCell',
    description: 'Gives a cell that ran again and failed the result that it had before; kept for 7 days.',
  },
  [`GET ${SHEET}/changes`]: {
    id: 'streamChanges',
    streams: true,
    description:
      'Server-sent events named `change`, one at the start and one after each change of inputs, actions, rows or runs. Each means: read again what you show; `revision` of inputs and actions, the number of `rows` and the latest `run` stand in it. With `Last-Event-ID` the one at the start is left out where nothing has changed since that event.',
  },
  'POST /files': {
    id: 'uploadFile',
    description:
      'Stores a CSV or XLSX file, whose bytes are the body, under a name that nobody can guess: the `file_ref` that Import CSV takes. It is kept until 7 days after its last use.',
    query: { name: 'leads.csv' },
    file: 'Company,Website\nStripe,stripe.com\n',
  },
  [`POST ${SHEET}/csv`]: {
    id: 'importFile',
    description:
      'Imports a CSV or XLSX file that was uploaded before (`POST /files`, `loam file put`). `mapping` goes from headers to inputs that exist. 202 means queued: ask Get Import for how far it is.',
    body: { file_ref: 'leads.csv', mapping: { Company: 'company', Website: 'website' } },
  },
  [`GET ${SHEET}/csv`]: {
    id: 'getImport',
    description: 'How far the latest import of a sheet is, or why it failed.',
  },
  [`POST ${SHEET}/export`]: {
    id: 'exportSheet',
    description:
      'Begins a file of all rows, or of those selected, as one snapshot. Ask Get Export for its link.',
    body: { format: 'csv', file_name: 'leads' },
  },
  [`GET ${SHEET}/export/{export_id}`]: {
    id: 'getExport',
    description:
      'An export with its signed link once it is there. Seen only by who asked for it, for 24 hours.',
  },
  [`GET ${SHEET}/webhook/deliveries`]: {
    id: 'listWebhookDeliveries',
    description: 'The latest deliveries to the webhook of a sheet and what became of each.',
  },
}

export const RUNS: Operations = {
  [`POST ${SHEET}/run`]: {
    id: 'runRows',
    description:
      'Runs the whole chain on rows, chosen by exactly one selector: `row_ids`, `first_10`, or filters. Every chosen row runs again and is billed again, except what the cache of the sheet still holds.',
    body: { row_ids: [EXAMPLE_IDS.row_id] },
  },
  [`POST ${SHEET}/estimate`]: {
    id: 'estimateRun',
    description:
      'Says what a run would cost, without running anything: `at_most` is never below what these rows are then billed, `expected` draws on what the actions found before. Chosen by one selector of Run Rows, `all`, `only` as in Run All Rows, or `new_rows`; `action_instance_id` and `run_next_action` as in Run Action. Beyond 10,000 rows 2,000 are looked at, unless `exact` is set.',
    body: { first_10: true },
  },
  [`POST ${SHEET}/run-all`]: {
    id: 'runAllRows',
    description:
      'Runs the whole chain on every row: what is complete runs, and is billed, again unless the cache holds it. `only` restricts it to rows that are unfinished or failed.',
    body: { only: 'failed' },
  },
  [`POST ${SHEET}/actions/{action_instance_id}/run`]: {
    id: 'runAction',
    description: 'Runs one action on rows, with `run_next_action` also those behind it.',
    body: { row_ids: [EXAMPLE_IDS.row_id], run_next_action: true },
  },
  [`POST ${SHEET}/stop`]: {
    id: 'stopRuns',
    description: 'Takes back rows that are queued; cells at work are finished.',
  },
  [`GET ${SHEET}/runs`]: { id: 'listRuns', description: 'The latest runs of a sheet with their counts.' },
  [`GET ${SHEET}/runs/{run_id}`]: {
    id: 'getRun',
    description:
      'A run with its counts, what it cost and what it may cost, and what stopped the rows that ended for want of credits.',
  },
  [`POST ${SHEET}/runs/{run_id}/resume`]: {
    id: 'resumeRun',
    description:
      'Rows that ended `out_of_credits` go on at that cell, on the revision and the prices of the run; complete cells are neither run nor billed again. `max_credits` is the new total of the run, null for none. Rows that were deleted or run since stay as they are.',
    body: { max_credits: 100 },
  },
}
