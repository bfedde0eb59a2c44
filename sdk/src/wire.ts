// Generated from contract/ by `node scripts/make-sdk-types.ts`; change the contract, not this file.

export type ActionDetail = {
  /** The template id with a suffix that is never used again */
  action_instance_id: string
  action_id: string
  display_name: string
  /** Configured values; absent on the input node */
  inputs?: Record<string, unknown> | undefined
  /** Absent for actions without outputs */
  outputs?: Array<OutputDescriptor> | undefined
  continue_workflow_if_action_fails?: boolean | undefined
  /** Always in nested form */
  run_if?: Record<string, unknown> | undefined
  note?: string | undefined
  /** The instances that follow; [] at the end */
  next: Array<string>
  /** The inputs of its template */
  fields: Array<InputDescriptor>
}

export type ActionInstance = {
  /** The template id with a suffix that is never used again */
  action_instance_id: string
  action_id: string
  display_name: string
  inputs: Array<InputDescriptor>
  outputs: Array<OutputDescriptor>
}

export type ActionNode = {
  /** The template id with a suffix that is never used again */
  action_instance_id: string
  action_id: string
  display_name: string
  /** Configured values; absent on the input node */
  inputs?: Record<string, unknown> | undefined
  /** Absent for actions without outputs */
  outputs?: Array<OutputDescriptor> | undefined
  continue_workflow_if_action_fails?: boolean | undefined
  /** Always in nested form */
  run_if?: Record<string, unknown> | undefined
  note?: string | undefined
  /** The instances that follow; [] at the end */
  next: Array<string>
}

export type ActionOutputs = {
  action_instance_id: string
  outputs: Array<OutputDescriptor>
}

export type ActionSuggestion = {
  action_id: string
  /** The columns that it suits, in words */
  reason: string
  /** Values by field name for Add Action, with tokens of those columns */
  inputs: Record<string, unknown>
}

export type AddActionBody = {
  action_id: string
  /** An action_instance_id, or `input`; the end by default */
  after?: string | undefined
  name?: string | undefined
  /** Values by field name; null clears a field */
  inputs?: Record<string, unknown> | undefined
  /** `{conditions: [...]}`; null clears the condition, {} changes nothing */
  run_if?: Record<string, unknown> | null | undefined
  continue_workflow_if_action_fails?: boolean | undefined
  /** Older spelling of continue_workflow_if_action_fails */
  continue_workflow_on_failure?: boolean | undefined
  note?: string | undefined
}

export type AddCommentBody = {
  row_id: string
  /** A cell of the row */
  action_instance_id?: string | undefined
  /** An input, or an output of an action; a path into its JSON may follow */
  variable?: string | undefined
  /** Members with access who are named as `@<email>` get a mail, if the installation has a mail server */
  text: string
}

export type AddMemberBody = {
  email: string
  role: 'admin' | 'member'
}

export type AddRowsBody = {
  /** Objects keyed by input name */
  rows: Array<unknown>
  run_after_add?: 'none' | 'first_10' | 'all' | undefined
  /** The credit limit for everything this request starts, including rows sent to other sheets; 0 runs only what is free */
  max_credits?: number | undefined
  /** Checks the request and returns 200 with an Estimate of its cost; nothing is written, run or called */
  dry_run?: boolean | undefined
}

export type AddedRows = {
  row_count: number
  row_ids: Array<string>
  rejected: Array<{
    /** The row exactly as it was sent, to be corrected and sent again; null if `row_left_out` */
    row: unknown
    /** The rejected rows before this one already take 256 KiB, so its values are omitted; find it by `index` */
    row_left_out?: true | undefined
    /** 0-based position in the request */
    index: number
    errors: Array<{
      field: string
      code: string
      message: string
    }>
  }>
  rows_queued_for_run: number
}

export type AgentAnswer = {
  status: 200
  /** Keyed by the fields, or `result`; null where no value could be established */
  data: Record<string, unknown>
  citations: Array<Citation>
  findings: Record<string, Finding>
  request_id: string
}

export type AgentBody = {
  /** The question to answer */
  prompt: string
  /** The fields of the answer */
  output_schema?: {
    properties: Record<string, {
        type: 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object'
        description?: string | undefined
      }>
  } & Record<string, unknown> | undefined
  /** The call is refused when it could cost more */
  max_credits?: number | undefined
  /** Checks the request and returns 200 with an Estimate of its cost; nothing is written, run or called */
  dry_run?: boolean | undefined
}

export type AgentRun = {
  request_id: string
  state: 'running' | 'answered' | 'failed'
  model: string | null
  prompt: string
  error: string | null
  credits: number
  /** UTC, ISO 8601 */
  started_at: string
  ended_at: string | null
  answer: unknown
  /** Searches, pages and model calls, in order */
  trace: unknown
  /** Steps, searches, pages, bytes and tokens used */
  spent: unknown
}

export type Budget = {
  budget_id: string
  name: string
  scope: 'organisation' | 'member' | 'key' | 'workflow' | 'sheet'
  subject: string | null
  trigger: 'api' | 'shortcut' | 'auto_run' | 'schedule' | 'webhook' | 'source' | 'segment' | 'send_to_sheet' | 'agent' | 'test' | null
  period: 'run' | 'day' | 'month' | 'total'
  limit: number
  mode: 'stop' | 'warn'
  thresholds: Array<number>
  emails: Array<string>
  webhook_url: string | null
  /** In the current period; 0 for a budget of period `run` */
  spent: number
  held: number
  remaining: number
  period_start: string | null
  period_end: string | null
  /** Sent in the current period */
  alerts: Array<{
    threshold: number
    /** UTC, ISO 8601 */
    at: string
  }>
  /** UTC, ISO 8601 */
  created_at: string
}

export type CatalogueAction = {
  /** The id that Add Action takes */
  action_id: string
  name: string
  category: string
  /** The own price of the action for a completed cell, without its providers */
  credits: number
  /** The price of one answer from its cheapest and from its most expensive provider */
  provider_credits?: {
    min: number
    max: number
  } | undefined
  /** The total price of an answer: `credits` plus the price of the cheapest or the most expensive provider */
  price: {
    min: number
    max: number
  }
  /** True if it runs only with a connection or a provider key */
  needs_key: boolean
  /** True if it can run here: it needs no key, or one of yours or of the installation is there */
  has_key: boolean
  /** True if its result depends on its inputs only, which costs nothing */
  pure: boolean
  description: string
  /** Other words that find it */
  synonyms: Array<string>
  /** The names of the providers that it can ask */
  providers: Array<string>
  inputs: Array<{
    name: string
    type: string
    required: boolean
    description: string
    /** The name of the field on the screen */
    label: string
    /** One line for people */
    help: string
    /** An example value */
    placeholder: string | null
    /** `advanced`: most people leave it as it is */
    group: 'main' | 'advanced'
    /** The control that a screen shows for it */
    kind: 'text' | 'prompt' | 'model' | 'formula' | 'answer_fields' | 'pairs' | 'url' | 'number' | 'boolean' | 'choice' | 'choices' | 'list' | 'date' | 'column' | 'columns' | 'sheet' | 'connection' | 'file' | 'conditions' | 'waterfall' | 'json'
    /** The allowed values, where they are fixed */
    options?: Array<string> | undefined
    /** The names of `options` on the screen */
    option_labels?: Array<string> | undefined
    /** The providers that can be asked, in their default order */
    providers?: Array<string> | undefined
  }>
  /** Sets of inputs; one set must be filled */
  needs: Array<Array<string>>
  timeout_seconds: number
  retries: number
  outputs: Array<{
    name: string
    type: 'string' | 'json' | 'url' | 'email' | 'number' | 'date' | 'boolean' | 'raw_array' | 'structured_array'
    description: string
    /** Types of the columns of a structured_array, where they are known */
    columns?: Record<string, 'string' | 'json' | 'url' | 'email' | 'number' | 'date' | 'boolean' | 'raw_array' | 'structured_array'> | undefined
  }>
  /** True if further outputs depend on its configuration or its runs */
  dynamic_outputs: boolean
}

export type CatalogueEntry = {
  /** The id that Add Action takes */
  action_id: string
  name: string
  category: string
  /** The own price of the action for a completed cell, without its providers */
  credits: number
  /** The price of one answer from its cheapest and from its most expensive provider */
  provider_credits?: {
    min: number
    max: number
  } | undefined
  /** The total price of an answer: `credits` plus the price of the cheapest or the most expensive provider */
  price: {
    min: number
    max: number
  }
  /** True if it runs only with a connection or a provider key */
  needs_key: boolean
  /** True if it can run here: it needs no key, or one of yours or of the installation is there */
  has_key: boolean
  /** True if its result depends on its inputs only, which costs nothing */
  pure: boolean
  description: string
  /** Other words that find it */
  synonyms: Array<string>
  /** The names of the providers that it can ask */
  providers: Array<string>
  inputs: Array<{
    name: string
    type: string
    required: boolean
    description: string
    /** The name of the field on the screen */
    label: string
    /** One line for people */
    help: string
    /** An example value */
    placeholder: string | null
    /** `advanced`: most people leave it as it is */
    group: 'main' | 'advanced'
    /** The control that a screen shows for it */
    kind: 'text' | 'prompt' | 'model' | 'formula' | 'answer_fields' | 'pairs' | 'url' | 'number' | 'boolean' | 'choice' | 'choices' | 'list' | 'date' | 'column' | 'columns' | 'sheet' | 'connection' | 'file' | 'conditions' | 'waterfall' | 'json'
    /** The allowed values, where they are fixed */
    options?: Array<string> | undefined
    /** The names of `options` on the screen */
    option_labels?: Array<string> | undefined
    /** The providers that can be asked, in their default order */
    providers?: Array<string> | undefined
  }>
  /** Sets of inputs; one set must be filled */
  needs: Array<Array<string>>
}

export type CatalogueQuery = {
  /** Words of names, synonyms, providers or descriptions; the best match comes first */
  search?: string | undefined
}

export type Cause = {
  /** The key of the cause, the same in each run. Selectors of rows take it as `cause` */
  cause: string
  action_instance_id: string
  status: 'failed' | 'error' | 'out_of_credits'
  /** What went wrong, for people */
  words: string
  /** What to do about it */
  hint: string
  /** Up to 3 different errors as the cells have them */
  raw: Array<string>
  cells: number
  rows: number
}

export type Causes = {
  /** Most cells first */
  causes: Array<Cause>
  /** Failed cells of all causes */
  cells: number
  /** Rows with at least one of them */
  rows: number
  /** There are more causes than are listed */
  truncated: boolean
}

export type CausesQuery = {
  /** Only cells that this run left failed; all failed cells when absent */
  run_id?: string | undefined
  limit?: number | undefined
}

export type CellBilling = {
  credits: number
  /** The version of the prices when its run was queued */
  price_version: number
  /** The ledger entry of the charge; null if nothing was charged */
  entry_id: string | null
  /** The run whose cached answer was used */
  cached_from: {
    run_id: string | null
    /** UTC, ISO 8601 */
    at: string
  } | null
  saved_by_cache: number
  saved_by_own_keys: number
  stopped_by: {
    kind: 'max_credits' | 'budget' | 'balance'
    budget_id?: string | undefined
  } | null
  /** The lines add up to `credits` */
  lines: Array<{
    /** Null for the own price of the action */
    provider: string | null
    status: string
    credits: number
    /** The price with the key of the installation */
    list_credits: number
    why: string
  }>
}

export type CellDetail = {
  row_id: string
  action_instance_id: string
  status: 'queued' | 'running' | 'complete' | 'failed' | 'error' | 'out_of_credits' | 'condition_not_met'
  outputs?: unknown
  outputs_ref?: {
    /** Returns the outputs as JSON; requires the API key */
    url: string
    size_bytes: number
  } | undefined
  error?: string | undefined
  /** A later run had no new result, so the former result is kept */
  kept?: true | undefined
  /** Why that run had no new result */
  kept_because?: 'out_of_credits' | 'stopped' | 'condition_not_met' | undefined
  /** The former result of a cell that now has none; it can be restored for 7 days */
  previous?: {
    status: 'complete'
    outputs?: unknown
    outputs_ref?: {
      /** Returns the outputs as JSON; requires the API key */
      url: string
      size_bytes: number
    } | undefined
    run_id: string
    /** UTC, ISO 8601 */
    completed_at: string
    credits: number
  } | undefined
  /** Only of a queued cell: the limit of which other running cells hold the credits that it needs; null if it waits for its turn */
  waiting?: {
    kind: 'max_credits' | 'budget' | 'balance'
    needed: number
  } | null | undefined
  /** Absent while the cell is queued or running */
  provenance?: {
    run_id: string
    revision: number
    attempts: number
    duration_ms: number
    credits: number
    cache_hit: boolean
    /** UTC, ISO 8601 */
    started_at: string
    /** UTC, ISO 8601 */
    completed_at: string
    providers: Array<unknown>
  } | undefined
  /** Absent while the cell is queued or running */
  billing?: CellBilling | undefined
}

export type CellTest = {
  test_id: string
  status: 'queued' | 'running' | 'complete' | 'failed' | 'error' | 'out_of_credits' | 'condition_not_met'
  /** Whether the condition is met; null without a condition */
  met: boolean | null
  /** The inputs with the values of the row. Environment variables stay references; long texts are cut */
  resolved: Record<string, unknown>
  /** Null unless the test is complete */
  outputs: unknown
  outputs_ref?: {
    /** Returns the outputs as JSON; requires the API key */
    url: string
    size_bytes: number
  } | undefined
  error: string | null
  credits: number
  cache_hit: boolean
  duration_ms: number
  /** The providers that were asked, as in the provenance of a cell */
  providers: Array<unknown>
  /** Whether the answer was written into the cell */
  kept: boolean
  warnings: Array<Warning>
}

export type ChangeInputBody = {
  name?: string | undefined
  type?: 'string' | 'url' | 'email' | 'number' | 'date' | 'boolean' | 'select' | undefined
  choices?: Array<string> | undefined
  description?: string | undefined
}

export type ChangeSourceBody = {
  /** The credit limit for all pulls of the source, including credits already spent; null for no limit */
  max_credits: number | null
}

export type ChangedInput = {
  name: string
  /** Metadata only: values are stored as given */
  type: 'string' | 'url' | 'email' | 'number' | 'date' | 'boolean' | 'select'
  description: string
  /** Always `{{input.<name>}}` */
  reference: string
  /** The values that a `select` offers */
  choices?: Array<string> | undefined
  /** The configurations that followed the new name */
  references_changed: Array<{
    action_instance_id: string
    /** Fields of the action; `run_if` is its condition */
    fields: Array<string>
    /** Set for actions of other sheets */
    sheet_id?: string | undefined
  }>
}

export type CheckConditionsBody = {
  run_if: Record<string, unknown> | null
  /** The number of rows to look at */
  rows?: number | undefined
}

export type CheckedConditions = {
  /** Rows that were looked at, evenly spread over the sheet */
  looked_at: number
  /** Rows of these that meet the condition */
  passed: number
  /** The condition as a sentence */
  words: string
}

export type Citation = {
  /** A page that was read for this answer */
  url: string
  title: string | null
  /** Words from that page */
  quote: string
  field?: string | undefined
}

export type Comment = {
  comment_id: string
  row_id: string
  action_instance_id: string | null
  variable: string | null
  text: string
  /** The addresses of members with access whom the text names */
  mentions: Array<string>
  author: string
  /** UTC, ISO 8601 */
  made_at: string
  edited_at: string | null
  resolved_at: string | null
  resolved_by: string | null
}

export type Comments = {
  /** Newest first */
  comments: Array<Comment>
  next_cursor: string | null
}

export type ConfigureActionBody = {
  /** Values by field name; null clears a field */
  inputs?: Record<string, unknown> | undefined
  /** `{conditions: [...]}`; null clears the condition, {} changes nothing */
  run_if?: Record<string, unknown> | null | undefined
  continue_workflow_if_action_fails?: boolean | undefined
  /** Older spelling of continue_workflow_if_action_fails */
  continue_workflow_on_failure?: boolean | undefined
  note?: string | undefined
}

export type ConfiguredAction = {
  /** The template id with a suffix that is never used again */
  action_instance_id: string
}

export type ConfirmBody = {
  /** `push` delivers the waiting members; `skip` drops them permanently */
  choice: 'push' | 'skip'
}

export type CreateBudgetBody = {
  scope: 'organisation' | 'member' | 'key' | 'workflow' | 'sheet'
  /** A member's email address, or the id of a key, workflow or sheet; null for the organisation */
  subject?: string | null | undefined
  /** Counts only spending started by this trigger */
  trigger?: 'api' | 'shortcut' | 'auto_run' | 'schedule' | 'webhook' | 'source' | 'segment' | 'send_to_sheet' | 'agent' | 'test' | null | undefined
  period: 'run' | 'day' | 'month' | 'total'
  /** In credits */
  limit: number
  name?: string | undefined
  /** `stop` refuses spending beyond the limit; `warn` only sends alerts */
  mode?: 'stop' | 'warn' | undefined
  /** In percent of the limit */
  thresholds?: Array<number> | undefined
  /** The administrators by default */
  emails?: Array<string> | undefined
  webhook_url?: string | null | undefined
}

export type CreateInputsBody = Array<{
  name: string
  type: 'string' | 'url' | 'email' | 'number' | 'date' | 'boolean' | 'select'
  description?: string | undefined
  choices?: Array<string> | undefined
  reference?: unknown
}>

export type CreateSheetBody = {
  name: string
  auto_run?: boolean | undefined
  cache_enabled?: boolean | undefined
  /** Earliest UTC day whose cached runs count as fresh; null: all of them */
  cache_since?: string | null | undefined
}

export type CreateViewBody = {
  name: string
  visibility?: 'shared' | 'only_me' | undefined
  /** True makes it the default view of the sheet */
  is_default?: boolean | undefined
  filters?: Array<{
    /** An input, or an output of an action; a path into its JSON may follow */
    variable: string
    operator: 'is equal to' | 'not equal to' | 'is empty' | 'not empty' | 'contains' | 'does not contain' | 'contains any of' | 'not contains any of' | 'starts with' | 'does not start with' | 'ends with' | 'does not end with' | 'greater than' | 'less than' | 'greater than or equal to' | 'less than or equal to' | 'is between' | 'is after' | 'is before' | 'is' | 'is not' | 'is not empty' | 'greater than or equals to' | 'less than or equals to'
    values?: (string | number | boolean)[] | undefined
  }> | undefined
  status_filters?: Array<{
    action_instance_id?: string | undefined
    /** Instead of action_instance_id: matches if any action of the row does */
    action?: 'any' | undefined
    is?: ('queued' | 'running' | 'complete' | 'failed' | 'error' | 'out_of_credits' | 'condition_not_met')[] | undefined
    is_not?: ('queued' | 'running' | 'complete' | 'failed' | 'error' | 'out_of_credits' | 'condition_not_met')[] | undefined
  }> | undefined
  created_at?: {
    operator: 'equals to' | 'greater than' | 'greater than or equals to' | 'less than' | 'less than or equals to' | 'is between' | 'greater than or equal to' | 'less than or equal to'
    values: Array<string>
  } | null | undefined
  /** Up to 3 columns. Ascending: numbers, dates, then texts without case; statuses in the order of their lifecycle. Empty values come last; equal rows stay in the order of insertion */
  sort?: Array<{
    /** An input, or an output of an action; a path into its JSON may follow */
    variable?: string | undefined
    /** The status of the cell of this action */
    action_instance_id?: string | undefined
    field?: 'created_at' | undefined
    direction?: 'asc' | 'desc' | undefined
  }> | undefined
  groups?: Array<{
    /** An input, or an output of an action; a path into its JSON may follow */
    variable?: string | undefined
    /** The status of the cell of this action */
    action_instance_id?: string | undefined
    field?: 'created_at' | undefined
  }> | undefined
  /** In their order; columns that are not listed follow */
  columns?: Array<{
    /** An input, or an output of an action; a path into its JSON may follow */
    variable?: string | undefined
    action_instance_id?: string | undefined
    /** With `action_instance_id`: shows an output, or a value inside it, as a column */
    path?: string | undefined
    /** Of a shown column; default `<display name>: <path>` */
    name?: string | undefined
    width?: number | undefined
    hidden?: boolean | undefined
    frozen?: boolean | undefined
  }> | undefined
  /** Default 32 */
  row_height?: number | undefined
}

export type CreatedBudget = {
  budget_id: string
  name: string
  scope: 'organisation' | 'member' | 'key' | 'workflow' | 'sheet'
  subject: string | null
  trigger: 'api' | 'shortcut' | 'auto_run' | 'schedule' | 'webhook' | 'source' | 'segment' | 'send_to_sheet' | 'agent' | 'test' | null
  period: 'run' | 'day' | 'month' | 'total'
  limit: number
  mode: 'stop' | 'warn'
  thresholds: Array<number>
  emails: Array<string>
  webhook_url: string | null
  /** In the current period; 0 for a budget of period `run` */
  spent: number
  held: number
  remaining: number
  period_start: string | null
  period_end: string | null
  /** Sent in the current period */
  alerts: Array<{
    threshold: number
    /** UTC, ISO 8601 */
    at: string
  }>
  /** UTC, ISO 8601 */
  created_at: string
  /** Signs the deliveries; shown only once */
  webhook_secret: string
}

export type CreatedSheet = {
  sheet_id: string
  workflow_id: string
  name: string
  /** Runs the chain on every row that arrives */
  auto_run: boolean
  /** Rows with equal inputs reuse outputs */
  cache_enabled: boolean
  /** Earliest UTC day whose cached runs count as fresh; null: all of them */
  cache_since: string | null
}

export type CreatedSource = {
  source_instance_id: string
  name: string
  /** UTC, ISO 8601 */
  created_at: string
  pixel_id?: string | undefined
  /** The tag to add to the pages of the website */
  pixel_script?: string | undefined
  /** The URL to which the other service posts the visitors it identifies */
  webhook_url?: string | undefined
}

export type CreatedWorkflow = {
  workflow_id: string
  name: string
  /** UTC, ISO 8601 */
  created_at: string
}

export type Credits = number

export type DefinitionChange = {
  op: 'add' | 'change' | 'rename' | 'move' | 'destroy'
  kind: 'workflow' | 'sheet' | 'input' | 'action'
  /** The name of the sheet; null for the workflow */
  sheet: string | null
  name: string
  field?: string | undefined
  before?: unknown
  after?: unknown
}

export type DefinitionPlan = {
  /** Null as long as the workflow does not exist */
  workflow_id: string | null
  workflow: string
  changes: Array<DefinitionChange>
  summary: {
    add: number
    change: number
    destroy: number
  }
  applied: boolean
}

export type DeleteAllBody = {
  row_ids?: Array<string> | undefined
  first_10?: true | undefined
  filters?: Array<{
    /** An input, or an output of an action; a path into its JSON may follow */
    variable: string
    operator: 'is equal to' | 'not equal to' | 'is empty' | 'not empty' | 'contains' | 'does not contain' | 'contains any of' | 'not contains any of' | 'starts with' | 'does not start with' | 'ends with' | 'does not end with' | 'greater than' | 'less than' | 'greater than or equal to' | 'less than or equal to' | 'is between' | 'is after' | 'is before' | 'is' | 'is not' | 'is not empty' | 'greater than or equals to' | 'less than or equals to'
    values?: (string | number | boolean)[] | undefined
  }> | undefined
  status_filters?: Array<{
    action_instance_id?: string | undefined
    /** Instead of action_instance_id: matches if any action of the row does */
    action?: 'any' | undefined
    is?: ('queued' | 'running' | 'complete' | 'failed' | 'error' | 'out_of_credits' | 'condition_not_met')[] | undefined
    is_not?: ('queued' | 'running' | 'complete' | 'failed' | 'error' | 'out_of_credits' | 'condition_not_met')[] | undefined
  }> | undefined
  created_at?: {
    operator: 'equals to' | 'greater than' | 'greater than or equals to' | 'less than' | 'less than or equals to' | 'is between' | 'greater than or equal to' | 'less than or equal to'
    values: Array<string>
  } | undefined
  find?: string | undefined
  /** The key of a cause of List Causes: rows with a cell that failed for it, in any run */
  cause?: string | undefined
  /** The rows of a view; with other filters, both hold */
  view_id?: string | undefined
}

export type DeletedAction = {
  deleted: true
  action_instance_id: string
  /** The actions that referred to its outputs, with the affected fields */
  dependent_actions: Array<{
    action_instance_id: string
    inputs: Record<string, unknown>
  }>
}

export type DeletedBudget = {
  budget_id: string
  deleted: true
}

export type DeletedComment = {
  comment_id: string
  deleted: true
}

export type DeletedCount = {
  deleted_count: number
}

export type DeletedRows = {
  deleted_count: number
  deleted_row_ids: Array<string>
  rejected: Array<{
    /** As it was sent */
    row_id: unknown
    error: string
  }>
}

export type DeletedSheet = {
  workflow_id: string
  sheet_id: string
  deleted: true
}

export type DeletedView = {
  view_id: string
  deleted: true
}

export type DeletedWorkflow = {
  workflow_id: string
  deleted: true
}

export type EditCommentBody = {
  /** Only of the author */
  text?: string | undefined
  resolved?: boolean | undefined
}

export type Estimate = {
  rows: number
  revision: number
  price_version: number
  precision: 'exact' | 'sampled'
  cells: {
    total: number
    cached: number
    own_key: number
    free: number
    skipped: number
    billable: number
  }
  credits: {
    expected: number
    at_most: number | null
    saved_by_cache: number
    saved_by_own_keys: number
  }
  actions: Array<{
    action_instance_id: string
    action_id: string
    cells: number
    credits: {
      expected: number
      at_most: number
    }
    basis: 'history' | 'list_price'
    providers: Array<{
      provider: string
      credits: number
      miss_credits: number
      own_key: boolean
      configured: boolean
      hit_rate: number | null
      expected: number
      at_most: number
    }>
  }>
  downstream: Array<{
    sheet_id: string
    via: string
    rows: number | null
    expected: number
    at_most: number | null
  }>
  balance: {
    now: number
    held: number
    after_expected: number
    after_at_most: number | null
  }
  limits: Array<{
    kind: 'max_credits' | 'budget' | 'balance'
    budget_id?: string | undefined
    name?: string | undefined
    remaining: number
    covers: 'at_most' | 'expected' | 'none'
  }>
}

export type EstimateBody = {
  row_ids?: Array<string> | undefined
  first_10?: true | undefined
  filters?: Array<{
    /** An input, or an output of an action; a path into its JSON may follow */
    variable: string
    operator: 'is equal to' | 'not equal to' | 'is empty' | 'not empty' | 'contains' | 'does not contain' | 'contains any of' | 'not contains any of' | 'starts with' | 'does not start with' | 'ends with' | 'does not end with' | 'greater than' | 'less than' | 'greater than or equal to' | 'less than or equal to' | 'is between' | 'is after' | 'is before' | 'is' | 'is not' | 'is not empty' | 'greater than or equals to' | 'less than or equals to'
    values?: (string | number | boolean)[] | undefined
  }> | undefined
  status_filters?: Array<{
    action_instance_id?: string | undefined
    /** Instead of action_instance_id: matches if any action of the row does */
    action?: 'any' | undefined
    is?: ('queued' | 'running' | 'complete' | 'failed' | 'error' | 'out_of_credits' | 'condition_not_met')[] | undefined
    is_not?: ('queued' | 'running' | 'complete' | 'failed' | 'error' | 'out_of_credits' | 'condition_not_met')[] | undefined
  }> | undefined
  created_at?: {
    operator: 'equals to' | 'greater than' | 'greater than or equals to' | 'less than' | 'less than or equals to' | 'is between' | 'greater than or equal to' | 'less than or equal to'
    values: Array<string>
  } | undefined
  find?: string | undefined
  /** The key of a cause of List Causes: rows with a cell that failed for it, in any run */
  cause?: string | undefined
  /** The rows of a view; with other filters, both hold */
  view_id?: string | undefined
  /** Every row of the sheet */
  all?: true | undefined
  /** Left out of the rows of a selection, or of `all: true` */
  exclude_row_ids?: Array<string> | undefined
  /** The rows that Run All Rows runs with the same `only`; with `action_instance_id`, those that Run Action runs */
  only?: 'unfinished' | 'failed' | 'empty_and_failed' | 'empty' | undefined
  /** `start`: rows run from their first action. `failure`: each row runs from its first failed or missing cell; rows without one are not queued */
  from?: 'start' | 'failure' | undefined
  /** A number of rows that do not exist yet */
  new_rows?: number | undefined
  /** Only this action, as Run Action runs it */
  action_instance_id?: string | undefined
  /** Include the actions after it */
  run_next_action?: boolean | undefined
  max_credits?: number | undefined
  /** Read every row, even if there are more than 10,000 */
  exact?: boolean | undefined
}

export type Export = {
  export_id: string
  status: 'running' | 'completed' | 'failed'
  /** 100 only when completed */
  progress: number
  /** Rows in the file; while it is running, rows written so far */
  row_count: number
  /** Only when completed. Needs no key, so treat it as a secret. Valid for 15 minutes; every poll makes a new one */
  file_url?: string | undefined
  /** When `file_url` stops working */
  expires_at?: string | undefined
  /** Only when failed */
  error?: string | undefined
  /** UTC, ISO 8601 */
  started_at: string
  completed_at: string | null
}

export type ExportBody = {
  row_ids?: Array<string> | undefined
  exclude_row_ids?: Array<string> | undefined
  filters?: Array<{
    /** An input, or an output of an action; a path into its JSON may follow */
    variable: string
    operator: 'is equal to' | 'not equal to' | 'is empty' | 'not empty' | 'contains' | 'does not contain' | 'contains any of' | 'not contains any of' | 'starts with' | 'does not start with' | 'ends with' | 'does not end with' | 'greater than' | 'less than' | 'greater than or equal to' | 'less than or equal to' | 'is between' | 'is after' | 'is before' | 'is' | 'is not' | 'is not empty' | 'greater than or equals to' | 'less than or equals to'
    values?: (string | number | boolean)[] | undefined
  }> | undefined
  status_filters?: Array<{
    action_instance_id?: string | undefined
    /** Instead of action_instance_id: matches if any action of the row does */
    action?: 'any' | undefined
    is?: ('queued' | 'running' | 'complete' | 'failed' | 'error' | 'out_of_credits' | 'condition_not_met')[] | undefined
    is_not?: ('queued' | 'running' | 'complete' | 'failed' | 'error' | 'out_of_credits' | 'condition_not_met')[] | undefined
  }> | undefined
  created_at?: {
    operator: 'equals to' | 'greater than' | 'greater than or equals to' | 'less than' | 'less than or equals to' | 'is between' | 'greater than or equal to' | 'less than or equal to'
    values: Array<string>
  } | undefined
  find?: string | undefined
  /** The key of a cause of List Causes: rows with a cell that failed for it, in any run */
  cause?: string | undefined
  /** The rows of a view; with other filters, both hold */
  view_id?: string | undefined
  /** Up to 3 columns. Ascending: numbers, dates, then texts without case; statuses in the order of their lifecycle. Empty values come last; equal rows stay in the order of insertion */
  sort?: Array<{
    /** An input, or an output of an action; a path into its JSON may follow */
    variable?: string | undefined
    /** The status of the cell of this action */
    action_instance_id?: string | undefined
    field?: 'created_at' | undefined
    direction?: 'asc' | 'desc' | undefined
  }> | undefined
  /** Without extension; default `export`. Characters other than letters and digits become `_`; at most 100 characters are kept */
  file_name?: string | undefined
  format?: 'csv' | 'jsonl' | 'xlsx' | undefined
  /** Adds columns per action: the status of its cell, and the error if it failed */
  include?: ('status' | 'error')[] | undefined
  /** CSV only: starts the file with a byte order mark, which some spreadsheets need */
  bom?: boolean | undefined
}

export type FieldOptions = {
  options: Array<{
    value: string
    label: string
    extras?: Record<string, unknown> | undefined
  }>
}

export type Finding = {
  /** Rises with the number of independent hosts that agree */
  confidence: number
  hosts: Array<string>
  /** Why the value is null */
  reason: string | null
}

export type GroupRowsBody = {
  by: Array<{
    /** An input, or an output of an action; a path into its JSON may follow */
    variable?: string | undefined
    /** The status of the cell of this action */
    action_instance_id?: string | undefined
    field?: 'created_at' | undefined
  }>
  aggregates?: Array<{
    /** An input, or an output of an action; a path into its JSON may follow */
    variable: string
    function: 'sum' | 'average' | 'min' | 'max'
  }> | undefined
  filters?: Array<{
    /** An input, or an output of an action; a path into its JSON may follow */
    variable: string
    operator: 'is equal to' | 'not equal to' | 'is empty' | 'not empty' | 'contains' | 'does not contain' | 'contains any of' | 'not contains any of' | 'starts with' | 'does not start with' | 'ends with' | 'does not end with' | 'greater than' | 'less than' | 'greater than or equal to' | 'less than or equal to' | 'is between' | 'is after' | 'is before' | 'is' | 'is not' | 'is not empty' | 'greater than or equals to' | 'less than or equals to'
    values?: (string | number | boolean)[] | undefined
  }> | undefined
  status_filters?: Array<{
    action_instance_id?: string | undefined
    /** Instead of action_instance_id: matches if any action of the row does */
    action?: 'any' | undefined
    is?: ('queued' | 'running' | 'complete' | 'failed' | 'error' | 'out_of_credits' | 'condition_not_met')[] | undefined
    is_not?: ('queued' | 'running' | 'complete' | 'failed' | 'error' | 'out_of_credits' | 'condition_not_met')[] | undefined
  }> | undefined
  created_at?: {
    operator: 'equals to' | 'greater than' | 'greater than or equals to' | 'less than' | 'less than or equals to' | 'is between' | 'greater than or equal to' | 'less than or equal to'
    values: Array<string>
  } | undefined
  find?: string | undefined
  /** The key of a cause of List Causes: rows with a cell that failed for it, in any run */
  cause?: string | undefined
  /** The rows of a view; with other filters, both hold */
  view_id?: string | undefined
}

export type ImportBody = {
  /** As returned by `POST /files` or printed by `loam file put` */
  file_ref: string
  /** Maps column headers of the file (row 1) to input names; other columns are not imported */
  mapping: Record<string, string>
  /** The worksheet of an XLSX file; the first by default */
  sheet_name?: string | undefined
  run_after_import?: 'none' | 'first_10' | 'all' | undefined
  /** The credit limit for everything this request starts, including rows sent to other sheets; 0 runs only what is free */
  max_credits?: number | undefined
  /** Checks the request and returns 200 with an Estimate of its cost; nothing is written, run or called */
  dry_run?: boolean | undefined
}

export type ImportStatus = {
  status: 'processing' | 'completed' | 'failed' | 'unknown'
  rows_imported: number
  /** Why it failed */
  error?: string | undefined
}

export type Input = {
  name: string
  /** Metadata only: values are stored as given */
  type: 'string' | 'url' | 'email' | 'number' | 'date' | 'boolean' | 'select'
  description: string
  /** Always `{{input.<name>}}` */
  reference: string
  /** The values that a `select` offers */
  choices?: Array<string> | undefined
}

export type InputDescriptor = {
  name: string
  type: string
  required: boolean
  description: string
  /** The name of the field on the screen */
  label: string
  /** One line for people */
  help: string
  /** An example value */
  placeholder: string | null
  /** `advanced`: most people leave it as it is */
  group: 'main' | 'advanced'
  /** The control that a screen shows for it */
  kind: 'text' | 'prompt' | 'model' | 'formula' | 'answer_fields' | 'pairs' | 'url' | 'number' | 'boolean' | 'choice' | 'choices' | 'list' | 'date' | 'column' | 'columns' | 'sheet' | 'connection' | 'file' | 'conditions' | 'waterfall' | 'json'
}

export type Invitation = {
  email: string
  role: string
  status: 'pending'
  email_sent: boolean
}

export type Knowledge = {
  content: string | null
  exists: boolean
  updated_at: string | null
}

export type Ledger = {
  entries: Array<LedgerEntry>
  next_cursor: string | null
}

export type LedgerEntry = {
  entry_id: string
  /** UTC, ISO 8601 */
  at: string
  type: 'grant' | 'charge' | 'refund'
  /** Negative for a charge */
  amount: number
  /** The balance after this entry */
  balance: number
  reason: string
  run_id: string | null
  workflow_id: string | null
  sheet_id: string | null
  row_id: string | null
  action_instance_id: string | null
  action_id: string | null
  /** The person who started it; otherwise the owner of the workflow */
  member: string | null
  key_id: string | null
  trigger: string | null
  price_version: number | null
  refund_of: string | null
  providers: Array<{
    provider: string
    credits: number
  }>
  /** Outputs of a cell whose row was deleted or run again during the call; up to 32 KB */
  result?: unknown
}

export type LedgerQuery = {
  /** A day (UTC) or a time; inclusive */
  from?: string | undefined
  /** A day (UTC) or a time; inclusive */
  to?: string | undefined
  type?: 'grant' | 'charge' | 'refund' | undefined
  run_id?: string | undefined
  workflow_id?: string | undefined
  limit?: number | undefined
  /** `next_cursor` of the previous page */
  cursor?: string | undefined
  format?: 'json' | 'csv' | undefined
}

export type ListCommentsQuery = {
  row_id?: string | undefined
  resolved?: unknown
  limit?: number | undefined
  /** `next_cursor` of the previous page */
  cursor?: string | undefined
}

export type ListRowsBody = {
  row_ids?: Array<string> | undefined
  page_no?: number | undefined
  page_size?: number | undefined
  filters?: Array<{
    /** An input, or an output of an action; a path into its JSON may follow */
    variable: string
    operator: 'is equal to' | 'not equal to' | 'is empty' | 'not empty' | 'contains' | 'does not contain' | 'contains any of' | 'not contains any of' | 'starts with' | 'does not start with' | 'ends with' | 'does not end with' | 'greater than' | 'less than' | 'greater than or equal to' | 'less than or equal to' | 'is between' | 'is after' | 'is before' | 'is' | 'is not' | 'is not empty' | 'greater than or equals to' | 'less than or equals to'
    values?: (string | number | boolean)[] | undefined
  }> | undefined
  status_filters?: Array<{
    action_instance_id?: string | undefined
    /** Instead of action_instance_id: matches if any action of the row does */
    action?: 'any' | undefined
    is?: ('queued' | 'running' | 'complete' | 'failed' | 'error' | 'out_of_credits' | 'condition_not_met')[] | undefined
    is_not?: ('queued' | 'running' | 'complete' | 'failed' | 'error' | 'out_of_credits' | 'condition_not_met')[] | undefined
  }> | undefined
  created_at?: {
    operator: 'equals to' | 'greater than' | 'greater than or equals to' | 'less than' | 'less than or equals to' | 'is between' | 'greater than or equal to' | 'less than or equal to'
    values: Array<string>
  } | undefined
  find?: string | undefined
  /** The key of a cause of List Causes: rows with a cell that failed for it, in any run */
  cause?: string | undefined
  /** The rows of a view; with other filters, both hold */
  view_id?: string | undefined
  /** Up to 3 columns. Ascending: numbers, dates, then texts without case; statuses in the order of their lifecycle. Empty values come last; equal rows stay in the order of insertion */
  sort?: Array<{
    /** An input, or an output of an action; a path into its JSON may follow */
    variable?: string | undefined
    /** The status of the cell of this action */
    action_instance_id?: string | undefined
    field?: 'created_at' | undefined
    direction?: 'asc' | 'desc' | undefined
  }> | undefined
  /** Reads on in the order of an earlier answer: rows have the places that they had, and the values that they have now. Takes `page_no` and `page_size` only */
  order_id?: string | undefined
}

export type ListSegmentsQuery = {
  limit?: number | undefined
  offset?: number | undefined
}

export type ListShortcutRunsQuery = {
  limit?: number | undefined
  offset?: number | undefined
  batch_id?: string | undefined
  mode?: 'single' | 'batch' | undefined
}

export type ListShortcutsQuery = {
  filter?: 'master' | 'shared' | 'all' | undefined
}

export type MoveActionBody = {
  /** `input` is the start; the end when omitted */
  after?: string | undefined
}

export type MovedAction = {
  moved: true
  action_instance_id: string
  /** The action that it now follows */
  after: string
}

export type NameBody = {
  name: string
}

export type NamedAction = {
  /** The template id with a suffix that is never used again */
  action_instance_id: string
  display_name: string
}

export type NamedSheet = {
  workflow_id: string
  sheet_id: string
  name: string
}

export type NamedWorkflow = {
  workflow_id: string
  name: string
}

export type NotedAction = {
  action_instance_id: string
  sheet_id: string
  note: string
}

export type OutputDescriptor = {
  name: string
  type: 'string' | 'json' | 'url' | 'email' | 'number' | 'date' | 'boolean' | 'raw_array' | 'structured_array'
  reference: string
  description?: string | undefined
  /** Only on structured_array */
  columns?: Array<{
    name: string
    type: 'string' | 'json' | 'url' | 'email' | 'number' | 'date' | 'boolean' | 'raw_array' | 'structured_array'
    structured_array_reference: string
  }> | undefined
  /** The texts that the value may be */
  choices?: Array<string> | undefined
}

export type PlanBody = {
  /** A workflow file; its errors are named by their path in it, as `sheets[0].actions[1].inputs.url` */
  definition: Record<string, unknown>
  /** The workflow to change; found by its name if it is left out */
  workflow_id?: string | undefined
  /** Allows inputs, actions and child sheets to be removed; false if it is left out */
  allow_destroy?: boolean | undefined
}

export type PriceList = {
  version: number
  /** UTC, ISO 8601 */
  effective_at: string
  actions: Array<{
    action_id: string
    /** The own price of the action, without its providers */
    credits: number
    providers: Array<{
      /** The action input that lists the provider */
      field: string
      provider: string
      /** The price of an answer with the key of the installation */
      credits: number
      miss_credits: number
      supports_own_key: boolean
    }>
  }>
  agent: {
    credits: number
  }
}

export type PricesQuery = {
  /** The version of the price list; the latest by default */
  version?: number | undefined
}

export type Queued = {
  rows_queued: number
}

export type QueuedShortcutBatch = {
  batch_id: string
  run_count: number
}

export type QueuedShortcutRun = {
  id: string
  data_id: string
  status: 'pending'
  /** UTC, ISO 8601 */
  created_at: string
}

export type RemovedMember = {
  email: string
  removed: 'member' | 'invitation'
  warnings: Array<{
    code: 'WORKFLOWS_LOST_CONNECTION' | 'WORKFLOWS_LOST_OWNER' | 'SOURCES_LOST_OWNER' | 'IMPACT_UNKNOWN'
    message: string
    resources?: Array<{
      id: string
      name: string
      type: string
    }> | undefined
  }>
}

export type ReorderWaterfallBody = {
  providers: (string | {
    name: string
    use_own_key?: boolean | undefined
  })[]
}

export type ReorderedWaterfall = {
  reordered: true
  action_instance_id: string
  field_name: string
  providers: (string | {
    name: string
    use_own_key?: boolean | undefined
  })[]
}

/** What to do with the members that joined during the pause */
export type ResumeDestinationBody = {
  /** `push` delivers the waiting members; `skip` drops them permanently */
  choice?: 'push' | 'skip' | undefined
}

export type ResumeRunBody = {
  /** The credit limit of the whole run, including credits already spent; null removes the limit; unchanged when absent */
  max_credits?: number | null | undefined
  /** Checks the request and returns 200 with an Estimate of its cost; nothing is written, run or called */
  dry_run?: boolean | undefined
}

export type RosterSheet = {
  sheet_id: string
  name: string
  is_main_sheet: boolean
  auto_run: boolean
  cache_enabled: boolean
  /** Earliest UTC day whose cached runs count as fresh; null: all of them */
  cache_since: string | null
  /** Null if the sheet has no webhook input */
  webhook_url: string | null
}

export type Row = {
  row_id: string
  row_status: 'pending' | 'running' | 'complete' | 'has_failures'
  /** UTC, ISO 8601 */
  created_at: string
  /** Values by input name; null where missing */
  inputs: Record<string, unknown>
  cells: Record<string, {
      status: 'queued' | 'running' | 'complete' | 'failed' | 'error' | 'out_of_credits' | 'condition_not_met'
      outputs?: Record<string, unknown> | undefined
      outputs_ref?: {
        /** Returns the outputs as JSON; requires the API key */
        url: string
        size_bytes: number
      } | undefined
      error?: string | undefined
      /** A later run had no new result, so the former result is kept */
      kept?: true | undefined
      /** Why that run had no new result */
      kept_because?: 'out_of_credits' | 'stopped' | 'condition_not_met' | undefined
    }>
  /** Stop ended the row before its last cell, and it has not run since */
  stopped?: true | undefined
  /** Comments that are not resolved; absent if there are none */
  open_comments?: {
    total: number
    /** Comments on the row itself */
    row: number
    /** By action instance, or token of an input or output */
    cells: Record<string, number>
  } | undefined
  /** With a view: the values of its shown columns by their names; null if empty or above 32 KB */
  shown?: unknown
}

export type RowDetail = {
  row_id: string
  row_status: 'pending' | 'running' | 'complete' | 'has_failures'
  /** UTC, ISO 8601 */
  created_at: string
  /** Values by input name; null where missing */
  inputs: Record<string, unknown>
  /** With provenance and billing, as Get Cell returns them */
  cells: Record<string, CellDetail>
  /** Stop ended the row before its last cell, and it has not run since */
  stopped?: true | undefined
  /** Comments that are not resolved; absent if there are none */
  open_comments?: {
    total: number
    /** Comments on the row itself */
    row: number
    /** By action instance, or token of an input or output */
    cells: Record<string, number>
  } | undefined
  /** With a view: the values of its shown columns by their names; null if empty or above 32 KB */
  shown?: unknown
  previous_row_id: string | null
  next_row_id: string | null
}

export type RowEntry = {
  /** UTC, ISO 8601 */
  at: string
  kind: 'added' | 'edited' | 'run'
  /** The person who added, edited or ran the row; null if that is not known */
  by: string | null
  run_id?: string | undefined
  /** What the run was billed for results that the row has or had */
  credits?: number | undefined
  /** Long values are cut */
  changes?: Array<{
    /** Null if the input was removed */
    input: string | null
    before: unknown
    after: unknown
  }> | undefined
}

export type RowGroups = {
  /** The 1000 largest groups, or fewer if their values take more than 4 MiB */
  groups: Array<{
    /** In the order of `by`: texts, null where the cells are empty; of `created_at` a day in UTC */
    values: (string | null)[]
    count: number
    /** In the order of `aggregates`, over the values that are numbers; null if there are none */
    aggregates: (number | null)[]
    /** Finds the rows of the group, wherever rows are selected */
    selection: {
      filters?: Array<{
        variable: string
        operator: string
        values?: Array<string> | undefined
      }> | undefined
      status_filters?: Array<Record<string, unknown>> | undefined
      created_at?: {
        operator: string
        values: Array<string>
      } | undefined
      find?: string | undefined
      cause?: string | undefined
      view_id?: string | undefined
    } & Record<string, unknown>
  }>
  group_count: number
  /** The rows of all groups */
  total_count: number
}

export type RowHistory = {
  /** Newest first */
  entries: Array<RowEntry>
  next_cursor: string | null
}

export type RowHistoryQuery = {
  limit?: number | undefined
  /** `next_cursor` of the previous page */
  cursor?: string | undefined
}

export type RowPage = {
  rows: Array<Row>
  total_count: number
  page_no: number
  page_size: number
  /** With filters over outputs. `partial`: only the first rows were looked at, and `total_count` is of those. Up to 100,000 rows it is `exact` */
  precision?: 'exact' | 'partial' | undefined
  /** With filters over outputs: the number of rows looked at */
  looked_at?: number | undefined
  /** With `sort`: the order of all rows, for further pages */
  order_id?: string | undefined
  /** 10 minutes after the last use of `order_id` */
  order_expires_at?: string | undefined
}

export type RowStatistics = {
  /** The rows of the selection */
  rows: number
  /** The rows that all counts below are of */
  looked_at: number
  precision: 'exact' | 'sampled'
  /** In the order of the request */
  columns: Array<{
    filled: number
    empty: number
    /** Different values, without empty ones */
    unique: number
    most_frequent: Array<{
      /** At most 1,000 characters */
      value: string
      count: number
    }>
    /** Over the values that are wholly a number; null if there are none */
    numbers: {
      count: number
      sum: number
      average: number
      min: number
      median: number
      max: number
      histogram: Array<{
        from: number
        to: number
        count: number
      }>
    } | null
    /** Over the values that are dates or date-times of ISO 8601; null if there are none */
    dates: {
      count: number
      /** UTC, ISO 8601 */
      min: string
      /** UTC, ISO 8601 */
      median: string
      /** UTC, ISO 8601 */
      max: string
      histogram: Array<{
        /** UTC, ISO 8601 */
        from: string
        /** UTC, ISO 8601 */
        to: string
        count: number
      }>
    } | null
    /** Of a column that names an action, otherwise null */
    action: {
      /** Rows by the status of their cell */
      statuses: Record<string, number>
      not_run: number
      /** What the results that the cells have now were billed */
      credits: number
      providers: Array<{
        provider: string
        asked: number
        hits: number
        /** From 0 to 1 */
        hit_rate: number
      }>
    } | null
  }>
}

export type RowStatisticsBody = {
  columns: Array<{
    /** An input, or an output of an action; a path into its JSON may follow */
    variable?: string | undefined
    /** The status of the cell of this action */
    action_instance_id?: string | undefined
    field?: 'created_at' | undefined
  }>
  filters?: Array<{
    /** An input, or an output of an action; a path into its JSON may follow */
    variable: string
    operator: 'is equal to' | 'not equal to' | 'is empty' | 'not empty' | 'contains' | 'does not contain' | 'contains any of' | 'not contains any of' | 'starts with' | 'does not start with' | 'ends with' | 'does not end with' | 'greater than' | 'less than' | 'greater than or equal to' | 'less than or equal to' | 'is between' | 'is after' | 'is before' | 'is' | 'is not' | 'is not empty' | 'greater than or equals to' | 'less than or equals to'
    values?: (string | number | boolean)[] | undefined
  }> | undefined
  status_filters?: Array<{
    action_instance_id?: string | undefined
    /** Instead of action_instance_id: matches if any action of the row does */
    action?: 'any' | undefined
    is?: ('queued' | 'running' | 'complete' | 'failed' | 'error' | 'out_of_credits' | 'condition_not_met')[] | undefined
    is_not?: ('queued' | 'running' | 'complete' | 'failed' | 'error' | 'out_of_credits' | 'condition_not_met')[] | undefined
  }> | undefined
  created_at?: {
    operator: 'equals to' | 'greater than' | 'greater than or equals to' | 'less than' | 'less than or equals to' | 'is between' | 'greater than or equal to' | 'less than or equal to'
    values: Array<string>
  } | undefined
  find?: string | undefined
  /** The key of a cause of List Causes: rows with a cell that failed for it, in any run */
  cause?: string | undefined
  /** The rows of a view; with other filters, both hold */
  view_id?: string | undefined
}

export type Run = {
  run_id: string
  trigger: string
  state: 'running' | 'finished' | 'stopped'
  revision: number
  actions: Array<string>
  rows_queued: number
  rows_done: number
  cells_done: number
  cells_failed: number
  /** Rows with a cell that failed; rows without credits are counted apart */
  rows_failed: number
  /** Cells that a condition skipped */
  cells_skipped: number
  /** Cells that had no new result and kept their former one */
  cells_kept: number
  /** The credit limit of the run, shared with everything that the same request started */
  max_credits: number | null
  /** Credits spent so far */
  credits: number
  /** Credits reserved for running cells, as of a second ago */
  credits_held: number
  /** The version of the prices when the run was queued */
  price_version: number
  key_id: string | null
  /** Rows that stopped because credits ran out; they continue when the run is resumed */
  rows_out_of_credits: number
  /** The limit that had too few credits left for those rows */
  stopped_by: {
    kind: 'max_credits' | 'budget' | 'balance'
    budget_id?: string | undefined
  } | null
  created_by: string
  /** Where the member started it; null if it started by itself, or the key is gone */
  started_in: 'dashboard' | 'api' | null
  /** UTC, ISO 8601 */
  created_at: string
  finished_at: string | null
}

export type RunActionBody = {
  row_ids?: Array<string> | undefined
  /** `empty`: rows without a cell of this action; `failed`: rows in which it failed. Narrows the other selectors */
  only?: 'empty_and_failed' | 'failed' | 'empty' | undefined
  run_next_action?: boolean | undefined
  filters?: Array<{
    /** An input, or an output of an action; a path into its JSON may follow */
    variable: string
    operator: 'is equal to' | 'not equal to' | 'is empty' | 'not empty' | 'contains' | 'does not contain' | 'contains any of' | 'not contains any of' | 'starts with' | 'does not start with' | 'ends with' | 'does not end with' | 'greater than' | 'less than' | 'greater than or equal to' | 'less than or equal to' | 'is between' | 'is after' | 'is before' | 'is' | 'is not' | 'is not empty' | 'greater than or equals to' | 'less than or equals to'
    values?: (string | number | boolean)[] | undefined
  }> | undefined
  status_filters?: Array<{
    action_instance_id?: string | undefined
    /** Instead of action_instance_id: matches if any action of the row does */
    action?: 'any' | undefined
    is?: ('queued' | 'running' | 'complete' | 'failed' | 'error' | 'out_of_credits' | 'condition_not_met')[] | undefined
    is_not?: ('queued' | 'running' | 'complete' | 'failed' | 'error' | 'out_of_credits' | 'condition_not_met')[] | undefined
  }> | undefined
  created_at?: {
    operator: 'equals to' | 'greater than' | 'greater than or equals to' | 'less than' | 'less than or equals to' | 'is between' | 'greater than or equal to' | 'less than or equal to'
    values: Array<string>
  } | undefined
  find?: string | undefined
  /** The key of a cause of List Causes: rows with a cell that failed for it, in any run */
  cause?: string | undefined
  /** The rows of a view; with other filters, both hold */
  view_id?: string | undefined
  /** Up to 3 columns. Ascending: numbers, dates, then texts without case; statuses in the order of their lifecycle. Empty values come last; equal rows stay in the order of insertion */
  sort?: Array<{
    /** An input, or an output of an action; a path into its JSON may follow */
    variable?: string | undefined
    /** The status of the cell of this action */
    action_instance_id?: string | undefined
    field?: 'created_at' | undefined
    direction?: 'asc' | 'desc' | undefined
  }> | undefined
  /** The credit limit for everything this request starts, including rows sent to other sheets; 0 runs only what is free */
  max_credits?: number | undefined
  /** Checks the request and returns 200 with an Estimate of its cost; nothing is written, run or called */
  dry_run?: boolean | undefined
}

export type RunAllBody = {
  row_ids?: Array<string> | undefined
  first_10?: true | undefined
  filters?: Array<{
    /** An input, or an output of an action; a path into its JSON may follow */
    variable: string
    operator: 'is equal to' | 'not equal to' | 'is empty' | 'not empty' | 'contains' | 'does not contain' | 'contains any of' | 'not contains any of' | 'starts with' | 'does not start with' | 'ends with' | 'does not end with' | 'greater than' | 'less than' | 'greater than or equal to' | 'less than or equal to' | 'is between' | 'is after' | 'is before' | 'is' | 'is not' | 'is not empty' | 'greater than or equals to' | 'less than or equals to'
    values?: (string | number | boolean)[] | undefined
  }> | undefined
  status_filters?: Array<{
    action_instance_id?: string | undefined
    /** Instead of action_instance_id: matches if any action of the row does */
    action?: 'any' | undefined
    is?: ('queued' | 'running' | 'complete' | 'failed' | 'error' | 'out_of_credits' | 'condition_not_met')[] | undefined
    is_not?: ('queued' | 'running' | 'complete' | 'failed' | 'error' | 'out_of_credits' | 'condition_not_met')[] | undefined
  }> | undefined
  created_at?: {
    operator: 'equals to' | 'greater than' | 'greater than or equals to' | 'less than' | 'less than or equals to' | 'is between' | 'greater than or equal to' | 'less than or equal to'
    values: Array<string>
  } | undefined
  find?: string | undefined
  /** The key of a cause of List Causes: rows with a cell that failed for it, in any run */
  cause?: string | undefined
  /** The rows of a view; with other filters, both hold */
  view_id?: string | undefined
  /** `failed`: rows with a cell that failed; `unfinished`: also those that never ran or were stopped. All their actions run, and are billed, again */
  only?: 'unfinished' | 'failed' | undefined
  /** `start`: rows run from their first action. `failure`: each row runs from its first failed or missing cell; rows without one are not queued */
  from?: 'start' | 'failure' | undefined
  /** The credit limit for everything this request starts, including rows sent to other sheets; 0 runs only what is free */
  max_credits?: number | undefined
  /** Checks the request and returns 200 with an Estimate of its cost; nothing is written, run or called */
  dry_run?: boolean | undefined
}

export type RunRowsBody = {
  row_ids?: Array<string> | undefined
  first_10?: true | undefined
  filters?: Array<{
    /** An input, or an output of an action; a path into its JSON may follow */
    variable: string
    operator: 'is equal to' | 'not equal to' | 'is empty' | 'not empty' | 'contains' | 'does not contain' | 'contains any of' | 'not contains any of' | 'starts with' | 'does not start with' | 'ends with' | 'does not end with' | 'greater than' | 'less than' | 'greater than or equal to' | 'less than or equal to' | 'is between' | 'is after' | 'is before' | 'is' | 'is not' | 'is not empty' | 'greater than or equals to' | 'less than or equals to'
    values?: (string | number | boolean)[] | undefined
  }> | undefined
  status_filters?: Array<{
    action_instance_id?: string | undefined
    /** Instead of action_instance_id: matches if any action of the row does */
    action?: 'any' | undefined
    is?: ('queued' | 'running' | 'complete' | 'failed' | 'error' | 'out_of_credits' | 'condition_not_met')[] | undefined
    is_not?: ('queued' | 'running' | 'complete' | 'failed' | 'error' | 'out_of_credits' | 'condition_not_met')[] | undefined
  }> | undefined
  created_at?: {
    operator: 'equals to' | 'greater than' | 'greater than or equals to' | 'less than' | 'less than or equals to' | 'is between' | 'greater than or equal to' | 'less than or equal to'
    values: Array<string>
  } | undefined
  find?: string | undefined
  /** The key of a cause of List Causes: rows with a cell that failed for it, in any run */
  cause?: string | undefined
  /** The rows of a view; with other filters, both hold */
  view_id?: string | undefined
  /** Every row of the sheet */
  all?: true | undefined
  /** Left out of the rows of a selection, or of `all: true` */
  exclude_row_ids?: Array<string> | undefined
  /** Up to 3 columns. Ascending: numbers, dates, then texts without case; statuses in the order of their lifecycle. Empty values come last; equal rows stay in the order of insertion */
  sort?: Array<{
    /** An input, or an output of an action; a path into its JSON may follow */
    variable?: string | undefined
    /** The status of the cell of this action */
    action_instance_id?: string | undefined
    field?: 'created_at' | undefined
    direction?: 'asc' | 'desc' | undefined
  }> | undefined
  /** `start`: rows run from their first action. `failure`: each row runs from its first failed or missing cell; rows without one are not queued */
  from?: 'start' | 'failure' | undefined
  /** The credit limit for everything this request starts, including rows sent to other sheets; 0 runs only what is free */
  max_credits?: number | undefined
  /** Checks the request and returns 200 with an Estimate of its cost; nothing is written, run or called */
  dry_run?: boolean | undefined
}

export type RunningTest = {
  test_id: string
  status: 'running'
}

export type Segment = {
  /** Used as `segment_id` */
  id: string
  name: string
  entityKind: 'company' | 'person' | 'contact'
  /** Condition groups as in `run_if.conditions`, with field names as variables */
  filter: unknown
  filterHash: string
  memberCount: number
  /** UTC, ISO 8601 */
  createdAt: string
  /** UTC, ISO 8601 */
  updatedAt: string
}

export type SegmentChanges = {
  segmentId: string
  /** Changes with the filter; members before and after are then not comparable */
  filterHash: string
  changes: Array<{
    /** In order, without gaps */
    seq: number
    entityId: string
    kind: 'enter' | 'exit' | 'reenter'
    /** UTC, ISO 8601 */
    at: string
  }>
  hasMore: boolean
  nextSince: number
}

export type SegmentChangesQuery = {
  /** `nextSince` of the last response; 0 returns only changes from now on; if absent, starts at the oldest change */
  since?: number | undefined
  limit?: number | undefined
  /** The filter hash that the client knows; if the filter has changed since, the response is 409 */
  filterHash?: string | undefined
}

export type SegmentSync = {
  sync_id: string
  segment_id: string
  state: 'active' | 'paused_error' | 'pending_confirmation' | 'deleted'
  entity_kinds: ('company' | 'person' | 'contact')[]
  /** Members that wait for confirmation */
  held_count: number
  held_reason: 'filter_changed' | 'flood' | null
  last_import_error: {
    message: string
    /** UTC, ISO 8601 */
    at: string
  } | null
  last_cycle_at: string | null
  destinations: Array<{
    connection_id: string
    workflow_id: string
    state: 'active' | 'paused'
    run: 'all' | 'none'
    reentry_mode: 'suppress' | 'repush'
    /** Members delivered so far; each re-entry of `repush` counts */
    delivered: number
    /** Members that the next cycle delivers, or the backlog of a paused destination */
    pending: number
    /** Members that wait for confirmation */
    held: number
    /** Members whose delivery failed; each cycle retries them */
    failed: number
  }>
}

export type Sheet = {
  sheet_id: string
  workflow_id: string
  name: string
  is_main_sheet: boolean
  /** Runs the chain on every row that arrives */
  auto_run: boolean
  /** Rows with equal inputs reuse outputs */
  cache_enabled: boolean
  /** Earliest UTC day whose cached runs count as fresh; null: all of them */
  cache_since: string | null
  continue_on_fail: boolean
}

export type SheetChange = {
  sheet_id: string
  revision: number
  names: string
  rows: number
  run: {
    run_id: string
    state: string
    rows_queued: number
    rows_done: number
  } | null
}

export type Shortcut = {
  id: string
  workflow_id: string
  /** The original of a shared copy */
  parent_app_id: string | null
  name: string
  description: string
  creator_email: string
  org_id: string
  input_schema: Array<ShortcutInputField>
  output_schema: Array<ShortcutOutputField>
  is_master: boolean
  /** Only published shortcuts can be run */
  is_published: boolean
  is_archived: boolean
  cover_image: string | null
  icon_emoji: string | null
  /** UTC, ISO 8601 */
  created_at: string
  /** UTC, ISO 8601 */
  updated_at: string
}

export type ShortcutInputField = {
  /** snake_case; the key in `input_data` */
  reference: string
  name: string
  description?: string | undefined
  type: 'string' | 'url' | 'email' | 'number' | 'date' | 'boolean' | 'select'
  /** The values that a `select` offers */
  choices?: Array<string> | undefined
  required?: boolean | undefined
  /** Used when the field is missing */
  defaultValue?: unknown
}

export type ShortcutOutputField = {
  /** The key in `output_data` */
  name: string
  description?: string | undefined
  display_column?: string | boolean | undefined
}

export type ShortcutRun = {
  id: string
  /** The shortcut */
  app_id: string
  workflow_id: string
  /** The row of the workflow that holds this run */
  data_id: string
  user_email: string
  org_id: string
  batch_id: string | null
  /** Values by reference, including the defaults that were used */
  input_data: Record<string, unknown>
  /** Null until finished; then `{value, status}` by output name */
  output_data: Record<string, unknown> | null
  status: 'pending' | 'inProgress' | 'completed' | 'failed' | 'error' | 'outOfCredits'
  error_message: string | null
  /** UTC, ISO 8601 */
  created_at: string
  completed_at: string | null
}

export type ShortcutRunPage = {
  /** Newest first */
  runs: Array<ShortcutRun>
  pagination: {
    limit: number
    offset: number
    /** With a filter, the number of runs on this page */
    total: number
  }
}

export type SourceData = {
  rows: Array<Record<string, unknown>>
  total_count: number
  page_no: number
  page_size: number
}

export type SourceDataQuery = {
  page_no?: number | undefined
  page_size?: number | undefined
}

export type SourceInstance = {
  source_instance_id: string
  name: string
  /** The type of the source, such as `search_x_tweets` */
  source_id: string
  status: 'active' | 'completed' | 'paused' | 'paused_out_of_credits' | 'expired' | 'deleted'
  /** Records imported so far */
  lead_count: number
  /** UTC, ISO 8601 */
  created_at: string
  /** When the source ends; null for a one-time import or without an end */
  expiration_date: string | null
}

export type SourceOptionList = {
  options: Array<{
    value: string
    label: string
    extras?: Record<string, unknown> | undefined
  }>
}

export type SourcePreview = {
  data: Array<Record<string, unknown>>
  metadata: {
    /** The number of all records, independent of `limit`: counted, or as the provider reports it; if neither is possible, the most that a preview shows */
    total_results: number
    /** True if there are, or may be, more records than a preview shows (100, or 5 if the installation pays for them) */
    capped?: boolean | undefined
  }
}

export type SourceState = {
  source_instance_id: string
  name: string
  /** The type of the source, such as `search_x_tweets` */
  source_id: string
  status: 'active' | 'completed' | 'paused' | 'paused_out_of_credits' | 'expired' | 'deleted'
  /** Records imported so far */
  lead_count: number
  /** UTC, ISO 8601 */
  created_at: string
  /** When the source ends; null for a one-time import or without an end */
  expiration_date: string | null
  /** The provider of the records */
  provider: string
  /** The fields the source was created with */
  fields: Record<string, unknown>
  /** The connection it was created with, by id or name */
  connection_id: string | null
  schedule: string | null
  pull_existing: boolean
  max_count: number | null
  max_credits: number | null
  credits_spent: number
  next_pull_at: string | null
  pull_under_way: {
    new: number
    updated: number
    unchanged: number
    /** Incomplete records, such as masked ones */
    skipped: number
    pages: number
    /** UTC, ISO 8601 */
    started_at: string
  } | null
  last_pull: {
    new: number
    updated: number
    unchanged: number
    /** Incomplete records, such as masked ones */
    skipped: number
    pages: number
    /** UTC, ISO 8601 */
    started_at: string
    /** UTC, ISO 8601 */
    finished_at: string
    /** Why the pull ended before the last page */
    note: string | null
  } | null
  failures_in_a_row: number
  /** Null as soon as a page is read again */
  last_error: {
    /** UTC, ISO 8601 */
    at: string
    message: string
    /** What to do */
    hint: string
  } | null
  /** Null for a source that pulls */
  received: {
    /** Deliveries received so far */
    total: number
    /** Of these, the ones that could not be identified; they create no record and cost nothing */
    unresolved: number
    /** Deliveries not processed yet */
    waiting: number
    last_at: string | null
  } | null
  pixel_id?: string | undefined
  /** The tag to add to the pages of the website */
  pixel_script?: string | undefined
  /** The URL to which the other service posts the visitors it identifies */
  webhook_url?: string | undefined
  syncs: Array<{
    workflow_id: string
    field_mapping: Record<string, string>
    push_existing: boolean
    on_change: 'ignore' | 'update' | 'update_and_run'
    /** Mapped fields that no record has yet; nothing is delivered until a record has them or the mapping is corrected */
    awaited_fields?: Array<string> | undefined
    delivered: number
    /** Changes not processed yet */
    waiting: number
  }>
}

export type SourceStatusBody = {
  status: 'paused' | 'active'
}

export type SourceStatusChange = {
  source_instance_id: string
  status: 'paused' | 'active'
}

export type StartedImport = {
  status: 'processing'
  sheet_id: string
  columns_mapped: number
}

export type Stopped = {
  /** Rows that stop before their last cell */
  rows_stopped: number
}

export type StoredFile = {
  /** The reference that Import CSV takes */
  file_ref: string
  size_bytes: number
}

export type SyncSegmentBody = {
  /** A workflow with at least one input */
  workflow_id: string
  /** Maps input references, such as `input.company` without braces, to fields or identifiers of the members */
  field_mapping: Record<string, string>
  /** Also deliver the current members */
  push_existing?: boolean | undefined
  /** Which delivered rows run; a sheet with `auto_run` runs all of them */
  run?: 'all' | 'none' | undefined
  /** The credit limit for the rows delivered in one cycle, including rows that they send to other sheets */
  max_credits?: number | undefined
  /** Checks the request and returns 200 with an Estimate of its cost; nothing is written, run or called */
  dry_run?: boolean | undefined
  /** `suppress` delivers a member only once, even if it leaves and returns; `repush` delivers it at every re-entry */
  reentry_mode?: 'suppress' | 'repush' | undefined
}

export type SyncSourceBody = {
  workflow_id: string
  /** Maps input references, such as `input.company`, to fields of the source as in its preview */
  field_mapping: Record<string, string>
  /** Also deliver the records imported so far */
  push_existing?: boolean | undefined
  /** What to do with a row when its record changes */
  on_change?: 'ignore' | 'update' | 'update_and_run' | undefined
  /** Deprecated and ignored: the `auto_run` setting of the sheet decides */
  run?: unknown
  /** The credit limit per day (UTC) for rows that this sync starts, including rows that they send to other sheets */
  max_credits?: number | undefined
  /** Checks the request and returns 200 with an Estimate of its cost; nothing is written, run or called */
  dry_run?: boolean | undefined
}

export type SyncedSegment = {
  sync_id: string
  /** The destination */
  connection_id: string
  segment_id: string
  workflow_id: string
  entity_kinds: ('company' | 'person' | 'contact')[]
  /** True if the segment already had a sync */
  reused_sync: boolean
}

export type SyncedSource = {
  source_instance_id: string
  workflow_id: string
  push_existing: boolean
  fields_mapped: number
}

export type TestActionBody = {
  /** Values by field name; null clears a field */
  inputs?: Record<string, unknown> | undefined
  /** `{conditions: [...]}`; null clears the condition, {} changes nothing */
  run_if?: Record<string, unknown> | null | undefined
  /** The row on which the action is tested */
  row_id: string
  /** Writes a complete answer into the cell of the row, without charging it again */
  keep?: boolean | undefined
  /** The credit limit of the test; 0 tests only what is free */
  max_credits?: number | undefined
  /** Checks the request and returns 200 with an Estimate of its cost; nothing is written, run or called */
  dry_run?: boolean | undefined
}

export type TestEstimate = {
  /** The inputs with the values of the row. Environment variables stay references; long texts are cut */
  resolved: Record<string, unknown>
  /** Whether the condition is met; null without a condition */
  met: boolean | null
  warnings: Array<Warning>
  credits: {
    expected: number
    at_most: number
  }
}

export type TestNewActionBody = {
  action_id: string
  /** An action_instance_id, or `input`; the end by default */
  after?: string | undefined
  name?: string | undefined
  /** Values by field name; null clears a field */
  inputs?: Record<string, unknown> | undefined
  /** `{conditions: [...]}`; null clears the condition, {} changes nothing */
  run_if?: Record<string, unknown> | null | undefined
  continue_workflow_if_action_fails?: boolean | undefined
  /** Older spelling of continue_workflow_if_action_fails */
  continue_workflow_on_failure?: boolean | undefined
  note?: string | undefined
  /** The row on which the action is tested */
  row_id: string
  /** Writes a complete answer into the cell of the row, without charging it again */
  keep?: boolean | undefined
  /** The credit limit of the test; 0 tests only what is free */
  max_credits?: number | undefined
  /** Checks the request and returns 200 with an Estimate of its cost; nothing is written, run or called */
  dry_run?: boolean | undefined
}

export type UpdateBudgetBody = {
  name?: string | undefined
  /** In credits */
  limit?: number | undefined
  /** `stop` refuses spending beyond the limit; `warn` only sends alerts */
  mode?: 'stop' | 'warn' | undefined
  /** In percent of the limit */
  thresholds?: Array<number> | undefined
  /** Recipients of the alerts */
  emails?: Array<string> | undefined
  webhook_url?: string | null | undefined
}

export type UpdateSheetBody = {
  auto_run?: boolean | undefined
  cache_enabled?: boolean | undefined
  /** Earliest UTC day whose cached runs count as fresh; null: all of them */
  cache_since?: string | null | undefined
}

export type UpdateViewBody = {
  name?: string | undefined
  visibility?: 'shared' | 'only_me' | undefined
  /** True makes it the default view of the sheet */
  is_default?: boolean | undefined
  filters?: Array<{
    /** An input, or an output of an action; a path into its JSON may follow */
    variable: string
    operator: 'is equal to' | 'not equal to' | 'is empty' | 'not empty' | 'contains' | 'does not contain' | 'contains any of' | 'not contains any of' | 'starts with' | 'does not start with' | 'ends with' | 'does not end with' | 'greater than' | 'less than' | 'greater than or equal to' | 'less than or equal to' | 'is between' | 'is after' | 'is before' | 'is' | 'is not' | 'is not empty' | 'greater than or equals to' | 'less than or equals to'
    values?: (string | number | boolean)[] | undefined
  }> | undefined
  status_filters?: Array<{
    action_instance_id?: string | undefined
    /** Instead of action_instance_id: matches if any action of the row does */
    action?: 'any' | undefined
    is?: ('queued' | 'running' | 'complete' | 'failed' | 'error' | 'out_of_credits' | 'condition_not_met')[] | undefined
    is_not?: ('queued' | 'running' | 'complete' | 'failed' | 'error' | 'out_of_credits' | 'condition_not_met')[] | undefined
  }> | undefined
  created_at?: {
    operator: 'equals to' | 'greater than' | 'greater than or equals to' | 'less than' | 'less than or equals to' | 'is between' | 'greater than or equal to' | 'less than or equal to'
    values: Array<string>
  } | null | undefined
  /** Up to 3 columns. Ascending: numbers, dates, then texts without case; statuses in the order of their lifecycle. Empty values come last; equal rows stay in the order of insertion */
  sort?: Array<{
    /** An input, or an output of an action; a path into its JSON may follow */
    variable?: string | undefined
    /** The status of the cell of this action */
    action_instance_id?: string | undefined
    field?: 'created_at' | undefined
    direction?: 'asc' | 'desc' | undefined
  }> | undefined
  groups?: Array<{
    /** An input, or an output of an action; a path into its JSON may follow */
    variable?: string | undefined
    /** The status of the cell of this action */
    action_instance_id?: string | undefined
    field?: 'created_at' | undefined
  }> | undefined
  /** In their order; columns that are not listed follow */
  columns?: Array<{
    /** An input, or an output of an action; a path into its JSON may follow */
    variable?: string | undefined
    action_instance_id?: string | undefined
    /** With `action_instance_id`: shows an output, or a value inside it, as a column */
    path?: string | undefined
    /** Of a shown column; default `<display name>: <path>` */
    name?: string | undefined
    width?: number | undefined
    hidden?: boolean | undefined
    frozen?: boolean | undefined
  }> | undefined
  /** Default 32 */
  row_height?: number | undefined
}

export type Usage = {
  from: string
  to: string
  group_by: ('day' | 'month' | 'workflow' | 'sheet' | 'action' | 'provider' | 'member' | 'key' | 'trigger')[]
  rows: Array<UsageRow>
  totals: {
    /** Cells that finished */
    cells: number
    cells_billed: number
    /** Cells that used a cached answer */
    cells_cached: number
    /** Charged */
    credits: number
    /** Returned to the balance */
    refunded: number
    /** Credits saved by cached answers */
    saved_by_cache: number
    /** Credits saved by your own provider keys, by the price list */
    saved_by_own_keys: number
  }
}

export type UsageQuery = {
  /** A day (UTC), inclusive; 30 days to `to` by default */
  from?: string | undefined
  /** A day (UTC), inclusive; today by default */
  to?: string | undefined
  /** Up to 3 of day, month, workflow, sheet, action, provider, member, key, trigger, separated by commas */
  group_by?: ('day' | 'month' | 'workflow' | 'sheet' | 'action' | 'provider' | 'member' | 'key' | 'trigger')[] | undefined
  workflow_id?: string | undefined
  action_id?: string | undefined
  provider?: string | undefined
  /** The email address */
  member?: string | undefined
  key_id?: string | undefined
  trigger?: 'api' | 'shortcut' | 'auto_run' | 'schedule' | 'webhook' | 'source' | 'segment' | 'send_to_sheet' | 'agent' | 'test' | undefined
  format?: 'json' | 'csv' | undefined
}

export type UsageRow = {
  day?: string | undefined
  month?: string | undefined
  workflow_id?: string | null | undefined
  workflow_name?: string | null | undefined
  sheet_id?: string | null | undefined
  action_id?: string | null | undefined
  /** Null without a provider. A cell counts for the provider that answered it */
  provider?: string | null | undefined
  member?: string | null | undefined
  key_id?: string | null | undefined
  trigger?: string | null | undefined
  /** Cells that finished */
  cells: number
  cells_billed: number
  /** Cells that used a cached answer */
  cells_cached: number
  /** Charged */
  credits: number
  /** Returned to the balance */
  refunded: number
  /** Credits saved by cached answers */
  saved_by_cache: number
  /** Credits saved by your own provider keys, by the price list */
  saved_by_own_keys: number
}

export type User = {
  email: string
  first_name: string | null
  last_name: string | null
  /** A label; scopes are authoritative */
  role: 'admin' | 'member' | 'user'
  org_id: string
  org_members: {
    count: number
    emails: Array<string>
  }
}

export type View = {
  view_id: string
  name: string
  visibility: 'shared' | 'only_me'
  is_default: boolean
  /** Null for the view that each sheet begins with */
  owner: string | null
  filters: Array<unknown>
  status_filters: Array<unknown>
  /** A filter on the time of creation, or null */
  created_at: unknown
  sort: Array<unknown>
  groups: Array<unknown>
  columns: Array<{
    /** An input, or an output of an action; a path into its JSON may follow */
    variable?: string | undefined
    action_instance_id?: string | undefined
    /** With `action_instance_id`: shows an output, or a value inside it, as a column */
    path?: string | undefined
    /** Of a shown column; default `<display name>: <path>` */
    name?: string | undefined
    width?: number | undefined
    hidden?: boolean | undefined
    frozen?: boolean | undefined
    /** Of a shown column; null while it is not known */
    type?: 'string' | 'number' | 'boolean' | 'url' | 'email' | 'date' | 'json' | null | undefined
    /** The token of a shown column */
    reference?: string | undefined
  }>
  row_height: number
  /** UTC, ISO 8601 */
  made_at: string
  /** UTC, ISO 8601 */
  updated_at: string
}

export type Warning = {
  field: string
  code: string
  message: string
  /** The warning for people, with labels instead of ids */
  text?: string | undefined
}

export type Waterfall = {
  /** Whether the list is the default one because none is configured */
  is_default: boolean
  providers: Array<{
    provider: string
    /** The price of an answer with the key of the installation */
    credits: number
    /** The price of a miss with the key of the installation */
    miss_credits: number
    /** The key that is used; `none`: it has no key that it needs, and is skipped */
    key: 'installation' | 'own' | 'none'
    asked: boolean
    /** Only with `all`: whether the list has it */
    listed?: boolean | undefined
    supports_own_key: boolean
    /** Answers per call over the last 30 days; null if never called */
    hit_rate: number | null
    /** Answers over the last 30 days */
    found: number
    /** The median time of a call over the last 30 days */
    median_ms: number | null
  }>
}

export type WaterfallQuery = {
  /** `true` also lists the providers that can be added, with `listed: false` */
  all?: 'true' | 'false' | undefined
}

export type WebhookDelivery = {
  /** UTC, ISO 8601 */
  at: string
  /** The HTTP status sent to the caller */
  status: number
  /** The delivery id given by the sender */
  webhook_id: string | null
  /** Rows added */
  accepted: number
  /** Items rejected */
  rejected: number
  /** Why items were rejected, or that the delivery was a repeat */
  reason: string | null
  /** The beginning of the request body */
  body: string
}

export type Workflow = {
  workflow_id: string
  name: string
  /** UTC, ISO 8601 */
  created_at: string
  /** The latest configuration change */
  updated_at: string
  /** The latest run started through this API */
  last_run_at: string | null
}

export type WorkflowFile = {
  /** The version of this form */
  loam: 1
  workflow: string
  /** The name that it has now, if `name` is to be a new one for it */
  was?: string | undefined
  /** The main sheet first */
  sheets: Array<{
    sheet: string
    /** The name that it has now, if `name` is to be a new one for it */
    was?: string | undefined
    auto_run?: boolean | undefined
    cache_enabled?: boolean | undefined
    /** Earliest UTC day whose cached runs count as fresh; null: all of them */
    cache_since?: string | null | undefined
    inputs?: Array<{
      name: string
      /** The name that it has now, if `name` is to be a new one for it */
      was?: string | undefined
      /** `string` if it is left out */
      type?: 'string' | 'url' | 'email' | 'number' | 'date' | 'boolean' | 'select' | undefined
      description?: string | undefined
      choices?: Array<string> | undefined
    }> | undefined
    actions?: Array<{
      /** The name of the action in the tokens of this file; its template if it is left out */
      id?: string | undefined
      /** The id of its template */
      action: string
      /** The name of its template if it is left out */
      name?: string | undefined
      /** The name that it has now, if `name` is to be a new one for it */
      was?: string | undefined
      /** Values by field name; null clears a field */
      inputs?: Record<string, unknown> | undefined
      /** `{conditions: [...]}`; null clears the condition, {} changes nothing */
      run_if?: Record<string, unknown> | null | undefined
      continue_workflow_if_action_fails?: boolean | undefined
      note?: string | undefined
    }> | undefined
  }>
}

export type WorkflowOverview = {
  workflow_id: string
  name: string
  /** UTC, ISO 8601 */
  created_at: string
  /** The latest configuration change */
  updated_at: string
  /** The latest run started through this API */
  last_run_at: string | null
  is_owner: boolean
  /** Email addresses; returned to the owner only */
  shared_users: Array<string>
  /** The main sheet first, then by creation time */
  sheets: Array<RosterSheet>
}

export type WrittenWorkflowFile = {
  loam: 1
  workflow: string
  sheets: Array<{
    sheet: string
    auto_run?: boolean | undefined
    cache_enabled?: boolean | undefined
    cache_since?: string | null | undefined
    inputs?: Array<Record<string, unknown>> | undefined
    actions?: Array<Record<string, unknown>> | undefined
  }>
}
