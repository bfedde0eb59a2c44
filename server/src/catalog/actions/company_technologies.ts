import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { output } from '../outputs.ts'
import { runWaterfall, toOutcome } from '../provider/waterfall-run.ts'
import { builtInTechnologies } from '../providers/built_in/technologies.ts'
import { builtwithTechnologies } from '../providers/builtwith/technologies.ts'
import { theirstackTechnologies } from '../providers/theirstack/technologies.ts'
import { bareHost } from '../questions/person-input.ts'

const SOURCES = [builtInTechnologies, builtwithTechnologies, theirstackTechnologies]

export default defineAction({
  id: 'company_technologies',
  name: 'Company technologies',
  description:
    'Lists the technologies that a company uses, from one source after another until one knows some.',
  category: 'companies',
  credits: 0,
  timeoutSeconds: 120,
  inputs: {
    domain: field.text({ required: true, description: 'acme.com' }),
    providers: field.waterfall({
      providers: SOURCES.map(({ option }) => option),
      default: SOURCES.map(({ provider }) => provider.id),
      description: 'Who is asked, in order. Built-in reads the website and DNS records.',
    }),
  },
  outputs: {
    technologies: output.table('What was found.', {
      name: 'string',
      category: 'string',
      evidence: 'string',
      first_seen: 'string',
      last_seen: 'string',
    }),
    provider: output.text('Who knew it.'),
  },
  async run({ inputs, context }) {
    const result = await runWaterfall({
      steps: inputs.providers,
      adapters: SOURCES,
      input: { domain: bareHost(inputs.domain) },
      context,
      state: context.state,
    })
    return toOutcome(result, ({ value, provider }) => ({ technologies: value, provider }))
  },
})
