import { EXAMPLE_IDS, type Operations } from './operation.ts'

const SHEET = '/workflows/{workflow_id}/sheets/{sheet_id}'

const LEADS_FILE = {
  loam: 1,
  workflow: 'Leads',
  sheets: [
    {
      sheet: 'Leads',
      inputs: [{ name: 'domain', type: 'url' }],
      actions: [{ id: 'clean', action: 'normalize_domain', inputs: { value: '{{input.domain}}' } }],
    },
  ],
}

export const WORKFLOWS: Operations = {
  'POST /workflows': {
    id: 'createWorkflow',
    description: 'Creates a workflow with its main sheet. The main sheet has the id of the workflow.',
    body: { name: 'Leads' },
  },
  'GET /workflows': {
    id: 'listWorkflows',
    description: 'Every workflow that you may open, the last changed first.',
  },
  'GET /workflows/{workflow_id}': {
    id: 'getWorkflow',
    description: 'A workflow with its sheets, their settings and their webhook addresses.',
  },
  'DELETE /workflows/{workflow_id}': {
    id: 'deleteWorkflow',
    description:
      'Deletes a workflow with all sheets, actions, rows and runs for good. Only the owner may delete it.',
  },
  'PATCH /workflows/{workflow_id}/name': {
    id: 'renameWorkflow',
    description: 'Renames a workflow. The name of its main sheet does not change.',
    body: { name: 'Leads of May' },
  },
  'POST /workflows/{workflow_id}/duplicate': {
    id: 'duplicateWorkflow',
    description:
      'Copies inputs, actions with their configuration and child sheets; not rows, runs or sharing. The copy is yours and costs nothing.',
    body: { name: 'Leads (copy)' },
  },
  'GET /workflows/{workflow_id}/definition': {
    id: 'getDefinition',
    description:
      'The workflow as a file: names instead of ids, nothing that is left at its default, always the same for the same workflow. It fits any organisation. Credentials that are written out stand as `{"secret": "kept"}`. Also needs `actions:read`.',
  },
  'POST /definitions/plan': {
    id: 'planDefinition',
    description:
      'Says what applying a workflow file would change, and changes nothing. The workflow is found by its name, or by `workflow_id`; `was` renames. All errors of the file come at once, by their path in it. Also needs `actions:read`.',
    body: { definition: LEADS_FILE },
  },
  'POST /definitions/apply': {
    id: 'applyDefinition',
    description:
      'Turns a workflow into what a file says, in one transaction: no row runs half an edit, and unchanged actions keep their results. Creates the workflow if there is none of that name. Inputs, actions and child sheets that the file does not have are removed only with `allow_destroy`. Also needs `actions:write`.',
    body: { definition: LEADS_FILE },
  },
  'POST /workflows/{workflow_id}/sheets': {
    id: 'createSheet',
    description:
      'Adds a sheet to a workflow. `auto_run` runs rows as they arrive; the cache avoids paying twice.',
    body: { name: 'Contacts', auto_run: true },
  },
  [`PATCH ${SHEET}`]: {
    id: 'updateSheet',
    description:
      'Changes `auto_run`, `cache_enabled` or `cache_since`; send at least one. The change applies to rows that arrive afterwards. `cache_since: null` clears it.',
    body: { auto_run: false },
  },
  [`DELETE ${SHEET}`]: {
    id: 'deleteSheet',
    description:
      'Deletes a sheet with its chain, rows and runs. Only the owner may delete it; the main sheet cannot be deleted.',
  },
  [`PATCH ${SHEET}/name`]: {
    id: 'renameSheet',
    description: 'Renames a sheet. Renaming the main sheet does not rename the workflow.',
    body: { name: 'Companies' },
  },
  [`GET ${SHEET}/inputs`]: {
    id: 'listInputs',
    description: 'The input columns of a sheet, with the reference that actions use for each.',
  },
  [`POST ${SHEET}/inputs`]: {
    id: 'addInputs',
    description: 'Adds input columns. The body is an array without a wrapper; the answer lists all of them.',
    body: [{ name: 'city', type: 'string', description: 'Where the company is' }],
  },
  [`PATCH ${SHEET}/inputs/{field_name}`]: {
    id: 'changeInput',
    description:
      'Renames an input, or changes its type, choices or description. References to it follow: fields and conditions of actions here and in other sheets, mappings of syncs, and saved layouts. Values and stored results stay, and rows in flight go on. After a change of the type, `warnings` counts the values that do not fit it.',
    body: { name: 'Company', type: 'select', choices: ['Acme', 'Globex'] },
  },
  [`POST ${SHEET}/inputs/{field_name}/duplicate`]: {
    id: 'duplicateInput',
    description:
      'Copies an input with its values, right after the original. Without a name the copy is called `<name> copy`.',
    body: { name: 'Company (raw)' },
  },
  [`DELETE ${SHEET}/inputs/{field_name}`]: {
    id: 'deleteInput',
    description: 'Deletes an input. References to it in actions become invalid.',
  },
}

export const ACTIONS: Operations = {
  'GET /actions': {
    id: 'listCatalogue',
    description:
      'Every action that a chain can use, with its `price`: `credits` for a complete cell, and `provider_credits` for one answer of a provider. With `search` only those that match it, the best first.',
  },
  'GET /actions/{action_id}': {
    id: 'getCatalogueAction',
    description: 'An action of the catalogue with its inputs, their choices, and its outputs.',
  },
  [`POST ${SHEET}/actions/add`]: {
    id: 'addAction',
    description:
      'Adds an action at the end of the chain, or after the action named by `after`. It can be configured in the same call, by the rules of Configure Action; if anything is invalid, nothing is added.',
    body: { action_id: 'normalize_domain', inputs: { value: '{{input.website}}' } },
  },
  [`GET ${SHEET}/actions/suggestions`]: {
    id: 'suggestActions',
    description:
      'Up to 8 actions that suit the columns of the sheet, by their names, types and first values. `inputs` can be sent to Add Action as they are.',
  },
  [`GET ${SHEET}/actions/graph`]: {
    id: 'getActionGraph',
    description: 'The input node and every action, in the order in which they run.',
  },
  [`GET ${SHEET}/actions/{action_instance_id}`]: {
    id: 'getAction',
    description: 'An action with its configuration; `warnings` lists the problems that keep it from working.',
  },
  [`PATCH ${SHEET}/actions/{action_instance_id}`]: {
    id: 'configureAction',
    description:
      'Changes the fields that are sent and keeps the others. Numbers are sent as quoted text, toggles as true or false, waterfalls as an ordered array of provider names. `run_if: null` clears the condition. Any change invalidates the stored results of this action and of those after it: they run and are billed again.',
    body: {
      inputs: { value: '{{input.website}}' },
      run_if: {
        conditions: [
          { conditions: [{ variable: '{{input.website}}', operator: 'is not empty', values: [] }] },
        ],
      },
    },
  },
  [`DELETE ${SHEET}/actions/{action_instance_id}`]: {
    id: 'deleteAction',
    description:
      'Removes an action from the chain. The answer lists the fields of other actions that referred to it.',
  },
  [`PATCH ${SHEET}/actions/{action_instance_id}/name`]: {
    id: 'renameAction',
    description: 'Changes the display name; stored results are kept.',
    body: { name: 'Domain' },
  },
  [`POST ${SHEET}/actions/{action_instance_id}/notes`]: {
    id: 'setActionNote',
    description: 'Stores a note with an action, for people to read.',
    body: { note: 'Takes the registrable domain, not the host name.' },
  },
  [`PATCH ${SHEET}/actions/{action_instance_id}/move`]: {
    id: 'moveAction',
    description:
      'Moves an action after the one named by `after`. `input` moves it to the start; without `after` it moves to the end.',
    body: { after: 'input' },
  },
  [`PATCH ${SHEET}/actions/{action_instance_id}/waterfall/{field_name}`]: {
    id: 'reorderWaterfall',
    description: 'Changes the order of the providers of a waterfall. Name each provider exactly once.',
    body: { providers: ['Hunter', 'Findymail'] },
  },
  [`GET ${SHEET}/actions/{action_instance_id}/outputs`]: {
    id: 'getActionOutputs',
    description:
      'The outputs of an action: names, types and references, no values. For an action whose outputs depend on the reply they are known after one row has run.',
  },
  [`POST ${SHEET}/actions/{action_instance_id}/options/{field_name}`]: {
    id: 'getActionFieldOptions',
    description:
      'The choices for a field: objects of a CRM, models, providers of a waterfall. Some fields need `context` with the choice they depend on.',
    body: { context: {} },
  },
  [`GET ${SHEET}/actions/{action_instance_id}/waterfall/{field_name}`]: {
    id: 'getWaterfall',
    description:
      'The providers that a waterfall really asks, in their order: the configured list, or the default one. For each: prices, the key that is used, and hit rate, answers and median time in your organisation over the last 30 days. `all=true` also lists providers that can be added.',
  },
  [`POST ${SHEET}/actions/{action_instance_id}/test`]: {
    id: 'testAction',
    description:
      'Runs an action on one row for real, without a run: nothing of the sheet changes. `inputs` and `run_if` are changes for this call, which need the scope `actions:write`. It is billed as a cell with the trigger `test`, under `max_credits`, budgets and the balance; cached answers are free where the cache of the sheet is on. After 30 s the response is 202, and the test goes on. `keep` writes a complete answer into the cell; `dry_run` returns the inputs with the values of the row, and the cost. An organisation may have 10 tests under way.',
    body: { row_id: EXAMPLE_IDS.row_id, inputs: { value: 'https://{{input.website}}' }, max_credits: 5 },
  },
  [`GET ${SHEET}/actions/{action_instance_id}/test/{test_id}`]: {
    id: 'getActionTest',
    description: 'The answer of a test, for 24 hours; 202 while it is running.',
  },
  [`GET ${SHEET}/actions/{action_instance_id}/test/{test_id}/outputs`]: {
    id: 'getActionTestOutputs',
    description: 'The outputs of a test as JSON, however large they are.',
  },
  [`POST ${SHEET}/actions/{action_instance_id}/test/{test_id}/keep`]: {
    id: 'keepActionTest',
    description:
      'Writes the answer of a complete test into the cell of its row; nothing is charged again. 409 `CANNOT_KEEP` if the test is not complete, the action is configured in another way now, the row was deleted, or a run has it.',
  },
  [`POST ${SHEET}/actions/test`]: {
    id: 'testNewAction',
    description:
      'The same for an action that is not added yet, configured as in Add Action. Its answer cannot be kept.',
    body: {
      action_id: 'normalize_domain',
      inputs: { value: '{{input.website}}' },
      row_id: EXAMPLE_IDS.row_id,
    },
  },
  [`GET ${SHEET}/tests/{test_id}`]: {
    id: 'getNewActionTest',
    description:
      'The answer of a test of an action that is not added, for 24 hours; 202 while it is running.',
  },
  [`GET ${SHEET}/tests/{test_id}/outputs`]: {
    id: 'getNewActionTestOutputs',
    description: 'The outputs of a test of an action that is not added as JSON, however large they are.',
  },
  [`POST ${SHEET}/conditions/check`]: {
    id: 'checkConditions',
    description:
      'Counts the rows that meet a condition, among up to 1,000 rows spread evenly over the sheet, and says the condition as a sentence. Rows with inputs above 8 KiB are not looked at; larger outputs of actions read as empty.',
    body: {
      run_if: {
        conditions: [{ conditions: [{ variable: '{{input.website}}', operator: 'is not empty' }] }],
      },
    },
  },
}
