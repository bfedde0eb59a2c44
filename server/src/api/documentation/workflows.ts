import type { Operations } from './operation.ts'

const SHEET = '/workflows/{workflow_id}/sheets/{sheet_id}'

export const WORKFLOWS: Operations = {
  'POST /workflows': {
    id: 'createWorkflow',
    description: 'Makes a workflow with its main sheet, whose id is that of the workflow.',
    body: { name: 'Leads' },
  },
  'GET /workflows': {
    id: 'listWorkflows',
    description: 'Every workflow that you may open, the one changed last first.',
  },
  'GET /workflows/{workflow_id}': {
    id: 'getWorkflow',
    description: 'A workflow with its sheets, their settings and their webhook addresses.',
  },
  'DELETE /workflows/{workflow_id}': {
    id: 'deleteWorkflow',
    description: 'Deletes a workflow with all sheets, actions, rows and runs for good. Only its owner may.',
  },
  'PATCH /workflows/{workflow_id}/name': {
    id: 'renameWorkflow',
    description: 'Renames a workflow; the tab of its main sheet keeps its name.',
    body: { name: 'Leads of May' },
  },
  'POST /workflows/{workflow_id}/duplicate': {
    id: 'duplicateWorkflow',
    description:
      'Copies inputs, actions with their configuration and child sheets; not rows, runs or sharing. The copy is yours and costs nothing.',
    body: { name: 'Leads (copy)' },
  },
  'POST /workflows/{workflow_id}/sheets': {
    id: 'createSheet',
    description:
      'Adds a sheet to a workflow. `auto_run` runs rows as they arrive; the cache saves paying twice.',
    body: { name: 'Contacts', auto_run: true },
  },
  [`PATCH ${SHEET}`]: {
    id: 'updateSheet',
    description:
      'Changes `auto_run`, `cache_enabled` or `cache_since`; send at least one. It holds for rows that arrive afterwards. `cache_since: null` clears it.',
    body: { auto_run: false },
  },
  [`DELETE ${SHEET}`]: {
    id: 'deleteSheet',
    description: 'Deletes a sheet with its chain, rows and runs. Only the owner may; the main sheet stays.',
  },
  [`PATCH ${SHEET}/name`]: {
    id: 'renameSheet',
    description: 'Renames a sheet; of the main sheet only its tab.',
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
  [`DELETE ${SHEET}/inputs/{field_name}`]: {
    id: 'deleteInput',
    description: 'Takes an input away. References to it in actions no longer name anything.',
  },
}

export const ACTIONS: Operations = {
  'GET /actions': {
    id: 'listCatalogue',
    description:
      'Every action that a chain can be made of, with its `price`: `credits` for a cell that completes and, where providers are asked, `provider_credits` for one answer of theirs.',
  },
  'GET /actions/{action_id}': {
    id: 'getCatalogueAction',
    description: 'An action of the catalogue with its inputs, what may be chosen in them, and its outputs.',
  },
  [`POST ${SHEET}/actions/add`]: {
    id: 'addAction',
    description:
      'Adds an action to the end of the chain, or behind `after`. It may be configured at once, by the rules of Configure Action; when something is wrong, nothing is added.',
    body: { action_id: 'normalize_domain', inputs: { value: '{{input.website}}' } },
  },
  [`GET ${SHEET}/actions/graph`]: {
    id: 'getActionGraph',
    description: 'The input node and every action, in the order in which they run.',
  },
  [`GET ${SHEET}/actions/{action_instance_id}`]: {
    id: 'getAction',
    description: 'An action as it is configured; `warnings` tell what keeps it from working.',
  },
  [`PATCH ${SHEET}/actions/{action_instance_id}`]: {
    id: 'configureAction',
    description:
      'Changes what is sent and keeps the rest. Numbers are sent as quoted text, toggles as true or false, waterfalls as an ordered array of provider names. `run_if: null` clears the condition. Any change makes stored results of this action and those behind it count no more: they run, and are billed, again.',
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
      'Takes an action out of the chain; the answer lists the fields of others that referred to it.',
  },
  [`PATCH ${SHEET}/actions/{action_instance_id}/name`]: {
    id: 'renameAction',
    description: 'Changes the display name; stored results stay.',
    body: { name: 'Domain' },
  },
  [`POST ${SHEET}/actions/{action_instance_id}/notes`]: {
    id: 'setActionNote',
    description: 'Keeps a note with an action, for people.',
    body: { note: 'Takes the registrable domain, not the host name.' },
  },
  [`PATCH ${SHEET}/actions/{action_instance_id}/move`]: {
    id: 'moveAction',
    description: 'Moves an action behind `after`; `input` is the start, without `after` it goes to the end.',
    body: { after: 'input' },
  },
  [`PATCH ${SHEET}/actions/{action_instance_id}/waterfall/{field_name}`]: {
    id: 'reorderWaterfall',
    description: 'Puts the providers of a waterfall into another order; each is named exactly once.',
    body: { providers: ['Hunter', 'Findymail'] },
  },
  [`GET ${SHEET}/actions/{action_instance_id}/outputs`]: {
    id: 'getActionOutputs',
    description:
      'What an action gives: names, types and references, no values. An action whose outputs depend on the reply knows them after one row has run.',
  },
  [`POST ${SHEET}/actions/{action_instance_id}/options/{field_name}`]: {
    id: 'getActionFieldOptions',
    description:
      'What may be chosen in a field: objects of a CRM, models, providers of a waterfall. Some fields need `context` with the choice they depend on.',
    body: { context: {} },
  },
}
