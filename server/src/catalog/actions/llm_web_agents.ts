import { redact } from '../../lib/security/redaction.ts'
import { DEFAULT_LIMITS } from '../agent/budget.ts'
import { runAgent } from '../agent/run-agent.ts'
import { fieldsOfFormat } from '../agent/task.ts'
import { toProvenance } from '../agent/trace.ts'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { readFormat } from '../fields/output-format.ts'
import { printRowData, printWords } from '../fields/prompt.ts'
import { outputsOfFormat } from '../models/answer-schema.ts'
import { creditsOf } from '../models/models.ts'
import { failed, unreserved, retry, unrunnable } from '../outcome.ts'
import { output } from '../outputs.ts'

const CREDITS = 5
const MAX_STEPS = 30

export default defineAction({
  id: 'llm_web_agents',
  name: 'Web agent',
  description:
    'Lets a model search and read the web. Each value of the answer comes with a quote from a page that was really read; what no page supports stays empty.',
  category: 'ai',
  synonyms: [
    'research',
    'gpt',
    'chatgpt',
    'openai',
    'claude',
    'claygent',
    'browse',
    'llm',
    'ai agent',
    'extract',
  ],
  credits: CREDITS,
  paysModel: true,
  timeoutSeconds: 170,
  retries: 1,
  inputs: {
    select_a_model: field.dropdown({
      from: 'models',
      required: true,
      label: 'Model',
      help: 'The language model that does the research.',
    }),
    mission: field.prompt({
      required: true,
      label: 'Task',
      help: 'What the agent should find out.',
      placeholder: 'Find the CEO of the company and when they started.',
    }),
    output_format: field.outputFormat({
      required: true,
      runsWithout: true,
      label: 'Answer fields',
      help: 'The fields of the answer. Without fields, the answer is one text.',
      details:
        'Takes {"fields": [{name, type, description, choices?}]} or {"json": <JSON schema>}, whose properties count. Without it the answer is text, in `response`.',
    }),
    max_steps: field.number({
      min: 1,
      max: MAX_STEPS,
      whole: true,
      default: DEFAULT_LIMITS.steps,
      label: 'Most steps',
      help: `How many times the model may search or read a page, up to ${MAX_STEPS}.`,
      placeholder: `${DEFAULT_LIMITS.steps}`,
      details: `Default ${DEFAULT_LIMITS.steps}.`,
      advanced: true,
    }),
    allowed_domains: field.text({
      label: 'Allowed websites',
      help: 'Only pages of these domains are read. Separate with commas.',
      placeholder: 'acme.com, example.org',
      advanced: true,
    }),
    connection: field.text({
      label: 'Connection',
      help: 'Your own model key. Leave empty for your only connection, or the key of this installation.',
      details: 'Takes the name of a connection.',
      advanced: true,
      kind: 'connection',
    }),
  },
  outputs: {
    citations: output.table('The pages and words that support the answer.', {
      url: 'url',
      title: 'string',
      quote: 'string',
      field: 'string',
    }),
  },
  dynamic: true,
  configured: ({ output_format: format }) => ({ ...outputsOfFormat(readFormat(format)), closed: true }),
  async run({ inputs, context }) {
    const found = await context.models.find(inputs.select_a_model.trim(), context, inputs.connection)
    if (!found.ok) return unrunnable(found.message)
    const credits = creditsOf(found.model, context.price)
    const reserved = await context.reserve(credits)
    if (reserved !== true) return unreserved(reserved, credits, context.state)
    // A model that reads text from strangers gets no secret, not even in its mission.
    const secrets = context.secrets()
    const task = {
      mission: redact(printWords(inputs.mission), secrets),
      data: redact(printRowData(inputs.mission), secrets),
      // Text in a row may come from anywhere and names no site; a value that is an address does.
      named: inputs.mission.map((part) => ('text' in part ? part.text : addressIn(part.data))).join(' '),
      fields: fieldsOfFormat(inputs.output_format),
      allowedDomains: readDomains(inputs.allowed_domains ?? ''),
    }
    const limits = { ...DEFAULT_LIMITS, steps: inputs.max_steps ?? DEFAULT_LIMITS.steps }
    const { egress, sandbox, keys, gate, pages: reader, signal, owner = '' } = context
    const services = { egress, sandbox, keys, gate, reader, signal, owner, now: () => context.now() }
    const run = await runAgent(task, found.model, limits, services)
    switch (run.kind) {
      case 'answered': {
        const { data, citations } = run.answer
        const listed = found.model.ownKey ? context.price : undefined
        const provenance = toProvenance(run.trace, found.model.name, credits, listed)
        return { kind: 'done', outputs: { ...data, citations }, credits, provenance }
      }
      case 'failed':
        return run.retryable ? retry(run.message) : failed(run.message)
      case 'timeout':
      case 'called_off':
        return failed('the agent had no answer in time')
    }
  },
})

const addressIn = (data: string): string => (/^\s*\S+\s*$/.test(data) ? data : '')

function readDomains(text: string): string[] {
  return text
    .split(/[\s,;]+/)
    .map((part) =>
      part
        .toLowerCase()
        .replace(/^https?:\/\//, '')
        .replace(/^www\./, '')
        .replace(/\/.*$/s, ''),
    )
    .filter((part) => part !== '')
}
