import { EXAMPLE_IDS, type Operations } from './operation.ts'

const FIELDS = { url: 'https://api.example.com/companies', items_path: 'items', key_path: 'id' }

export const SOURCES: Operations = {
  'GET /sources': { id: 'listSources', description: 'Your sources, the newest first, with their health.' },
  'POST /sources/{source_id}/preview': {
    id: 'previewSource',
    description:
      'A preview of up to 100 records from a source of this kind. Stores nothing and costs nothing.',
    body: { ...FIELDS, limit: 5 },
  },
  'POST /sources/{source_id}': {
    id: 'createSource',
    description: 'Creates a source. The first import starts at once, further ones run by its schedule.',
    body: { ...FIELDS, name: 'Companies of our CRM' },
  },
  'POST /sources/{source_id}/options/{field_name}': {
    id: 'getSourceFieldOptions',
    description: 'The choices for a field of this kind of source; some fields need `context`.',
    body: { context: {} },
  },
  'GET /sources/{source_instance_id}': {
    id: 'getSource',
    description: 'A source with its last and next pull, its counts, and its last error with advice.',
  },
  'PATCH /sources/{source_instance_id}': {
    id: 'updateSource',
    description: 'Changes the total credit limit of a source; null removes the limit.',
    body: { max_credits: 50 },
  },
  'GET /sources/{source_instance_id}/data': {
    id: 'listSourceRecords',
    description: 'The records that a source has imported, in pages.',
  },
  'POST /sources/{source_instance_id}/sync': {
    id: 'syncSource',
    description:
      'Sends each record once to the main sheet of a workflow. `field_mapping` maps `input.<name>` to a field of the source; `auto_run` of the sheet decides whether the rows run.',
    body: { workflow_id: EXAMPLE_IDS.workflow_id, field_mapping: { 'input.company': 'name' } },
  },
  'PATCH /sources/{source_instance_id}/status': {
    id: 'setSourceStatus',
    description: 'Pauses or resumes a source.',
    body: { status: 'paused' },
  },
}

export const AGENT: Operations = {
  'POST /agent/run': {
    id: 'runAgent',
    description:
      'Plans, searches, reads pages and answers in the fields of your schema. Each value has a quote from a page that was read; values that no page supports are null. The call waits for the answer.',
    body: {
      prompt: 'Who founded Acme (https://acme.example)?',
      output_schema: { properties: { founder: { type: 'string', description: 'Full name' } } },
    },
  },
  'GET /agent/runs/{request_id}': {
    id: 'getAgentRun',
    description: 'The steps of an answer: searches, pages, model calls, and the time and credits they took.',
  },
}

/**
 * Returns the operations of shortcuts under a prefix. Both prefixes offer the same ones; `/apps` is the
 * older.
 */
function shortcutsUnder(prefix: string, noun: string, plural: string): Operations {
  return {
    [`GET ${prefix}`]: {
      id: `list${plural}`,
      description: 'Shortcuts that you own or that are shared with you, with their fields.',
    },
    [`GET ${prefix}/{id}`]: { id: `get${noun}`, description: 'A shortcut with its input and output fields.' },
    [`POST ${prefix}/{id}/run`]: {
      id: `run${noun}`,
      description:
        'Runs a shortcut once. Missing fields use their default. Poll the run, or pass `wait` (in seconds) to get the answer in one call.',
      body: { input_data: { website: 'https://www.stripe.com/about' } },
    },
    [`POST ${prefix}/{id}/run/batch`]: {
      id: `run${noun}Batch`,
      description: 'Runs a shortcut for 1 to 1,000 inputs; if one is invalid, none runs.',
      body: { rows: [{ website: 'https://www.stripe.com/about' }, { website: 'https://github.com' }] },
    },
    [`GET ${prefix}/{id}/runs`]: {
      id: `list${noun}Runs`,
      description: 'Runs of a shortcut, the newest first.',
      query: { limit: '10' },
    },
    [`GET ${prefix}/{id}/runs/{run_id}`]: {
      id: `get${noun}Run`,
      description: 'A run with its outputs; check the status of each field.',
    },
  }
}

export const SHORTCUTS: Operations = {
  ...shortcutsUnder('/shortcuts', 'Shortcut', 'Shortcuts'),
  ...shortcutsUnder('/apps', 'App', 'Apps'),
}
